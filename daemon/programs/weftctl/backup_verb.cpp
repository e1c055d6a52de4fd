// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <string>
#include <utility>

#include "daemon/programs/weftctl/new_file.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"

namespace weft::ctl {
namespace {

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
  if (file.empty() || file == "-") throw Failure(Exit::kWrongUsage, "a backup goes into a file: name a new one");
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
  const std::string name = printable(file);
  session.out << name << ": incidents, plans, maintenance and the audit trail, " << std::to_string(told.size())
              << " bytes, checked.\nAudit trail: " << std::to_string(told.audit_records()) << " records, last hash "
              << printable(told.audit_hash()) << ".\nPort history and the configuration are not in it.\n"
              << "To go back to it, with weftd stopped: weftd store restore " << name << " STATE_DIR\n";
  return Exit::kGood;
}

}  // namespace weft::ctl
