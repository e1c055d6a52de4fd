// SPDX-License-Identifier: Apache-2.0
#include "api/site/shard_peers.hpp"

#include <grpcpp/support/client_interceptor.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/client/channel.hpp"

namespace weft::api {
namespace {

namespace experimental = grpc::experimental;

/// gRPC 1.51 calls a question answered (CallbackWithStatusTag::Run) also where the answer could not be read, and gives
/// what was read of it.
class Unread final : public experimental::Interceptor {
 public:
  void Intercept(experimental::InterceptorBatchMethods* methods) override {
    using Point = experimental::InterceptionHookPoints;
    if (methods->QueryInterceptionHookPoint(Point::POST_RECV_STATUS) &&
        methods->QueryInterceptionHookPoint(Point::POST_RECV_MESSAGE) && methods->GetRecvMessage() == nullptr &&
        methods->GetRecvStatus()->ok())
      *methods->GetRecvStatus() = grpc::Status(grpc::StatusCode::INTERNAL, kUnreadable);
    methods->Proceed();
  }
};

class FindUnread final : public experimental::ClientInterceptorFactoryInterface {
 public:
  experimental::Interceptor* CreateClientInterceptor(experimental::ClientRpcInfo*) override { return new Unread(); }
};

}  // namespace

ErrorCode error_code_of(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::INVALID_ARGUMENT:
      return ErrorCode::kInvalidArgument;
    case grpc::StatusCode::NOT_FOUND:
      return ErrorCode::kNotFound;
    case grpc::StatusCode::FAILED_PRECONDITION:
      return ErrorCode::kFailedPrecondition;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return ErrorCode::kResourceExhausted;
    case grpc::StatusCode::DATA_LOSS:
      return ErrorCode::kCorrupt;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return ErrorCode::kTimeout;
    case grpc::StatusCode::UNAUTHENTICATED:
      return ErrorCode::kUnauthenticated;
    case grpc::StatusCode::PERMISSION_DENIED:
      return ErrorCode::kPermissionDenied;
    case grpc::StatusCode::UNAVAILABLE:
      return ErrorCode::kUnavailable;
    default:
      return ErrorCode::kInternal;
  }
}

void introduce(grpc::ClientContext& context, const std::string& own, const std::string& meant) {
  context.AddMetadata(kAskedByShard, own);
  context.AddMetadata(kMeantShard, meant);
}

std::string who_else_answered(const grpc::ClientContext& context, const std::string& address,
                              const std::string& meant) {
  const auto& told = context.GetServerInitialMetadata();
  const auto found = told.find(kAnsweringShard);
  if (found == told.end())
    return "what answers at " + address + " is no weftd of this site: it does not say which shard it is";
  const std::string_view who(found->second.data(), found->second.size());
  if (who == meant) return {};
  constexpr std::size_t kMostShown = 100;
  const auto site_of = [](std::string_view identity) { return identity.substr(0, identity.find('/')); };
  const bool is_same_site = site_of(who) == site_of(meant);
  const std::string_view shard = who.substr(std::min(who.find('/'), who.size() - 1) + 1).substr(0, kMostShown);
  return "shard " + std::string(shard) + (is_same_site ? "" : " of another site") + " answers at " + address +
         ", not shard " + meant.substr(meant.find('/') + 1) + " (number/name)";
}

bool ShardPeers::enter(grpc::ClientContext* context, Open open) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return false;
  open_.emplace(context, std::move(open));
  return true;
}

void ShardPeers::leave(grpc::ClientContext* context) {
  const std::lock_guard lock(mutex_);
  open_.erase(context);
  ++leaving_;
}

void ShardPeers::released() {
  const std::lock_guard lock(mutex_);
  --leaving_;
  idle_.notify_all();
}

void ShardPeers::stop() {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  for (const auto& [context, open] : open_) open.cancel();
  idle_.wait(lock, [this] { return open_.empty() && leaving_ == 0; });
  channels_.clear();
  first_channel_.reset();
}

Result<std::shared_ptr<grpc::Channel>> ShardPeers::channel_to(const std::string& address) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = channels_.find(address); found != channels_.end()) return found->second;
  }
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // weftd is in the management network
  arguments.SetMaxReceiveMessageSize(kMostAnswerBytes);
  limit_connect_time(arguments, kShardPatience);
  // A shard that comes back is found again soon; one whose host is gone does not hold a connection for long.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 500);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 15'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5'000);
  const bool has_token = !security_.token.empty() || !security_.token_file.empty();
  if (has_token && security_.authorities.empty() && !is_loopback_address(address))
    return fail(ErrorCode::kFailedPrecondition,
                "site.token_file is not sent to " + address + " in clear text: set site.authorities for TLS");
  Interceptors interceptors;
  interceptors.push_back(std::make_unique<FindUnread>());
  auto channel = open_channel(address, security_, arguments, std::move(interceptors));
  if (!channel) return channel;
  const std::lock_guard lock(mutex_);
  if (!first_channel_ && !stopped_) first_channel_ = *channel;
  return channels_.try_emplace(address, std::move(*channel)).first->second;
}

std::string ShardPeers::address_of(const SiteShard& shard) {
  const std::lock_guard lock(mutex_);
  Peer& peer = peers_[shard.name];
  if (peer.addresses != shard.addresses) {
    for (const std::string& before : peer.addresses) channels_.erase(before);
    peer.addresses = shard.addresses;
    peer.current = 0;
  }
  return peer.addresses[peer.current];
}

std::string ShardPeers::is_away(const std::string& shard) const {
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(shard);
  if (found == peers_.end() || found->second.reached.answers) return {};
  return found->second.reached.trouble;
}

tl::unexpected<Error> ShardPeers::no_address(const SiteShard& shard) {
  const std::string why = shard.trouble.empty() ? "no weftd of it has told its address yet" : shard.trouble;
  note(shard.name, false, why);
  return fail(ErrorCode::kUnavailable, why);
}

void ShardPeers::note(const std::string& shard, bool answers, const std::string& trouble) {
  const std::lock_guard lock(mutex_);
  Peer& peer = peers_[shard];
  peer.reached = {answers, answers ? "" : trouble.empty() ? "no answer" : unreachable_reason(trouble)};
  // A weftd with TLS ends a connection in clear text without a word.
  if (peer.reached.trouble == "Socket closed")
    peer.reached.trouble += " (where weftd there has TLS, set site.authorities here)";
  peer.is_late = false;
  if (answers) return;
  // A stream on which nothing comes does not tell a shard that hangs from one where nothing happens.
  for (const auto& [context, open] : open_)
    if (open.stream_of == shard) open.cancel();
}

void ShardPeers::note_late(const std::string& shard) {
  const std::lock_guard lock(mutex_);
  peers_[shard].is_late = true;
}

void ShardPeers::judge(const std::string& shard, const std::string& question, const std::string& why, bool for_now) {
  using Clock = std::chrono::steady_clock;
  const std::lock_guard lock(mutex_);
  auto& unanswered = peers_[shard].unanswered;
  if (why.empty())
    unanswered.erase(question);
  else
    unanswered[question] = {why, for_now ? Clock::now() + kCannotNow : Clock::time_point::max()};
}

void ShardPeers::try_next(const std::string& shard) {
  const std::lock_guard lock(mutex_);
  Peer& peer = peers_[shard];
  if (!peer.addresses.empty()) peer.current = (peer.current + 1) % peer.addresses.size();
}

void ShardPeers::try_first(const std::string& shard) {
  const std::lock_guard lock(mutex_);
  peers_[shard].current = 0;
}

std::map<std::string, ShardPeers::Reached> ShardPeers::reached() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, Reached> all;
  const auto now = std::chrono::steady_clock::now();
  for (const auto& [name, peer] : peers_) {
    Reached& reached = all.emplace(name, peer.reached).first->second;
    if (reached.answers && peer.is_late) reached = {false, kLate};
    if (!reached.answers) continue;
    for (const auto& [question, unanswered] : peer.unanswered)
      if (reached.trouble.empty() && unanswered.until > now) reached.trouble = unanswered.why;
  }
  return all;
}

}  // namespace weft::api
