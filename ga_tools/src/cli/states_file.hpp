// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__CLI__STATES_FILE_HPP_
#define GA_DYNAMICS__CLI__STATES_FILE_HPP_

// The bytes of a states file, a pipe or standard input.

#include <cstddef>
#include <cstdint>
#include <string>

namespace ga_tools::cli {

class StatesFile {
 public:
  /// `-` is standard input. Throws InputError where the file cannot be opened.
  explicit StatesFile(const std::string& path);
  ~StatesFile();
  StatesFile(const StatesFile&) = delete;
  StatesFile& operator=(const StatesFile&) = delete;

  /// At most `size` bytes, as soon as there are any; 0 at the end. Throws InputError.
  std::size_t read(char* to, std::size_t size);

  /// What error messages call it.
  const std::string& name() const { return name_; }
  std::uint64_t bytes_read() const { return bytes_read_; }
  /// Of a regular file; 0 where it cannot be known.
  std::uint64_t total_bytes() const { return total_bytes_; }

 private:
  int descriptor_;
  std::string name_;
  std::uint64_t bytes_read_ = 0, total_bytes_ = 0;
};

}  // namespace ga_tools::cli

#endif  // GA_DYNAMICS__CLI__STATES_FILE_HPP_
