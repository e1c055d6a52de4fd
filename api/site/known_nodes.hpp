// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which nodes the shards knew when they answered last: a verdict without a shard that is silent now, and had the node,
// is no whole one.

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/site/merge.hpp"

namespace weft::api {

/// Hosts that are kept, of all shards together: some 30 MB.
inline constexpr std::size_t kMostKnownNames = 300'000;
/// Of those, what callers that say they are a shard claimed and no answer of that shard has told yet.
inline constexpr std::size_t kMostClaimedNames = 100'000;
/// A longer one is not kept.
inline constexpr std::size_t kLongestKnownName = 256;

/// Nodes by shard, by the names that they were asked for and that the shards call them. Names of one host are one: in
/// any case, with a domain or without; of hosts of several domains that have the same short name one stands for all. So
/// are all spellings of a GUID. It forgets at a restart. All members may be called from any thread.
class KnownNodes {
 public:
  /// Of more than `most` / 2 those that were seen longest ago may be dropped; more than `most` are never kept, and
  /// `most_claimed` besides. Of a shard of which something was dropped every node may be one that it knew.
  explicit KnownNodes(std::size_t most = kMostKnownNames, std::size_t most_claimed = kMostClaimedNames)
      : most_(most), most_claimed_(most_claimed) {}

  /// The shard knows that node.
  void learn(const std::string& shard, const std::string& node) {
    const std::lock_guard lock(mutex_);
    note(shard, node, true, false);
  }
  /// Somebody who says that he is the shard knows that node. Whoever may ask may say so: it takes the place of nothing
  /// that a shard answered, and is forgotten when the shard answers that it does not know it.
  void claim(const std::string& shard, const std::string& node);
  /// Takes what the shards say of a node that was asked for by the name `asked`.
  void learn(const std::vector<ShardAnswer<v1::NodeHealth>>& answers, const std::string& asked);
  /// Takes what they say of many nodes: of BatchGet or of a job.
  template <typename Response>
  void learn(const std::vector<ShardAnswer<Response>>& answers) {
    const std::lock_guard lock(mutex_);
    for (const auto& each : answers)
      if (each.answer)
        for (const v1::NodeHealth& health : each.answer->nodes())
          note(each.shard, health.node(), is_seen(health), is_named_missing(each));
  }
  /// Doubts a merged verdict where a missing shard knew the node by its name or as `asked`; see api::doubt().
  void doubt(v1::NodeHealth& health, const std::string& asked) const { doubt(health, health.missing_shards(), asked); }
  /// The same of each node of an answer about many; nothing of an error.
  template <typename Response>
  void doubt(Result<Response>& merged) const {
    if (!merged || merged->missing_shards().empty()) return;
    for (v1::NodeHealth& health : *merged->mutable_nodes()) doubt(health, merged->missing_shards(), {});
  }
  /// Some were dropped because there are too many.
  bool forgets() const;

 private:
  /// By the one name of a node a hash of the name that it was seen by last.
  using Names = std::unordered_map<std::string, std::size_t>;

  /// Of a shard that `is_partial` only what it knows counts.
  void note(const std::string& shard, const std::string& node, bool is_known, bool is_partial);
  void make_room();
  template <typename Shards>
  void doubt(v1::NodeHealth& health, const Shards& missing, const std::string& asked) const {
    const std::lock_guard lock(mutex_);
    for (const std::string& shard : missing) {
      if (knew(shard, health.node()) || knew(shard, asked)) return api::doubt(health, shard, true);
      if (dropped_.contains(shard)) return api::doubt(health, shard, false);
    }
  }
  bool knew(const std::string& shard, const std::string& node) const;

  const std::size_t most_, most_claimed_;
  mutable std::mutex mutex_;
  std::map<std::string, Names> young_;  ///< by shard
  std::map<std::string, Names> old_;    ///< what was young before; dropped when that is full again
  std::map<std::string, Names> claimed_;
  std::size_t count_ = 0;          ///< of those that are young
  std::size_t claimed_count_ = 0;  ///< of claimed_
  std::set<std::string> dropped_;  ///< shards that knew nodes which are not kept
};

}  // namespace weft::api
