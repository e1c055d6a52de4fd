// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/net/secret.hpp"

#include <unistd.h>

#include "daemon/platform/runtime/regular_file.hpp"
#include "fabric/result.hpp"

namespace weft::net {

Result<std::string> read_secret(const std::filesystem::path& path, SecretMode mode, std::size_t most) {
  const std::string name = path.string();
  const auto is_fit = [&](const struct stat& info) -> Result<void> {
    if (info.st_uid != 0 && info.st_uid != ::geteuid())
      return fail(ErrorCode::kFailedPrecondition, name + " must belong to root or to the user that runs this program");
    const mode_t forbidden = mode == SecretMode::kPrivate ? S_IWGRP | S_IRWXO : S_IWGRP | S_IWOTH;
    if ((info.st_mode & forbidden) == 0) return {};
    return fail(ErrorCode::kFailedPrecondition,
                name + (mode == SecretMode::kPrivate ? " is accessible to others: run chmod 0600"
                                                     : " is writable by others: run chmod go-w"));
  };
  const Result<std::string> read = runtime::read_regular(path, most, is_fit);
  if (!read) return read;
  const std::string& text = *read;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return fail(ErrorCode::kInvalidArgument, name + " is empty");
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace weft::net
