// SPDX-License-Identifier: Apache-2.0
#pragma once
// Entries of a long list by the names of their hosts.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/host_names.hpp"

namespace weft::analyzer {

/// Finds the entries that same_host() says are of a host, without a look at all others.
class HostIndex {
 public:
  /// Of no list.
  HostIndex() = default;
  /// Of that list, which must outlive it unchanged. `name`: projects an entry to the name of its host.
  template <std::ranges::contiguous_range List, typename Name>
  HostIndex(const List& list, Name name) : first_(std::ranges::data(list)) {
    entries_.reserve(std::ranges::size(list));
    for (const auto& entry : list) {
      const std::string& host = std::invoke(name, entry);
      entries_.push_back({std::hash<std::string>()(short_host_name(host)), entries_.size(), host});
    }
    std::ranges::sort(entries_, {}, [](const Entry& entry) { return std::pair(entry.hash, entry.at); });
  }

  /// Made of that list, as long as it was then.
  template <std::ranges::contiguous_range List>
  bool is_of(const List& list) const {
    return first_ == std::ranges::data(list) && entries_.size() == std::ranges::size(list);
  }
  /// Positions in the list, ascending.
  std::vector<std::size_t> find(std::string_view host) const {
    std::vector<std::size_t> found;
    const std::size_t hash = std::hash<std::string>()(short_host_name(host));
    for (auto entry = std::ranges::lower_bound(entries_, hash, {}, &Entry::hash);
         entry != entries_.end() && entry->hash == hash; ++entry)
      if (same_host(entry->host, host)) found.push_back(entry->at);
    return found;
  }

 private:
  struct Entry {
    std::size_t hash = 0;  ///< of its short name
    std::size_t at = 0;
    std::string_view host;
  };

  const void* first_ = nullptr;
  std::vector<Entry> entries_;  ///< by hash, then position
};

}  // namespace weft::analyzer
