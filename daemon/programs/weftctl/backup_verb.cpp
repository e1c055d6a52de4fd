// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "daemon/platform/runtime/unique_fd.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"
#include "fabric/result.hpp"

namespace weft::ctl {
namespace {

/// The content of a new file, which gets its name when all of it is on the disk. Until then it is a file of another
/// name beside it, mode 0600, which is removed with this.
class NewFile {
 public:
  /// Throws Failure where it cannot be made, and where there is one of that name.
  explicit NewFile(std::filesystem::path path) : path_(std::move(path)), part_(path_.string() + ".part-XXXXXX") {
    std::error_code ignored;
    if (std::filesystem::exists(std::filesystem::symlink_status(path_, ignored))) fail(EEXIST);
    fd_.reset(::mkostemp(part_.data(), O_CLOEXEC));
    if (!fd_) fail(errno);
  }
  ~NewFile() {
    if (fd_) ::unlink(part_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// From its beginning again.
  void rewind() {
    if (::lseek(fd_.get(), 0, SEEK_SET) < 0 || ::ftruncate(fd_.get(), 0) != 0) fail(errno);
  }
  void append(std::string_view data) {
    while (!data.empty()) {
      const ssize_t written = ::write(fd_.get(), data.data(), data.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(errno);
      data.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  /// It is on the disk for good, under its name.
  void keep() {
    if (::fsync(fd_.get()) != 0) fail(errno);
    // Nothing is overwritten. NFS and others cannot promise that: there we look ourselves, a moment earlier.
    if (::renameat2(AT_FDCWD, part_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) != 0) {
      const bool is_unknown = errno == EINVAL || errno == ENOSYS;
      if (!is_unknown) fail(errno);
      if (::access(path_.c_str(), F_OK) == 0) fail(EEXIST);
      if (::rename(part_.c_str(), path_.c_str()) != 0) fail(errno);
    }
    const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
    const runtime::UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened || ::fsync(opened.get()) != 0) fail(errno);
  }

 private:
  [[noreturn]] void fail(int error) const {
    if (error == EEXIST) throw Failure(Exit::kWrongUsage, path_.string() + " is there already: name a new file");
    throw Failure(Exit::kBadNews, path_.string() + " cannot be written: " + errno_message(error));
  }

  const std::filesystem::path path_;
  std::string part_;
  runtime::UniqueFd fd_;
};

/// A line on the terminal that says how far it is, and goes away with this. Elsewhere there is none.
class ProgressLine {
 public:
  ~ProgressLine() { say(""); }
  void say(const std::string& text) {
    if (is_terminal_) std::cerr << "\r\033[K" << text << std::flush;
  }

 private:
  const bool is_terminal_ = ::isatty(STDERR_FILENO) == 1;
};

}  // namespace

Exit back_up(const Session& session, const std::string& file) {
  NewFile backup(file);
  v1::BackupChunk told;  // what each chunk says of the whole
  ProgressLine progress;
  session.client.patience = std::chrono::minutes(10);  // hundreds of megabytes from a slow disk
  session.client.attempt(Client::Kind::kRead, [&](grpc::ClientContext& context) {
    progress.say("weftd makes the copy and looks through it");
    backup.rewind();
    told.Clear();
    std::uint64_t received = 0;
    const auto stream = session.client.store->Backup(&context, {});
    for (v1::BackupChunk chunk; stream->Read(&chunk);) {
      backup.append(chunk.data());
      received += chunk.data().size();
      chunk.clear_data();
      told = std::move(chunk);
      progress.say(std::to_string(received) + " of " + std::to_string(told.size()) + " bytes");
    }
    const grpc::Status status = stream->Finish();
    if (status.ok() && (told.size() == 0 || received != told.size()))
      return grpc::Status(grpc::StatusCode::DATA_LOSS, "the backup is not whole: try again");
    return status;
  });
  backup.keep();
  progress.say("");
  if (session.json) {
    session.out << json_text(told, false) << '\n';
    return Exit::kGood;
  }
  session.out << file << ": incidents, plans, maintenance and the audit trail, " << std::to_string(told.size())
              << " bytes, checked.\nAudit trail: " << std::to_string(told.audit_records()) << " records, last hash "
              << printable(told.audit_hash()) << ".\nPort history and the configuration are not in it.\n"
              << "To go back to it, with weftd stopped: weftd store restore " << file << " STATE_DIR\n";
  return Exit::kGood;
}

}  // namespace weft::ctl
