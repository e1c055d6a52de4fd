// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calls that wait for the daemon.

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "api/grpc/answer.hpp"
#include "fabric/result.hpp"

namespace weft::api {

/// A call that waits for the daemon's answer, a `Value`, which `convert` makes a `Message` of. The reader's cancelling
/// or deadline ends it earlier; the command is carried out all the same. Whichever comes first finishes, and the other
/// finds that out.
template <typename Value, typename Message>
class CommandCall final : public grpc::ServerUnaryReactor {
 public:
  /// How the answer is written into the message.
  using Convert = std::function<void(const Value&, Message&)>;
  CommandCall(Message* response, Convert convert) : state_(std::make_shared<State>()) {
    state_->call = this;
    state_->response = response;
    state_->convert = std::move(convert);
  }
  /// For one of several functions of the same name.
  CommandCall(Message* response, void (*convert)(const Value&, Message&)) : CommandCall(response, Convert(convert)) {}

  /// The callback for the daemon's command. It may be called after the call has ended, from any thread.
  std::function<void(Result<Value>)> callback() {
    return [state = state_](Result<Value> result) {
      const std::lock_guard lock(state->mutex);
      if (!state->call) return;
      if (result) state->convert(*result, *state->response);
      state->finish(result ? grpc::Status::OK : to_status(result.error()));
    };
  }

 private:
  struct State {
    std::mutex mutex;
    CommandCall* call = nullptr;  ///< until it is finished
    Message* response = nullptr;
    Convert convert;

    void finish(const grpc::Status& status) {
      if (CommandCall* const open = std::exchange(call, nullptr)) open->Finish(status);
    }
  };

  void OnCancel() override {
    const auto state = state_;
    const std::lock_guard lock(state->mutex);
    state->finish({grpc::StatusCode::CANCELLED, "cancelled; the command may still be executed"});
  }
  void OnDone() override {
    // Whoever called Finish() may still hold the lock for an instant; the state is theirs as well.
    delete this;
  }

  std::shared_ptr<State> state_;
};

/// `convert`, and the shard to which belongs what a command changed; see own_shard().
template <typename Value, typename Message>
std::function<void(const Value&, Message&)> in_shard(void (*convert)(const Value&, Message&), std::string shard) {
  return [convert, shard = std::move(shard)](const Value& from, Message& to) {
    convert(from, to);
    to.set_shard(shard);
  };
}

}  // namespace weft::api
