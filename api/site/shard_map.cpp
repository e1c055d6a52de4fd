// SPDX-License-Identifier: Apache-2.0
#include "api/site/shard_map.hpp"

#include <cstdint>
#include <memory>
#include <utility>

#include "api/site/rpc.hpp"
#include "weft/v1/fabric.grpc.pb.h"

namespace weft::api {
namespace {

constexpr std::size_t kMostBytes = 64UL << 20;
constexpr int kMostBeginnings = 3;
constexpr int kMostPieces = 96;  ///< weftd's own have 3 MB

/// It keeps itself while a piece is under way.
class MapReading : public std::enable_shared_from_this<MapReading> {
 public:
  MapReading(ShardPeers& peers, SitePtr site, SiteShard shard, bool state,
             std::function<void(Result<std::string>)> done)
      : peers_(peers), site_(std::move(site)), shard_(std::move(shard)), done_(std::move(done)) {
    request_.set_state(state);
  }

  void go_on() {
    request_.set_offset(json_.size());
    peers_.ask<v1::FabricService, v1::GetMapRequest, v1::GetMapResponse>(
        site_, shard_, request_, rpc(&Calls<v1::FabricService>::GetMap), false,
        [self = shared_from_this()](const ShardAnswer<v1::GetMapResponse>& answer) { self->take(answer); });
  }

 private:
  void take(const ShardAnswer<v1::GetMapResponse>& answer) {
    if (!answer.answer) return fail_with(ErrorCode::kUnavailable, " does not answer: " + answer.answer.error().message);
    const v1::GetMapResponse& piece = *answer.answer;
    if (piece.size() > kMostBytes) return fail_with(ErrorCode::kResourceExhausted, " is too large to be drawn");
    if (!json_.empty() && piece.version() != version_) {
      if (++beginnings_ >= kMostBeginnings)
        return fail_with(ErrorCode::kUnavailable, " changes faster than it is read");
      json_.clear();
      return go_on();
    }
    version_ = piece.version();
    json_ += piece.json();
    if (json_.size() == piece.size()) return done_(std::move(json_));
    if (piece.json().empty() || json_.size() > piece.size() || ++pieces_ >= kMostPieces)
      return fail_with(ErrorCode::kUnavailable, " does not say what it was asked");
    go_on();
  }
  void fail_with(ErrorCode code, const std::string& why) { done_(fail(code, "shard " + shard_.name + why)); }

  ShardPeers& peers_;
  const SitePtr site_;
  const SiteShard shard_;
  const std::function<void(Result<std::string>)> done_;
  v1::GetMapRequest request_;
  std::string json_;
  std::uint64_t version_ = 0;
  int beginnings_ = 0;
  int pieces_ = 0;
};

}  // namespace

void read_map(ShardPeers& peers, const SitePtr& site, const SiteShard& shard, bool state,
              std::function<void(Result<std::string>)> done) {
  std::make_shared<MapReading>(peers, site, shard, state, std::move(done))->go_on();
}

}  // namespace weft::api
