// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/watch_ledger.hpp"

#include "daemon/programs/weftctl/value_format.hpp"

namespace weft::ctl {

std::string MissingShards::take(const google::protobuf::RepeatedPtrField<std::string>& now) {
  const std::set<std::string> names(now.begin(), now.end());
  std::string lines;
  for (const std::string& name : names)
    if (!names_.contains(name)) lines += "shard " + printable(name) + " does not answer: what it owns is not told\n";
  for (const std::string& name : names_)
    if (!names.contains(name)) lines += "shard " + printable(name) + " answers again\n";
  names_ = names;
  return lines;
}

void WatchLedger::begin() {
  for (auto& [id, known] : known_) known.is_there = false;
}

bool WatchLedger::is_news(const Item& item) {
  const Known now{item.revision, std::hash<std::string_view>{}(item.text), item.is_over, true};
  const auto [place, is_new] = known_.try_emplace(item.id, now);
  if (is_new) return true;
  Known& known = place->second;
  known.is_there = true;
  if (now.revision < known.revision || (now.revision == known.revision && now.digest == known.digest)) return false;
  known = now;
  return true;
}

std::vector<std::string> WatchLedger::complete(const std::vector<std::string>& missing) {
  std::vector<std::string> gone;
  for (auto at = known_.begin(); missing.empty() && at != known_.end();) {
    if (at->second.is_over && !at->second.is_there) {
      gone.push_back(at->first);
      at = known_.erase(at);
    } else {
      ++at;
    }
  }
  is_complete_ = true;
  return gone;
}

}  // namespace weft::ctl
