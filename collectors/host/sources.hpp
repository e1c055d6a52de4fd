// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sources of one host, wired: who is asked in which order, and what becomes of their answers.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectors/ethernet/dcb_source.hpp"
#include "collectors/ethernet/driver_statistics.hpp"
#include "collectors/ethernet/ethtool_source.hpp"
#include "collectors/ethernet/interface_scan.hpp"
#include "collectors/ethernet/link_source.hpp"
#include "collectors/ethernet/module_source.hpp"
#include "collectors/host/adapter_source.hpp"
#include "collectors/host/fact_reader.hpp"
#include "collectors/host/host_reader.hpp"
#include "collectors/host/kernel_log.hpp"
#include "collectors/lldp/lldp_source.hpp"
#include "collectors/rdma/nldev_source.hpp"
#include "collectors/rdma/sysfs_source.hpp"
#include "collectors/series/series_registry.hpp"

namespace weft::host {

/// All sources of one host. Behind HostReader, which says what its functions promise.
class Sources {
 public:
  explicit Sources(HostReaderOptions options);

  HostReading read(TimePoint now);
  int event_fd() const { return links_ ? links_->event_fd() : -1; }
  std::vector<LinkEvent> take_events(TimePoint now);

 private:
  void find_devices(TimePoint now);
  void find_interfaces(TimePoint now);
  void watch_interfaces(TimePoint now);
  bool has_new() const;
  void read_sources(TimePoint now, ValueSink& sink);
  std::vector<SourceStatus> statuses() const;
  void enter_series();
  void take_link_events(TimePoint now);
  void tell(TimePoint now, const std::vector<ethernet::LinkChange>& changes);
  bool has_carrier_events(const HostPort& port) const;
  void tell_port_states(TimePoint now);
  void add_event(LinkEvent event);
  std::shared_ptr<const HostInventory> current_inventory();
  void add_interface_states();
  void read_facts(TimePoint now);
  std::string down_reason(const ethernet::Interface& interface);
  std::string reason_of(const ethernet::LinkChange& change, const ethernet::Interface& interface);

  HostReaderOptions options_;
  rdma::SysfsSource sysfs_;
  std::optional<rdma::NldevSource> nldev_;
  std::optional<ethernet::EthtoolSource> ethtool_;
  std::optional<ethernet::DriverStatistics> statistics_;
  std::optional<ethernet::DcbSource> dcb_;
  std::optional<ethernet::ModuleSource> modules_;
  std::optional<ethernet::LinkSource> links_;
  std::optional<lldp::LldpSource> neighbours_;
  std::optional<AdapterSource> adapters_;
  std::optional<KernelLog> kernel_log_;

  TimePoint scanned_at_ = kNever;
  bool suspect_ = true;   ///< interfaces must be looked at again
  bool relearn_ = false;  ///< drivers may have more to tell: a link came up
  ethernet::InterfaceScan interfaces_;
  SeriesRegistry book_;
  bool book_is_old_ = true;

  FactReader facts_;
  std::vector<HostPort> ports_;
  std::shared_ptr<const HostInventory> inventory_;
  std::vector<LinkEvent> events_;
  /// Why links are down, by interface; asked again after a scan.
  std::map<std::uint32_t, std::string> down_reasons_;
  /// Whether an RDMA port whose link no interface tells of was active when it was last looked at.
  std::map<std::pair<std::string, std::uint8_t>, bool> was_active_;
};

}  // namespace weft::host
