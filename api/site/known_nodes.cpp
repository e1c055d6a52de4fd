// SPDX-License-Identifier: Apache-2.0
#include "api/site/known_nodes.hpp"

namespace weft::api {

void KnownNodes::learn(const std::vector<ShardAnswer<v1::NodeHealth>>& answers, const std::string& asked) {
  const std::lock_guard lock(mutex_);
  for (const auto& each : answers) {
    const bool is_known = each.answer && is_seen(*each.answer);
    if (is_known) note(each.shard, each.answer->node(), true, false);
    if (is_known || !is_named_missing(each)) note(each.shard, asked, is_known, false);
  }
}

void KnownNodes::note(const std::string& shard, const std::string& node, bool is_known, bool is_partial) {
  if (is_known) {
    if (count_ < most_ && !node.empty() && node.size() <= kLongestKnownName)
      count_ += names_[shard].insert(node).second ? 1U : 0U;
  } else if (const auto found = names_.find(shard); !is_partial && found != names_.end()) {
    count_ -= found->second.erase(node);
  }
}

bool KnownNodes::knew(const std::string& shard, const std::string& node) const {
  const auto found = names_.find(shard);
  return found != names_.end() && found->second.contains(node);
}

}  // namespace weft::api
