// SPDX-License-Identifier: Apache-2.0
#ifndef PROCESS__PROCESS_LOCK_HPP_
#define PROCESS__PROCESS_LOCK_HPP_

// What only one process of the machine may have at a time: a set of cards, the guard's post. The
// kernel takes the lock back when the process ends, however it ends, so that a dead one never
// stands in the way of the next.
//
// Everything here allocates and throws std::runtime_error naming the lock if the machine refuses.
// Not real-time safe.

#include <sys/types.h>

#include <optional>
#include <string>

namespace puma_hardware {

class ProcessLock {
 public:
  /// Who holds a lock, as told by themselves; pid 0 if that cannot be read.
  struct Holder {
    int pid = 0;
    std::string command;
    std::string note;
    std::string text() const;  ///< "process 123 (puma run …)"
  };

  /// Nothing if another holds it, be it in this process. `name`: 1 to 120 letters, digits, `_`,
  /// `-` and `.`; `note`: one line for those who come too late.
  static std::optional<ProcessLock> take(const std::string& name, const std::string& note = {});
  /// Of a lock that take() did not get.
  static Holder holder(const std::string& name);

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
