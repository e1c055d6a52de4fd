// SPDX-License-Identifier: Apache-2.0
#pragma once
// Readings of many ports, as flat arrays: a row is a port, a column is one instance of one counter.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/counters.hpp"
#include "fabric/ids.hpp"

namespace weft {

/// A table of counter readings for all ports of a Topology (row = PortIndex). What was never read is absent, not zero.
/// A row keeps its last reading when a port does not answer; read_at tells its age.
class SampleTable {
 public:
  /// Position of one instance of one counter in a row.
  using Column = std::uint16_t;
  static constexpr Column kNoColumn = 0xFFFF;

  SampleTable() { first_column_.fill(kNoColumn); }
  /// Columns are all instances of `counters`, in that order.
  SampleTable(std::vector<CounterId> counters, std::size_t rows);
  /// All counters of one group of the catalogue.
  static SampleTable of_group(CounterGroup group, std::size_t rows);

  std::size_t rows() const { return read_at_.size(); }
  std::size_t columns() const { return columns_; }
  std::span<const CounterId> counters() const { return counters_; }
  /// Column of that counter's instance, or kNoColumn when the table does not hold it.
  Column column(CounterId id, unsigned instance = 0) const {
    const Column first = first_column_[static_cast<std::size_t>(id)];
    return first == kNoColumn ? kNoColumn : static_cast<Column>(first + instance);
  }

  /// Appends empty rows until there are `rows`.
  void grow(std::size_t rows);

  /// True when the value was read at least once.
  bool present(std::size_t row, Column column) const { return bit(present_, row, column); }
  /// Stuck at all ones of its width: the value means "at least".
  bool saturated(std::size_t row, Column column) const { return bit(saturated_, row, column); }
  /// Meaningful only where present().
  std::uint64_t value(std::size_t row, Column column) const { return values_[row * columns_ + column]; }
  /// When the row's last good reading arrived; kNever when there was none.
  TimePoint read_at(std::size_t row) const { return read_at_[row]; }

  /// Stores a value and marks it as present. `is_saturated` says that the counter is at its top.
  void set(std::size_t row, Column column, std::uint64_t value, bool is_saturated) {
    values_[row * columns_ + column] = value;
    const std::size_t word = row * words_ + column / 64;
    const std::uint64_t mask = 1ULL << (column % 64);
    present_[word] |= mask;
    saturated_[word] = is_saturated ? saturated_[word] | mask : saturated_[word] & ~mask;
  }
  void set_read_at(std::size_t row, TimePoint when) { read_at_[row] = when; }

  // The bare arrays, for whoever stores or sends a whole table.
  std::size_t words_per_row() const { return words_; }
  std::span<std::uint64_t> raw_values() { return values_; }
  std::span<std::uint64_t> raw_present() { return present_; }
  std::span<std::uint64_t> raw_saturated() { return saturated_; }
  std::span<TimePoint> raw_read_at() { return read_at_; }
  std::span<const std::uint64_t> raw_values() const { return values_; }
  std::span<const std::uint64_t> raw_present() const { return present_; }
  std::span<const std::uint64_t> raw_saturated() const { return saturated_; }
  std::span<const TimePoint> raw_read_at() const { return read_at_; }

 private:
  bool bit(const std::vector<std::uint64_t>& bits, std::size_t row, Column column) const {
    return (bits[row * words_ + column / 64] >> (column % 64)) & 1;
  }

  std::size_t columns_ = 0;
  std::size_t words_ = 0;
  std::vector<CounterId> counters_;
  std::array<Column, kCounterCount> first_column_{};
  std::vector<std::uint64_t> values_;
  std::vector<std::uint64_t> present_;
  std::vector<std::uint64_t> saturated_;
  std::vector<TimePoint> read_at_;
};

}  // namespace weft
