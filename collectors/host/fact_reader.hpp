// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads how a host's ports and adapters are set up: at once, again when something of it changed, and from time to time.

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collectors/ethernet/dcb_source.hpp"
#include "collectors/ethernet/driver_statistics.hpp"
#include "collectors/ethernet/ethtool_source.hpp"
#include "collectors/ethernet/interface_scan.hpp"
#include "collectors/ethernet/module_source.hpp"
#include "collectors/host/adapter_source.hpp"
#include "collectors/host/kernel_log.hpp"
#include "fabric/clock.hpp"
#include "fabric/config_facts.hpp"
#include "fabric/host.hpp"

namespace weft::host {

/// Who is asked besides sysfs; null: nobody.
struct FactAsk {
  ethernet::EthtoolSource* ethtool = nullptr;
  const ethernet::DriverStatistics* statistics = nullptr;
  ethernet::DcbSource* dcb = nullptr;
  ethernet::ModuleSource* modules = nullptr;
  const AdapterSource* adapters = nullptr;
  KernelLog* kernel_log = nullptr;
};

/// Keeps the facts of one host. Functions that are made for others (HostPort::is_virtual_function) are left out:
/// whoever uses them sets them up.
class FactReader {
 public:
  /// Where sysfs is, and how often it is looked at.
  struct Options {
    std::string sysfs_root = "/sys";
    bool sysfs = true;  ///< its files are read
    /// Between two looks at those files that tell of most changes: MTU, PCIe link, virtual functions.
    Duration look_interval = std::chrono::seconds(10);
    Duration whole_interval = std::chrono::hours(1);  ///< between two readings of everything
  };
  /// Reads nothing yet.
  explicit FactReader(Options options) : options_(std::move(options)) {}

  /// Reads what is due. `ports` and `interfaces` are those of the inventory.
  void read(TimePoint now, std::span<const HostPort> ports, std::span<const ethernet::Interface> interfaces,
            const FactAsk& ask);

  /// As read last; the same object until something of it changed. Null before the first read().
  const std::shared_ptr<const FactTable>& table() const { return table_; }
  /// When everything was read last, changed or not.
  TimePoint read_at() const { return read_at_; }

 private:
  bool is_due(TimePoint now, std::span<const HostPort> ports, const FactAsk& ask);
  std::string device_path(const HostPort& port) const;
  std::string quick_look(std::span<const HostPort> ports) const;
  void read_sysfs(const HostPort& port, std::vector<FactValue>& facts) const;
  FactTable read_all(std::span<const HostPort> ports, std::span<const ethernet::Interface> interfaces,
                     const FactAsk& ask) const;

  Options options_;
  std::shared_ptr<const FactTable> table_;
  TimePoint read_at_ = kNever;
  TimePoint looked_at_ = kNever;
  std::string look_;  ///< what quick_look() said last
};

}  // namespace weft::host
