// SPDX-License-Identifier: Apache-2.0
#pragma once
// What collectors on the simulated hosts read of their adapters, on Ethernet of their interfaces, and those on switches
// of their ports; and when weftd hears of it: each in its own time, a little unevenly, now and then late or not at all.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fabric/host.hpp"
#include "tests/scenarios/random.hpp"
#include "tests/scenarios/registers.hpp"
#include "tests/scenarios/scenario.hpp"

namespace weft::scenarios {

/// By host: the jobs that a scheduler placed there, which its collector tells. Jobs of the same hosts, a rail each, are
/// one; storage and what runs beside jobs is none.
struct PlacedJob {
  std::string name;
  double start = 0, end = 0;  ///< seconds
};
std::vector<std::vector<PlacedJob>> jobs_of_hosts(const Scenario& scenario, const Plan& plan);

/// A batch on its way from a host.
struct Delivery {
  double heard = 0;  ///< seconds since the scenario began
  std::string host;
  HostBatch batch;  ///< reading.taken is on the watcher's clock
};

class Collectors {
 public:
  /// `plan` and `scenario` outlive it.
  Collectors(const Scenario& scenario, const Plan& plan);

  /// From one reading of a host to its next, seconds.
  double interval() const { return scenario_.interval; }
  /// Lets the time since the last call pass at the present rates. All readings before `now` must have been taken.
  void settle(double now);
  /// No packet is lost and no host stalls from now on, until told otherwise.
  void calm();
  /// From now on packets from an endpoint to another are lost, packets per second; for each of them the receiver counts
  /// `late` packets out of order.
  void lose(std::uint32_t from, std::uint32_t to, double packets, double late);
  /// From now on so many packets per second arrive with a mark, and the sender is notified of them.
  void mark(std::uint32_t from, std::uint32_t to, double packets);
  /// So many requests of the endpoint, and of others to it, are flushed: their queue pairs are destroyed.
  void flush(std::uint32_t endpoint, std::uint64_t requests);
  /// From now on the endpoint's host stalls its adapter for that share of the time: writes into its memory, reads from
  /// it.
  void stall(std::uint32_t endpoint, double writes, double reads);
  /// From now on so many packets per second find no receive request posted.
  void refuse(std::uint32_t from, std::uint32_t to, double packets);
  /// From now on so many requests of the endpoint per second use up their retries, whatever flows.
  void fail(std::uint32_t endpoint, double requests);
  /// So many requests of the endpoint got no answer in time.
  void time_out(std::uint32_t endpoint, std::uint64_t requests);
  /// From now on so many packets per second find no receive request posted there, whatever flows.
  void starve(std::uint32_t endpoint, double packets);
  /// From now on the port has the module of that number, 0: none; its collector, if any, tells of it.
  void plug(PortIndex port, unsigned module, bool has_fixed_cable);
  /// Packets that were lost at once.
  void add_lost(std::uint32_t from, std::uint32_t to, std::uint64_t packets, double late);

  bool is_due(double until) const { return !due_.empty() && due_.front().first < until; }
  /// Reads the hosts that are due before `until`; those for which `is_up` says no are silent. `ports`: as they are now.
  void read(double until, const Registers& registers, std::span<const Port> ports,
            const std::function<bool(NodeIndex)>& is_up, const std::function<TimePoint(double)>& wall);
  /// By host: when it was read, seconds; empty where no fault of the scenario asks for it.
  const std::vector<std::vector<double>>& reading_times() const { return reading_times_; }
  /// What weftd has heard by `now`, in the order of hearing. What `heard` had before is over: its memory is used again.
  void hear(double now, std::vector<Delivery>& heard);

 private:
  /// Of one endpoint. Expected values are real numbers; counters draw whole events from them when they are read.
  struct Adapter {
    double nak_rate = 0, out_of_sequence_rate = 0, rnr_rate = 0, out_of_buffer_rate = 0;
    double write_stall = 0, read_stall = 0;
    double failure_rate = 0, failures = 0;                             ///< requests per second; since the last reading
    double starving_rate = 0;                                          ///< packets per second
    double naks = 0, out_of_sequence = 0, rnr = 0, out_of_buffer = 0;  ///< since the last reading
    double write_stalled = 0, read_stalled = 0;                        ///< seconds since then
    double healthy_loss = 0;                                           ///< share of packets
    std::uint64_t sent = 0, received = 0;                              ///< packets at that time
    std::uint64_t nak_count = 0, timeout_count = 0, out_of_sequence_count = 0, rnr_count = 0;
    std::uint64_t failure_count = 0;
    std::uint64_t out_of_buffer_count = 0, write_stall_count = 0, read_stall_count = 0;
    double write_stall_begun = 0, read_stall_begun = 0;      ///< of the next whole second
    double marked_rate = 0, told_rate = 0, obeyed_rate = 0;  ///< marks, notifications sent, notifications received
    double marked = 0, told = 0, obeyed = 0;                 ///< since the last reading
    std::uint64_t marked_count = 0, told_count = 0, obeyed_count = 0, flushed_count = 0;
  };
  struct Host {
    std::string name;
    std::vector<PortIndex> ports;  ///< as in the inventory
    bool is_switch = false;
    std::shared_ptr<const HostInventory> inventory;
    std::vector<PlacedJob> jobs;
    std::shared_ptr<const FactTable> facts;
    double read_at = 0;
    std::uint64_t sequence = 0;
    double heard = 0;  ///< what is sent arrives in order
  };

  void add_host(std::uint32_t host, const std::shared_ptr<const std::vector<HostSeries>>& series);
  void add_switch(NodeIndex node);
  void plan_reading(double at, std::uint32_t host);
  void look_at_links(Host& host, std::span<const Port> ports) const;
  void read_link(PortIndex port, double now, const Registers& registers, std::vector<std::uint64_t>& values) const;
  void read_host(std::uint32_t host, double now, const Registers& registers, TimePoint taken);
  void read_adapter(std::uint32_t endpoint, double now, double passed, const Registers& registers,
                    std::vector<std::uint64_t>& values);
  void read_extras(Adapter& adapter, double since, std::vector<std::uint64_t>& values);

  const Scenario& scenario_;
  const Plan& plan_;
  Random random_;
  std::vector<Adapter> adapters_;              ///< by endpoint
  std::vector<std::uint64_t> flush_divisors_;  ///< of the series that count flushes
  std::vector<Host> hosts_;
  double settled_ = 0;
  using Due = std::pair<double, std::uint32_t>;  ///< when, host
  std::deque<Due> due_;                          ///< ascending: the next reading of a host is among the last of all
  std::vector<Delivery> under_way_;
  std::vector<HostReading> spare_;  ///< old ones, whose memory the next readings take
  std::vector<std::vector<double>> reading_times_;
};

}  // namespace weft::scenarios
