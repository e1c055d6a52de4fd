// SPDX-License-Identifier: Apache-2.0
#pragma once
// Everything a collector reads on its host, in one place: sources, hot-plug, link events.

#include <chrono>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/host.hpp"

namespace weft {

namespace host {
class Sources;
}

/// What a HostReader reads, and how often.
struct HostReaderOptions {
  /// Where sysfs is. With another root than /sys it is a recorded tree, and the kernel itself is not asked: netlink and
  /// ioctl sources are off.
  std::string sysfs_root = "/sys";
  /// What a driver has and the tables do not know is read too, under the driver's own name (HostSeries::is_raw).
  bool raw_names = false;
  /// Interfaces without a device of their own that are read all the same, by a match in their names.
  std::optional<std::regex> interfaces{};
  /// Which sources are used.
  bool sysfs = true;
  bool rdma_netlink = true;
  bool rtnetlink = true;
  bool ethtool = true;
  bool dcb = true;
  bool module = true;  ///< optics, through ethtool
  bool lldp = true;    ///< neighbours, from lldpd
  bool kernel_log = true;
  /// Where the kernel's log is read; another one than the kernel's own also with a recorded tree.
  std::string kernel_log_path = "/dev/kmsg";
  /// Of lldpd; empty: the usual one. Between two looks at its neighbours.
  std::string lldp_socket{};
  Duration lldp_interval = std::chrono::seconds(5);
  /// Between two looks at optical modules, which answer slowly; in between their last values stand.
  Duration module_interval = std::chrono::seconds(10);
  /// Between two looks at what changes without a device coming or going: firmware, GIDs, interfaces of a device.
  Duration rescan_interval = std::chrono::seconds(10);
  /// Between two looks at how ports and adapters are set up, where nothing tells of a change.
  Duration facts_interval = std::chrono::hours(1);
};

/// Reads the host again and again. Not for several threads at a time. Nothing of it fails as a whole: what cannot be
/// read is absent, and HostReading::sources says which source has what trouble.
class HostReader {
 public:
  explicit HostReader(HostReaderOptions options);
  ~HostReader();
  HostReader(HostReader&&) noexcept;
  HostReader& operator=(HostReader&&) noexcept;

  /// One reading of everything. Devices that came or went since the last one are in its inventory; the inventory is the
  /// same object as before while nothing of it changed.
  HostReading read(TimePoint now);

  /// Becomes readable (poll, epoll) when take_events() may have something; -1 where there is no source of events.
  /// Stays the same for the reader's life.
  int event_fd() const;
  /// What happened to links since the last call, oldest first, without waiting. A carrier that went and came back
  /// between two messages of the kernel gives two events. Call it after read() too, which may find what no message
  /// told: the state of an InfiniBand port, a change whose message was dropped.
  std::vector<LinkEvent> take_events(TimePoint now);

 private:
  std::unique_ptr<host::Sources> sources_;
};

}  // namespace weft
