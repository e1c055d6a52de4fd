// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/net/secret.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "daemon/platform/runtime/unique_fd.hpp"
#include "fabric/result.hpp"

namespace weft::net {

Result<std::string> read_secret(const std::filesystem::path& path, SecretMode mode, std::size_t most) {
  const std::string name = path.string();
  // O_NONBLOCK: a FIFO of that name must not hold us up.
  const runtime::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd)
    return fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
                "cannot read " + name + ": " + errno_message(errno));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0)
    return fail(ErrorCode::kUnavailable, "cannot read " + name + ": " + errno_message(errno));
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::kInvalidArgument, name + " is not a file");
  if (info.st_uid != 0 && info.st_uid != ::geteuid())
    return fail(ErrorCode::kFailedPrecondition, name + " must belong to root or to the user that runs this program");
  const mode_t forbidden = mode == SecretMode::kPrivate ? S_IWGRP | S_IRWXO : S_IWGRP | S_IWOTH;
  if ((info.st_mode & forbidden) != 0)
    return fail(ErrorCode::kFailedPrecondition,
                name + (mode == SecretMode::kPrivate ? " is accessible to others: run chmod 0600"
                                                     : " is writable by others: run chmod go-w"));
  std::string text(most + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(fd.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(ErrorCode::kUnavailable, "cannot read " + name + ": " + errno_message(errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > most)
    return fail(ErrorCode::kInvalidArgument, name + " is larger than " + std::to_string(most) + " bytes");
  text.resize(size);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return fail(ErrorCode::kInvalidArgument, name + " is empty");
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace weft::net
