// SPDX-License-Identifier: Apache-2.0
#include "api/site/shard_peers.hpp"

#include "api/client/channel.hpp"

namespace weft::api {

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

bool ShardPeers::enter(grpc::ClientContext* context) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return false;
  open_.insert(context);
  return true;
}

void ShardPeers::leave(grpc::ClientContext* context) {
  const std::lock_guard lock(mutex_);
  open_.erase(open_.find(context));
  if (open_.empty()) idle_.notify_all();
}

void ShardPeers::stop() {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  for (grpc::ClientContext* context : open_) context->TryCancel();
  idle_.wait(lock, [this] { return open_.empty(); });
  channels_.clear();
}

Result<std::shared_ptr<grpc::Channel>> ShardPeers::channel_to(const std::string& address) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = channels_.find(address); found != channels_.end()) return found->second;
  }
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // weftd is in the management network
  limit_connect_time(arguments, kShardPatience);
  // A shard that comes back is found again soon; one whose host is gone does not hold a connection for long.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 500);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 15'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5'000);
  auto channel = open_channel(address, security_, arguments);
  if (!channel) return channel;
  const std::lock_guard lock(mutex_);
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

void ShardPeers::note(const std::string& shard, bool answers, const std::string& trouble) {
  const std::lock_guard lock(mutex_);
  peers_[shard].reached = {answers, answers ? "" : trouble.empty() ? "no answer" : trouble};
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
  for (const auto& [name, peer] : peers_) all.emplace(name, peer.reached);
  return all;
}

}  // namespace weft::api
