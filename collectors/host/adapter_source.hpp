// SPDX-License-Identifier: Apache-2.0
#pragma once
// Adapters as parts of their host: errors of their PCIe link (AER) and how warm they are, as sysfs tells.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collectors/series/series_registry.hpp"
#include "fabric/clock.hpp"
#include "fabric/host.hpp"
#include "fabric/part_limits.hpp"

namespace weft::host {

/// Reads one function of each adapter, the first that has a port, and the bridge above it. Asking for a temperature is
/// a command to the firmware of some adapters: all of it is read once in an interval, and stands until the next time.
class AdapterSource {
 public:
  /// Reads nothing yet. `interval`: between two looks at all files.
  AdapterSource(std::string sysfs_root, Duration interval) : sysfs_root_(std::move(sysfs_root)), interval_(interval) {}

  /// From now on the adapters of these ports are read. True when there are other series than before: enter() must be
  /// called.
  bool watch(std::span<const HostPort> ports);
  /// Enters the series.
  void enter(SeriesRegistry& book);
  /// Reads what is due, and writes the values of the last reading.
  void read(ValueSink& sink, TimePoint now);
  /// The limits that the adapter of that device names itself: a value of ConfigFact::kAdapterTemperatureLimits, or
  /// empty.
  std::string temperature_limits(std::string_view device) const;

 private:
  /// A counter, or the temperature, of one adapter: added up of one file or two.
  struct Value {
    const char* name;
    bool is_gauge = false;
    std::vector<std::string> files;
    std::vector<SeriesPosition> positions;  ///< one for each file
    std::vector<std::optional<std::uint64_t>> last;
  };
  struct Adapter {
    std::string key;
    std::string device;
    std::string function;  ///< its folder
    std::vector<Value> values;
    PartLimits limits;
  };

  Adapter look_at(const HostPort& port) const;

  std::string sysfs_root_;
  Duration interval_;
  std::vector<Adapter> adapters_;
  TimePoint read_at_ = kNever;
};

}  // namespace weft::host
