// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files that a start of weftd reads because its configuration names them, and whether they can be read.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/config.hpp"
#include "fabric/result.hpp"

namespace weft::daemon {

/// A file and the key that names it.
struct InputFile {
  std::string_view key;
  std::filesystem::path path;
};

/// Those that `config` names and a start with it reads. Programs, folders and files that may come later are not among
/// them.
std::vector<InputFile> input_files(const config::WeftdConfig& config);

/// One that this process cannot open.
struct UnreadableFile {
  std::filesystem::path path;
  Error error;  ///< "security.key: cannot read /k: No such file or directory"
};
/// Those of `files`. What a file is or holds is not looked at.
std::vector<UnreadableFile> unreadable(const std::vector<InputFile>& files);

/// Of files that this process can open, those that weftd.service hides from weftd, and those that the account `user`
/// may not read: a sentence for each, with what helps. A process for each file tries it. Empty where there is no such
/// account or where this process is not root. Credentials, which systemd reads for a unit, are left out.
std::vector<std::string> unreadable_to(const std::string& user, const std::vector<InputFile>& files);

}  // namespace weft::daemon
