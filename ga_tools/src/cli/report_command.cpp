// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "cli/robot_option.hpp"
#include "ga_tools/chain_arguments.hpp"
#include "ga_tools/commands.hpp"
#include "report/report_document.hpp"
#include "report/report_writer.hpp"
#include "study/provenance.hpp"
#include "study/recorded_runs.hpp"
#include "study/report_data.hpp"

namespace ga_tools {
namespace {

struct Settings {
  RobotOption robot;
  std::string data, output = "report.html", command;
  ChainArguments chain;
};

std::string remedy(const Settings& settings) {
  return "give a JSON file that `" + settings.robot.program.name +
         " sim` wrote, or one as ga_tools/report/README.md describes it";
}

/// The report's data, of runs that were recorded elsewhere.
std::string data_of_recordings(const nlohmann::json& recorded, const Settings& settings) {
  const std::filesystem::path urdf = settings.robot.file();
  const auto chain = ga_dynamics::Chain::from_urdf_file(urdf, chain_options(settings.chain));
  const Demonstration runs = recorded_runs(recorded, chain);
  std::printf("%s", table_text(runs).c_str());
  const std::vector<double>& time = runs.results.front().recording.time;
  const double rate = static_cast<double>(time.size() - 1) / (time.back() - time.front());
  const ReportTexts texts{recorded.value("title", "Recorded runs"),
                          recorded.value("subtitle", settings.data),
                          recorded.value("generated", "")};
  nlohmann::json data = report_data(runs, urdf, texts, rate, false);
  data["made_with"] = provenance(chain, urdf, settings.command);
  return data.dump();
}

void run(const Settings& settings) {
  std::ifstream in(settings.data, std::ios::binary);
  if (!in) throw std::runtime_error(settings.data + ": cannot be read; " + remedy(settings));
  const std::string json{std::istreambuf_iterator<char>(in), {}};
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (parsed.is_discarded()) {
    throw std::runtime_error(settings.data + ": is no valid JSON; " + remedy(settings));
  }
  if (parsed.is_object() && parsed.contains("recordings")) {
    write_report(data_of_recordings(parsed, settings), share_folder("ga_tools") / "report",
                 settings.output);
    return;
  }
  try {
    check_report_document(parsed);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(settings.data + ": " + error.what() + "; " + remedy(settings));
  }
  write_report(json, share_folder("ga_tools") / "report", settings.output);
}

}  // namespace

void add_report_command(CLI::App& app, const Program& program) {
  const auto settings = std::make_shared<Settings>();
  settings->command = program.command_line;
  CLI::App* report = app.add_subcommand(
      "report", "Write the report of recorded data as one HTML file that needs no network");
  report->footer("Example:\n  " + program.name + " report " + program.name +
                 "_sim/data.json --output report.html");
  report
      ->add_option(
          "data", settings->data,
          "JSON, as the sim command writes it, or {\"recordings\": …}\n(ga_tools/report/README.md)")
      ->type_name("FILE")
      ->required();
  report->add_option("--output", settings->output, "HTML file")
      ->type_name("FILE")
      ->capture_default_str();
  settings->robot.program = program;
  report
      ->add_option("--urdf", settings->robot.given,
                   "Robot of the recordings" + default_robot(program))
      ->type_name("FILE");
  add_chain_options(*report, settings->chain);
  report->callback([settings] { run(*settings); });
}

}  // namespace ga_tools
