// SPDX-License-Identifier: Apache-2.0
#pragma once
// Watches one subnet through one port: discovers it, then reads all of it again and again.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectors/infiniband/acting_registration.hpp"
#include "collectors/infiniband/detail_schedule.hpp"
#include "collectors/infiniband/discovery.hpp"
#include "collectors/infiniband/forwarding.hpp"
#include "collectors/infiniband/mad_engine.hpp"
#include "collectors/infiniband/port_sweep.hpp"
#include "collectors/infiniband/service_levels.hpp"
#include "collectors/infiniband/subnet.hpp"
#include "fabric/result.hpp"
#include "fabric/sweep.hpp"

namespace weft::infiniband {

/// What a Sweeper watches, and how.
struct SweeperOptions {
  std::string fabric;  ///< name put into each Sweep
  MadEngineOptions engine;
  Duration interval = std::chrono::seconds(1);
  Duration detail_interval = std::chrono::seconds(60);  ///< each port's optional attributes once in this time
  std::optional<std::uint8_t> service_level;  ///< of performance management; nullopt: ask the subnet administrator
  std::optional<std::uint16_t> pkey_index;    ///< nullopt: that of the default partition
  bool clear_saturated_counters = false;      ///< the one Set this class ever sends, and only when told to
  /// weftd is registered at the subnet administrator as this, and others are looked for; without an installation:
  /// neither.
  ActsAs acts_as{};
  NodeNameMap names;
  std::uint64_t first_epoch = 1;
};

/// Not thread-safe; blocks for as long as a sweep takes.
class Sweeper {
 public:
  Sweeper(MadPort& port, SweeperOptions options);

  /// One sweep; the first one, and one after a change that indices cannot show, discovers from nothing (a new epoch).
  /// The tables in the result are this object's own: valid, and unchanged, until the next call.
  /// kUnavailable when the local port is gone or does not take datagrams.
  Result<Sweep> sweep();

  /// Who else may act on the subnet, as last asked; nobody asked yet, or never does: the default.
  const ActingWeftds& acting() const { return acting_.answer(); }
  /// SweeperOptions::acts_as is this from the next sweep on.
  void act_as(ActsAs acts_as) { options_.acts_as = std::move(acts_as); }
  /// Takes the own record at the subnet administrator out again, before the end. A moment at most is spent on it.
  void say_farewell() { acting_.say_farewell(engine_); }

  /// How long the last discovery from nothing took, and how many requests it sent.
  Duration discovery_time() const { return discovery_time_; }
  std::uint64_t discovery_requests() const { return discovery_requests_; }
  /// Requests sent since construction, retries included.
  std::uint64_t requests_sent() const { return engine_.sent(); }

 private:
  /// Reads all there is to read. False: our own cable leads elsewhere since it began, so that what was read may be of
  /// two subnets.
  Result<bool> read(const LocalPort& local);
  Result<void> discover();
  Result<void> look_behind(const std::vector<PortIndex>& ports);
  void spare_subnet_managers();
  std::optional<PortKey> find_subnet_manager() const;
  Result<void> learn_agents();
  Result<void> learn_service_levels();
  Result<void> learn_who_acts(const LocalPort& local);
  Result<void> read_own_node();
  Result<void> read_ports();
  Result<void> find_missing(const std::vector<NodeIndex>& missing);
  Result<void> read_vendor_speeds();
  void ask_for_details_again(NodeIndex node);
  Result<void> read_details(const PortReadings& readings);
  Result<void> read_routes(std::uint64_t sent_before);
  Result<void> clear_saturated();
  void grow_tables();
  std::vector<PortIndex> links_to_verify();
  std::vector<NodeIndex> nodes_due() const;
  void drop_settled_duplicates();

  MadPort& port_;
  SweeperOptions options_;
  MadEngine engine_;
  GeneralServices services_;
  std::uint64_t epoch_;
  std::uint64_t number_ = 0;
  bool discover_next_ = true;
  ServiceLevels service_levels_;
  std::array<std::uint64_t, kMadResultCount> path_records_{};  ///< questions to the subnet administrator, by result
  ActingRegistration acting_;
  std::unique_ptr<Subnet> subnet_;
  std::unique_ptr<Discovery> discovery_;
  std::unique_ptr<ForwardingTables> forwarding_;
  std::shared_ptr<const Topology> topology_;
  SampleTable counters_;
  SampleTable details_;
  std::vector<TimePoint> state_read_at_;
  PortIndex next_to_verify_ = 0;
  NodeIndex next_to_describe_ = 0;
  DetailSchedule detail_schedule_;
  Duration discovery_time_{};
  std::uint64_t discovery_requests_ = 0;
  std::uint64_t absurd_before_ = 0;  ///< replies that discoveries of earlier epochs could not believe
};

}  // namespace weft::infiniband
