// SPDX-License-Identifier: Apache-2.0
#pragma once
// A stream from another shard of a site.

#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "api/site/answer_fit.hpp"
#include "api/site/shard_peers.hpp"
#include "fabric/result.hpp"
#include "fabric/site.hpp"

namespace weft::api {

/// One call that is answered by a stream of `Event`, introduced and believed like a question of ShardPeers. It keeps
/// itself until it has ended. It ends also when the shard is found not to answer.
template <typename Service, typename Request, typename Event>
class ShardStream final : public grpc::ClientReadReactor<Event>,
                          public std::enable_shared_from_this<ShardStream<Service, Request, Event>> {
 public:
  /// Makes the call.
  using Stub = typename Service::Stub;
  /// Starts the call: `stub.async()->Watch(context, request, reactor)`.
  using Begin =
      std::function<void(Stub& stub, grpc::ClientContext*, const Request*, grpc::ClientReadReactor<Event>* reactor)>;
  /// Takes the next event, on a thread of gRPC. False: the one after it is read when read_on() is called.
  using Take = std::function<bool(Event& event)>;
  /// It has ended: as the shard ended it, or kUnavailable when the shard was not reached, or is another one. Called
  /// once, on a thread of gRPC.
  using Ended = std::function<void(Result<void>)>;

  /// Opens the stream at the address that is asked next. An error: it was not begun, and nothing is called. `patience`:
  /// it ends after that; none: never. `peers` must outlive it.
  static Result<std::shared_ptr<ShardStream>> open(ShardPeers& peers, const SitePtr& site, const SiteShard& shard,
                                                   Request request, const Begin& begin,
                                                   std::chrono::milliseconds patience, Take take, Ended ended) {
    if (const std::string away = peers.is_away(shard.name); !away.empty()) return fail(ErrorCode::kUnavailable, away);
    if (shard.addresses.empty()) return peers.no_address(shard);
    std::shared_ptr<ShardStream> stream(
        new ShardStream(peers, site, shard, std::move(request), std::move(take), std::move(ended)));
    stream->address_ = peers.address_of(shard);
    const auto channel = peers.channel_to(stream->address_);
    if (!channel) return tl::unexpected(channel.error());
    stream->stub_ = Service::NewStub(*channel);
    if (patience > patience.zero()) stream->context_.set_deadline(std::chrono::system_clock::now() + patience);
    introduce(stream->context_, site->own, stream->meant_);
    if (!peers.enter(&stream->context_, {shard.name, [it = stream.get()] { it->cancel(); }}))
      return fail(ErrorCode::kUnavailable, "weftd is stopping");
    stream->self_ = stream;
    begin(*stream->stub_, &stream->context_, &stream->request_, stream.get());
    stream->read();
    stream->StartCall();
    return stream;
  }

  /// Reads the next event, after one for which Take said false. May be called from any thread.
  void read_on() {
    if (!is_held_.exchange(false)) return;  // it was cancelled
    read();
    this->RemoveHold();
  }
  /// Ends it soon. May be called from any thread, at any time.
  void cancel() {
    context_.TryCancel();
    if (is_held_.exchange(false)) this->RemoveHold();
  }

 private:
  ShardStream(ShardPeers& peers, SitePtr site, SiteShard shard, Request request, Take take, Ended ended)
      : peers_(peers),
        site_(std::move(site)),
        shard_(std::move(shard)),
        meant_(shard_identity(*site_, shard_)),
        request_(std::move(request)),
        take_(std::move(take)),
        ended_(std::move(ended)) {}

  /// Of an event that is read, also of one that cannot be, protobuf clears the message: the mark is gone then.
  void read() {
    event_.Clear();
    event_.GetReflection()->MutableUnknownFields(&event_)->AddVarint(kMark, 1);
    this->StartRead(&event_);
  }
  bool is_marked() const {
    const auto& unknown = event_.GetReflection()->GetUnknownFields(event_);
    return unknown.field_count() == 1 && unknown.field(0).number() == kMark;
  }

  void OnReadDone(bool ok) override {
    if (!ok && is_marked()) return;  // OnDone follows
    const bool is_first = !std::exchange(is_believed_, true);
    if (is_first) refusal_ = who_else_answered(context_, address_, meant_);
    if (!refusal_.empty()) return context_.TryCancel();
    // gRPC goes on with a stream of which it could not read a message.
    misfit_ = ok ? misfit(*site_, shard_, request_, event_) : kUnreadable;
    if (!misfit_.empty()) return context_.TryCancel();
    if (is_first) judge({});
    this->AddHold();  // until the next read it must not end
    is_held_ = true;
    if (take_(event_)) read_on();
  }

  void OnDone(const grpc::Status& status) override {
    auto self = std::move(self_);
    ended_(result_of(status));
    ShardPeers& peers = peers_;
    peers.leave(&context_);
    self.reset();      // the stream may be gone from here on
    peers.released();  // nothing of the peers may be used after it
  }

  Result<void> result_of(const grpc::Status& status) {
    ErrorCode code = error_code_of(status.error_code());
    std::string why = status.error_message();
    const bool is_answer = status.ok() || code == ErrorCode::kNotFound || code == ErrorCode::kInvalidArgument;
    if (is_answer && !is_believed_ && refusal_.empty()) refusal_ = who_else_answered(context_, address_, meant_);
    if (!refusal_.empty()) {
      code = ErrorCode::kUnavailable;
      why = refusal_;
    } else if (!misfit_.empty()) {
      judge(misfit_);
      return fail(ErrorCode::kProtocol, misfit_);
    } else if (status.ok()) {
      return {};
    } else if (status.error_code() == grpc::StatusCode::CANCELLED) {
      code = ErrorCode::kUnavailable;
      why = peers_.is_away(shard_.name);
    } else if (code == ErrorCode::kNotFound && !may_be_unknown(request_)) {
      code = ErrorCode::kProtocol;
    }
    if (code == ErrorCode::kUnavailable)
      peers_.try_next(shard_.name);
    else if (code != ErrorCode::kNotFound && code != ErrorCode::kTimeout && why != kNotSwept)
      judge(why);
    return fail(code, why.empty() ? "no answer" : why);
  }
  void judge(const std::string& why) {
    peers_.judge(shard_.name, Request::descriptor()->name(), why.empty() ? why : unanswered<Request>(why));
  }

  static constexpr int kMark = 536'870'911;  ///< the last number of a field, which none of our messages has
  ShardPeers& peers_;
  const SitePtr site_;
  const SiteShard shard_;
  const std::string meant_;
  const Request request_;
  const Take take_;
  const Ended ended_;
  std::string address_;
  std::unique_ptr<Stub> stub_;
  grpc::ClientContext context_;
  Event event_;
  bool is_believed_ = false;           ///< or found out
  std::atomic<bool> is_held_ = false;  ///< whoever takes it back gives the hold back
  std::string refusal_;                ///< why who answers is not believed
  std::string misfit_;                 ///< why what it says is not
  std::shared_ptr<ShardStream> self_;
};

}  // namespace weft::api
