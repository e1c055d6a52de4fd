// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which value of a reading stands where. Sources enter their series once, when devices appear, and write values by
// position ever after.

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "fabric/host.hpp"

namespace weft {

/// Place of a value in HostReading::values.
using SeriesPosition = std::uint32_t;

/// Entered in order of trust: where two sources know the same series, the one that comes first keeps it. Of a counter
/// that the catalogue tells apart by source each kind of source has a series of its own; the most trusted stands first.
class SeriesRegistry {
 public:
  static constexpr std::size_t kMostSeries = 65'536;

  /// The next entries are of another source, which is of that kind.
  void begin_source(CounterSource kind) {
    ++source_;
    kind_ = kind;
  }
  /// The position of `series`; nullopt when a source before has it, when a raw name repeats, or when the book is full.
  /// The same source entering a series again enters a further part of it: parts are added up (see ValueSink).
  std::optional<SeriesPosition> enter(HostSeries series);

  /// All series, in the order of their positions.
  const std::vector<HostSeries>& series() const { return series_; }
  /// How many parts each series has.
  const std::vector<std::uint8_t>& parts() const { return parts_; }
  bool is_full() const { return series_.size() >= kMostSeries; }

 private:
  struct Owner {
    SeriesPosition position;
    std::uint32_t source;
  };

  std::uint32_t source_ = 0;
  CounterSource kind_ = CounterSource::kUnknown;
  std::vector<HostSeries> series_;
  std::vector<std::uint8_t> parts_;
  std::unordered_map<std::string, Owner> owners_;
};

/// Where sources put what they read. A value of several parts counts as read when all of its parts were.
class ValueSink {
 public:
  /// Both vectors must have one entry for each series, zero.
  ValueSink(std::vector<std::uint64_t>& values, std::vector<std::uint8_t>& parts_read)
      : values_(values), parts_read_(parts_read) {}

  /// Adds one part of the value at `position`.
  void put(SeriesPosition position, std::uint64_t value) {
    values_[position] += value;
    ++parts_read_[position];
  }

 private:
  std::vector<std::uint64_t>& values_;
  std::vector<std::uint8_t>& parts_read_;
};

}  // namespace weft
