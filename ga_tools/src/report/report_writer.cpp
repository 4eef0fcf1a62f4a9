// SPDX-License-Identifier: Apache-2.0
#include "report_writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace ga_tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReinstall = "reinstall ga_tools";
constexpr std::string_view kBlank = " \t\r\n";

struct Library {
  std::string_view folder;   // below the distribution's JavaScript folder
  std::string_view package;  // of Debian 12 and Ubuntu 24.04
};
constexpr std::array<Library, 2> kLibraries{
    {{"three", "libjs-three"}, {"dygraphs", "libjs-dygraphs"}}};

[[noreturn]] void fail(const std::string& message) {
  throw std::runtime_error("report: " + message);
}

std::string last_error() { return std::strerror(errno); }

std::string read_file(const fs::path& path, const std::string& remedy) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad() || text.empty()) {
    fail("cannot read " + path.string() + " (" + (errno != 0 ? last_error() : "it is empty") +
         "); " + remedy);
  }
  return text;
}

std::string install_remedy(std::string_view name) {
  for (const Library& library : kLibraries) {
    if (name.starts_with(std::string(library.folder) + "/")) {
      return "install it with: apt install " + std::string(library.package);
    }
  }
  return "no known package provides it";
}

bool starts_with_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (std::tolower(byte) != static_cast<unsigned char>(lower[i])) return false;
  }
  return true;
}

// Wherever `pattern` (lower case, matched in any case) occurs, its first `length` bytes are replaced.
struct Escape {
  std::string_view pattern;
  std::size_t length;
  std::string_view replacement;
};

template <std::size_t N>
std::string escaped(std::string_view text, const std::array<Escape, N>& escapes) {
  std::string result;
  result.reserve(text.size() + text.size() / 64);
  while (!text.empty()) {
    const auto match = std::find_if(escapes.begin(), escapes.end(), [text](const Escape& escape) {
      return starts_with_ignoring_case(text, escape.pattern);
    });
    result += match == escapes.end() ? text.substr(0, 1) : match->replacement;
    text.remove_prefix(match == escapes.end() ? 1 : match->length);
  }
  return result;
}

// What would end a script element or change how its text is read (HTML standard, "Restrictions for
// contents of script elements"), and line separators that old parsers reject in strings.
constexpr std::array<Escape, 4> kScriptEscapes{{{"</script", 1, "<\\"},
                                                {"<!--", 1, "<\\"},
                                                {"\xe2\x80\xa8", 3, "\\u2028"},
                                                {"\xe2\x80\xa9", 3, "\\u2029"}}};
constexpr std::array<Escape, 1> kStyleEscapes{{{"</style", 1, "<\\"}}};
// In JSON a "<" occurs only in strings.
constexpr std::array<Escape, 3> kDataEscapes{
    {{"<", 1, "\\u003c"}, {"\xe2\x80\xa8", 3, "\\u2028"}, {"\xe2\x80\xa9", 3, "\\u2029"}}};

// A browser with open developer tools would look for the library's source map beside the report.
// The comment, "//# ..." in scripts and "/*# ... */" in styles, has a line of its own.
void drop_source_map_link(std::string& text) {
  const std::size_t found = text.rfind("# sourceMappingURL=");
  if (found == std::string::npos || found < 2) return;
  const std::size_t end = text.find('\n', found);
  text.erase(found - 2, end == std::string::npos ? end : end - (found - 2));
}

std::string inlined(std::string text, std::string_view name) {
  drop_source_map_link(text);
  return name.ends_with(".css") ? escaped(text, kStyleEscapes) : escaped(text, kScriptEscapes);
}

std::string checked_data(const std::string& json) {
  const std::size_t first = json.find_first_not_of(kBlank);
  const std::size_t last = json.find_last_not_of(kBlank);
  if (first == std::string::npos || json[first] != '{' || json[last] != '}') {
    fail("the data are not a JSON object; give a document as described in report/README.md");
  }
  return escaped(std::string_view(json).substr(first, last - first + 1), kDataEscapes);
}

// Template marks: {{data}}, {{share FILE}}, {{library FILE}}.
std::string fill(std::string_view page, const std::string& json, const fs::path& share_dir,
                 const fs::path& javascript_dir) {
  std::string result;
  for (;;) {
    const std::size_t begin = page.find("{{");
    const std::size_t end = page.find("}}", begin);
    if (begin == std::string_view::npos || end == std::string_view::npos) break;
    const std::string_view mark = page.substr(begin + 2, end - begin - 2);
    result += page.substr(0, begin);
    page.remove_prefix(end + 2);
    if (mark == "data") {
      result += checked_data(json);
    } else if (mark.starts_with("share ")) {
      const std::string_view name = mark.substr(6);
      result += inlined(read_file(share_dir / name, kReinstall), name);
    } else if (mark.starts_with("library ")) {
      const std::string_view name = mark.substr(8);
      result += inlined(read_file(javascript_dir / name, install_remedy(name)), name);
    } else {
      fail("report.html has an unknown mark '" + std::string(mark) + "'");
    }
  }
  result += page;
  return result;
}

// Beside the output, so that the rename stays within one file system.
class PartialFile {
 public:
  explicit PartialFile(const fs::path& output)
      : output_(output), partial_(output.string() + ".part" + std::to_string(::getpid())) {}
  ~PartialFile() {
    std::error_code ignored;
    fs::remove(partial_, ignored);
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  void write(const std::string& text) {
    errno = 0;
    std::ofstream file(partial_, std::ios::binary | std::ios::trunc);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    if (!file) {
      fail("cannot write " + output_.string() + " (" + last_error() +
           "); name a file in a folder that exists and is writable");
    }
    std::error_code error;
    fs::rename(partial_, output_, error);
    if (error) fail("cannot replace " + output_.string() + " (" + error.message() + ")");
  }

 private:
  fs::path output_;
  fs::path partial_;
};

}  // namespace

void write_report(const std::string& json, const fs::path& share_dir, const fs::path& output,
                  const fs::path& javascript_dir) {
  std::error_code error;
  const fs::file_status status = fs::status(output, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    fail("cannot write " + output.string() +
         ": not a regular file; name a new file or one that may be replaced");
  }
  const std::string page = read_file(share_dir / "report.html", kReinstall);
  PartialFile(output).write(fill(page, json, share_dir, javascript_dir));
}

}  // namespace ga_tools
