// SPDX-License-Identifier: Apache-2.0
#pragma once
// One stream of a target's values, and the question what models it has, as calls on a queue that one thread drains.

#include <google/protobuf/arena.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "gnmi/gnmi.grpc.pb.h"

namespace weft::switches {

/// A call that is under way. The queue gives back each `Step` that it was handed; the call lives until is_over().
class Call {
 public:
  /// What the queue gives back.
  struct Step {
    Call* call;
    void (Call::*next)(bool ok);  ///< what goes on with it; `ok` as the queue told it
  };

  virtual ~Call() = default;
  /// Asks it to end soon, and hands nothing on from now on. Its steps come back all the same.
  virtual void cancel() {
    is_cancelled_ = true;
    context_.TryCancel();
  }
  /// Nothing of it is in the queue any more.
  bool is_over() const { return is_over_; }
  /// How it ended; of no meaning before is_over().
  const grpc::Status& status() const { return status_; }

  /// What every call shows: metadata names in lower case.
  void add_metadata(const std::string& name, const std::string& value) { context_.AddMetadata(name, value); }
  /// The latest end; none by default.
  void set_deadline(std::chrono::system_clock::time_point end) { context_.set_deadline(end); }

 protected:
  grpc::ClientContext context_;
  grpc::Status status_;
  bool is_over_ = false, is_cancelled_ = false;
};

/// Asks what the target has.
class CapabilitiesCall final : public Call {
 public:
  /// Begins. `stub` and `queue` outlive it.
  void start(::gnmi::gNMI::Stub& stub, grpc::CompletionQueue& queue);
  /// The answer, where status() is good.
  const ::gnmi::CapabilityResponse& response() const { return response_; }

 private:
  void finished(bool ok);

  ::gnmi::CapabilityResponse response_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<::gnmi::CapabilityResponse>> reader_;
  Step finished_{this, static_cast<void (Call::*)(bool)>(&CapabilitiesCall::finished)};
};

/// Subscribes, and hands each message on.
class SubscribeCall final : public Call {
 public:
  /// Takes a message. False: the next one is read after resume() only; until then it waits in the target.
  using Handler = std::function<bool(const ::gnmi::SubscribeResponse&)>;

  /// A call whose messages `handler` takes.
  explicit SubscribeCall(Handler handler) : handler_(std::move(handler)) {}
  /// Begins. `stub` and `queue` outlive it.
  void start(::gnmi::gNMI::Stub& stub, grpc::CompletionQueue& queue, ::gnmi::SubscribeRequest request);
  /// Reads on, where it waits.
  void resume();
  void cancel() override;

 private:
  void started(bool ok);
  void written(bool ok);
  void received(bool ok);
  void finished(bool ok);
  void read();
  void finish();

  Handler handler_;
  ::gnmi::SubscribeRequest request_;
  // A message has a piece of memory for each element of each path: they are given back all at once.
  google::protobuf::Arena arena_;
  ::gnmi::SubscribeResponse* response_ = nullptr;  ///< in it
  std::unique_ptr<grpc::ClientAsyncReaderWriter<::gnmi::SubscribeRequest, ::gnmi::SubscribeResponse>> stream_;
  bool waits_ = false;
  Step started_{this, static_cast<void (Call::*)(bool)>(&SubscribeCall::started)};
  Step written_{this, static_cast<void (Call::*)(bool)>(&SubscribeCall::written)};
  Step received_{this, static_cast<void (Call::*)(bool)>(&SubscribeCall::received)};
  Step finished_{this, static_cast<void (Call::*)(bool)>(&SubscribeCall::finished)};
};

}  // namespace weft::switches
