// SPDX-License-Identifier: Apache-2.0
#include "analyzer/parts/host_parts.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "analyzer/parts/pcie_trouble.hpp"
#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

/// Between two counts of all adapters.
constexpr Duration kCountEvery = std::chrono::seconds(10);

std::uint32_t bit_of(PartSign sign) {
  return 1U << static_cast<unsigned>(sign);
}

std::string shortfall_of(std::span<const PcieLink> links) {
  const PcieLink* const worst = worst_link(links);
  return worst ? shortfall_text(*worst) : std::string();
}

/// Is the cause that port, or a link at it?
bool is_at_port(const Entity& cause, const Entity& port) {
  if (cause.same_as(port)) return true;
  if (port.kind != EntityKind::kPort || cause.fabric != port.fabric) return false;
  return (cause.kind == EntityKind::kPort || cause.kind == EntityKind::kLink) &&
         (cause.port == port.port || (cause.kind == EntityKind::kLink && cause.peer == port.port));
}

bool may_have_part_as_reason(IncidentKind kind) {
  return kind == IncidentKind::kSlowReceiver || kind == IncidentKind::kStraggler || kind == IncidentKind::kRdmaErrors ||
         kind == IncidentKind::kLinkDegraded;
}

}  // namespace

void HostParts::remember(const Incident& incident) {
  if (!is_of_parts(incident.finding.kind) || !incident.is_open()) return;
  Remembered& known = remembered_[incident.finding.cause.identity()];
  known.opened = incident.began();
  for (const Evidence& evidence : incident.finding.evidence)
    for (unsigned sign = 0; sign < static_cast<unsigned>(PartSign::kCount); ++sign)
      if (evidence.signal.starts_with(signal_prefix(static_cast<PartSign>(sign)))) known.signs |= 1U << sign;
}

void HostParts::take_links(const std::string& identity, const PortFacts& facts, TimePoint read_at, Adapter& adapter) {
  const FactValue* const told = find_fact(facts, ConfigFact::kPcieLinks);
  std::vector<PcieLink> links = told ? parse_pcie_links(told->value) : std::vector<PcieLink>();
  if (links.empty()) return;
  adapter.links = std::move(links);
  const auto before = remembered_.find(identity);
  if (!worst_link(adapter.links)) {
    adapter.degraded_since = kNever;
  } else if (adapter.degraded_since == kNever) {
    const bool was_told = before != remembered_.end() && (before->second.signs & bit_of(PartSign::kPcieLink)) != 0;
    adapter.degraded_since = was_told ? std::min(before->second.opened - limits_.pcie_hold, read_at) : read_at;
  }
  if (before != remembered_.end()) before->second.signs &= ~bit_of(PartSign::kPcieLink);
}

void HostParts::take_fault(const PortFacts& facts, TimePoint read_at, Adapter& adapter) {
  const FactValue* const told = find_fact(facts, ConfigFact::kKernelFault);
  if (!told) return;
  const AdapterFaultRow* const fault = find_adapter_fault(fault_key(told->value));
  if (fault != adapter.fault) adapter.fault_since = read_at;
  adapter.is_log_read = true;
  adapter.fault = fault;
  adapter.fault_text = told->value;
}

void HostParts::take(const HostWatch& host, const HostReading& reading) {
  if (!limits_.enabled || !reading.facts || !reading.inventory) return;
  Taken& taken = taken_[host.name];
  if (taken.facts == reading.facts && taken.inventory == reading.inventory) return;
  taken = {reading.facts, reading.inventory, taken.first == kNever ? reading.taken : taken.first};
  has_changed_ = true;
  const TimePoint read_at = reading.facts_at != kNever ? std::min(reading.facts_at, reading.taken) : reading.taken;
  const std::string model(fact_text(find_facts(*reading.facts, {}, 0), ConfigFact::kHostModel));
  std::set<std::string> adapters;
  for (const HostPort& told : reading.inventory->ports) {
    const PortWatch* const port = find_port(host, told.device, told.number);
    const PortFacts* const facts = find_facts(*reading.facts, told.device, told.number);
    if (!port || !facts || told.is_virtual_function) continue;
    Adapter& adapter = adapters_[port->slot];
    adapter.key = adapter_key(told);
    adapter.make = make_of(*facts) + (model.empty() ? "" : " in " + model);
    adapter.is_first = adapters.insert(adapter.key).second;
    gauges_.take_limits(*port, *facts);
    take_fault(*facts, read_at, adapter);
    if (adapter.is_first) take_links(entity_of(host, *port).identity(), *facts, read_at, adapter);
  }
}

void HostParts::forget(const std::string& host) {
  taken_.erase(host);
  has_changed_ = true;
}

bool HostParts::was_up(const HostWatch& host, const std::string& adapter) const {
  return std::ranges::any_of(host.ports, [&](const PortWatch& port) {
    return port.was_up && !port.is_virtual && adapters_[port.slot].key == adapter;
  });
}

double HostParts::rate_of(const HostWatch& host, const std::string& adapter) const {
  double rate = 0;
  for (const PortWatch& port : host.ports)
    if (port.was_up && !port.is_virtual && adapters_[port.slot].key == adapter)
      rate += static_cast<double>(port.best_rate);
  return rate;
}

std::vector<Entity> HostParts::others_of(const HostWatch& host, const PortWatch& first) const {
  std::vector<Entity> others;
  for (const PortWatch& port : host.ports)
    if (&port != &first && port.present && !port.is_virtual &&
        std::as_const(adapters_)[port.slot].key == std::as_const(adapters_)[first.slot].key &&
        others.size() < kMostAffected)
      others.push_back(entity_of(host, port));
  return others;
}

void HostParts::count(const Hosts& hosts, TimePoint now) {
  has_changed_ = false;
  counted_at_ = now;
  alike_.begin();
  for (const auto& [name, host] : hosts)
    for (const PortWatch& port : host.ports) {
      const Adapter& adapter = std::as_const(adapters_)[port.slot];
      if (adapter.is_first && !adapter.links.empty() && was_up(host, adapter.key))
        alike_.add(adapter.make, shortfall_of(adapter.links), name, entity_of(host, port));
    }
  alike_.end();
}

void HostParts::tell(IncidentKind kind, const HostWatch& host, const PortWatch& port,
                     std::span<const PartTrouble> troubles, std::vector<Entity> others,
                     std::vector<Finding>& findings) {
  Finding finding = part_finding(kind, host, port, troubles, std::move(others));
  if (!is_remark(finding)) {
    Told told{kind, host.name, {finding.cause}, {}, {}};
    told.ports.insert(told.ports.end(), finding.affected.begin(), finding.affected.end());
    for (std::size_t i = 0, own = told.ports.size(); i < own; ++i) {
      const PortWatch* const at = find_port(host, told.ports[i].device, told.ports[i].port.port.value);
      if (at && at->place) told.ports.push_back(at->place->port);
    }
    const auto gravest = std::ranges::max_element(troubles, {}, &PartTrouble::severity);
    told.words = gravest->words;
    told.past = gravest->evidence.empty() ? gravest->words : gravest->evidence.front().description;
    told_.push_back(std::move(told));
  }
  findings.push_back(std::move(finding));
}

void HostParts::explain(std::vector<Finding>& findings, TimePoint now) const {
  if (told_.empty()) return;
  for (Finding& finding : findings) {
    if (!may_have_part_as_reason(finding.kind)) continue;
    for (const Told& told : told_) {
      const bool is_of_host = finding.kind == IncidentKind::kStraggler && finding.cause.host == told.host;
      if (!is_of_host &&
          std::ranges::none_of(told.ports, [&](const Entity& port) { return is_at_port(finding.cause, port); }))
        continue;
      finding.summary += std::string("; ") + to_string(told.kind) + " there: " + told.words;
      finding.evidence.push_back(
          fact(std::string(kPartSignal),
               std::string(to_string(told.kind)) + " of " + told.ports.front().label + ": " + told.past, now,
               told.ports.front()));
    }
  }
}

void HostParts::judge(const Hosts& hosts, bool is_settled, TimePoint now, std::vector<Finding>& findings) {
  told_.clear();
  if (!limits_.enabled || !is_settled) return;
  if (has_changed_ && (counted_at_ == kNever || now < counted_at_ || now - counted_at_ >= kCountEvery))
    count(hosts, now);
  alike_.report(now, findings);
  for (const auto& [name, host] : hosts)
    if (!host.lost && host.has_reading) judge(host, now, findings);
}

void HostParts::add_link(const HostWatch& host, const PortWatch& port, TimePoint now,
                         std::vector<PartTrouble>& troubles) const {
  const Adapter& adapter = adapters_[port.slot];
  if (!adapter.is_first || adapter.degraded_since == kNever || now - adapter.degraded_since < limits_.pcie_hold) return;
  const PcieLink& worst = *worst_link(adapter.links);
  if (alike_.is_common(adapter.make, shortfall_text(worst))) return;
  troubles.push_back(
      pcie_trouble(worst, rate_of(host, adapter.key), entity_of(host, port), adapter.degraded_since, now));
}

void HostParts::add_fault(bool of_module, const HostWatch& host, const PortWatch& port, TimePoint now,
                          std::vector<PartTrouble>& troubles) const {
  const Adapter& adapter = adapters_[port.slot];
  if (!adapter.fault || adapter.fault->of_module != of_module) return;
  PartTrouble trouble;
  trouble.sign = of_module ? PartSign::kModuleLog : PartSign::kAdapterLog;
  trouble.severity = adapter.fault->effect == FaultEffect::kDead ? Severity::kCritical : Severity::kWarning;
  trouble.since = adapter.fault_since;
  trouble.words = adapter.fault->words;
  trouble.evidence.push_back(fact(of_module ? "module_log" : "adapter_log",
                                  "the kernel's log said: " + adapter.fault_text + " (" + adapter.fault->source + ")",
                                  now, entity_of(host, port)));
  troubles.push_back(std::move(trouble));
}

void HostParts::judge(const HostWatch& host, TimePoint now, std::vector<Finding>& findings) {
  std::map<std::string, std::vector<PartTrouble>> of_adapters;
  for (const PortWatch& port : host.ports) {
    if (!port.present || port.is_virtual) continue;
    std::vector<PartTrouble> troubles;
    if (port.was_up) gauges_.report(IncidentKind::kModuleDegraded, host, port, now, troubles);
    add_fault(true, host, port, now, troubles);
    if (!troubles.empty()) tell(IncidentKind::kModuleDegraded, host, port, std::exchange(troubles, {}), {}, findings);
    gauges_.report(IncidentKind::kHostDegraded, host, port, now, troubles);
    add_link(host, port, now, troubles);
    const Adapter& adapter = std::as_const(adapters_)[port.slot];
    errors_.report(host, port, adapter.links.empty() ? nullptr : &adapter.links.front(), now, troubles);
    add_fault(false, host, port, now, troubles);
    if (troubles.empty()) continue;
    std::vector<PartTrouble>& all = of_adapters[adapter.key];
    all.insert(all.end(), std::make_move_iterator(troubles.begin()), std::make_move_iterator(troubles.end()));
  }
  for (const auto& [key, troubles] : of_adapters) {
    if (!was_up(host, key)) continue;
    const auto first = std::ranges::find_if(host.ports, [&](const PortWatch& port) {
      const Adapter& adapter = std::as_const(adapters_)[port.slot];
      return adapter.is_first && adapter.key == key && port.present;
    });
    if (first != host.ports.end())
      tell(IncidentKind::kHostDegraded, host, *first, troubles, others_of(host, *first), findings);
  }
}

bool HostParts::was_told(const HostWatch& host, const PortWatch& port, PartSign sign) const {
  const auto before = remembered_.find(entity_of(host, port).identity());
  return before != remembered_.end() && (before->second.signs & bit_of(sign)) != 0;
}

void HostParts::take(const HostWatch& host, const HostMovement& movement) {
  if (!limits_.enabled) return;
  errors_.take(host, movement);
  gauges_.take(host, movement,
               [this, &host](const PortWatch& port, PartSign sign) { return was_told(host, port, sign); });
}

bool HostParts::observed(IncidentKind kind, const Entity& cause, const PortWatch* port, TimePoint now) const {
  if (!limits_.enabled) return true;
  if (cause.kind == EntityKind::kCohort) return !has_changed_;
  if (!port || is_gone(*port)) return true;
  const auto taken = taken_.find(cause.host);
  if (taken == taken_.end()) return false;
  const auto before = remembered_.find(cause.identity());
  if (before == remembered_.end()) return true;
  const Duration listened = now - taken->second.first;
  for (unsigned i = 0; i < static_cast<unsigned>(PartSign::kCount); ++i) {
    const auto sign = static_cast<PartSign>(i);
    if ((before->second.signs & bit_of(sign)) == 0 || kind_of(sign) != kind) continue;
    // Errors are counted for a whole window before they are called over.
    if (sign == PartSign::kPcieErrors ? listened < PcieErrors::kWindow
                                      : listened <= LimitWatch::kForgetUnread && !is_read(sign, *port))
      return false;
  }
  return true;
}

bool HostParts::is_read(PartSign sign, const PortWatch& port) const {
  switch (sign) {
    case PartSign::kPcieLink:
      return false;  // else it was taken from what is remembered
    case PartSign::kAdapterLog:
    case PartSign::kModuleLog:
      return adapters_[port.slot].is_log_read;
    default:
      return gauges_.is_read(sign, port);
  }
}

}  // namespace weft::analyzer
