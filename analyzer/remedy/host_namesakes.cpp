// SPDX-License-Identifier: Apache-2.0
// Names that hosts share: which of them a scheduler may take for which host.

#include <algorithm>
#include <iterator>

#include "analyzer/remedy/host_identity.hpp"
#include "fabric/host_names.hpp"

namespace weft::analyzer {
namespace {

/// "mlx5_0" of "n1 mlx5_0"; empty: the adapter's name has none.
std::string_view device_of(std::string_view adapter) {
  const std::size_t blank = adapter.rfind(' ');
  return blank == std::string_view::npos ? std::string_view() : adapter.substr(blank + 1);
}

}  // namespace

bool HostIdentities::is_full(std::string_view host) {
  return host.find('.') != std::string_view::npos;
}

void HostIdentities::add_name(Names& names, const std::string& host) {
  if (host.empty()) return;
  std::vector<std::string>& alike = names[short_host_name(host)];
  if (std::ranges::none_of(alike, [&host](const std::string& name) { return same_name(name, host); }))
    alike.push_back(host);
}

// A name that the adapter's only collectors contradict is nobody's, unless an operator gave it.
bool HostIdentities::bears_its_name(const Adapter& adapter) const {
  return adapter.owners.empty() || adapter.is_given || owns(adapter, adapter.claimed);
}

void HostIdentities::add_names(const Adapter& adapter) {
  if (!bears_its_name(adapter)) return;
  add_name(names_, adapter.claimed);
  if (is_confirmed(adapter)) add_name(confirmed_, adapter.claimed);
}

// By all that a collector told, also where another host's is connected now: a host that was renamed is one.
HostIdentities::Traces HostIdentities::traces(std::string_view name, bool with_claims) const {
  Traces found;
  const std::string key = short_host_name(name);
  const auto [first, last] = by_host_.equal_range(key);
  for (auto at = first; at != last; ++at)
    if (same_name(adapters_[at->second].claimed, name) && bears_its_name(adapters_[at->second]) &&
        (with_claims || is_confirmed(adapters_[at->second])))
      found.adapters.push_back(at->second);
  const auto [begin, end] = reporting_.equal_range(key);
  for (auto at = begin; at != end; ++at) {
    const Reporter& reporter = reporters_[at->second];
    if (!same_name(reporter.host, name)) continue;
    found.is_connected |= reporter.state == CollectorState::kConnected;
    if (!reporter.inventory) continue;
    for (const HostPort& port : reporter.inventory->ports) {
      if (port.is_virtual_function) continue;
      for (const std::uint64_t guid : {port.node_guid.value, port.port_guid.value}) {
        found.is_read |= guid != 0;
        if (const auto known = by_guid_.find(guid); guid != 0 && known != by_guid_.end())
          found.adapters.push_back(known->second);
      }
    }
  }
  return found;
}

bool HostIdentities::are_two(std::string_view a, std::string_view b, bool with_claims) const {
  const auto were_two = [with_claims](const Gone& gone, std::string_view one, std::string_view other) {
    return (with_claims || gone.is_confirmed) && same_name(gone.name, one) &&
           std::ranges::any_of(gone.others, [other](const std::string& name) { return same_name(name, other); });
  };
  if (std::ranges::any_of(gone_, [&](const Gone& gone) { return were_two(gone, a, b) || were_two(gone, b, a); }))
    return true;
  const Traces of_a = traces(a, with_claims), of_b = traces(b, with_claims);
  if (of_a.is_connected && of_b.is_connected) return true;
  if (std::ranges::find_first_of(of_a.adapters, of_b.adapters) != of_a.adapters.end()) return false;
  if ((of_a.is_read && !of_b.adapters.empty()) || (of_b.is_read && !of_a.adapters.empty())) return true;
  return std::ranges::any_of(of_a.adapters, [&](std::uint32_t one) {
    const std::string_view device = device_of(adapters_[one].name);
    return !device.empty() && std::ranges::any_of(of_b.adapters, [&](std::uint32_t other) {
      return device_of(adapters_[other].name) == device;
    });
  });
}

bool HostIdentities::is_in(const Names& names, std::string_view host,
                           bool (*same)(std::string_view, std::string_view)) {
  const auto found = names.find(short_host_name(host));
  return found != names.end() &&
         std::ranges::any_of(found->second, [&](const std::string& name) { return same(name, host); });
}

bool HostIdentities::is_confirmed_name(std::string_view host) const {
  return is_in(confirmed_, host, same_name);
}

bool HostIdentities::do_claims_count(std::string_view host) const {
  if (is_confirmed_name(host)) return false;
  return !is_full(host) || is_in(names_, host, same_name) || !is_in(confirmed_, host, same_host);
}

std::span<const std::string> HostIdentities::names_like(std::string_view host) const {
  const Names& names = do_claims_count(host) ? names_ : confirmed_;
  const auto found = names.find(short_host_name(host));
  return found == names.end() ? std::span<const std::string>() : found->second;
}

std::string HostIdentities::claim_on(std::string_view host, bool contradicted) const {
  if (!is_confirmed_name(host)) return {};
  const auto [begin, end] = by_host_.equal_range(short_host_name(host));
  for (auto at = begin; at != end; ++at) {
    const Adapter& adapter = adapters_[at->second];
    if (short_host_name(adapter.claimed) != short_host_name(host) || owns(adapter, host)) continue;
    if (contradicted && !adapter.owners.empty() && !owns(adapter, adapter.claimed))
      return is_reported_by_other(adapter);
    if (!contradicted && !is_confirmed(adapter)) return is_claimed_only(adapter);
  }
  return {};
}

std::vector<std::string> HostIdentities::other_hosts(std::span<const std::string> names, std::string_view host) const {
  const bool with_claims = do_claims_count(host);
  std::vector<std::string> others;
  std::ranges::copy_if(names, std::back_inserter(others), [&](const std::string& name) {
    if (!is_full(host)) return is_full(name);
    return !same_host(name, host) || (!is_full(name) && are_two(name, host, with_claims));
  });
  if (!is_full(host) && others.size() == 1 && !are_two(host, others.front(), with_claims)) others.clear();
  return others;
}

std::vector<HostIdentities::Gone> HostIdentities::with_namesakes() const {
  std::vector<Gone> found;
  for (const auto& [key, alike] : names_) {
    if (alike.size() < 2) continue;
    for (const std::string& name : alike)
      if (auto others = is_gone(name) ? std::vector<std::string>() : other_hosts(alike, name); !others.empty())
        found.push_back({name, is_confirmed_name(name), std::move(others), {}});
  }
  return found;
}

// `before`: what was known with namesakes; names_ has what is seen now.
void HostIdentities::remember(std::vector<Gone> before, Duration now) {
  std::erase_if(gone_, [&](const Gone& gone) {
    return now - gone.since >= kNamesakesRememberedFor || is_in(names_, gone.name, same_name);
  });
  for (Gone& left : before) {
    if (is_in(names_, left.name, same_name)) continue;
    left.since = now;
    gone_.push_back(std::move(left));
  }
  while (gone_.size() > kMostNamesakesRemembered) {
    const auto claim = std::ranges::find(gone_, false, &Gone::is_confirmed);
    gone_.erase(claim == gone_.end() ? gone_.begin() : claim);
  }
  for (const Gone& gone : gone_) {
    add_name(names_, gone.name);
    if (gone.is_confirmed) add_name(confirmed_, gone.name);
  }
}

bool HostIdentities::is_gone(std::string_view name) const {
  return std::ranges::any_of(gone_, [name](const Gone& gone) { return same_name(gone.name, name); });
}

std::string HostIdentities::with_absence(const std::string& name) const {
  return is_gone(name) ? name + " (not seen now)" : name;
}

}  // namespace weft::analyzer
