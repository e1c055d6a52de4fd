// SPDX-License-Identifier: Apache-2.0
// What collectors tell of hosts: settings, PCIe, temperatures of modules.

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_map>
#include <utility>

#include "analyzer/acceptance/checks.hpp"
#include "analyzer/ports/freshness.hpp"
#include "fabric/config_facts.hpp"
#include "fabric/host_names.hpp"
#include "fabric/number_text.hpp"

namespace weft::analyzer {
namespace {

/// The top of the commercial range of case temperatures of pluggable modules, thousandths of a degree (SFF-8636, CMIS).
constexpr std::int64_t kMostModuleTemperature = 70'000;

/// All hosts that are judged, each once.
std::set<std::string> hosts_of(const AcceptanceFacts& facts) {
  std::set<std::string> hosts;
  for (const AcceptanceView& view : facts.views) hosts.insert(view.scope.hosts.begin(), view.scope.hosts.end());
  for (const AcceptanceTarget& target : facts.run.targets)
    if (target.kind == AcceptanceTargetKind::kHost &&
        std::ranges::none_of(hosts, [&target](const std::string& host) { return same_host(host, target.name); }))
      hosts.insert(target.name);
  return hosts;
}

/// Collectors by the short names of their hosts.
class Collectors {
 public:
  explicit Collectors(const HostListPtr& hosts) {
    if (!hosts) return;
    for (const auto& host : *hosts) by_name_.emplace(short_host_name(host->host), host.get());
  }
  /// The connected collector of that host with what it read of its settings, or null.
  const FactTable* facts_of(const std::string& host) const {
    const auto [begin, end] = by_name_.equal_range(short_host_name(host));
    for (auto it = begin; it != end; ++it)
      if (same_host(it->second->host, host) && it->second->state == CollectorState::kConnected && it->second->reading &&
          it->second->reading->facts)
        return it->second->reading->facts.get();
    return nullptr;
  }

 private:
  std::unordered_multimap<std::string, const HostView*> by_name_;
};

/// The number that the value begins with: "32.0 GT/s PCIe", "16"; 0: none.
double number_of(const FactValue* value) {
  double number = 0;
  if (value != nullptr) std::from_chars(value->value.data(), value->value.data() + value->value.size(), number);
  return number;
}

void judge_slot(const std::string& host, const PortFacts& port, std::set<std::string>& told, Tally& tally) {
  // Facts of an adapter stand at each of its ports.
  if (port.device.empty() || !told.insert(port.device).second) return;
  const FactValue* const speed = find_fact(port, ConfigFact::kPcieSpeed);
  const FactValue* const width = find_fact(port, ConfigFact::kPcieWidth);
  const FactValue* const most_speed = find_fact(port, ConfigFact::kPcieSpeedMost);
  const FactValue* const most_width = find_fact(port, ConfigFact::kPcieWidthMost);
  if (speed == nullptr && width == nullptr && most_speed == nullptr && most_width == nullptr) return;  // no PCI device
  const std::string label = host + ' ' + port.device;
  if (number_of(speed) <= 0 || number_of(width) <= 0 || number_of(most_speed) <= 0 || number_of(most_width) <= 0)
    return tally.not_measured(label, host, "its PCIe speed and width are not all read");
  if (number_of(speed) < number_of(most_speed) || number_of(width) < number_of(most_width))
    return tally.fail(label, host,
                      "runs at " + width->value + " lanes of " + speed->value + ", of " + most_width->value +
                          " lanes of " + most_speed->value);
  tally.pass();
}

/// Adapters are compared with those of their make.
bool tells_make(const FactTable& table) {
  return std::ranges::any_of(table.ports, [](const PortFacts& port) {
    return find_fact(port, ConfigFact::kBoard) != nullptr || find_fact(port, ConfigFact::kPciIds) != nullptr;
  });
}

/// A setting on which a group does not agree, as far as it is about these hosts.
void judge_difference(const AcceptanceFacts& facts, const DriftDifference& difference,
                      const std::set<std::string>& hosts, std::set<std::string>& named, Tally& tally) {
  const std::string setting = row_of(difference.fact).words;
  std::size_t found = 0;
  for (const DriftHolder& holder : difference.holders) {
    const auto host = std::ranges::find_if(hosts, [&](const auto& name) { return same_host(name, holder.where.host); });
    if (host == hosts.end()) continue;
    ++found;
    named.insert(*host);
    const std::string most = difference.values.empty() ? "" : ", most have " + difference.values.front().value;
    const std::string told = setting + " is " + holder.value + most + " (" + difference.group + ')';
    if (holder.is_young)
      tally.add({AcceptanceVerdict::kNotYet, holder.where.label, *host,
                 told + "; it is new: a rollout may be under way (drift.rollout)"});
    else
      tally.fail(holder.where.label, *host, told);
  }
  const bool is_undecided =
      difference.state == ConfigDriftState::kTooFew || difference.state == ConfigDriftState::kNoMajority;
  if (is_undecided && (facts.run.targets.empty() || found > 0 || difference.holders.empty()))
    tally.not_measured(difference.group, {},
                       setting + " differs, and no value is what most have: " + to_string(difference.state));
  if (difference.differing > difference.holders.size())
    tally.not_measured(difference.group, {},
                       setting + " differs on " + count_text(difference.differing) + ", and not all are listed");
}

}  // namespace

AcceptanceCheck check_configuration(const AcceptanceFacts& facts, HostVerdicts& hosts) {
  Tally tally(AcceptanceKind::kConfiguration,
              "firmware, driver, MTU, PFC and every other setting is what most adapters of its make have",
              "the majority among adapters of one make in hosts that are called alike (weftctl drift)", hosts);
  const Collectors collectors(facts.hosts);
  const std::set<std::string> all = hosts_of(facts);
  std::set<std::string> named;
  const bool is_compared = facts.drift != nullptr && facts.drift->is_enabled;
  if (is_compared) {
    for (const DriftDifference& difference : facts.drift->differences)
      judge_difference(facts, difference, all, named, tally);
    if (facts.drift->left_out > 0)
      tally.not_measured("other settings", {}, count_text(facts.drift->left_out) + " differences are not listed");
  }
  for (const std::string& host : all) {
    if (named.contains(host)) continue;
    const FactTable* const table = collectors.facts_of(host);
    if (!is_compared)
      tally.not_measured(host, host, "settings are not compared, or not yet");
    else if (table == nullptr)
      tally.not_measured(host, host, "no collector tells of its settings");
    else if (!tells_make(*table) || facts.drift->hosts < 2)
      tally.not_measured(host, host, "there is no other host with adapters of its make to compare with");
    else
      tally.pass();
  }
  return std::move(tally).finish("no host was selected");
}

AcceptanceCheck check_pcie(const AcceptanceFacts& facts, HostVerdicts& hosts) {
  Tally tally(AcceptanceKind::kPcie, "each adapter has the most lanes and the highest speed that it can have",
              "max_link_width and max_link_speed of the adapter (sysfs)", hosts);
  const Collectors collectors(facts.hosts);
  for (const std::string& host : hosts_of(facts)) {
    const FactTable* const table = collectors.facts_of(host);
    if (table == nullptr) {
      tally.not_measured(host, host, "no collector tells of its adapters");
      continue;
    }
    std::set<std::string> told;
    for (const PortFacts& port : table->ports) judge_slot(host, port, told, tally);
  }
  return std::move(tally).finish("no host was selected");
}

AcceptanceCheck check_temperature(const AcceptanceFacts& facts, HostVerdicts& hosts) {
  Tally tally(AcceptanceKind::kTemperature, "modules at 70 degrees Celsius or less",
              "the commercial range of case temperatures of pluggable modules (SFF-8636, CMIS)", hosts);
  for (const AcceptanceView& view : facts.views) {
    if (view.topology() == nullptr || is_blind(*view.fabric)) continue;
    const Topology& topology = *view.topology();
    const std::vector<PortGauges> gauges = read_port_gauges(topology, facts.hosts, facts.now);
    std::size_t unread = 0;
    for (const PortIndex index : view.scope.ports) {
      if (!topology.port(index).is_up()) continue;
      if (index >= gauges.size() || !gauges[index].has(PortGauge::kTemperature)) {
        ++unread;
        continue;
      }
      const std::int64_t degrees = gauges[index].value(PortGauge::kTemperature);
      if (degrees <= kMostModuleTemperature)
        tally.pass();
      else
        tally.fail(port_label(topology, index), host_at(topology, index),
                   "its module has " + short_number(static_cast<double>(degrees) / 1000) + " degrees Celsius");
    }
    if (unread > 0)
      tally.not_measured("fabric " + view.fabric->name, {},
                         count_text(unread) + (unread == 1 ? " port tells" : " ports tell") +
                             " no temperature: a copper cable has none, and only collectors read it");
  }
  return std::move(tally).finish("no port is up");
}

}  // namespace weft::analyzer
