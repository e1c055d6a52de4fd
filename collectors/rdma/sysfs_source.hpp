// SPDX-License-Identifier: Apache-2.0
#pragma once
// RDMA devices as /sys/class/infiniband shows them: ports, their states, counters/ and hw_counters/. A reading costs
// one pread for each value; files stay open between readings.

#include <array>
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "collectors/rdma/device_scan.hpp"
#include "collectors/series/driver_counter.hpp"
#include "collectors/series/series_registry.hpp"
#include "collectors/sysfs/sysfs_files.hpp"
#include "fabric/clock.hpp"
#include "fabric/host.hpp"

namespace weft::rdma {

/// Reads RDMA devices through sysfs.
class SysfsSource {
 public:
  /// Where sysfs is and what is read of it.
  struct Options {
    std::string sysfs_root = "/sys";
    bool raw_names = false;                               ///< also what the tables do not know, under its own name
    Duration rescan_interval = std::chrono::seconds(10);  ///< for what changes without a device coming or going
  };

  explicit SysfsSource(Options options) : options_(std::move(options)) {}

  /// Looks which devices there are. True when devices or counters came or went: enter() must be called again.
  bool refresh(TimePoint now);
  /// The next refresh() looks at everything again.
  void suspect() { scanned_at_ = kNever; }
  /// When refresh() last looked at everything.
  TimePoint scanned_at() const { return scanned_at_; }
  /// The devices as of then; another source may know more of them.
  std::span<ScannedDevice> devices() { return devices_; }

  /// Enters what this source reads and opens the files for it. Forgets the files of before.
  void enter(SeriesRegistry& book);
  /// Reads everything; a value that cannot be read is left out, alone.
  void read(ValueSink& sink);
  /// Reads the states of the ports alone.
  void read_states();
  /// Adds the ports, with the states of the last read(), to `ports`.
  void add_ports(std::vector<HostPort>& ports) const;

  /// Not ok while a counter cannot be opened.
  SourceStatus status() const;

 private:
  struct ValueFile {
    sysfs::SysfsFile file;
    SeriesPosition position;
    std::uint32_t factor;
    bool sticks = false;  // at its top: all ones are a value then
  };
  /// A file of a port's state, and what it said last.
  struct StateFile {
    sysfs::SysfsFile file;
    std::array<char, 64> last{};
    std::size_t last_size = 0;

    /// Whether it says something else now. An error is said by an empty text.
    bool changed();
    std::string_view text() const { return {last.data(), last_size}; }
  };
  struct PortFiles {
    std::size_t device;
    std::size_t port;
    StateFile state;
    StateFile physical_state;
  };

  void open_values(SeriesRegistry& book, const std::string& folder, const std::vector<std::string>& names,
                   std::span<const DriverCounter> table, const ScannedDevice& device, std::uint8_t port);

  Options options_;
  TimePoint scanned_at_ = kNever;
  std::vector<sysfs::DirectoryEntry> listed_;
  std::vector<ScannedDevice> devices_;
  std::vector<ValueFile> values_;
  std::vector<PortFiles> ports_;
  std::size_t not_opened_ = 0;
  int open_error_ = 0;
};

}  // namespace weft::rdma
