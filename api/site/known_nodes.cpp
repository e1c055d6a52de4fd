// SPDX-License-Identifier: Apache-2.0
#include "api/site/known_nodes.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "fabric/host_names.hpp"
#include "fabric/ids.hpp"

namespace weft::api {
namespace {

/// The one name of all that same_host() may take for the same, and of all spellings of a GUID.
std::string one_name(std::string_view name) {
  if (const auto guid = parse_guid(name)) return to_string(NodeGuid{*guid});
  return short_host_name(name);
}

std::size_t hash_of(std::string_view name) {
  return std::hash<std::string>()(folded_name(name));
}

}  // namespace

void KnownNodes::learn(const std::vector<ShardAnswer<v1::NodeHealth>>& answers, const std::string& asked) {
  const std::lock_guard lock(mutex_);
  for (const auto& each : answers) {
    const bool is_known = each.answer && is_seen(*each.answer);
    if (is_known) note(each.shard, each.answer->node(), true, false);
    if (is_known || !is_named_missing(each)) note(each.shard, asked, is_known, false);
  }
}

void KnownNodes::note(const std::string& shard, const std::string& node, bool is_known, bool is_partial) {
  if (node.empty() || node.size() > kLongestKnownName || (!is_known && is_partial)) return;
  const std::string name = one_name(node);
  const std::size_t seen = hash_of(node);
  if (const auto claimed = claimed_.find(shard);
      claimed != claimed_.end() && (is_known || node.find('.') == std::string::npos))
    claimed_count_ -= claimed->second.erase(name);
  if (is_known) {
    if (!young_[shard].contains(name)) make_room();
    young_[shard][name] = seen;
    return;
  }
  // That a host of one domain is not there says nothing of one of another domain.
  const bool is_of_domain = node.find('.') != std::string::npos;
  const auto forget = [&](Names& names) {
    const auto found = names.find(name);
    if (found == names.end() || (is_of_domain && found->second != seen)) return false;
    names.erase(found);
    return true;
  };
  if (forget(young_[shard])) --count_;
  forget(old_[shard]);
}

void KnownNodes::claim(const std::string& shard, const std::string& node) {
  if (node.empty() || node.size() > kLongestKnownName) return;
  const std::lock_guard lock(mutex_);
  if (knew(shard, node)) return;
  if (claimed_count_ >= most_claimed_) {
    dropped_.insert(shard);
    return;
  }
  ++claimed_count_;
  claimed_[shard][one_name(node)] = hash_of(node);
}

/// For one more young one.
void KnownNodes::make_room() {
  if (++count_ <= std::max<std::size_t>(most_ / 2, 1)) return;
  for (const auto& [shard, names] : old_) {
    const Names& kept = young_[shard];
    if (std::ranges::any_of(names, [&](const auto& entry) { return !kept.contains(entry.first); }))
      dropped_.insert(shard);
  }
  old_ = std::exchange(young_, {});
  count_ = 1;
}

bool KnownNodes::knew(const std::string& shard, const std::string& node) const {
  const auto has = [&](const std::map<std::string, Names>& all, const std::string& name) {
    const auto found = all.find(shard);
    return found != all.end() && found->second.contains(name);
  };
  const std::string name = one_name(node);
  return has(young_, name) || has(old_, name) || has(claimed_, name);
}

bool KnownNodes::forgets() const {
  const std::lock_guard lock(mutex_);
  return !dropped_.empty();
}

}  // namespace weft::api
