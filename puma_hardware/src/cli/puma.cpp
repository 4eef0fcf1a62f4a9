// SPDX-License-Identifier: Apache-2.0

// The `puma` command. Exit codes: 0 done, 1 standard output cannot be written, 2 impossible options
// or inputs; a subcommand that has another one throws it as CLI::RuntimeError.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "cli/calibrate_command.hpp"
#include "cli/cards_command.hpp"
#include "cli/cell_command.hpp"
#include "cli/describe_command.hpp"
#include "cli/emulate_command.hpp"
#include "cli/guard_command.hpp"
#include "cli/motion_command.hpp"
#include "cli/report_command.hpp"
#include "cli/run_command.hpp"
#include "cli/sim_command.hpp"

namespace {

/// As a shell takes it: arguments with other than plain characters are quoted.
std::string command_line(int argc, char** argv) {
  std::string line = "puma";
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    const bool plain =
        !argument.empty() && std::all_of(argument.begin(), argument.end(), [](unsigned char c) {
          return std::isalnum(c) != 0 || std::strchr("-_=+,./:@%", c) != nullptr;
        });
    line += ' ';
    if (plain) {
      line += argument;
      continue;
    }
    line += '\'';
    for (const char c : argument) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

/// The exit code of a command that ended with `code`: 1 if its output did not arrive.
int written(int code) {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return code;
  std::fprintf(stderr, "puma: cannot write to standard output: %s\n",
               flushed ? "an earlier part of it is lost" : std::strerror(errno));
  return code == 0 ? 1 : code;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Drives and simulates a PUMA arm"};
  app.require_subcommand(1);
  app.footer("Each command has its own --help, with examples.");
  try {
    puma_hardware::cli::add_sim_command(app, command_line(argc, argv));
    puma_hardware::cli::add_report_command(app, command_line(argc, argv));
    puma_hardware::cli::add_motion_command(app);
    puma_hardware::cli::add_run_command(app);
    puma_hardware::cli::add_calibrate_command(app);
    puma_hardware::cli::add_cards_command(app);
    puma_hardware::cli::add_describe_command(app);
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
