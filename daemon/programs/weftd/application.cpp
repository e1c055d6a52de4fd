// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/application.hpp"

#include <systemd/sd-daemon.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <set>

#include "api/grpc/server.hpp"
#include "api/http/server.hpp"
#include "daemon/platform/cli/standard_places.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/platform/runtime/unkillable.hpp"
#include "daemon/programs/sweeper/node_names.hpp"
#include "daemon/programs/weftd/command_forwarders.hpp"
#include "daemon/programs/weftd/core.hpp"
#include "daemon/programs/weftd/ethernet_watcher.hpp"
#include "daemon/programs/weftd/event_dispatcher.hpp"
#include "daemon/programs/weftd/expected_topology.hpp"
#include "daemon/programs/weftd/fabric_watcher.hpp"
#include "daemon/programs/weftd/named_files.hpp"
#include "daemon/programs/weftd/page_assets.hpp"
#include "daemon/programs/weftd/port_finder.hpp"
#include "daemon/programs/weftd/remedy_setup.hpp"
#include "daemon/programs/weftd/security.hpp"
#include "daemon/programs/weftd/self_metrics.hpp"
#include "daemon/programs/weftd/telemetry_inbox.hpp"

#ifndef WEFT_VERSION
#define WEFT_VERSION "unknown"
#endif

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

constexpr auto kLookForPortsEvery = 60s;
constexpr auto kLookForFirstPortEvery = 5s;
constexpr auto kLookAtFilesEvery = 2s;

std::filesystem::path sweeper_program(const config::Infiniband& infiniband) {
  if (!infiniband.sweeper.empty()) return infiniband.sweeper;
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "weft-sweeper";
}

// Which ports are watched. In automatic mode ports come and go, and of two ports on one subnet one is enough.
class Watchers {
 public:
  Watchers(asio::io_context& main, const config::WeftdConfig& config, Core& core)
      : main_(main),
        config_(config),
        core_(core),
        program_(sweeper_program(config.infiniband)),
        look_(main),
        finder_({.name = "port-finder", .capacity = 2, .when_full = runtime::WhenFull::kRefuse}) {}

  void start() {
    if (!config_.infiniband.enabled) return;
    if (!config_.infiniband.ports.automatic) {
      for (const config::InfinibandPort& port : config_.infiniband.ports.named) add(port);
      return;
    }
    look();
  }

  void stop() {
    stopped_ = true;
    look_.cancel();
    finder_.stop();
    for (auto& [name, watcher] : watchers_) watcher->stop();
  }

  void report(SelfMetrics& metrics) const {
    for (const auto& [name, watcher] : watchers_) {
      const auto analysis = core_.analysis_seconds().find(name);
      metrics.set_fabric(name, analysis == core_.analysis_seconds().end() ? 0 : analysis->second, watcher->restarts(),
                         watcher->skipped());
    }
  }

 private:
  std::filesystem::path scratch(const std::string& name) const {
    return std::filesystem::absolute(config_.state_dir) / "run" / name;
  }

  void look() {
    finder_.post([this] {
      auto ports = find_ports(program_, scratch("port-finder"), 10s);
      asio::post(main_, [this, ports = std::move(ports)] { looked(ports); });
    });
  }

  void looked(const Result<std::vector<config::InfinibandPort>>& ports) {
    if (stopped_) return;
    if (!ports && ports.error().message != complaint_) {
      complaint_ = ports.error().message;
      logger("infiniband")->warn("no InfiniBand port to monitor yet: {}", complaint_);
    } else if (ports) {
      if (ports->empty() && watchers_.empty() && complaint_.empty()) {
        complaint_ = "no active InfiniBand port";
        logger("infiniband")->warn("no InfiniBand port to monitor yet: {}", complaint_);
      }
      for (const config::InfinibandPort& port : *ports)
        if (!watchers_.contains(port.fabric) && !has_another_way(port)) add(port);
    }
    look_.expires_after(watchers_.empty() ? kLookForFirstPortEvery : kLookForPortsEvery);
    look_.async_wait([this](boost::system::error_code error) {
      if (!error) look();
    });
  }

  void add(const config::InfinibandPort& port) {
    core_.add_fabric(port.fabric);
    auto watcher = std::make_unique<FabricWatcher>(
        main_, FabricWatcher::Options{port, config_.infiniband, program_, scratch(port.fabric)},
        [this, name = port.fabric](Sweep sweep) { take(name, std::move(sweep)); },
        [this, name = port.fabric](const std::string& why) { core_.take_trouble(name, why); });
    watcher->start();
    watchers_[port.fabric] = std::move(watcher);
  }

  void take(const std::string& name, Sweep sweep) {
    if (!watchers_.contains(name)) return;  // on its way out
    if (config_.infiniband.ports.automatic) {
      // In each sweep: the first one may have been replaced by a newer one before we looked, and cables move.
      if (const std::string other = also_seen_by(name, sweep.local_port); !other.empty()) {
        logger("infiniband")->info("{} is on the same subnet as {}: kept as standby", name, other);
        reserve_[name] = sweep.local_port;
        // Not from within its own callback.
        asio::post(main_, [this, name] {
          watchers_.erase(name);
          core_.remove_fabric(name);
        });
        return;
      }
    }
    core_.take_sweep(std::move(sweep));
  }

  // The other fabric in whose last sweep that port of ours is cabled up; empty when there is none.
  std::string also_seen_by(const std::string& name, PortKey local_port) const {
    for (const auto& [other, watcher] : watchers_) {
      if (other == name || !core_.is_watching(other)) continue;
      const auto last = core_.last_sweep(other);
      if (!last) continue;
      const PortIndex port = last->topology->find_port(local_port);
      // An adapter on two subnets shows both of its ports in each, but a cable only in one.
      if (port != kNoIndex && last->topology->port(port).is_up() && last->topology->port(port).peer != kNoIndex)
        return other;
    }
    return {};
  }

  bool has_another_way(const config::InfinibandPort& port) {
    const auto reserved = reserve_.find(port.fabric);
    if (reserved == reserve_.end()) return false;
    if (!also_seen_by(port.fabric, reserved->second).empty()) return true;
    reserve_.erase(reserved);
    return false;
  }

  asio::io_context& main_;
  const config::WeftdConfig& config_;
  Core& core_;
  std::filesystem::path program_;
  std::map<std::string, std::unique_ptr<FabricWatcher>> watchers_;
  std::map<std::string, PortKey> reserve_;  // by fabric: ports that another fabric has in view
  asio::steady_timer look_;
  runtime::Lane finder_;
  std::string complaint_;
  bool stopped_ = false;
};

// The beat of the daemon: silences, ages, figures, and the word to systemd that we are alive.
class Beat {
 public:
  Beat(asio::io_context& main, Duration every, std::function<void()> each)
      : timer_(main), every_(every), each_(std::move(each)) {}
  void start() {
    timer_.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(every_));
    timer_.async_wait([this](boost::system::error_code error) {
      if (error) return;
      each_();
      start();
    });
  }
  void stop() { timer_.cancel(); }

 private:
  asio::steady_timer timer_;
  Duration every_;
  std::function<void()> each_;
};

// How many children were killed and have not ended. Each is logged once: `told` are those of the call before.
std::size_t tell_unkillable(std::set<pid_t>& told) {
  std::set<pid_t> all;
  for (const runtime::Unkillable& process : runtime::unkillable()) {
    all.insert(process.pid);
    if (!told.contains(process.pid))
      logger("weftd")->error("process {} ({}) was killed and does not end: its state is in /proc/{}/stack", process.pid,
                             process.program, process.pid);
  }
  told = std::move(all);
  return told.size();
}

api::TelemetryLimits telemetry_limits(const config::Telemetry& telemetry) {
  api::TelemetryLimits limits;
  limits.max_collectors = telemetry.max_collectors;
  limits.max_values = telemetry.max_values;
  limits.batches_per_second = telemetry.max_batches_per_second;
  limits.batch_burst = 4.0 * telemetry.max_batches_per_second;
  return limits;
}

/// A place that somebody chose must be had; without the usual one we go on, and only tokens can act.
Result<void> open_socket(api::GrpcServer& grpc, const config::WeftdConfig& config) {
  const bool chosen = !config.listen.socket.empty();
  const std::filesystem::path place = chosen ? config.listen.socket : std::filesystem::path(usage::kStandardSocket);
  const auto opened = grpc.listen_for_accounts(place, account_rights(config.security));
  if (!opened && chosen) return fail(opened.error().code, "listen.socket: " + opened.error().message);
  if (opened) {
    logger("weftd")->info("gRPC for accounts of this host on unix:{}", place.string());
  } else {
    logger("weftd")->warn("accounts of this host cannot act, only tokens and certificates can: {}; set listen.socket",
                          opened.error().message);
  }
  return {};
}

}  // namespace

Result<void> run(const config::WeftdConfig& config) {
  const SystemClock clock;
  ExpectedTopology expected_topology(config.infiniband.expected_topology, read_expected_topology);
  auto expected = expected_topology.open();
  if (!expected) return fail(ErrorCode::kInvalidArgument, expected.error().message);
  if (const auto names = sweeper::read_node_names(config.infiniband.node_name_map); !names)
    logger("infiniband")->warn("nodes keep their descriptions as names: {}", names.error().message);
  auto store =
      store::open_store(config.state_dir, {config.store.history_interval, config.store.history_retention,
                                           config.store.max_history_bytes.value, config.store.incident_retention});
  if (!store) return tl::unexpected(store.error());
  auto restored = (*store)->restore(clock.now() - config.incidents.retention);
  if (!restored) return tl::unexpected(restored.error());
  auto plans = (*store)->restore_remedies(clock.now() - config.incidents.retention);
  if (!plans) return tl::unexpected(plans.error());
  auto remedy_options = make_remedy_options(config, clock);
  if (!remedy_options) return tl::unexpected(remedy_options.error());
  auto security = Security::open(config.security, clock);
  if (!security) return tl::unexpected(security.error());
  logger("weftd")->info("weftd {}: {} incidents loaded from {}", WEFT_VERSION, restored->incidents.size(),
                        config.state_dir.string());

  // What is declared first is destroyed last: the servers stop before the state they show, the lanes after their last
  // job.
  asio::io_context main(1);
  api::Publication publication;
  SelfMetrics metrics(WEFT_VERSION);
  runtime::Lane store_lane({.name = "store",
                            .capacity = 64,
                            .when_full = runtime::WhenFull::kRefuse,
                            .on_failure = [](const std::string& what) { logger("store")->error("{}", what); }});
  const auto post = [&main](std::function<void()> job) { asio::post(main, std::move(job)); };
  RemedyController remedies(std::move(*remedy_options), *plans, **store, store_lane, clock, post);
  Core core(config, std::move(*expected), **store, std::move(*restored), store_lane, remedies, publication, clock,
            post);
  remedies.set_on_news([&core] { core.take_plans(); });
  auto ethernet = EthernetWatcher::open(main, config.ethernet, core.hosts(), clock);
  if (!ethernet) return tl::unexpected(ethernet.error());
  auto events = EventDispatcher::make(config, publication, clock, plans->installation);
  if (!events) return tl::unexpected(events.error());
  TelemetryInbox inbox(main, core.hosts(), config.telemetry.max_collectors, [&core] { core.take_hosts(); });
  MainThreadExecutor main_thread(post);
  CommandForwarder commands(main_thread, core);
  RemedyCommandForwarder remedy_commands(main_thread, remedies);
  Watchers watchers(main, config, core);

  // gRPC first: who asks /healthz whether we live expects both.
  auto grpc = api::GrpcServer::start({.address = config.listen.grpc.host,
                                      .port = config.listen.grpc.port,
                                      .max_watchers = config.grpc.max_watchers,
                                      .telemetry = telemetry_limits(config.telemetry),
                                      .gate = (*security)->gate(),
                                      .tls = (*security)->tls()},
                                     publication, commands, remedy_commands, inbox, clock);
  if (!grpc) return tl::unexpected(grpc.error());
  if (const auto opened = open_socket(**grpc, config); !opened) return opened;
  auto http = api::HttpServer::start(
      {.address = config.listen.http.host,
       .port = config.listen.http.port,
       .max_connections = config.http.max_connections,
       .max_connections_per_address = config.http.max_connections_per_address,
       .idle_timeout = std::chrono::duration_cast<std::chrono::milliseconds>(config.http.idle_timeout),
       .tls = (*security)->tls()},
      publication, clock, {metrics.collectable()}, {&commands, &remedy_commands, (*security)->gate(), page_assets()});
  if (!http) return tl::unexpected(http.error());
  logger("weftd")->info("HTTP on {}://{}:{}/, gRPC on {}:{}", (*security)->tls() ? "https" : "http",
                        config.listen.http.host, (*http)->port(), config.listen.grpc.host, (*grpc)->port());

  if (config.security.allow_plain_text && !(*security)->is_guarded())
    logger("weftd")->warn(
        "security.allow_plain_text is on: anyone who reaches these addresses can read everything "
        "and report for any host");

  std::set<pid_t> told;
  Beat beat(main, std::min<Duration>(config.infiniband.sweep_interval / 2, 500ms), [&] {
    core.tick();
    metrics.set(store_lane.name(), store_lane.figures());
    for (const runtime::Lane* lane : remedies.lanes()) metrics.set(lane->name(), lane->figures());
    metrics.set((*store)->status());
    metrics.set_unkillable(tell_unkillable(told));
    (*events)->tick();
    for (const auto& receiver : (*events)->receivers()) metrics.set(*receiver.sender);
    metrics.set((*grpc)->telemetry(), core.hosts().figures(), inbox.figures());
    metrics.set((*security)->figures());
    if (expected_topology.is_configured()) metrics.set(expected_topology.figures());
    watchers.report(metrics);
    if (*ethernet)
      if (const auto took = core.analysis_seconds().find((*ethernet)->fabric()); took != core.analysis_seconds().end())
        metrics.set_fabric(took->first, took->second, 0, 0);
    sd_notify(0, "WATCHDOG=1");
  });
  // Files are read on a lane: a disk that hangs must not hold up the picture.
  runtime::Lane files_lane({.name = "files",
                            .capacity = 1,
                            .when_full = runtime::WhenFull::kRefuse,
                            .on_failure = [](const std::string& what) { logger("weftd")->error("{}", what); }});
  Beat look_at_files(main, kLookAtFilesEvery, [&] {
    files_lane.post([&] {
      if ((*security)->is_guarded())
        asio::post(main, [&security, files = read_security(config.security, clock.now())]() mutable {
          (*security)->take(std::move(files));
        });
      if (!expected_topology.is_configured()) return;
      if (auto found = expected_topology.look())
        asio::post(main, [&, found = std::move(*found)]() mutable {
          if (auto cabling = expected_topology.take(std::move(found))) core.expect(std::move(*cabling));
        });
    });
  });
  asio::signal_set signals(main, SIGTERM, SIGINT);
  signals.async_wait([&](boost::system::error_code, int signal) {
    logger("weftd")->info("stopping on signal {}", signal);
    sd_notify(0, "STOPPING=1");
    beat.stop();
    look_at_files.stop();
    watchers.stop();
    if (*ethernet) (*ethernet)->stop();
    main.stop();
  });
  watchers.start();
  if (*ethernet) {
    core.add_fabric((*ethernet)->fabric(), LinkLayer::kEthernet);
    (*ethernet)->start([&core](Sweep sweep) { core.take_sweep(std::move(sweep)); });
  }
  beat.start();
  if ((*security)->is_guarded() || expected_topology.is_configured()) look_at_files.start();
  sd_notify(0, "READY=1");
  main.run();

  files_lane.stop();
  (*http)->stop();
  main_thread.close();
  inbox.close();
  core.hosts().stop();
  (*events)->stop();
  remedies.stop_lanes();
  store_lane.stop();
  // Those whose commands reached the disk are told so, all others that they came too late.
  main.restart();
  main.poll();
  core.stop();
  remedies.stop();
  (*grpc)->stop();
  return {};
}

}  // namespace weft::daemon
