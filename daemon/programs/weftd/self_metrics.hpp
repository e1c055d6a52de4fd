// SPDX-License-Identifier: Apache-2.0
#pragma once
// weftd's figures of itself, in a prometheus-cpp registry. (Those of ports come straight from the snapshot:
// api/metrics.)

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/grpc/stream_registry.hpp"
#include "api/site/site_queries.hpp"
#include "daemon/adapters/store/store.hpp"
#include "daemon/adapters/webhooks/event_sender.hpp"
#include "daemon/platform/runtime/lane.hpp"
#include "daemon/programs/weftd/expected_topology.hpp"
#include "daemon/programs/weftd/host_sessions.hpp"
#include "daemon/programs/weftd/pushed_switches.hpp"
#include "daemon/programs/weftd/security.hpp"
#include "fabric/acting_weftds.hpp"
#include "fabric/switch_target.hpp"

namespace prometheus {
class Collectable;
}

namespace weft::daemon {

/// The metrics that weftd reports about itself. Not thread-safe, but for collectable().
class SelfMetrics {
 public:
  /// `version` becomes a label of the build's metric.
  explicit SelfMetrics(const std::string& version);
  ~SelfMetrics();
  SelfMetrics(const SelfMetrics&) = delete;
  SelfMetrics& operator=(const SelfMetrics&) = delete;

  /// The registry, for a scrape. Any thread.
  std::shared_ptr<prometheus::Collectable> collectable() const;

  /// Sets the metrics of one lane.
  void set(const std::string& lane, const runtime::LaneFigures& figures);
  /// Sets the metrics of the store.
  void set(const store::StoreStatus& status);
  /// Sets the metrics of one event receiver.
  void set(const events::EventSender& sender);
  /// Sets the metrics of the collectors' streams.
  void set(const api::TelemetryFigures& streams, const HostFigures& hosts, const runtime::ChannelFigures& inbox);
  /// Sets the metrics of authentication and certificates.
  void set(const SecurityFigures& security);
  /// Sets the metrics of the expected topology's file.
  void set(LinkLayer layer, const ExpectedFigures& expected);
  /// Sets the metrics of the site's shards; those of shards that are gone stay away.
  void set(const std::vector<api::ShardFigures>& shards);
  /// Sets the metrics of the switches that are read by gNMI; those of switches that are gone stay away.
  void set(const std::vector<SwitchTarget>& targets, std::uint64_t restarts);
  /// Sets the metrics of pushed metrics.
  void set(const PushFigures& pushed);
  /// Sets how many children were killed and have not ended (runtime::unkillable()).
  void set_unkillable(std::size_t processes);
  /// Sets the metrics of one fabric. Times are seconds; the counts grow from the start of the process.
  void set_fabric(const std::string& fabric, double analysis_seconds, std::uint64_t sweeper_restarts,
                  std::uint64_t sweeps_skipped);
  /// Sets the metrics of what the subnet administrator tells of a fabric that this weftd may act on.
  void set_acting(const std::string& fabric, const ActingWeftds& acting);

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace weft::daemon
