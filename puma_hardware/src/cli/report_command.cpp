// SPDX-License-Identifier: Apache-2.0
#include "cli/report_command.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

#include "cli/share_folder.hpp"
#include "report/report_writer.hpp"

namespace puma_hardware::cli {
namespace {

struct Settings {
  std::string data, output = "report.html";
};

void run(const Settings& settings) {
  std::ifstream in(settings.data, std::ios::binary);
  if (!in)
    throw std::runtime_error(settings.data + ": cannot be read; give a JSON file of `puma sim`");
  const std::string json{std::istreambuf_iterator<char>(in), {}};
  write_report(json, share_folder("puma_hardware") / "report", settings.output);
}

}  // namespace

void add_report_command(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* report = app.add_subcommand(
      "report", "Write the report of recorded data as one HTML file that needs no network");
  report->footer(
      "Example:\n"
      "  puma report puma_sim/data.json --output report.html");
  report->add_option("data", settings->data, "JSON, as `puma sim` writes it")
      ->type_name("FILE")
      ->required();
  report->add_option("--output", settings->output, "HTML file")
      ->type_name("FILE")
      ->capture_default_str();
  report->callback([settings] { run(*settings); });
}

}  // namespace puma_hardware::cli
