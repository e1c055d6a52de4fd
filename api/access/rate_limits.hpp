// SPDX-License-Identifier: Apache-2.0
#pragma once
// A token bucket for each of many names, bounded in number.

#include <cstddef>
#include <map>
#include <string>

#include "api/access/token_bucket.hpp"

namespace weft::api {

/// Not thread-safe.
class RateLimits {
 public:
  /// Names are counted one by one up to `most`; beyond, they share one bucket.
  explicit RateLimits(std::size_t most) : most_(most) {}

  /// Takes one token of `name`, which gets `rate` a second and a burst of `burst`. False: there is none.
  bool admits(const std::string& name, double rate, double burst, TokenBucket::Clock::time_point now) {
    auto found = buckets_.find(name);
    if (found == buckets_.end()) {
      if (buckets_.size() >= most_) std::erase_if(buckets_, [now](auto& each) { return each.second.is_full(now); });
      found = buckets_.try_emplace(buckets_.size() < most_ ? name : std::string(), rate, burst).first;
    }
    return found->second.try_take(now);
  }
  /// Everybody begins with a full bucket again.
  void clear() { buckets_.clear(); }

 private:
  const std::size_t most_;
  std::map<std::string, TokenBucket, std::less<>> buckets_;
};

}  // namespace weft::api
