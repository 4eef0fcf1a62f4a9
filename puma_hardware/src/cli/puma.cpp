// SPDX-License-Identifier: Apache-2.0

// The `puma` command. Exit codes: 0 success, 1 standard output cannot be written, 2 invalid options or
// input; a subcommand throws another exit code as CLI::RuntimeError.

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "cli/commands.hpp"
#include "ga_tools/commands.hpp"

namespace {

/// Exit code of a command that ended with `code`: 1 if its output could not be written.
int written(int code) {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return code;
  std::fprintf(stderr, "puma: cannot write to standard output: %s\n",
               flushed ? "an earlier part is lost" : std::strerror(errno));
  return code == 0 ? 1 : code;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Drive and simulate a PUMA arm"};
  app.require_subcommand(1);
  app.footer("Each command has its own --help, with examples.");
  try {
    const ga_tools::Program program{"puma", "puma_description", "urdf/puma560.urdf",
                                    ga_tools::command_line("puma", argc, argv)};
    ga_tools::add_sim_command(app, program);
    ga_tools::add_report_command(app, program);
    ga_tools::add_motion_command(app, program);
    ga_tools::add_time_command(app, program);
    ga_tools::add_check_command(app, program);
    ga_tools::add_limits_command(app, program);
    puma_hardware::cli::add_run_command(app);
    puma_hardware::cli::add_estimate_payload_command(app);
    puma_hardware::cli::add_calibrate_command(app);
    puma_hardware::cli::add_cards_command(app);
    puma_hardware::cli::add_urdf_command(app);
    puma_hardware::cli::add_guard_command(app);
    puma_hardware::cli::add_emulate_command(app);
    puma_hardware::cli::add_cell_command(app);
    app.parse(argc, argv);
    return written(0);
  } catch (const CLI::RuntimeError& error) {
    return written(error.get_exit_code());
  } catch (const CLI::ParseError& error) {
    return written(app.exit(error) == 0 ? 0 : 2);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "puma: %s\n", error.what());
    return 2;
  }
}
