// SPDX-License-Identifier: Apache-2.0
// What Core does about subnets that the ledger knows and that nobody watches.

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/platform/logging/logging.hpp"
#include "daemon/programs/weftd/core.hpp"
#include "fabric/sight.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

// A restart finds its adapters again within this time; what is still open of other subnets then is nobody's.
constexpr Duration kWaitForSubnets = 10min;
// A subnet that no weftd of this ledger has seen for longer when this one begins to lead was given up.
constexpr Duration kLongestUnseen = 7 * 24h;
constexpr Duration kLookEvery = 5s;
constexpr const char* kNoPort = "no active port of this host leads to it";

bool is_ethernet(const KnownLink& link) {
  return !link.low.port_name.empty() || !link.high.port_name.empty();
}

bool share_one(const std::vector<NodeGuid>& first, const std::vector<NodeGuid>& other) {
  return std::ranges::any_of(
      other, [&](NodeGuid guid) { return std::ranges::binary_search(first, guid.value, {}, &NodeGuid::value); });
}

}  // namespace

void Core::remember_fabrics(std::vector<store::FabricMemory> memories) {
  for (store::FabricMemory& memory : memories) memories_[memory.fabric] = std::move(memory);
  std::set<PortKey> swept;
  for (const auto& [name, memory] : memories_)
    for (const KnownLink& link : memory.state.links) {
      if (is_ethernet(link)) continue;
      if (link.low.type == NodeType::kChannelAdapter) swept.insert(link.key.low);
      if (link.high.type == NodeType::kChannelAdapter) swept.insert(link.key.high);
    }
  host_rules_.set_swept(std::move(swept));
}

std::vector<NodeGuid> Core::known_switches(const std::string& fabric) const {
  std::vector<NodeGuid> switches;
  for (const KnownLink& link : known_links(fabric)) {
    if (link.low.type == NodeType::kSwitch) switches.push_back(link.key.low.node);
    if (link.high.type == NodeType::kSwitch) switches.push_back(link.key.high.node);
  }
  return choose_switches(switches, switches.size());
}

bool Core::is_found(const std::string& name, const std::string& through) {
  const auto found = fabrics_.find(name);
  if (found == fabrics_.end()) return false;
  if (unwatched_.erase(name) == 0) return true;
  found->second.view.through = through;
  found->second.view.is_unreachable = false;
  found->second.trouble.clear();
  publish();
  return true;
}

// Ports that are named are all that a person wants to be watched; of ports that are found one may be missing, and a
// weftd that just started does not know it.
void Core::watch_over_known(TimePoint now) {
  if (!leads_ || !config_.infiniband.enabled || !config_.infiniband.ports.automatic) return;
  if (!passed(now, started_, config_.analyzer.telemetry_start_grace) || !passed(now, known_looked_, kLookEvery)) return;
  known_looked_ = now;
  std::set<std::string> elsewhere;  // the same subnet has another name now: another port leads there
  const auto before = sights();
  for (const std::string& name : unwatched_) {
    const auto switches = known_switches(name);
    if (std::ranges::any_of(before, [&](const FabricSight& sight) {
          return !unwatched_.contains(sight.name) && share_one(sight.switches, switches);
        }))
      elsewhere.insert(name);
  }
  for (const std::string& name : elsewhere) remove_fabric(name);
  auto own = sights();
  for (const auto& [name, memory] : memories_) {
    if (fabrics_.contains(name) || memory.seen == kNever || started_ - memory.seen > kLongestUnseen) continue;
    if (std::ranges::any_of(memory.state.links, is_ethernet)) continue;
    const auto switches = known_switches(name);
    if (switches.empty() || std::ranges::any_of(own, [&](const FabricSight& sight) {
          return sight.switches.empty() ? !sight.is_seen : share_one(sight.switches, switches);
        }))
      continue;
    logger("infiniband")->warn("{}: {}, and it was watched before", name, kNoPort);
    add_fabric(name);
    unwatched_.insert(name);
    own.push_back({name, false, switches});
    fabrics_.at(name).trouble = kNoPort;
    fabrics_.at(name).view.is_unreachable = true;
  }
}

void Core::give_up(const std::string& fabric, TimePoint now) {
  if (!leads_) return;
  note(incidents_.give_up(fabric, "its subnet is no longer monitored under this name", now), now, {}, nullptr);
}

void Core::give_up_what_nobody_watches(TimePoint now) {
  if (!leads_ || !passed(now, started_, kWaitForSubnets)) return;
  std::set<std::string> others;
  for (const auto& incident : *incidents_.all())
    if (incident->is_open() && !incident->finding.cause.fabric.empty() &&
        !fabrics_.contains(incident->finding.cause.fabric))
      others.insert(incident->finding.cause.fabric);
  for (const std::string& fabric : others) give_up(fabric, now);
}

}  // namespace weft::daemon
