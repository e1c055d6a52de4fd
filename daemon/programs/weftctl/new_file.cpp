// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/new_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "daemon/programs/weftctl/client.hpp"
#include "fabric/result.hpp"

namespace weft::ctl {

NewFile::NewFile(std::filesystem::path path, Existing existing, std::string advice)
    : path_(std::move(path)), existing_(existing), advice_(std::move(advice)), part_(path_.string() + ".part-XXXXXX") {
  std::error_code ignored;
  const auto there = std::filesystem::symlink_status(path_, ignored);
  // A link is not followed: the file behind it is somebody else's matter.
  if (existing_ == Existing::kIsRefused ? std::filesystem::exists(there) : std::filesystem::is_directory(there))
    fail(existing_ == Existing::kIsRefused ? EEXIST : EISDIR);
  fd_.reset(::mkostemp(part_.data(), O_CLOEXEC));
  if (!fd_) fail(errno);
}

NewFile::~NewFile() {
  if (fd_) ::unlink(part_.c_str());
}

void NewFile::rewind() {
  if (::lseek(fd_.get(), 0, SEEK_SET) < 0 || ::ftruncate(fd_.get(), 0) != 0) fail(errno);
}

void NewFile::append(std::string_view data) {
  while (!data.empty()) {
    const ssize_t written = ::write(fd_.get(), data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(errno);
    data.remove_prefix(static_cast<std::size_t>(written));
  }
}

void NewFile::sync() {
  if (::fsync(fd_.get()) != 0) fail(errno);
}

void NewFile::keep() {
  sync();
  if (existing_ == Existing::kIsReplaced) {
    if (::rename(part_.c_str(), path_.c_str()) != 0) fail(errno);
    // Else nothing is overwritten. NFS and others cannot promise that: there we look ourselves, a moment earlier.
  } else if (::renameat2(AT_FDCWD, part_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) != 0) {
    const bool is_unknown = errno == EINVAL || errno == ENOSYS;
    if (!is_unknown) fail(errno);
    if (::access(path_.c_str(), F_OK) == 0) fail(EEXIST);
    if (::rename(part_.c_str(), path_.c_str()) != 0) fail(errno);
  }
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  const runtime::UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened || ::fsync(opened.get()) != 0) fail(errno);
}

void NewFile::fail(int error) const {
  if (error == EEXIST) throw Failure(Exit::kWrongUsage, path_.string() + " is there already: " + advice_);
  throw Failure(Exit::kBadNews, path_.string() + " cannot be written: " + errno_message(error));
}

}  // namespace weft::ctl
