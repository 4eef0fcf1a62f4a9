// SPDX-License-Identifier: Apache-2.0
#include "cli/report_command.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "cli/share_folder.hpp"
#include "ga_dynamics/chain_arguments.hpp"
#include "report/report_document.hpp"
#include "report/report_writer.hpp"
#include "sim/provenance.hpp"
#include "sim/recorded_runs.hpp"
#include "sim/report_data.hpp"

namespace puma_hardware::cli {
namespace {

struct Settings {
  std::string data, output = "report.html", urdf, command;
  ga_dynamics::ChainArguments chain;
};

constexpr const char* kRemedy =
    "give a JSON file that `puma sim` wrote, or one as puma_hardware/report/README.md describes it";

/// The report's data, of runs that were recorded elsewhere.
std::string data_of_recordings(const nlohmann::json& recorded, const Settings& settings) {
  const std::filesystem::path urdf = settings.urdf.empty()
                                         ? share_folder("puma_description") / "urdf/puma560.urdf"
                                         : std::filesystem::path(settings.urdf);
  const auto chain = ga_dynamics::Chain::from_urdf_file(urdf, chain_options(settings.chain));
  const sim::Demonstration runs = sim::recorded_runs(recorded, chain);
  std::printf("%s", sim::table_text(runs).c_str());
  const std::vector<double>& time = runs.results.front().recording.time;
  const double rate = static_cast<double>(time.size() - 1) / (time.back() - time.front());
  const sim::ReportTexts texts{recorded.value("title", "Recorded runs"),
                               recorded.value("subtitle", settings.data),
                               recorded.value("generated", "")};
  nlohmann::json data = sim::report_data(runs, urdf, texts, rate, false);
  data["made_with"] = sim::provenance(chain, urdf, settings.command);
  return data.dump();
}

void run(const Settings& settings) {
  std::ifstream in(settings.data, std::ios::binary);
  if (!in)
    throw std::runtime_error(settings.data + ": cannot be read; give a JSON file of `puma sim`");
  const std::string json{std::istreambuf_iterator<char>(in), {}};
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (parsed.is_discarded()) {
    throw std::runtime_error(settings.data + ": is no valid JSON; " + kRemedy);
  }
  if (parsed.is_object() && parsed.contains("recordings")) {
    write_report(data_of_recordings(parsed, settings), share_folder("puma_hardware") / "report",
                 settings.output);
    return;
  }
  try {
    check_report_document(parsed);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(settings.data + ": " + error.what() + "; " + kRemedy);
  }
  write_report(json, share_folder("puma_hardware") / "report", settings.output);
}

}  // namespace

void add_report_command(CLI::App& app, const std::string& command_line) {
  const auto settings = std::make_shared<Settings>();
  settings->command = command_line;
  CLI::App* report = app.add_subcommand(
      "report", "Write the report of recorded data as one HTML file that needs no network");
  report->footer(
      "Example:\n"
      "  puma report puma_sim/data.json --output report.html");
  report
      ->add_option("data", settings->data,
                   "JSON, as `puma sim` writes it, or {\"recordings\": …} (sim/recorded_runs.hpp)")
      ->type_name("FILE")
      ->required();
  report->add_option("--output", settings->output, "HTML file")
      ->type_name("FILE")
      ->capture_default_str();
  report->add_option("--urdf", settings->urdf, "Robot of the recordings (default: the PUMA 560)");
  ga_dynamics::add_chain_options(*report, settings->chain);
  report->callback([settings] { run(*settings); });
}

}  // namespace puma_hardware::cli
