// SPDX-License-Identifier: Apache-2.0
#pragma once
// Port history in a database of its own: a moment for each interval, and for each moment one chunk for every 256 ports.
// Gauges move slowly and are read about once a minute: every fifth moment has a chunk of them, too, with the last, the
// lowest and the highest value since the one before: as differences to that, and whole once an hour.
// Who reads it: history_reader.hpp.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/adapters/store/gauge_codec.hpp"
#include "daemon/adapters/store/sql.hpp"
#include "daemon/adapters/store/store.hpp"

namespace weft::store {

/// The history database: writes, reads and shrinks it. One thread.
class History {
 public:
  History(Database database, const StoreOptions& options)
      : database_(std::move(database)), options_(options), is_shared_(options.shares_history) {}

  /// True when a moment was written; false when none was due. Gauges are those that collectors on `hosts` read.
  /// `heard`: when the sweep came, on a steady clock.
  Result<bool> append(std::shared_ptr<const Sweep> sweep, const HostListPtr& hosts, Duration heard);
  /// Of a sweep that cannot be appended now: its time was read all the same.
  void see(const Sweep& sweep, Duration heard);
  /// Deletes a little of what is older than that or too much. True when there is more.
  Result<bool> shrink(TimePoint oldest_allowed);
  /// Room taken by what is stored; free pages within the file do not count.
  std::uint64_t bytes();
  /// Another weftd may have written into the shared history: what was known of its ports is read anew.
  void forget() { fabrics_.clear(); }
  /// The connection, for tests and limits.
  Database& database() { return database_; }

 private:
  using GaugeRows = std::map<std::uint32_t, std::vector<GaugeCodes>>;  ///< by chunk
  /// What must be known of a fabric to write its next moment.
  struct Fabric {
    std::shared_ptr<const Sweep> last;       ///< the reading that the next increases start from
    TimePoint tried = kNever;                ///< when a moment was last written, or could not be
    TimePoint seen = kNever;                 ///< end of the last sweep
    Duration heard{};                        ///< when that came, on the steady clock
    Duration dark{};                         ///< since `last`: time without sweeps
    bool is_stepped = false;                 ///< since `last`: the clock was set forward
    std::vector<TimePoint> doubts;           ///< moments of which it is not known whether they are stored
    TimePoint touched = kNever;              ///< when its ports were last noted as seen
    std::shared_ptr<const Topology> mapped;  ///< the topology that `slots` was made for
    std::vector<std::uint32_t> slots;        ///< for each port of `mapped`
    TimePoint gauges_since = kNever;         ///< `gauges` tell of the time from then on
    TimePoint gauges_taken = kNever;         ///< up to then
    std::map<std::uint32_t, std::vector<GaugePort>> gauges;  ///< by chunk; those that are not stored yet
    TimePoint stored_until = kNever;                         ///< the rows that were stored last end then
    GaugeRows stored;                                        ///< those, for the differences of the next ones
  };

  void map_ports(Fabric& fabric, const Sweep& sweep);
  void touch_ports(Fabric& fabric, TimePoint now);
  void take_gauges(Fabric& fabric, const Sweep& sweep, const HostListPtr& hosts) const;
  bool gauges_are_due(const Fabric& fabric, const Sweep& sweep) const;
  std::int64_t write_moment(const Fabric& fabric, const Sweep& sweep);
  GaugeRows write_gauges(const Fabric& fabric, const Sweep& sweep, std::int64_t moment);
  void take_back(const std::string& fabric, TimePoint moment);
  std::int64_t delete_moment(std::int64_t moment);

  Database database_;
  StoreOptions options_;
  bool is_shared_;  ///< StoreOptions::shares_history
  std::map<std::string, Fabric, std::less<>> fabrics_;
};

}  // namespace weft::store
