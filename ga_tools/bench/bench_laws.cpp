// SPDX-License-Identifier: Apache-2.0

// The law score: the control laws and joint controllers in all scenarios, as a table, JSON and a
// page, and compared with an earlier score.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ga_tools/commands.hpp"
#include "score/output.hpp"
#include "score/pid_sweep.hpp"
#include "score/stiction.hpp"

namespace {

using namespace ga_tools::score;
using ga_dynamics::Chain;

constexpr int kExitWorse = 1;
constexpr int kExitBadInput = 2;
constexpr double kShare = 0.25;  // by which a figure may worsen

struct Settings {
  ScoreOptions score;
  std::string puma560, ur10e = GA_ROBOTS "/ur10e.urdf";
  std::string json, html, check;
  bool list = false, stiction = false, other_motions = false, pid_sweep = false;
};

void show_progress(std::size_t done, std::size_t all) {
  if (isatty(STDERR_FILENO) == 0) return;
  std::fprintf(stderr, "\r%zu of %zu runs%s", done, all, done == all ? "\n" : "");
}

void write(const std::string& option, const std::string& file, const std::string& text) {
  if (file.empty()) return;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out)
    throw std::runtime_error(option + " " + file + ": cannot be written; name another file");
}

nlohmann::json read_baseline(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw std::runtime_error("--check " + file + ": cannot be read; name a score's JSON file");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  auto parsed = nlohmann::json::parse(text, nullptr, false);
  if (!parsed.is_object()) {
    throw std::runtime_error("--check " + file +
                             ": is not valid JSON; give a file written with "
                             "--json");
  }
  return parsed;
}

/// Returns the exit code.
int compare(const Score& score, const nlohmann::json& baseline, const std::string& file) {
  std::vector<std::string> worse;
  try {
    worse = worse_than(score, baseline, kShare);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("--check " + file + ": " + error.what());
  }
  for (const std::string& line : worse) std::printf("worse: %s\n", line.c_str());
  if (worse.empty()) std::printf("no figure is worse than in %s by a quarter\n", file.c_str());
  return worse.empty() ? 0 : kExitWorse;
}

void list_rows() {
  for (const Scenario& s : scenarios()) std::printf("%-4s %s\n", s.id, s.title);
  for (const ScoreLaw& law : score_laws()) std::printf("%-12s %s\n", law.id, law.label);
}

/// Returns the exit code.
int study_stiction(const Settings& settings, const Arms& arms) {
  std::vector<const Scenario*> rows;
  for (const Scenario& s : stiction_scenarios(settings.other_motions)) rows.push_back(&s);
  const Score score =
      measure_rows(rows, laws_of(settings.score.laws), settings.score, arms, show_progress);
  std::printf("%s", stiction_text(score).c_str());
  return 0;
}

/// Returns the exit code.
int sweep_pid(const Settings& settings, const Arms& arms) {
  const Score score =
      measure_rows(rows_of(settings.score), sweep_laws(), settings.score, arms, show_progress);
  std::printf("%s", sweep_text(score).c_str());
  return 0;
}

int run(const Settings& settings, const std::string& command) {
  if (settings.list) {
    list_rows();
    return 0;
  }
  const nlohmann::json baseline =
      settings.check.empty() ? nlohmann::json() : read_baseline(settings.check);
  const Arms arms{Chain::from_urdf_file(settings.puma560), Chain::from_urdf_file(settings.ur10e)};
  if (settings.stiction) return study_stiction(settings, arms);
  if (settings.pid_sweep) return sweep_pid(settings, arms);
  const Score score = measure_score(settings.score, arms, show_progress);
  std::printf("%s", table_text(score).c_str());
  write("--json", settings.json, to_json(score).dump(1) + "\n");
  write("--html", settings.html, page(score, command));
  return settings.check.empty() ? 0 : compare(score, baseline, settings.check);
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app{"Law score: control laws and joint controllers in 13 scenarios, several seeds each"};
  app.add_option("puma560", settings.puma560, "Description of the PUMA 560, the arm of most rows")
      ->type_name("PUMA560.urdf");
  app.add_option("--ur10e", settings.ur10e, "Description of the UR10e, the arm of row 11")
      ->type_name("FILE");
  app.add_option("--rows", settings.score.rows, "Only these rows, comma-separated (default: all)")
      ->type_name("ID")
      ->delimiter(',');
  app.add_option("--laws", settings.score.laws, "Only these laws, comma-separated (default: all)")
      ->type_name("ID")
      ->delimiter(',');
  app.add_option("--seeds", settings.score.seeds, "Seeds of every row that depends on them")
      ->check(ga_tools::number_range(1, 1000))
      ->capture_default_str();
  app.add_option("--first-seed", settings.score.first_seed, "First of these seeds")
      ->check(ga_tools::number_range(1, 1000000))
      ->capture_default_str();
  app.add_option("--threads", settings.score.threads, "Runs at a time; 0: one per processor")
      ->check(ga_tools::number_range(0, 256))
      ->capture_default_str();
  app.add_flag("--short", settings.score.short_form, "One seed, and fewer rows");
  app.add_flag("--list", settings.list, "List the rows and the laws, and run none");
  app.add_option("--json", settings.json, "Write all figures to this file")->type_name("FILE");
  app.add_option("--html", settings.html, "Write a page with tables and plots to this file")
      ->type_name("FILE");
  app.add_option("--check", settings.check,
                 "Compare with this JSON file: exit code 1 if a figure is worse by a quarter")
      ->type_name("FILE");
  app.add_flag(
         "--stiction", settings.stiction,
         "Count the runs that hunt at rest instead, with break-away friction of 1, 1.5 and 2 "
         "times the Coulomb friction, 32 runs per seed and level; prints a table and writes no file")
      ->excludes("--rows")
      ->excludes("--short")
      ->excludes("--check");
  app.add_flag("--other-motions", settings.other_motions,
               "With --stiction: four other motions, from other postures")
      ->needs("--stiction");
  app.add_flag("--pid-sweep", settings.pid_sweep,
               "Compare the integral law with the best joint PID of a grid of integral gains and "
               "damping ratios in every row instead; prints a table and writes no file")
      ->excludes("--laws")
      ->excludes("--stiction")
      ->excludes("--short")
      ->excludes("--check");
  try {
    app.parse(argc, argv);
    if (!settings.list && settings.puma560.empty()) {
      throw std::runtime_error("no description of the PUMA 560; give its file");
    }
    return run(settings, ga_tools::command_line("bench_laws", argc, argv));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitBadInput;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_laws: %s\n", error.what());
    return kExitBadInput;
  }
}
