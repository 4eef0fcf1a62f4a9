// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "csv_fields.hpp"
#include "ga_dynamics/number.hpp"
#include "ga_motion/state_file.hpp"

namespace {

using namespace ga_dynamics;
using namespace ga_motion;
using Rows = std::vector<std::vector<double>>;

/// Gives the text in pieces of at most `piece` bytes, as a slow pipe would.
ByteSource source_of(std::string text, std::size_t piece) {
  const auto at = std::make_shared<std::size_t>(0);
  return [text = std::move(text), piece, at](char* to, std::size_t size) {
    const std::size_t part = std::min({piece, size, text.size() - *at});
    std::copy_n(text.data() + *at, part, to);
    *at += part;
    return part;
  };
}

std::vector<std::string> lines_of(const std::string& text, std::size_t piece) {
  LineReader reader(source_of(text, piece), "text");
  std::vector<std::string> lines;
  for (std::string_view line; reader.next(line);) lines.emplace_back(line);
  EXPECT_EQ(reader.number(), static_cast<long>(lines.size()));
  return lines;
}

Rows rows_of(const std::string& text, const StateColumns& columns, std::size_t piece = 7) {
  StateReader reader(LineReader(source_of(text, piece), "text"), columns);
  Rows rows;
  for (std::vector<double> row(columns.names().size()); reader.next(row);) rows.push_back(row);
  return rows;
}

std::string error_of(const std::string& text, const StateColumns& columns) {
  try {
    rows_of(text, columns);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(LineReader, LinesDoNotDependOnThePiecesTheyComeIn) {
  const std::string text = "\xEF\xBB\xBFone\r\n\n three\nfo\rur\r\n\xEF\xBB\xBFlast";
  const std::vector<std::string> expected{"one", "", " three", "fo\rur", "\xEF\xBB\xBFlast"};
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    EXPECT_EQ(lines_of(text, piece), expected) << piece;
    EXPECT_EQ(lines_of(text + "\n", piece), expected) << piece;
  }
  EXPECT_TRUE(lines_of("", 1).empty());
}

TEST(LineReader, ManyLinesPassThroughTheBuffer) {
  std::string text;
  std::vector<std::string> expected;
  for (int i = 0; i < 300000; ++i) {
    expected.push_back(std::string(static_cast<std::size_t>(i % 23), 'x') + std::to_string(i));
    text += expected.back() + "\n";
  }
  EXPECT_EQ(lines_of(text, 65536), expected);
  EXPECT_EQ(lines_of(text, 1000003), expected);
}

TEST(LineReader, LineOverTheLimitIsAnErrorWithItsNumber) {
  const std::string longest(LineReader::kMaxLineBytes, 'x');
  EXPECT_EQ(lines_of("a\n" + longest + "\nb", 100000),
            (std::vector<std::string>{"a", longest, "b"}));
  for (const std::string end : {"", "\nb"}) {
    try {
      lines_of("a\n" + longest + "y" + end, 100000);
      ADD_FAILURE() << "accepted";
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()),
                "text: line 2 is longer than 1048576 bytes; give one state per line");
    }
  }
}

TEST(Number, ReadsWhatPeopleWrite) {
  double value = 0;
  for (const auto& [text, expected] : std::vector<std::pair<std::string, double>>{
           {"1", 1},
           {"+1", 1},
           {"-1.5", -1.5},
           {".5", .5},
           {"5.", 5},
           {"1e3", 1000},
           {"+1E-3", 0.001},
           {"1e-999", 0},
           {"1e999", INFINITY},
           {"-1e999", -INFINITY},
           {"-inf", -INFINITY},
           {"4.9406564584124654e-324", 4.9406564584124654e-324}}) {
    EXPECT_TRUE(is_number(text, value)) << text;
    EXPECT_EQ(value, expected) << text;
  }
  for (const char* const text : {"", "+", "-", "+-1", "--1", "++1", "1x", "0x10", "1e", "1 ", " 1",
                                 "1,5", "1_000", "e5", "."}) {
    EXPECT_FALSE(is_number(text, value)) << text;
  }
}

TEST(Number, SeventeenDigitsGiveTheSameDoubleBack) {
  std::mt19937_64 generator(3);
  for (int i = 0; i < 100000; ++i) {
    const auto value = std::bit_cast<double>(static_cast<std::uint64_t>(generator()));
    if (!std::isfinite(value)) continue;
    double back = 0;
    ASSERT_TRUE(is_number(number_text(value, kExactDigits), back));
    ASSERT_EQ(std::bit_cast<std::uint64_t>(back), std::bit_cast<std::uint64_t>(value));
  }
  EXPECT_EQ(number_text(-std::numeric_limits<double>::denorm_min(), kExactDigits),
            "-4.9406564584124654e-324");
  EXPECT_EQ(number_text(0.1, kExactDigits), "0.10000000000000001");
  EXPECT_EQ(number_text(2, kExactDigits), "2");
}

TEST(CsvFields, FieldsAreTrimmedAndUnquoted) {
  std::vector<std::string> fields;
  for (CsvFields line(" a ,\"b\", \" c, d \" ,\"say \"\"no\"\"\",,e f,"); line.more();) {
    fields.emplace_back(line.take());
  }
  EXPECT_EQ(fields, (std::vector<std::string>{"a", "b", "c, d", "say \"\"no\"\"", "", "e f", ""}));
}

TEST(CsvFields, NamesAreQuotedOnlyWhereTheyMust) {
  EXPECT_EQ(csv_field("tool 0.x"), "tool 0.x");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"no\""), "\"say \"\"no\"\"\"");
}

TEST(StateReader, HeaderFindsColumnsInAnyOrder) {
  const StateColumns columns({"q", "qd"}, 2);
  const Rows expected{{1, 2, 3, 4}, {5, 6, 7, 8}};
  EXPECT_EQ(rows_of("1,2,3,4\n5,6,7,8\n", columns), expected);
  EXPECT_EQ(rows_of("qd2,\"q1\",note,q2, qd1\n4,1,x,2,3\n\n8,5,\"y, z\",6,7", columns), expected);
  EXPECT_EQ(rows_of(",q1,q2,qd1,qd2\n0,1,2,3,4\n1,5,6,7,8\n", columns), expected);
}

TEST(StateReader, RowsDoNotDependOnThePiecesTheyComeIn) {
  const StateColumns columns({"q"}, 2);
  const std::string text = "\xEF\xBB\xBF q1 , q2 \r\n 1 , 2 \r\n\r\n\t\r\n+3,4e0";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    EXPECT_EQ(rows_of(text, columns, piece), (Rows{{1, 2}, {3, 4}})) << piece;
  }
}

TEST(StateReader, EmptyTextHasNoRows) {
  EXPECT_TRUE(rows_of("", StateColumns({"q"}, 3)).empty());
  EXPECT_TRUE(rows_of("\n \n", StateColumns({"q"}, 3)).empty());
  EXPECT_TRUE(rows_of("q1,q2,q3", StateColumns({"q"}, 3)).empty());
}

TEST(StateReader, ErrorsNameTheLineTheColumnAndTheRemedy) {
  const StateColumns columns({"q", "qd"}, 3);
  EXPECT_EQ(error_of("1,2,3,4,5\n", columns),
            "text: line 1: 5 fields, expected 6: q1…q3,qd1…qd3; give these, in this order, or a "
            "header line");
  EXPECT_EQ(error_of("t,q1,q3,qd1,qd2\n", columns),
            "text: line 1: the header lacks q2, qd3; its columns are: t, q1, q3, qd1, qd2; needed "
            "are q1…q3,qd1…qd3");
  EXPECT_EQ(error_of("\nt,q1,q2,q3,qd1,qd2,qd3\n0,1,2,3,4,5,6\n0,1,2,-,4,5,6\n", columns),
            "text: line 4, column 4 (q3): '-' is not a number");
  EXPECT_EQ(error_of("1,2,3,4,5,nan\n", columns),
            "text: line 1, column 6 (qd3): 'nan' is not finite");
  EXPECT_EQ(error_of("1,,3,4,5,6\n", columns), "text: line 1, column 2 (q2): empty; give a number");
  EXPECT_EQ(error_of("1,2,3,4,5,6\n1,2,3,4,5,6 7\n", columns),
            "text: line 2, column 6 (qd3): '6 7' is not a number; separate fields by commas");
  EXPECT_EQ(error_of("1,2,3,4,5,\"6\n", columns),
            "text: line 1, column 6 (qd3): a quote is not closed; close it on the same line");
}

TEST(StateReader, MessagesHoldNoControlCharacters) {
  using std::string_literals::operator""s;
  EXPECT_EQ(error_of("1\n2\0\x1b[2J\n"s, StateColumns({"q"}, 1)),
            "text: line 2, column 1 (q1): '2??[2J' is not a number");
  EXPECT_EQ(error_of("a\0b\n"s, StateColumns({"q"}, 1)),
            "text: line 1: the header lacks q1; its columns are: a?b; needed are q1");
}

TEST(StateReader, LongFieldsAreQuotedInPart) {
  std::string accents;
  for (int i = 0; i < 50; ++i) accents += "é";
  EXPECT_EQ(error_of("1\n" + accents + "\n", StateColumns({"q"}, 1)),
            "text: line 2, column 1 (q1): '" + accents.substr(0, 40) + "…' is not a number");
  EXPECT_EQ(error_of("1\nx" + accents + "\n", StateColumns({"q"}, 1)),
            "text: line 2, column 1 (q1): 'x" + accents.substr(0, 38) + "…' is not a number");
}

TEST(StateColumns, JointNamesAndNumbersAreTheSameColumns) {
  const StateColumns columns({"q", "qd", "qdd"}, {"shoulder", "elbow"});
  const Rows expected{{1, 2, 3, 4, 5, 6}};
  EXPECT_EQ(rows_of("1,2,3,4,5,6\n", columns), expected);
  EXPECT_EQ(rows_of("q1,q2,qd1,qd2,qdd1,qdd2\n1,2,3,4,5,6\n", columns), expected);
  EXPECT_EQ(rows_of("t,shoulder,elbow,velocity_shoulder,velocity_elbow,acceleration_shoulder,"
                    "acceleration_elbow\n0,1,2,3,4,5,6\n",
                    columns),
            expected);
  EXPECT_EQ(rows_of("q2,position_shoulder,velocity_elbow,qd1,qdd2,acceleration_shoulder\n"
                    "2,1,4,3,6,5\n",
                    columns),
            expected);
  EXPECT_EQ(
      rows_of("effort_elbow,torque_shoulder\n2,1\n", StateColumns({"tau"}, {"shoulder", "elbow"})),
      (Rows{{1, 2}}));
}

TEST(StateColumns, TimeIsAColumnWhereItIsAskedFor) {
  const StateColumns columns({"q"}, {"shoulder", "elbow"}, StateColumns::Time::kFirst);
  EXPECT_EQ(columns.summary(), "t,q1,q2");
  EXPECT_EQ(rows_of("0.5,1,2\n", columns), (Rows{{0.5, 1, 2}}));
  EXPECT_EQ(rows_of("elbow,time,q1\n2,0.5,1\n", columns), (Rows{{0.5, 1, 2}}));
  EXPECT_EQ(error_of("q1,q2\n1,2\n", columns),
            "text: line 1: the header lacks t; its columns are: q1, q2; needed are t,q1,q2, or the "
            "same by the joints' names: shoulder, …");
}

TEST(StateColumns, OneColumnUnderTwoNamesIsAnError) {
  EXPECT_EQ(error_of("q1,shoulder\n1,2\n", StateColumns({"q"}, {"shoulder"})),
            "text: line 1: the header has columns q1 and shoulder, which are the same; remove or "
            "rename one");
}

TEST(StateColumns, AJointsOwnNameWinsOverAnothersNumber) {
  EXPECT_EQ(rows_of("q2,q1\n1,2\n", StateColumns({"q"}, {"q2", "q1"})), (Rows{{1, 2}}));
}

TEST(StateReader, NotesTheColumnsThatItDoesNotRead) {
  const auto note = [](const std::string& text) {
    return StateReader(LineReader(source_of(text, 7), "text"), StateColumns({"q"}, 2)).note();
  };
  EXPECT_EQ(note("t,q1,note,q2\n"), "text: line 1: columns t, note are ignored; read are q1,q2");
  EXPECT_EQ(note("q1,q2,t\n"), "text: line 1: column t is ignored; read are q1,q2");
  EXPECT_EQ(note("q1,q2\n"), "");
  EXPECT_EQ(note("1,2\n"), "");
}

TEST(StateReader, CommentsAreSkipped) {
  const StateColumns columns({"q"}, {"a#b", "c"});
  EXPECT_EQ(rows_of("# rad\n\"a#b\",c # as measured\n1,2# one\n#3,4\n 5,6\n", columns),
            (Rows{{1, 2}, {5, 6}}));
}

TEST(StateReader, SemicolonsAndDecimalCommasAreNamed) {
  const StateColumns columns({"q"}, 2);
  const std::string semicolons = "fields are separated by semicolons; separate them by commas";
  const std::string both =
      "fields are separated by semicolons, and numbers have decimal commas; separate fields by "
      "commas, and write 0.5, not 0,5";
  EXPECT_EQ(error_of("q1;q2\n1;2\n", columns), "text: line 1: " + semicolons);
  EXPECT_EQ(error_of("1;2\n", columns), "text: line 1: " + semicolons);
  EXPECT_EQ(error_of("1,2\n3;4\n", columns), "text: line 2: " + semicolons);
  EXPECT_EQ(error_of("0,5;0,25\n", columns), "text: line 1: " + both);
  EXPECT_EQ(error_of("q1;q2\n0,5;0,25\n", columns), "text: line 1: " + semicolons);
  EXPECT_EQ(error_of("q1,q2\n0,5,0,25\n", columns),
            "text: line 2: 4 fields, expected 2: q1,q2; if numbers have decimal commas, write 0.5, "
            "not 0,5");
  EXPECT_EQ(error_of("\"0,5\",1\n", columns),
            "text: line 1, column 1 (q1): '0,5' has a decimal comma; write 0.5");
}

}  // namespace
