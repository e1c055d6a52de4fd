// SPDX-License-Identifier: Apache-2.0
#include "api/site/site_topology.hpp"

#include <algorithm>
#include <utility>

#include "api/publication/derived.hpp"
#include "api/site/merge.hpp"
#include "api/site/site_token.hpp"

namespace weft::api {
namespace {

constexpr std::chrono::milliseconds kPatience{60'000};

void mark_all(v1::Topology& part, const std::string& shard) {
  for (v1::Node& node : *part.mutable_nodes()) mark(node, shard);
  for (v1::Port& port : *part.mutable_ports()) mark(port, shard);
  for (v1::Link& link : *part.mutable_links()) mark(link, shard);
}

std::uint64_t entries_of(const v1::Topology& part) {
  return static_cast<std::uint64_t>(part.nodes_size()) + static_cast<std::uint64_t>(part.ports_size()) +
         static_cast<std::uint64_t>(part.links_size());
}

}  // namespace

SiteTopology::SiteTopology(std::shared_ptr<const Snapshot> snapshot, const std::string& fabric, TimePoint now,
                           ShardPeers* peers)
    : site_(peers == nullptr ? nullptr : snapshot->site), fabric_(fabric), peers_(peers), own_(snapshot, fabric, now) {
  if (snapshot->site && is_before_first_sweep(*snapshot)) missing_ = unswept_ = {snapshot->site->own};
  if (!site_) return;
  others_ = site_->others();
  std::ranges::reverse(others_);
}

void SiteTopology::next(Done done) {
  done_ = std::move(done);
  if (is_own_told_) return next_of_shards();
  v1::Topology part;
  const auto more = own_.next(part);
  if (!more && !site_ && !unswept_.empty()) return answer(fail(ErrorCode::kResourceExhausted, kNotSwept));
  if (!more && (!site_ || more.error().code != ErrorCode::kNotFound)) return answer(tl::unexpected(more.error()));
  if (more && *more) {
    if (site_) mark_all(part, site_->own);
    return answer(std::move(part));
  }
  is_own_told_ = true;
  is_known_ = more.has_value();
  if (!more) unknown_ = more.error();
  next_of_shards();
}

void SiteTopology::next_of_shards() {
  std::unique_lock lock(mutex_);
  if (stream_) {
    is_waiting_ = true;
    return stream_->read_on();
  }
  while (!others_.empty() && !is_cancelled_) {
    const SiteShard shard = std::move(others_.back());
    others_.pop_back();
    current_ = shard.name;
    entries_ = 0;
    v1::GetTopologyRequest request;
    request.set_fabric(fabric_);
    is_waiting_ = true;
    auto opened = Stream::open(
        *peers_, site_, shard, std::move(request),
        [](auto& stub, grpc::ClientContext* context, const v1::GetTopologyRequest* asked, auto* reactor) {
          stub.async()->GetTopology(context, asked, reactor);
        },
        kPatience, [self = shared_from_this()](v1::Topology& part) { return self->take(part); },
        [self = shared_from_this()](const Result<void>& how) { self->ended(how); });
    if (opened) {
      stream_ = std::move(*opened);
      return;
    }
    miss(shard.name, false);
  }
  is_waiting_ = false;
  lock.unlock();
  end();
}

/// False: the next part is read when it is asked for.
bool SiteTopology::take(v1::Topology& part) {
  {
    const std::lock_guard lock(mutex_);
    entries_ += entries_of(part);
    if (entries_ > kMostEntriesOfShard) {
      stream_->cancel();
      return false;
    }
    is_known_ = true;
    is_waiting_ = false;
    if (is_partial(part)) miss(current_, true);
    part.clear_missing_shards();
  }
  mark_all(part, current_);
  answer(std::move(part));
  return false;
}

void SiteTopology::ended(const Result<void>& how) {
  {
    const std::lock_guard lock(mutex_);
    stream_.reset();
    if (how)
      is_known_ = true;
    else if (how.error().code == ErrorCode::kNotFound)
      unknown_ = how.error();
    else
      miss(current_, how.error().message == kNotSwept);
    if (!is_waiting_) return;  // next() goes on with the next shard
  }
  next_of_shards();
}

/// With the lock.
void SiteTopology::miss(const std::string& shard, bool is_unswept) {
  if (!missing_.empty() && missing_.back() == shard) return;
  missing_.push_back(shard);
  if (is_unswept) unswept_.push_back(shard);
}

void SiteTopology::end() {
  if (is_cancelled_) return answer(fail(ErrorCode::kUnavailable, "cancelled"));
  if (!is_known_ && unknown_) return answer(tl::unexpected(unknown_in_site(std::move(*unknown_), missing_, unswept_)));
  if (missing_.empty()) return answer(std::nullopt);
  v1::Topology last;
  for (const std::string& shard : std::exchange(missing_, {})) last.add_missing_shards(shard);
  answer(std::move(last));
}

void SiteTopology::answer(Result<std::optional<v1::Topology>> part) {
  std::exchange(done_, nullptr)(std::move(part));
}

void read_all(const std::shared_ptr<SiteTopology>& topology, std::function<bool(v1::Topology&)> take,
              std::function<void(Result<void>)> done) {
  topology->next([topology, take, done](Result<std::optional<v1::Topology>> part) {
    if (!part) return done(tl::unexpected(part.error()));
    if (!*part) return done({});
    if (take(**part)) return read_all(topology, take, done);
    topology->cancel();
    done(fail(ErrorCode::kResourceExhausted,
              "the topology is too large for one answer: name a fabric, or ask over gRPC"));
  });
}

void SiteTopology::cancel() {
  const std::lock_guard lock(mutex_);
  is_cancelled_ = true;
  if (stream_) stream_->cancel();
}

}  // namespace weft::api
