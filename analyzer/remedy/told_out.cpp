// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/told_out.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "fabric/host_names.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;
constexpr Duration kIsKnownFor = 3min;  // it is read each minute: three failures in a row

}  // namespace

DrainedHosts::DrainedHosts(const std::vector<std::vector<std::string>>& hosts, Duration told)
    : told_(told), count_(hosts.size()) {
  for (std::size_t host = 0; host < hosts.size(); ++host)
    for (const std::string& name : hosts[host]) names_.emplace(short_host_name(name), Name{name, host});
}

std::size_t DrainedHosts::besides(std::span<const std::string_view> ours) const {
  std::set<std::size_t> found;
  for (const std::string_view own : ours) {
    const auto [begin, end] = names_.equal_range(short_host_name(own));
    for (auto at = begin; at != end; ++at)
      if (same_host(at->second.name, own)) found.insert(at->second.host);
  }
  return count_ - found.size();
}

bool DrainedHosts::has(std::string_view host) const {
  const auto [begin, end] = names_.equal_range(short_host_name(host));
  return std::any_of(begin, end, [host](const auto& each) { return same_host(each.second.name, host); });
}

std::optional<std::string> untold(std::string_view who, std::string_view what, std::optional<Duration> told,
                                  Duration now) {
  if (!told) return std::string(who) + " has not told yet " + std::string(what);
  if (now - *told <= kIsKnownFor) return std::nullopt;
  return std::string(who) + " has not told for " + std::to_string((now - *told) / 1min) + " min " + std::string(what);
}

}  // namespace weft::analyzer
