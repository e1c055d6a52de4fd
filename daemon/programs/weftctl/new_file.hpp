// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that are whole, or not there.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "daemon/platform/runtime/unique_fd.hpp"

namespace weft::ctl {

/// The content of a new file, which gets its name when all of it is on the disk. Until then it is a file of another
/// name beside it, mode 0600, which is removed with this.
class NewFile {
 public:
  /// Whether a file of that name may be there already.
  enum class Existing : std::uint8_t { kIsRefused, kIsReplaced };
  /// Throws Failure where it cannot be made, and where there is one of that name, if that is refused; `advice` says
  /// what to do then.
  explicit NewFile(std::filesystem::path path, Existing existing = Existing::kIsRefused,
                   std::string advice = "name a new file");
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// From its beginning again. Throws Failure.
  void rewind();
  /// Throws Failure where the disk is full.
  void append(std::string_view data);
  /// What was appended is on the disk, under the other name yet. Throws Failure.
  void sync();
  /// It is on the disk for good, under its name. Throws Failure.
  void keep();
  /// The name that it gets.
  const std::filesystem::path& path() const { return path_; }

 private:
  [[noreturn]] void fail(int error) const;

  const std::filesystem::path path_;
  const Existing existing_;
  const std::string advice_;
  std::string part_;
  runtime::UniqueFd fd_;
};

}  // namespace weft::ctl
