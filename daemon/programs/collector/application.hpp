// SPDX-License-Identifier: Apache-2.0
#pragma once
// weft-collector: reads its host on a beat and hears of links in between; shows it on /metrics; puts it into the spool,
// from which weft-uplink sends it.

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/telemetry/batch_codec.hpp"
#include "collectors/host/host_reader.hpp"
#include "daemon/adapters/spool/writer.hpp"
#include "daemon/config/collector_config.hpp"
#include "daemon/platform/runtime/schedule.hpp"
#include "daemon/programs/collector/http_server.hpp"
#include "daemon/programs/collector/jobs.hpp"
#include "daemon/programs/collector/own_figures.hpp"
#include "daemon/programs/collector/ras_watch.hpp"
#include "daemon/programs/collector/uplink_keeper.hpp"
#include "fabric/metric_groups.hpp"
#include "fabric/moved_counters.hpp"

namespace weft::collector {

/// What the host is called: as configured, else its own name.
std::string node_name(const config::CollectorConfig& config);
/// What the configuration says about reading the host.
HostReaderOptions reader_options(const config::CollectorConfig& config);
/// What the configuration says about looking for jobs.
JobOptions job_options(const config::CollectorConfig& config);

/// One thread, one io_context.
class Application {
 public:
  explicit Application(const config::CollectorConfig& config, std::string version);

  /// Runs until SIGINT or SIGTERM. kUnavailable when the address is taken, kFailedPrecondition when the spool is.
  Result<void> run();

 private:
  Result<void> open_uplink();
  void arm();
  void beat();
  void listen_for_events();
  void take_events();
  void find_jobs(TimePoint now);
  void put(const HostBatch& batch, TimePoint now);
  void say_spool(const std::string& trouble);
  void heard(const uplink::UplinkReport& report);
  Result<std::string> page(std::string_view target, api::MetricsFormat format) const;

  config::CollectorConfig config_;
  std::string node_;
  std::string version_;
  boost::asio::io_context context_{1};
  boost::asio::signal_set signals_;
  boost::asio::steady_timer timer_;
  boost::asio::posix::stream_descriptor events_;
  HostReader reader_;
  HttpServer http_;
  runtime::Cadence cadence_;
  api::BatchEncoder encoder_{api::BatchLimits{}, true};
  std::optional<spool::SpoolWriter> spool_;
  std::optional<UplinkKeeper> uplink_;
  MetricGroups groups_;             ///< that /metrics has
  std::shared_ptr<HostView> view_;  ///< what /metrics shows
  std::optional<HostMoves> moves_;  ///< where counters that never moved are left out there
  JobsFound jobs_;
  RasWatch ras_;
  TimePoint jobs_found_at_ = kNever;
  OwnFigures figures_;
  std::string spool_trouble_;
  std::uint64_t corrupt_seen_ = 0;
};

}  // namespace weft::collector
