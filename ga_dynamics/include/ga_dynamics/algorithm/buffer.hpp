// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__BUFFER_HPP_
#define GA_DYNAMICS__ALGORITHM__BUFFER_HPP_

#include <cstddef>
#include <new>
#include <utility>

#include "ga_dynamics/algorithm/isa.hpp"

namespace ga_dynamics {
inline namespace GA_DYNAMICS_ISA {

/// A fixed-size array, allocated once and aligned to a cache line. It stands where std::vector
/// would, because the members of std::vector<double> would be merged by the linker across
/// instruction sets (isa.hpp). Element access is real-time safe; construction and assignment are
/// not.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : size_(size) {
    if (size == 0) return;
    data_ = static_cast<T*>(::operator new(size * sizeof(T), kAlignment));
    for (std::size_t i = 0; i < size; ++i) ::new (static_cast<void*>(data_ + i)) T();
  }
  Buffer(const Buffer& other) : Buffer(other.size_) {
    for (std::size_t i = 0; i < size_; ++i) data_[i] = other.data_[i];
  }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer other) noexcept {
    T* const data = data_;
    const std::size_t size = size_;
    data_ = other.data_, size_ = other.size_;
    other.data_ = data, other.size_ = size;
    return *this;
  }
  ~Buffer() {
    for (std::size_t i = 0; i < size_; ++i) data_[i].~T();
    if (data_ != nullptr) ::operator delete(data_, kAlignment);
  }

  std::size_t size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  GA_DYNAMICS_INLINE T& operator[](int i) { return data_[i]; }
  GA_DYNAMICS_INLINE const T& operator[](int i) const { return data_[i]; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace GA_DYNAMICS_ISA
}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__BUFFER_HPP_
