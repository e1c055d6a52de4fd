// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/watch_ledger.hpp"

namespace weft::ctl {

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

std::vector<std::string> WatchLedger::complete() {
  std::vector<std::string> gone;
  for (auto at = known_.begin(); at != known_.end();) {
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
