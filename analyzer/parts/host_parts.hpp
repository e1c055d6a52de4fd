// SPDX-License-Identifier: Apache-2.0
#pragma once
// HOST_DEGRADED and MODULE_DEGRADED: the parts around hosts' ports, as their collectors tell of them.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyzer/parts/like_adapters.hpp"
#include "analyzer/parts/limit_watch.hpp"
#include "analyzer/parts/part_trouble.hpp"
#include "analyzer/parts/pcie_errors.hpp"
#include "analyzer/ports/host_watch.hpp"
#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/adapter_faults.hpp"
#include "fabric/pcie_links.hpp"

namespace weft::analyzer {

/// Watches adapters and modules of all hosts. One incident for each adapter, of its first port, and for each module.
/// What could not be read stays as it was read last: absent is not repaired. Adapters none of whose ports was ever up
/// are left alone: nobody uses them, and some sleep.
class HostParts {
 public:
  /// Keeps a copy of its limits.
  explicit HostParts(const Thresholds& thresholds)
      : limits_(thresholds.parts),
        gauges_(thresholds.parts.gauge_hold),
        errors_(thresholds.parts),
        alike_(thresholds.config_drift) {}

  /// An incident that was open when the process before ended: what it tells of lasted long enough then.
  void remember(const Incident& incident);
  /// The host's series or ports are others; `followed` gets the positions of what is asked for.
  void follow(const HostWatch& host, std::vector<std::uint32_t>& followed) {
    gauges_.follow(host, followed);
    errors_.follow(host, followed);
  }
  /// What moved, of a reading that is no history.
  void take(const HostWatch& host, const HostMovement& movement);
  /// The facts of a reading that is no history.
  void take(const HostWatch& host, const HostReading& reading);
  /// The host is forgotten.
  void forget(const std::string& host);
  /// Adds what is wrong. `is_settled`: collectors had time to find us after our start; before, nothing is told.
  void judge(const Hosts& hosts, bool is_settled, TimePoint now, std::vector<Finding>& findings);
  /// Adds to what is told of a port that a part there is degraded, as judge() found last: to SLOW_RECEIVER, RDMA_ERRORS
  /// and LINK_DEGRADED of its own adapter or module, to STRAGGLER those of all of the host. INFO explains nothing.
  void explain(std::vector<Finding>& findings, TimePoint now) const;
  /// Has everything been read that the incident of `kind` at `port` rests on? Without a port: of a whole make.
  bool observed(IncidentKind kind, const Entity& cause, const PortWatch* port, TimePoint now) const;

 private:
  /// What is known of an adapter, at its first port; at the others that they are not the first.
  struct Adapter {
    std::string key;  ///< adapter_key()
    std::string make;
    bool is_first = false;
    std::vector<PcieLink> links;
    TimePoint degraded_since = kNever;  ///< kNever: no link is
    bool is_log_read = false;
    const AdapterFaultRow* fault = nullptr;  ///< of this function, as the log tells; null: none
    std::string fault_text;
    TimePoint fault_since = kNever;
  };
  /// What judge() found, and at which ports that part is, as the host and as the fabrics call them.
  struct Told {
    IncidentKind kind = IncidentKind::kHostDegraded;
    std::string host;
    std::vector<Entity> ports;
    std::string words;
    std::string past;  ///< the same as evidence
  };
  struct Taken {
    std::shared_ptr<const FactTable> facts;
    std::shared_ptr<const HostInventory> inventory;
    TimePoint first = kNever;  ///< when the first one was taken
  };
  /// Of an incident of the process before.
  struct Remembered {
    TimePoint opened = kNever;
    std::uint32_t signs = 0;  ///< bit i: it rests on PartSign i
  };

  void take_links(const std::string& identity, const PortFacts& facts, TimePoint read_at, Adapter& adapter);
  static void take_fault(const PortFacts& facts, TimePoint read_at, Adapter& adapter);
  void add_fault(bool of_module, const HostWatch& host, const PortWatch& port, TimePoint now,
                 std::vector<PartTrouble>& troubles) const;
  bool is_read(PartSign sign, const PortWatch& port) const;
  bool was_told(const HostWatch& host, const PortWatch& port, PartSign sign) const;
  bool was_up(const HostWatch& host, const std::string& adapter) const;
  double rate_of(const HostWatch& host, const std::string& adapter) const;
  void judge(const HostWatch& host, TimePoint now, std::vector<Finding>& findings);
  void add_link(const HostWatch& host, const PortWatch& port, TimePoint now, std::vector<PartTrouble>& troubles) const;
  std::vector<Entity> others_of(const HostWatch& host, const PortWatch& first) const;
  void count(const Hosts& hosts, TimePoint now);
  void tell(IncidentKind kind, const HostWatch& host, const PortWatch& port, std::span<const PartTrouble> troubles,
            std::vector<Entity> others, std::vector<Finding>& findings);

  PartsLimits limits_;
  PerPort<Adapter> adapters_;
  LimitWatch gauges_;
  PcieErrors errors_;
  LikeAdapters alike_;
  std::map<std::string, Taken, std::less<>> taken_;  ///< by host
  std::map<std::string, Remembered> remembered_;     ///< by identity of the cause
  std::vector<Told> told_;                           ///< of the last judge()
  bool has_changed_ = false;                         ///< since counted_at_
  TimePoint counted_at_ = kNever;
};

}  // namespace weft::analyzer
