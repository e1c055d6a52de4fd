// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which counters ever moved: those that never did have no series on /metrics. See deploy/guide/series.md for the rule.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/host.hpp"
#include "fabric/samples.hpp"
#include "fabric/topology.hpp"

namespace weft {

/// How a counter's series stands at one moment.
enum class ShownAs : std::uint8_t {
  kNot,     ///< it was zero whenever it was read
  kAtZero,  ///< it moved for the first time a moment ago: scrapers get the zero before it, so that they see the step
  kAsRead,
};

/// For each cell of a table of counters: whether it was ever other than zero, and until when its first movement is
/// withheld. A value: published, it is never changed.
class MovedCounters {
 public:
  MovedCounters() = default;
  /// Rows of `columns` cells each; there are no rows yet, and nothing moved. First movements are withheld for `hold`.
  MovedCounters(std::size_t columns, Duration hold) : columns_(columns), words_((columns + 63) / 64), hold_(hold) {}

  /// So many first movements are withheld at a time; more are shown as they are at once.
  static constexpr std::size_t kMostHeld = std::size_t{4} << 20;

  /// How many rows there are.
  std::size_t rows() const { return words_ == 0 ? 0 : moved_.size() / words_; }
  /// Appends rows that were never read until there are `rows`.
  void grow(std::size_t rows);

  /// How the cell is shown at `now`; a cell of no row is not. All times here are Clock::steady(): a clock that is set
  /// must not end what is withheld.
  ShownAs shown(std::size_t row, std::size_t column, Duration now) const;

  /// Cells that were read before, whatever they were; a bit for each: column `64 * word + bit`.
  std::uint64_t known(std::size_t row, std::size_t word) const { return known_[row * words_ + word]; }
  /// The same of cells that were other than zero once.
  std::uint64_t moved(std::size_t row, std::size_t word) const { return moved_[row * words_ + word]; }

  /// Notes a reading of `present` cells, of which `nonzero` were other than zero. A cell that was known, and zero so
  /// far, is shown at zero from `now` on; one that was never read before is shown as it is at once. settle() must
  /// follow before shown() is asked.
  void note(std::size_t row, std::size_t word, std::uint64_t present, std::uint64_t nonzero, Duration now);
  /// Takes what `from`, which has the same columns, knows of its row for one of ours, of which nothing is known yet.
  /// settle() must follow.
  void take_row(std::size_t row, const MovedCounters& from, std::size_t from_row);
  /// The same of one cell, whatever the columns.
  void take_cell(std::size_t row, std::size_t column, const MovedCounters& from, std::size_t from_row,
                 std::size_t from_column);
  /// Whether settle() has anything to forget.
  bool has_released(Duration now) const;
  /// Puts what was noted in order, and forgets the times of first movements that are withheld no longer.
  void settle(Duration now);

 private:
  struct Held {
    std::uint64_t cell = 0;  ///< bit of moved_
    Duration from{};
  };
  bool is_held(const Held& held, Duration now) const { return now < held.from + hold_; }
  std::uint64_t cell(std::size_t row, std::size_t column) const { return row * words_ * 64 + column; }
  bool bit(const std::vector<std::uint64_t>& bits, std::uint64_t cell) const {
    return (bits[cell / 64] >> (cell % 64)) & 1;
  }
  const Held* find_held(std::uint64_t cell) const;

  std::size_t columns_ = 0;
  std::size_t words_ = 0;
  Duration hold_{};
  std::vector<std::uint64_t> known_;
  std::vector<std::uint64_t> moved_;
  std::vector<Held> held_;  ///< sorted by cell, once settled
};

/// Follows one table of the sweeps of one subnet: those counters of it that CounterInfo::is_left_out_at_zero() names.
/// Rows are ports, as in the table.
class TableMoves {
 public:
  /// First movements are withheld for `hold`.
  explicit TableMoves(Duration hold) : hold_(hold) {}

  /// Takes a sweep's table; null: none was read. Ports keep what is known of them in a new epoch of the topology. `now`
  /// as of MovedCounters.
  void update(const SampleTable* table, std::shared_ptr<const Topology> topology, Duration now);
  /// As of the last update; null while there was no table. It does not change: an update that finds news makes another.
  const std::shared_ptr<const MovedCounters>& moved() const { return moved_; }

 private:
  MovedCounters rearranged(const SampleTable& table, const Topology& topology) const;

  Duration hold_;
  std::shared_ptr<const Topology> topology_;
  std::vector<CounterId> counters_;
  std::vector<std::uint64_t> followed_;  ///< a bit for each column that has no series while it never moved
  std::vector<TimePoint> read_at_;       ///< of each row, when it was last looked at
  std::shared_ptr<const MovedCounters> moved_;
};

/// Follows the readings of one host. There is one row, with a column for each series of the reading's inventory.
class HostMoves {
 public:
  /// First movements are withheld for `hold`.
  explicit HostMoves(Duration hold) : hold_(hold) {}

  /// Takes a reading. Series keep what is known of them in another inventory. `now` as of MovedCounters.
  void update(const HostReading& reading, Duration now);
  /// As of the last update; null before the first.
  const std::shared_ptr<const MovedCounters>& moved() const { return moved_; }

 private:
  MovedCounters rearranged(const SeriesList& series) const;

  Duration hold_;
  SeriesList series_;
  std::shared_ptr<const MovedCounters> moved_;
};

}  // namespace weft
