// SPDX-License-Identifier: Apache-2.0
#ifndef PROCESS__PROCESS_LOCK_HPP_
#define PROCESS__PROCESS_LOCK_HPP_

// Exclusive ownership between processes: of a set of cards, of the role of guard. The kernel
// releases the lock when the process ends, however it ends.
//
// Everything here allocates and throws std::runtime_error naming the lock if the system refuses.
// Not real-time safe.

#include <sys/types.h>

#include <optional>
#include <string>

namespace puma_hardware {

class ProcessLock {
 public:
  /// The holder's own entry in the lock file; pid 0 if it cannot be read.
  struct Holder {
    int pid = 0;
    std::string command;
    std::string note;
    std::string text() const;  ///< "process 123 (puma run …)"
  };

  /// Nothing if it is taken, also if by this process. `name`: 1 to 120 letters, digits, `_`, `-` and
  /// `.`; `note`: one line that others can read.
  static std::optional<ProcessLock> take(const std::string& name, const std::string& note = {});
  /// Of a lock that is taken.
  static Holder holder(const std::string& name);
  /// False if the lock's file was removed or replaced, so that another process could take the lock.
  bool present() const noexcept;

  ProcessLock(ProcessLock&& other) noexcept;
  ProcessLock& operator=(ProcessLock&& other) noexcept;
  ~ProcessLock();

 private:
  ProcessLock(int file, std::string path);

  int file_ = -1;
  pid_t owner_ = 0;
  std::string path_;
};

}  // namespace puma_hardware

#endif  // PROCESS__PROCESS_LOCK_HPP_
