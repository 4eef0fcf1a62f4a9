// SPDX-License-Identifier: Apache-2.0
#ifndef CLI__PROGRESS_BAR_HPP_
#define CLI__PROGRESS_BAR_HPP_

#include <string>

namespace puma_hardware::cli {

/// One line on standard error, rewritten; nothing where that is no terminal.
class ProgressBar {
 public:
  void show(double share, const std::string& what);
  void end();

 private:
  bool shown_ = false;
};

}  // namespace puma_hardware::cli

#endif  // CLI__PROGRESS_BAR_HPP_
