// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/store_service.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "api/grpc/answer.hpp"

namespace weft::api {
namespace {

constexpr unsigned kMostBackups = 2;
constexpr std::size_t kChunkBytes = 256 * 1024;

/// One copy on its way. The copy may be ready after the caller has gone: whichever comes first ends the call.
class BackupStream final : public grpc::ServerWriteReactor<v1::BackupChunk> {
 public:
  BackupStream(BackupDesk* desk, std::atomic<unsigned>& running)
      : running_(running), state_(std::make_shared<State>()) {
    state_->stream = this;
    if (++running_ > kMostBackups)
      end({ErrorCode::kResourceExhausted, "other backups are under way: retry later"});
    else if (desk == nullptr)
      end({ErrorCode::kUnavailable, "this weftd makes no backups"});
    else
      desk->make([state = state_](Result<OpenBackup> made) { take(*state, std::move(made)); });
  }

 private:
  struct State {
    std::recursive_mutex mutex;      // the desk may answer before make() returns
    BackupStream* stream = nullptr;  ///< until the call is finished
  };

  static void take(State& state, Result<OpenBackup> made) {
    const std::lock_guard lock(state.mutex);
    BackupStream* const stream = state.stream;
    if (stream == nullptr) return;
    if (!made) return stream->end(made.error());
    stream->backup_ = std::move(*made);
    stream->send_next();
  }
  /// With the lock, or before anybody else knows of this.
  void end(const Error& error) { finish(to_status(error)); }
  void finish(const grpc::Status& status) {
    if (std::exchange(state_->stream, nullptr) != nullptr) Finish(status);
  }
  void send_next() {
    if (sent_ == backup_.size) return finish(grpc::Status::OK);
    std::string& data = *chunk_.mutable_data();
    data.resize(std::min<std::uint64_t>(kChunkBytes, backup_.size - sent_));
    backup_.file->read(data.data(), static_cast<std::streamsize>(data.size()));
    if (backup_.file->gcount() != static_cast<std::streamsize>(data.size()))
      return end({ErrorCode::kUnavailable, "the copy cannot be read back from the disk"});
    sent_ += data.size();
    chunk_.set_size(backup_.size);
    chunk_.set_audit_records(backup_.audit_records);
    chunk_.set_audit_hash(backup_.audit_hash);
    StartWrite(&chunk_);
  }
  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(state_->mutex);
    if (state_->stream == nullptr) return;
    if (ok) return send_next();
    finish({grpc::StatusCode::CANCELLED, "the client disconnected"});
  }
  void OnCancel() override {
    const auto state = state_;
    const std::lock_guard lock(state->mutex);
    finish({grpc::StatusCode::CANCELLED, "cancelled"});
  }
  void OnDone() override {
    --running_;
    delete this;
  }

  std::atomic<unsigned>& running_;
  std::shared_ptr<State> state_;
  OpenBackup backup_;
  std::uint64_t sent_ = 0;
  v1::BackupChunk chunk_;
};

}  // namespace

grpc::ServerWriteReactor<v1::BackupChunk>* StoreService::Backup(grpc::CallbackServerContext*,
                                                                const v1::BackupRequest*) {
  return new BackupStream(desk_, running_);
}

}  // namespace weft::api
