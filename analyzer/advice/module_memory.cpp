// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/module_memory.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "fabric/config_facts.hpp"

namespace weft::analyzer {
namespace {

/// Trouble so long before a swap says nothing about it.
constexpr Duration kRemembered = std::chrono::hours(14 * 24);
/// Who changes a cable makes its link go up and down.
constexpr Duration kSwapping = std::chrono::minutes(2);
/// Where cables lead is looked at so often.
constexpr Duration kLookAgain = std::chrono::seconds(30);
/// Trouble that goes on is saved so often.
constexpr Duration kSaveTrouble = std::chrono::hours(1);
/// A serial number has at least so many letters.
constexpr std::size_t kShortestSerial = 4;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Not one that many modules have: vendors leave it out, or fill it with one letter.
bool is_serial(std::string_view text) {
  if (text.size() < kShortestSerial) return false;
  if (std::ranges::all_of(text, [&](char c) { return c == text.front() || c == '0' || c == '-' || c == '.'; }))
    return false;
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower != "none" && lower != "null" && lower != "unknown" && lower != "not available" && lower != "1234567890";
}

bool is_of(const PortStay& stay, std::string_view device, std::uint16_t port) {
  return stay.device == device && stay.port == port;
}

/// The newest stay of the port, or null.
template <typename Stays>
auto* newest_of(Stays& stays, std::string_view device, std::uint16_t port) {
  const auto found =
      std::find_if(stays.rbegin(), stays.rend(), [&](const PortStay& stay) { return is_of(stay, device, port); });
  return found == stays.rend() ? nullptr : &*found;
}

bool had_trouble_lately(const PortStay& stay, TimePoint now) {
  return stay.trouble_last != kNever && now - stay.trouble_last < kRemembered;
}

}  // namespace

std::string module_name(std::string_view vendor, std::string_view part, std::string_view serial) {
  serial = trimmed(serial);
  if (!is_serial(serial)) return {};
  std::string name(trimmed(vendor));
  if (!trimmed(part).empty()) name += (name.empty() ? "" : " ") + std::string(trimmed(part));
  return name + (name.empty() ? "serial " : " serial ") + std::string(serial);
}

bool has_fixed_cable(std::string_view name) {
  constexpr std::array<std::string_view, 4> kCables{" MCP", " MCA", " MFA", " MFS"};
  return std::ranges::any_of(kCables, [&](std::string_view prefix) { return name.find(prefix) != std::string::npos; });
}

void ModuleMemory::index(const std::string& host, const PortStay& stay) {
  const PortRef at{host, stay.device, stay.port};
  if (!stay.module.empty()) by_module_[stay.module].insert(at);
  if (stay.far.node) by_far_[stay.far].insert(at);
}

void ModuleMemory::restore(const std::string& host, std::span<const PortStay> stays) {
  Known& known = hosts_[host];
  known.stays.assign(stays.begin(), stays.end());
  for (const PortStay& stay : known.stays) index(host, stay);
}

std::vector<PortStay> ModuleMemory::stays(const std::string& host) const {
  const auto found = hosts_.find(host);
  return found == hosts_.end() ? std::vector<PortStay>() : found->second.stays;
}

std::uint64_t ModuleMemory::revision(const std::string& host) const {
  const auto found = hosts_.find(host);
  return found == hosts_.end() ? 0 : found->second.revision;
}

void ModuleMemory::forget(const std::string& host) {
  hosts_.erase(host);
  const auto drop = [&](auto& index) {
    for (auto entry = index.begin(); entry != index.end();) {
      std::erase_if(entry->second, [&](const PortRef& at) { return at.host == host; });
      entry = entry->second.empty() ? index.erase(entry) : std::next(entry);
    }
  };
  drop(by_module_);
  drop(by_far_);
}

void ModuleMemory::take(const HostWatch& host, const std::shared_ptr<const FactTable>& facts, TimePoint now) {
  Known& known = hosts_[host.name];
  // Facts are the same object until something changes; where cables lead is looked up now and then.
  if (known.looked != kNever && facts == known.facts && now >= known.looked && now - known.looked < kLookAgain) return;
  known.facts = facts;
  known.looked = now;
  for (const PortWatch& port : host.ports) {
    if (port.is_virtual || !port.present) continue;
    const PortFacts* const own =
        facts ? find_facts(*facts, port.device, static_cast<std::uint8_t>(port.number)) : nullptr;
    take_port(host.name, known, port,
              own ? module_name(fact_text(own, ConfigFact::kModuleVendor), fact_text(own, ConfigFact::kModulePart),
                                fact_text(own, ConfigFact::kModuleSerial))
                  : std::string(),
              now);
  }
}

/// What is not told now, as of a port without a module or a cable for a moment, is as it was.
void ModuleMemory::take_port(const std::string& host, Known& known, const PortWatch& port, std::string module,
                             TimePoint now) {
  PortStay next{.device = port.device, .port = port.number, .module = std::move(module), .far = {}, .far_label = {}};
  if (port.place && port.place->link.kind == EntityKind::kLink) {
    const Entity& link = port.place->link;
    const bool is_low = link.port == port.place->port.port;
    next.far = is_low ? link.peer : link.port;
    const std::size_t middle = link.label.find(" - ");
    if (middle != std::string::npos)
      next.far_label = is_low ? link.label.substr(middle + 3) : link.label.substr(0, middle);
  }
  if (next.module.empty() && !next.far.node) return;
  PortStay* const last = newest_of(known.stays, port.device, port.number);
  const auto other = [](const auto& before, const auto& after, const auto& none) {
    return before != none && after != none && before != after;
  };
  if (last && !other(last->module, next.module, std::string()) && !other(last->far, next.far, PortKey())) {
    const bool is_news = (last->module.empty() && !next.module.empty()) || (!last->far.node && next.far.node);
    if (!is_news) return;
    if (last->module.empty()) last->module = next.module;
    if (!last->far.node) {
      last->far = next.far;
      last->far_label = next.far_label;
    }
    index(host, *last);
    ++known.revision;
    return;
  }
  if (last) {
    last->to = now;
    if (next.module.empty()) next.module = last->module;
    if (!next.far.node) {
      next.far = last->far;
      next.far_label = last->far_label;
    }
  }
  next.from = now;
  index(host, next);
  known.stays.push_back(std::move(next));
  const auto is_this = [&](const PortStay& stay) { return is_of(stay, port.device, port.number); };
  if (std::ranges::count_if(known.stays, is_this) > static_cast<std::ptrdiff_t>(kMostStays))
    known.stays.erase(std::ranges::find_if(known.stays, is_this));
  ++known.revision;
}

void ModuleMemory::note_trouble(const HostWatch& host, const PortWatch& port, TimePoint at) {
  const auto known = hosts_.find(host.name);
  if (known == hosts_.end()) return;
  PortStay* const stay = newest_of(known->second.stays, port.device, port.number);
  if (!stay) return;
  // What was there from the beginning nobody has just put in.
  const bool is_first = std::ranges::none_of(
      known->second.stays, [&](const PortStay& one) { return &one != stay && is_of(one, stay->device, stay->port); });
  if (!is_first && at < stay->from + kSwapping) return;
  if (stay->trouble_first == kNever) stay->trouble_first = at;
  if (stay->trouble_last == kNever || at - stay->trouble_last >= kSaveTrouble || at < stay->trouble_first)
    ++known->second.revision;
  stay->trouble_last = at;
}

const PortStay* ModuleMemory::present(const PortRef& at) const {
  const auto known = hosts_.find(at.host);
  return known == hosts_.end() ? nullptr : newest_of(known->second.stays, at.device, at.port);
}

/// A serial number that ports of other hosts have as well, the other end of the cable aside, is no identity. Ports of
/// one host may share a module.
bool ModuleMemory::is_one_module(const PortStay& stay, const PortRef& at) const {
  const auto holders = by_module_.find(stay.module);
  if (holders == by_module_.end()) return false;
  std::set<std::string> hosts;
  for (const PortRef& other : holders->second)
    if (const PortStay* const there = present(other); there && there->module == stay.module && other.host != at.host)
      hosts.insert(other.host);
  // The two ends of a cable with fixed modules have one serial number.
  return hosts.size() <= 1;
}

void ModuleMemory::find_moved(const PortStay& stay, const PortRef& at, TimePoint now, PortPast& past) const {
  const auto holders = by_module_.find(stay.module);
  if (stay.module.empty() || holders == by_module_.end() || !is_one_module(stay, at)) return;
  for (const PortRef& other : holders->second) {
    const auto known = hosts_.find(other.host);
    if (other == at || known == hosts_.end()) continue;
    for (const PortStay& before : known->second.stays) {
      if (!is_of(before, other.device, other.port) || before.module != stay.module || before.to == kNever) continue;
      if (!had_trouble_lately(before, now) || before.to > stay.from + kSwapping) continue;
      const PortStay* const there = present(other);
      past.moved = {.from = other.host + " " + port_name(other.device, other.port),
                    .at = stay.from,
                    .left_well = there && there->module != stay.module && there->trouble_last == kNever};
    }
  }
}

PortPast ModuleMemory::past(const HostWatch& host, const PortWatch& port, TimePoint now) const {
  PortPast past;
  const PortRef at{host.name, port.device, port.number};
  const auto known = hosts_.find(host.name);
  const PortStay* const stay = present(at);
  if (!stay) return past;
  past.module = stay->module;
  past.has_fixed_cable = has_fixed_cable(stay->module);
  const PortStay* before = nullptr;
  for (const PortStay& one : known->second.stays)
    if (&one != stay && is_of(one, at.device, at.port)) before = &one;
  if (before && had_trouble_lately(*before, now)) {
    const bool goes_on = stay->trouble_last != kNever;
    if (!before->module.empty() && before->module != stay->module)
      past.replaced = {.before = before->module, .at = stay->from, .since = now - stay->from, .goes_on = goes_on};
    if (before->far.node && before->far != stay->far)
      past.recabled = {.before = before->far_label, .at = stay->from, .since = now - stay->from, .goes_on = goes_on};
  }
  find_moved(*stay, at, now, past);
  return past;
}

}  // namespace weft::analyzer
