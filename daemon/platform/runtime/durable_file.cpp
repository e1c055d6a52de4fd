// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/runtime/durable_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "daemon/platform/runtime/unique_fd.hpp"

namespace weft::runtime {
namespace {

/// Writes all of it and waits for the disk; the errno, or 0.
int write_durably(const std::filesystem::path& path, std::string_view text) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd) return errno;
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(fd.get(), text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno;
    done += static_cast<std::size_t>(wrote);
  }
  return ::fsync(fd.get()) == 0 ? 0 : errno;
}

}  // namespace

Result<void> replace_durably(const std::filesystem::path& file, std::string_view text) {
  const std::filesystem::path fresh = file.string() + ".new";
  int error = write_durably(fresh, text);
  if (error == 0 && ::rename(fresh.c_str(), file.c_str()) != 0) error = errno;
  if (error == 0) {
    const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
    const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd || ::fsync(fd.get()) != 0) error = errno;
  }
  if (error == 0) return {};
  return fail(error == ENOSPC ? ErrorCode::kResourceExhausted : ErrorCode::kUnavailable,
              "cannot write " + file.string() + ": " + errno_message(error));
}

}  // namespace weft::runtime
