// SPDX-License-Identifier: Apache-2.0
#pragma once
// A file descriptor with one owner.

#include <unistd.h>

#include <utility>

namespace weft::runtime {

/// Closes what it holds. -1 means none.
class UniqueFd {
 public:
  UniqueFd() = default;
  /// Takes over `fd`, which must be open, or -1.
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~UniqueFd() { reset(); }

  /// The descriptor, which stays ours; -1 when there is none.
  int get() const { return fd_; }
  /// True when it holds a descriptor.
  explicit operator bool() const { return fd_ >= 0; }
  /// Gives the descriptor away: the caller closes it.
  int release() { return std::exchange(fd_, -1); }
  /// Closes what it holds and takes over `fd`.
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace weft::runtime
