// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/state_dir.hpp"
#include "fabric/result.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

namespace weft::store {
namespace {

/// The process id that the holder wrote, or "".
std::string holder(int fd) {
  std::array<char, 32> text{};
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  std::string pid(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  return pid.substr(0, pid.find_first_not_of("0123456789"));
}

}  // namespace

Result<runtime::UniqueFd> lock_state_dir(const std::filesystem::path& directory) {
  const std::string name = directory.string();
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (!std::filesystem::is_directory(directory)) {
    const std::string why = error ? error.message() : "it is not a directory";
    return fail(ErrorCode::kUnavailable, "the state directory " + name + " cannot be created: " + why);
  }
  const std::filesystem::path path = directory / "lock";
  runtime::UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd)
    return fail(ErrorCode::kUnavailable, "the state directory " + name + " is not writable for user " +
                                             std::to_string(::geteuid()) + ": " + errno_message(errno));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) < 0) {
    if (errno != EWOULDBLOCK)
      return fail(ErrorCode::kUnavailable, path.string() + " cannot be locked: " + errno_message(errno));
    const std::string pid = holder(fd.get());
    return fail(ErrorCode::kFailedPrecondition, "another weftd" + (pid.empty() ? "" : " (process " + pid + ")") +
                                                    " uses " + name +
                                                    "; stop it first, or use another state directory");
  }
  // Only for the message above; the lock itself is the kernel's, and ends with us.
  const std::string pid = std::to_string(::getpid()) + '\n';
  [[maybe_unused]] const bool written =
      ::ftruncate(fd.get(), 0) == 0 &&
      ::pwrite(fd.get(), pid.data(), pid.size(), 0) == static_cast<ssize_t>(pid.size());
  return fd;
}

}  // namespace weft::store
