// SPDX-License-Identifier: Apache-2.0
#pragma once
// /metrics?names=infiniband_exporter: what the sweeps have, under the names of treydock/infiniband_exporter.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/metrics/negotiate.hpp"
#include "fabric/metric_groups.hpp"
#include "fabric/snapshot.hpp"

namespace weft::api {

/// The text of one scrape with infiniband_switch_* and infiniband_hca_*: names, labels and units of infiniband_exporter
/// 0.10.0 (collectors/switch.go, hca.go, ibnetdiscover.go). As there, ports have series while a cable leads to another
/// node and both are up; counters at zero have them too, and waits are ticks. Other than there, a port whose readings
/// are old has none, and is counted in infiniband_exporter_collect_timeouts.
class InfinibandExporterPage {
 public:
  /// `now` tells which ports are stale; families of other groups are left out.
  InfinibandExporterPage(std::shared_ptr<const Snapshot> snapshot, TimePoint now, MetricsFormat format,
                         MetricGroups groups);

  /// The next piece, seldom more than 64 KiB; good until the next call. Empty at the end.
  std::string_view next();

 private:
  /// What a port is the port of; of no exported device where it has no series.
  enum class Device : std::uint8_t { kNone, kSwitch, kAdapter };
  enum class Row : std::uint8_t { kInfo, kRate, kRawRate, kUplink, kCounter, kTimeouts };
  struct Family;
  struct View {
    const FabricView* fabric;
    const Topology* topology;
    std::vector<Device> ports;  ///< for each port
  };

  static std::vector<Family> make_families();
  static const std::vector<Family>& families();
  static bool is_first_of_device(const View& view, PortIndex index);
  void write(const Family& family);
  void append_row(const Family& family, const View& view, PortIndex port);
  void append_counter(const Family& family, const View& view, PortIndex port);
  void append_rate(const Family& family, const View& view, PortIndex port);
  void append_names(const Family& family, const View& view, PortIndex port);
  void begin(const Family& family, const View& view, PortIndex port, bool with_port);

  std::shared_ptr<const Snapshot> snapshot_;
  MetricsFormat format_;
  MetricGroups groups_;
  std::vector<View> views_;
  std::array<std::uint64_t, 2> silent_{};  ///< devices with a stale port: switches, adapters

  // Where the next call goes on.
  std::size_t family_ = 0;
  std::size_t view_ = 0;
  PortIndex port_ = 0;
  bool headed_ = false;
  bool ended_ = false;
  std::string text_;
};

}  // namespace weft::api
