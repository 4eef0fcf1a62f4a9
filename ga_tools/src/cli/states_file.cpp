// SPDX-License-Identifier: Apache-2.0
#include "cli/states_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "cli/errors.hpp"

namespace ga_tools::cli {

using namespace ga_motion;
namespace {

[[noreturn]] void fail(const std::string& name, int error) {
  if (error == EISDIR) throw InputError(name + ": is a directory; give a file of states");
  throw InputError(name + ": cannot be read (" + std::generic_category().message(error) +
                   "); give a file of states, or - for standard input");
}

}  // namespace

StatesFile::StatesFile(const std::string& path)
    : descriptor_(STDIN_FILENO), name_(path == "-" ? "standard input" : path) {
  if (path != "-") {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(name_, errno);
  }
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) {
    total_bytes_ = static_cast<std::uint64_t>(status.st_size);
  }
}

StatesFile::~StatesFile() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

std::size_t StatesFile::read(char* to, std::size_t size) {
  for (;;) {
    const ssize_t got = ::read(descriptor_, to, size);
    if (got >= 0) {
      bytes_read_ += static_cast<std::uint64_t>(got);
      return static_cast<std::size_t>(got);
    }
    if (errno != EINTR) fail(name_, errno);
  }
}

}  // namespace ga_tools::cli
