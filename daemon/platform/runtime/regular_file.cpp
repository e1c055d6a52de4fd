// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/runtime/regular_file.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "daemon/platform/runtime/unique_fd.hpp"

namespace weft::runtime {
namespace {

/// Its name, or its number where it has none.
std::string own_user() {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  const uid_t user = ::geteuid();
  if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) return entry.pw_name;
  return std::to_string(user);
}

}  // namespace

Result<std::string> read_regular(const std::filesystem::path& path, std::size_t most,
                                 const std::function<Result<void>(const struct stat&)>& is_fit) {
  constexpr std::size_t kPiece = 64UL << 10;
  const std::string name = path.string();
  const auto cannot_read = [&name](int error) {
    return fail(error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
                "cannot read " + name + ": " + errno_message(error) +
                    (error == EACCES ? " for user " + own_user() + ", as which this program runs" : ""));
  };
  // O_NONBLOCK: a FIFO of that name must not hold us up.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return cannot_read(errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return cannot_read(errno);
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::kInvalidArgument, name + " is not a regular file");
  if (is_fit)
    if (const Result<void> fit = is_fit(info); !fit) return tl::unexpected<Error>(fit.error());
  std::string text;
  for (std::size_t size = 0; size <= most;) {
    // Files of /proc say that they are empty: what is there is read in pieces.
    text.resize(std::min(size + kPiece, most + 1));
    const ssize_t got = ::read(fd.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_read(errno);
    size += static_cast<std::size_t>(got);
    if (got > 0) continue;
    text.resize(size);
    return text;
  }
  return fail(ErrorCode::kInvalidArgument, name + " is larger than " + std::to_string(most) + " bytes");
}

}  // namespace weft::runtime
