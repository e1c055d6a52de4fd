// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers of incidents, plans and maintenance windows. A weftd on its own counts 1, 2, 3. The shards of a site
// count in steps of kMostShards, each from its own number on, so that no two give the same number and nobody has to be
// asked for the next one.

#include <cstdint>

namespace weft {

/// Shards of one site are numbered below this, from 1. Their numbers are never used again. A power of ten: the last two
/// digits of an id are its shard's number.
inline constexpr std::uint64_t kMostShards = 100;

/// Numbers that were never given before, ascending.
class IdSeries {
 public:
  /// From `next` on, at least 1, all numbers.
  IdSeries(std::uint64_t next = 1) : IdSeries(next, 1, 0) {}  // NOLINT(google-explicit-constructor)
  /// From `next` on, those that are `shard` modulo kMostShards. `shard` 0: all numbers, as of a weftd on its own.
  static IdSeries of_shard(std::uint64_t next, std::uint64_t shard) {
    return shard == 0 ? IdSeries(next) : IdSeries(next, kMostShards, shard % kMostShards);
  }

  /// The number that take() will give.
  std::uint64_t next() const { return next_; }
  /// Gives the next number.
  std::uint64_t take() {
    const std::uint64_t id = next_;
    next_ += step_;
    return id;
  }
  /// `id` was given already: all that follow are greater.
  void skip(std::uint64_t id) {
    if (id >= next_) next_ = aligned(id + 1);
  }
  bool operator==(const IdSeries&) const = default;

 private:
  IdSeries(std::uint64_t next, std::uint64_t step, std::uint64_t rest)
      : step_(step), rest_(rest), next_(aligned(next == 0 ? 1 : next)) {}
  std::uint64_t aligned(std::uint64_t id) const { return id + (rest_ + step_ - id % step_) % step_; }

  std::uint64_t step_, rest_, next_;
};

}  // namespace weft
