// SPDX-License-Identifier: Apache-2.0
// Collectors that are not heard here any more: they moved to another shard, or are forgotten.
#include <algorithm>
#include <utility>

#include "daemon/platform/logging/logging.hpp"
#include "daemon/programs/weftd/host_sessions.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;
using analyzer::kHeardThereLately;

/// Soon enough to find one that moved before its silence is trouble.
constexpr Duration kLostAfter = 2s;

}  // namespace

void HostSessions::show(SitePtr site) {
  site_ = std::move(site);
  rules_.set_others(site_ && !site_->others().empty());
}

/// For the store. As long as another shard hears one that is kept, it is not silent; but a standby must not take it for
/// one that the leader hears.
TimePoint HostSessions::last_seen(const Host& host) {
  return std::max(host.view.heard, host.heard_elsewhere - kHeardThereLately);
}

/// Says why it stays though it moved.
void HostSessions::keep(Host& host, const std::string& open, TimePoint now) {
  std::string why;
  if (now - host.heard_elsewhere <= kHeardThereLately)
    why = "its collector reports to shard " + host.moved_to + " now, which does not know " + open +
          ": it stays here until that is over. Let it report here again until then";
  else if (open.empty())
    why = "its collector reported to shard " + host.moved_to + " last, which is not known to hear it now";
  else
    why = "its collector reported to shard " + host.moved_to +
          " last, which is not known to hear it now and does not know " + open + ": it stays here until that is over";
  if (last_seen(host) - host.saved_seen > kHeardThereLately) host.unsaved = true;
  if (why == host.view.elsewhere) return;
  logger("hosts")->warn("{} is of another shard: {}", host.view.host, why);
  host.view.elsewhere = std::move(why);
  host.changed = list_changed_ = true;
}

/// Of one that was heard nowhere for forget_after.
bool HostSessions::may_forget(Host& host, const std::string& open, TimePoint now) {
  if (open.empty()) return true;
  host.is_in_doubt = true;
  if (now < keep_until_) return false;
  // No answer is no knowledge. A shard that will never answer is taken out of the site.
  return !site_ ||
         std::ranges::all_of(site_->others(), [&](const SiteShard& shard) { return host.not_in.contains(shard.name); });
}

void HostSessions::tick(const OpenTrouble& trouble, const ClockMemory& clock) {
  const TimePoint now = clock_.now();
  keep_until_ = std::min(keep_until_, now + kAskOthersFirst);
  old_ = clock.before(now, config_.forget_after);
  for (auto at = hosts_.begin(); at != hosts_.end();) {
    Host& host = at->second;
    host.view.heard = std::min(host.view.heard, now);  // the clock may have been set back
    host.heard_elsewhere = std::min(host.heard_elsewhere, now);
    const bool is_old = !host.stream && std::max(host.view.heard, host.heard_elsewhere) < old_;
    const bool has_moved = !host.stream && !host.moved_to.empty();
    const std::string open = (has_moved || is_old) && trouble ? trouble(at->first) : std::string();
    // Whether it is heard there still decides: if not, nobody else watches it.
    const bool is_there = has_moved && now - host.heard_elsewhere <= kHeardThereLately;
    if (!is_old) host.is_in_doubt = false;
    if (!host.is_in_doubt) host.not_in.clear();
    if ((is_there && open.empty()) || (is_old && may_forget(host, open, now))) {
      logger("hosts")->info("{} is removed: its collector {}", at->first,
                            is_there ? "is of shard " + host.moved_to : "sent nothing for too long");
      forgotten_.push_back(at->first);
      rules_.forget(at->first);
      at = hosts_.erase(at);
      list_changed_ = true;
      continue;
    }
    if (has_moved) keep(host, open, now);
    const CollectorState state = state_of(host, now);
    if (state != host.view.state) {
      host.view.state = state;
      host.changed = list_changed_ = true;
    }
    ++at;
  }
}

std::vector<std::string> HostSessions::lost(std::size_t most) {
  std::vector<std::string> names;
  const TimePoint now = clock_.now();
  const auto add = [&](Hosts::const_iterator at, Hosts::const_iterator end) {
    for (; at != end && names.size() < most; ++at)
      if (!at->second.stream && now - at->second.view.heard > kLostAfter) names.push_back(at->first);
  };
  const auto begin = hosts_.upper_bound(last_lost_);
  add(begin, hosts_.end());
  add(hosts_.begin(), begin);
  last_lost_ = names.empty() ? std::string() : names.back();
  return names;
}

void HostSessions::answered(const std::string& shard, std::span<const std::string> asked,
                            std::vector<HeardThere> known) {
  if (!site_ || shard == site_->own) return;
  std::set<std::string> there;
  for (HeardThere& each : known) {
    const auto found = hosts_.find(each.host);
    if (found != hosts_.end() && !found->second.stream && heard_in(shard, found->second, each)) there.insert(each.host);
  }
  for (const std::string& name : asked) {
    const auto found = hosts_.find(name);
    if (found == hosts_.end() || !found->second.is_in_doubt) continue;
    if (there.contains(name))
      found->second.not_in.erase(shard);
    else
      found->second.not_in.insert(shard);
  }
}

/// Whether the host may be there.
bool HostSessions::heard_in(const std::string& shard, Host& host, HeardThere& there) {
  const SiteShard* const owner = site_->collected_by(host.view.host);
  // A copied disk brings its name and its spool, a new one neither; and clocks of two hosts differ.
  const bool is_same = owner == nullptr ? there.adapters != 0 && there.adapters == host.adapters : owner->name == shard;
  // It may not have been read there yet.
  const bool may_be_same = is_same || (owner == nullptr && there.adapters == 0 && host.adapters != 0);
  const TimePoint now = clock_.now();
  const TimePoint heard = there.is_connected ? now : std::min(there.heard, now);
  if (is_same && (there.is_connected || heard > std::max(host.view.heard, host.heard_elsewhere))) {
    host.moved_to = shard;
    host.heard_elsewhere = heard;
  }
  if (is_same && there.is_connected) rules_.hear_elsewhere(host.view.host, shard, std::move(there.ports), now);
  return may_be_same && heard >= old_;
}

}  // namespace weft::daemon
