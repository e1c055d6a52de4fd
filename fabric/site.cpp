// SPDX-License-Identifier: Apache-2.0
#include "fabric/site.hpp"

#include <algorithm>
#include <iterator>

#include "fabric/id_series.hpp"

namespace weft {
namespace {

constexpr std::size_t kLongestShardName = 32;
constexpr std::size_t kMostAddresses = 16;
constexpr std::string_view kElsewhere = "elsewhere: ";
constexpr std::string_view kBelongs = " belongs to shard ";
constexpr std::string_view kAsk = ": ask ";

char lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

const SiteShard* Site::find(std::string_view name) const {
  const auto found = std::ranges::find(shards, name, &SiteShard::name);
  return found == shards.end() ? nullptr : &*found;
}

std::vector<SiteShard> Site::others() const {
  std::vector<SiteShard> others;
  std::ranges::copy_if(shards, std::back_inserter(others),
                       [this](const SiteShard& shard) { return shard.name != own && !shard.is_new; });
  return others;
}

const SiteShard* Site::owner_of(std::uint64_t id) const {
  if (id < first_id) return find(elder);
  const auto found = std::ranges::find(shards, id % kMostShards, &SiteShard::number);
  return found == shards.end() ? nullptr : &*found;
}

const SiteShard* Site::collected_by(std::string_view host) const {
  const auto found = std::ranges::find_if(shards, [this, host](const SiteShard& shard) {
    if (shard.is_new && shard.name != own) return false;
    return std::ranges::any_of(shard.collectors,
                               [host](const std::string& pattern) { return matches_pattern(pattern, host); });
  });
  return found == shards.end() ? nullptr : &*found;
}

bool matches_pattern(std::string_view pattern, std::string_view name) {
  // After a mismatch only the last '*' takes one byte more, so time is at most the product of both lengths.
  std::size_t p = 0, n = 0, star = std::string_view::npos, taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || lower_case(pattern[p]) == lower_case(name[n]))) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool is_shard_name(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= kLongestShardName && is_letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

std::string shard_identity(const Site& site, const SiteShard& shard) {
  return site.database + '/' + std::to_string(shard.number) + '/' + shard.name;
}

std::string own_identity(const Site& site) {
  const SiteShard* const own = site.is_left ? nullptr : site.find(site.own);
  return own == nullptr ? std::string() : shard_identity(site, *own);
}

bool is_loopback_address(std::string_view address) {
  std::string host(address.substr(0, address.rfind(':')));
  std::ranges::transform(host, host.begin(), lower_case);
  if (host.starts_with('[')) {
    host = host.substr(1, host.rfind(']') - 1);
    constexpr std::string_view kMapped = "::ffff:";
    if (!host.starts_with(kMapped) || host.find('.') == std::string::npos) {
      const std::size_t first = host.find_first_not_of("0:");
      return first == std::string::npos || (first + 1 == host.size() && host[first] == '1');
    }
    host = host.substr(kMapped.size());
  }
  if (host.ends_with('.')) host.pop_back();
  if (host == "localhost") return true;
  // Also what resolvers make of short forms: 127.1 and 0 (inet_aton(3)).
  if (host.empty() || host.find_first_not_of("0123456789.") != std::string::npos) return false;
  return host.starts_with("127.") || host.find_first_not_of("0.") == std::string::npos;
}

std::string where_to_ask(const SiteShard& shard) {
  std::string text = "shard " + shard.name;
  for (std::size_t i = 0; i < shard.addresses.size(); ++i)
    text += std::string(i == 0 ? kAsk : ", ") + shard.addresses[i];
  return text;
}

Error belongs_to(const std::string& what, const SiteShard& shard) {
  return {ErrorCode::kFailedPrecondition, what + " belongs to " + where_to_ask(shard), shard.addresses};
}

Error elsewhere(const std::string& host, const SiteShard& shard) {
  return {ErrorCode::kUnavailable, std::string(kElsewhere) + host + " belongs to " + where_to_ask(shard)};
}

std::vector<std::string> addresses_elsewhere(std::string_view message) {
  std::vector<std::string> addresses;
  if (!message.starts_with(kElsewhere)) return addresses;
  const std::size_t owner = message.rfind(kBelongs), ask = message.rfind(kAsk);
  if (owner == std::string_view::npos || ask == std::string_view::npos || ask < owner + kBelongs.size())
    return addresses;
  if (!is_shard_name(message.substr(owner + kBelongs.size(), ask - owner - kBelongs.size()))) return addresses;
  message.remove_prefix(ask + kAsk.size());
  while (!message.empty() && addresses.size() < kMostAddresses) {
    const std::size_t end = std::min(message.find(", "), message.size());
    if (end > 0) addresses.emplace_back(message.substr(0, end));
    message.remove_prefix(std::min(end + 2, message.size()));
  }
  return addresses;
}

}  // namespace weft
