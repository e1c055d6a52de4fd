#pragma once
// The sources of one host, wired: who is asked in which order, and what becomes of their answers.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectors/ethernet/interface_scan.hpp"
#include "collectors/ethernet/link_source.hpp"
#include "collectors/host/host_reader.hpp"
#include "collectors/rdma/sysfs_source.hpp"
#include "collectors/series/series_book.hpp"

namespace weft::host {

class Sources {
 public:
  explicit Sources(HostReaderOptions options);

  HostReading read(TimePoint now);
  int event_fd() const { return links_ ? links_->event_fd() : -1; }
  std::vector<LinkEvent> take_events(TimePoint now);

 private:
  void find_devices(TimePoint now);
  void enter_series();
  void take_link_events(TimePoint now);
  void tell(TimePoint now, const std::vector<ethernet::LinkChange>& changes);
  void tell_port_states(TimePoint now);
  void add_event(LinkEvent event);
  std::shared_ptr<const HostInventory> current_inventory();
  void add_interface_states();

  HostReaderOptions options_;
  rdma::SysfsSource sysfs_;
  std::optional<ethernet::LinkSource> links_;

  TimePoint scanned_at_ = kNever;
  bool suspect_ = true;  ///< interfaces must be looked at again
  ethernet::InterfaceScan interfaces_;
  SeriesBook book_;
  bool book_is_old_ = true;

  std::vector<HostPort> ports_;
  std::shared_ptr<const HostInventory> inventory_;
  std::vector<LinkEvent> events_;
  /// Whether an RDMA port whose link no interface tells of was active when it was last looked at.
  std::map<std::pair<std::string, std::uint8_t>, bool> was_active_;
};

}  // namespace weft::host
