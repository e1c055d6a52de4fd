// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/application.hpp"

#include <systemd/sd-daemon.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdio>
#include <future>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "api/grpc/server.hpp"
#include "api/http/server.hpp"
#include "api/site/site_queries.hpp"
#include "daemon/adapters/store/lease.hpp"
#include "daemon/adapters/store/postgres_address.hpp"
#include "daemon/adapters/store/site_registry.hpp"
#include "daemon/adapters/store/start_waits.hpp"
#include "daemon/adapters/store/store_mark.hpp"
#include "daemon/config/value_text.hpp"
#include "daemon/platform/cli/standard_places.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/platform/runtime/boot_time.hpp"
#include "daemon/platform/runtime/unkillable.hpp"
#include "daemon/programs/sweeper/node_names.hpp"
#include "daemon/programs/weftd/collector_enrollment.hpp"
#include "daemon/programs/weftd/command_forwarders.hpp"
#include "daemon/programs/weftd/core.hpp"
#include "daemon/programs/weftd/ethernet_watcher.hpp"
#include "daemon/programs/weftd/event_dispatcher.hpp"
#include "daemon/programs/weftd/evidence_setup.hpp"
#include "daemon/programs/weftd/expected_topology.hpp"
#include "daemon/programs/weftd/history_questions.hpp"
#include "daemon/programs/weftd/named_files.hpp"
#include "daemon/programs/weftd/page_assets.hpp"
#include "daemon/programs/weftd/pushed_switches.hpp"
#include "daemon/programs/weftd/remedy_setup.hpp"
#include "daemon/programs/weftd/role_keeper.hpp"
#include "daemon/programs/weftd/runs.hpp"
#include "daemon/programs/weftd/security.hpp"
#include "daemon/programs/weftd/self_metrics.hpp"
#include "daemon/programs/weftd/setting_profiles.hpp"
#include "daemon/programs/weftd/site_membership.hpp"
#include "daemon/programs/weftd/store_backups.hpp"
#include "daemon/programs/weftd/subnet_watchers.hpp"
#include "daemon/programs/weftd/switch_watcher.hpp"
#include "daemon/programs/weftd/telemetry_inbox.hpp"

#ifndef WEFT_VERSION
#define WEFT_VERSION "unknown"
#endif

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

constexpr auto kLookAtFilesEvery = 2s;
/// So long a weftd that ends tries to store what waits.
constexpr auto kTimeToWriteLast = 4s;
/// A standby takes a lease that was given back for it in less.
constexpr auto kTimeToTake = 4s;

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

// Eight hexadecimal digits: random ones, or those of the database that two weftd share: one that has just led is no
// copy.
std::string run_digits(const store::Lease* lease) {
  std::uint32_t number = 2166136261U;  // FNV-1a: the same in every build
  if (lease)
    for (const char letter : lease->database_identity())
      number = (number ^ static_cast<unsigned char>(letter)) * 16777619U;
  std::array<char, 9> text{};
  std::snprintf(text.data(), text.size(), "%08x", lease ? number : std::random_device{}());
  return text.data();
}

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

/// Waits for the lane of the store; called on the lane of a receiver of events.
Result<void> keep_told(runtime::Lane& store_lane, store::Store& store, const std::string& receiver,
                       const std::string& text) {
  const auto done = std::make_shared<std::promise<Result<void>>>();
  if (!store_lane.post([done, &store, receiver, text] { done->set_value(store.save_told(receiver, text)); }))
    return fail(ErrorCode::kUnavailable, "what " + receiver + " was told is not stored yet: the store is busy");
  return done->get_future().get();
}

/// At the end: what waits. A database that is just back is asked again after a pause (PostgresConnection::hold_off()).
void write_last(store::Store& store) {
  const auto last = std::chrono::steady_clock::now() + kTimeToWriteLast;
  while (!store.catch_up() && std::chrono::steady_clock::now() < last) std::this_thread::sleep_for(200ms);
}

/// Afterwards.
void tell_unstored(const store::StoreStatus& status) {
  if (status.incidents_waiting > 0)
    logger("store")->error("it ends, and {}; what is still wrong is found again, and opens with another id",
                           status.message);
}

/// Until weftd is stopped, or until another weftd has taken the database. `yields_from`: see RoleKeeper::Options.
Result<RunEnd> run_once(const config::WeftdConfig& config, bool starts, Duration yields_from) {
  auto profiles = read_profiles(config.drift_profiles_file);
  if (!profiles) return fail(ErrorCode::kInvalidArgument, profiles.error().message);
  const SystemClock clock;
  std::array<ExpectedTopology, 2> expected_topologies{
      {{LinkLayer::kInfiniBand, config.infiniband.expected_topology, read_expected_topology},
       {LinkLayer::kEthernet, config.ethernet.discovery ? config.ethernet.cabling : "",
        [&config](const std::filesystem::path&) { return read_expected_ethernet(config.ethernet); }}}};
  std::map<LinkLayer, ExpectedCabling> expected;
  for (ExpectedTopology& topology : expected_topologies) {
    auto found = topology.open();
    if (!found) return fail(ErrorCode::kInvalidArgument, found.error().message);
    expected[topology.layer()] = std::move(*found);
  }
  if (const auto names = sweeper::read_node_names(config.infiniband.node_name_map); !names)
    logger("infiniband")->warn("nodes keep their descriptions as names: {}", names.error().message);
  auto enrolment = Enrolment::begin(config, starts);
  if (!enrolment) return tl::unexpected(enrolment.error());
  store::StoreOptions options = store_options(config);
  options.on_caution = [](const std::string& what) { logger("store")->warn("{}", what); };
  auto store = store::open_store(config.state_dir, options);
  if (!store) return tl::unexpected(store.error());
  auto security = Security::open(config.security, clock);
  if (!security) return tl::unexpected(security.error());
  if (const auto readable = check_site_files(config.site); !readable) return tl::unexpected(readable.error());
  auto remedy_options = make_remedy_options(config, clock);
  if (!remedy_options) return tl::unexpected(remedy_options.error());
  std::unique_ptr<store::Lease> lease;
  if (!config.store.url.empty()) {
    const auto known = store::marked_epoch(config.state_dir);
    if (!known) return tl::unexpected(known.error());
    auto started = store::Lease::start(store::shard_url(config.store.url, config.site.shard), store::holder_name(),
                                       own_address(config), *known);
    if (!started) return tl::unexpected(started.error());
    lease = std::move(*started);
    const auto permit_of = [](const std::optional<ActPermit>& permit) -> Result<ActPermit> {
      if (permit) return *permit;
      return fail(ErrorCode::kUnavailable, "this weftd cannot be sure that it leads: its lease is not renewed");
    };
    remedy_options->permit = [permit_of, lease = lease.get()] { return permit_of(lease->permit()); };
    remedy_options->confirm = [permit_of, lease = lease.get()] { return permit_of(lease->confirm()); };
    remedy_options->saw_epoch = [lease = lease.get()](std::int64_t epoch) { lease->know(epoch); };
    remedy_options->patience = patience_after(lease->view());
  }
  const auto epoch = lease ? lease->view().epoch : std::nullopt;
  if (epoch) (*store)->lead(*epoch);
  const bool leads = !lease || epoch;
  std::unique_ptr<store::SiteRegistry> registry;
  if (!config.site.shard.empty()) {
    const store::SiteMember self = site_member(config, enrolment->number());
    auto started =
        store::wait_for_others(options.on_caution, [&] { return store::SiteRegistry::start(config.store.url, self); });
    if (!started) return tl::unexpected(started.error());
    registry = std::move(*started);
  }
  auto ledger =
      store::wait_for_others(options.on_caution, [&] { return read_ledger(**store, config, clock.now(), true); });
  if (!ledger) return tl::unexpected(ledger.error());
  remedy_options->clock = std::move(ledger->clock);
  remedy_options->boot = runtime::boot_id();
  const RemedyMemory& plans = ledger->plans;
  const auto told_before = std::move(ledger->restored.told);
  logger("weftd")->info("weftd {}: {} incidents loaded from {}", WEFT_VERSION, ledger->restored.incidents.size(),
                        store_name(config));
  for (const std::string& caution : (*store)->status().cautions)
    logger("store")->warn("{}: {}", store_name(config), caution);
  if (lease) tell_role(lease->view());

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
  // One that only watches is of no concern to others.
  const ActsAs acts_as =
      remedy_options->settings.may_act() ? ActsAs{plans.installation, run_digits(lease.get())} : ActsAs{};
  RemedyController remedies(std::move(*remedy_options), plans, **store, store_lane, clock, post);
  if (!leads) remedies.stand_by();
  Core core(config, **store, std::move(ledger->restored), store_lane, remedies, publication, clock, post);
  for (auto& [layer, cabling] : expected) core.expect(layer, std::move(cabling));
  core.expect(std::move(*profiles));
  if (!leads) core.stand_by();
  if (registry) core.show(registry->site());
  api::SiteQueries site(publication, clock, site_security(config.site));
  remedies.set_on_news([&core] { core.take_plans(); });
  auto ethernet = EthernetWatcher::open(main, config.ethernet, core.hosts(), clock);
  if (!ethernet) return tl::unexpected(ethernet.error());
  EventDispatcher::Keep keep;
  if (lease)
    keep = [&store_lane, &store](const std::string& receiver, const std::string& text) {
      return keep_told(store_lane, **store, receiver, text);
    };
  auto events = EventDispatcher::make(config, publication, clock, plans.installation, keep);
  if (!events) return tl::unexpected(events.error());
  if (const auto known = (*events)->restore(told_before); !known) return tl::unexpected(known.error());
  TelemetryInbox inbox(main, core.hosts(), config.telemetry.max_collectors, [&core] { core.take_hosts(); });
  std::optional<RoleKeeper> role;
  MainThreadExecutor main_thread(post, [&role](CommandKind kind) { return role->refusal(kind); });
  const CurrentSite current_site = [&registry] { return registry ? registry->site() : nullptr; };
  CommandForwarder commands(main_thread, core, current_site);
  RemedyCommandForwarder remedy_commands(main_thread, remedies, current_site);
  CollectorEnrollment enrollment((*security)->issuer(), main_thread, **store, store_lane, clock);
  HistoryQuestions history(history_place(config), config.store.history_retention, clock);
  const api::EvidenceSource evidence = evidence_source(config, WEFT_VERSION);
  StoreBackups backups(config.state_dir, config.store.url.empty() ? "" : store_name(config));
  SubnetWatchers watchers(main, config, core, remedies, leads ? acts_as : ActsAs{});
  SwitchWatcher switches(
      main, config.gnmi, std::filesystem::absolute(config.state_dir) / "run" / "switches", core.hosts(),
      [&core] { core.take_hosts(); }, [&core](auto targets) { core.show(std::move(targets)); });
  std::shared_ptr<const MetricNames> metric_names;
  if (config.otlp.is_taken()) {
    auto names = read_metric_names(config.otlp);
    if (!names) return tl::unexpected(names.error());
    metric_names = std::make_shared<const MetricNames>(std::move(*names));
  }
  PushedSwitches pushed(main, config.otlp, metric_names, core.hosts(), clock, [&core] { core.take_hosts(); });
  RoleKeeper::Options role_options;
  role_options.leads = leads;
  if (lease) {
    role_options.lease = [lease = lease.get()] { return lease->view(); };
    role_options.raise = [lease = lease.get()] { return lease->raise(); };
  }
  role_options.on_lead = [&](const std::map<std::string, std::string>& now_told) {
    watchers.act_as(acts_as);
    if (const auto known = (*events)->restore(now_told); !known) logger("events")->error("{}", known.error().message);
  };
  bool is_lost = false, is_stopped = false, is_yielded = false;
  std::function<void()> end;
  if (lease) role_options.tell_sight = [lease = lease.get()](const auto& fabrics) { lease->tell_sight(fabrics); };
  role_options.sight = [&core] { return core.sights(); };
  role_options.is_changing = [&remedies] { return remedies.is_changing(); };
  role_options.yields_from = yields_from;
  role_options.on_yield = [&](const std::string& why) {
    logger("weftd")->warn("{}: it gives the lead to that one, and starts again as a standby", why);
    is_lost = is_yielded = true;
    end();
  };
  role_options.on_lost = [&](const std::string& why) {
    logger("weftd")->error("{}; it writes nothing and acts on nothing, and starts again as a standby", why);
    is_lost = true;
    end();
  };
  role.emplace(std::move(role_options), config, **store, store_lane, core, remedies, clock, post);

  // gRPC first: who asks /healthz whether we live expects both.
  auto grpc = api::GrpcServer::start({.address = config.listen.grpc.host,
                                      .port = config.listen.grpc.port,
                                      .max_watchers = config.grpc.max_watchers,
                                      .site = registry ? &site : nullptr,
                                      .history = &history,
                                      .backups = &backups,
                                      .enroll = &enrollment,
                                      .pushed = config.otlp.is_taken() ? &pushed : nullptr,
                                      .evidence = &evidence,
                                      .telemetry = telemetry_limits(config.telemetry),
                                      .gate = (*security)->gate(),
                                      .tls = (*security)->tls()},
                                     publication, commands, remedy_commands, inbox, clock);
  if (!grpc) return tl::unexpected(grpc.error());
  if (const auto opened = open_socket(**grpc, config); !opened) return tl::unexpected(opened.error());
  auto http = api::HttpServer::start(
      {.address = config.listen.http.host,
       .port = config.listen.http.port,
       .max_connections = config.http.max_connections,
       .max_connections_per_address = config.http.max_connections_per_address,
       .idle_timeout = std::chrono::duration_cast<std::chrono::milliseconds>(config.http.idle_timeout),
       .tls = (*security)->tls()},
      publication, clock, {metrics.collectable()},
      {&commands, &remedy_commands, (*security)->gate(), page_assets(), registry ? &site : nullptr, &history,
       metric_groups(config.metrics.groups).value_or(MetricGroups::all()), &evidence});
  if (!http) return tl::unexpected(http.error());
  logger("weftd")->info("HTTP on {}://{}/, gRPC on {}", (*security)->tls() ? "https" : "http",
                        config::format_address({config.listen.http.host, (*http)->port()}),
                        config::format_address({config.listen.grpc.host, (*grpc)->port()}));

  if (config.security.allow_plain_text && !(*security)->is_guarded())
    logger("weftd")->warn(
        "security.allow_plain_text is on: anyone who reaches these addresses can read everything "
        "and report for any host");

  std::set<pid_t> told;
  Beat beat(main, std::min<Duration>(config.infiniband.sweep_interval / 2, 500ms), [&] {
    role->tick();
    if (is_lost) return;
    core.tick();
    metrics.set(store_lane.name(), store_lane.figures());
    metrics.set(history.lane().name(), history.lane().figures());
    metrics.set(backups.lane().name(), backups.lane().figures());
    for (const runtime::Lane* lane : remedies.lanes()) metrics.set(lane->name(), lane->figures());
    metrics.set((*store)->status());
    metrics.set_unkillable(tell_unkillable(told));
    if (role->may_tell()) (*events)->tick(role->key_end());
    for (const auto& receiver : (*events)->receivers()) metrics.set(*receiver.sender);
    metrics.set((*grpc)->telemetry(), core.hosts().figures(), inbox.figures());
    metrics.set((*security)->figures());
    for (const ExpectedTopology& topology : expected_topologies)
      if (topology.is_configured()) metrics.set(topology.layer(), topology.figures());
    if (config.gnmi.is_read()) metrics.set(switches.targets(), switches.restarts());
    if (config.otlp.is_taken()) metrics.set(pushed.figures());
    for (const auto& [fabric, figures] : watchers.figures()) {
      const auto analysis = core.analysis_seconds().find(fabric);
      metrics.set_fabric(fabric, analysis == core.analysis_seconds().end() ? 0 : analysis->second, figures.restarts,
                         figures.skipped);
      if (figures.acting) metrics.set_acting(fabric, *figures.acting);
    }
    if (*ethernet)
      if (const auto took = core.analysis_seconds().find((*ethernet)->fabric()); took != core.analysis_seconds().end())
        metrics.set_fabric(took->first, took->second, 0, 0);
    sd_notify(0, "WATCHDOG=1");
  });
  bool has_left = false;
  bool told_of_forgotten = false;
  std::string told_disagreement;
  Beat look_at_site(main, store::kReadSiteEvery, [&] {
    const Leadership& now = role->leadership();
    const auto snapshot = publication.load();
    registry->tell(store::holder_name(), now.leads ? now.epoch : 0, fabric_lines(snapshot->fabrics),
                   switch_lines(snapshot->fabrics));
    core.show(registry->site());
    tell_membership(*registry->site(), has_left);
    tell_disagreement(*registry->site(), told_disagreement);
    tell_forgotten(site.forgets_hosts(), told_of_forgotten);
    site.probe();
    if (now.leads) look_for_moved(core.hosts(), site, post);
    metrics.set(site.figures());
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
      for (ExpectedTopology& topology : expected_topologies) {
        if (!topology.is_configured()) continue;
        if (auto found = topology.look())
          asio::post(main, [&core, &topology, found = std::move(*found)]() mutable {
            if (auto cabling = topology.take(std::move(found))) core.expect(topology.layer(), std::move(*cabling));
          });
      }
    });
  });
  asio::signal_set signals(main, SIGTERM, SIGINT);
  end = [&] {
    beat.stop();
    look_at_files.stop();
    look_at_site.stop();
    watchers.stop();
    switches.stop();
    pushed.stop();
    if (*ethernet) (*ethernet)->stop();
    main.stop();
  };
  signals.async_wait([&](boost::system::error_code error, int signal) {
    if (error) return;
    logger("weftd")->info("stopping on signal {}", signal);
    sd_notify(0, "STOPPING=1");
    is_stopped = true;
    end();
  });
  watchers.start();
  switches.start();
  if (*ethernet) {
    const std::string& fabric = (*ethernet)->fabric();
    core.add_fabric(fabric, LinkLayer::kEthernet);
    (*ethernet)->start([&core](Sweep sweep) { core.take_sweep(std::move(sweep)); },
                       [&core, fabric] { return core.known_links(fabric); });
  }
  beat.start();
  if ((*security)->is_guarded() || std::ranges::any_of(expected_topologies, &ExpectedTopology::is_configured))
    look_at_files.start();
  if (registry) look_at_site.start();
  enrolment->keep();
  sd_notify(0, "READY=1");
  main.run();

  files_lane.stop();
  (*http)->stop();
  history.stop();
  backups.stop();
  site.stop();
  main_thread.close();
  inbox.close();
  core.hosts().stop();
  (*events)->stop();
  remedies.stop_lanes();
  // What waits is tried once more; a database that does not answer has its bounds (some seconds).
  if (!is_lost || is_yielded) store_lane.post([&store] { write_last(**store); });
  store_lane.stop();
  tell_unstored((*store)->status());
  // Those whose commands reached the disk are told so, all others that they came too late.
  main.restart();
  main.poll();
  core.stop();
  remedies.stop();
  (*grpc)->stop();
  if (lease) lease->release();
  if (is_stopped) return RunEnd::kStopped;
  return is_yielded ? RunEnd::kYielded : RunEnd::kLost;
}

}  // namespace

Result<void> run(const config::WeftdConfig& config) {
  Duration yields_from{};
  const auto run_again = [&](bool starts) -> Result<RunEnd> {
    const auto ended = run_once(config, starts, yields_from);
    if (!ended || *ended != RunEnd::kYielded) return ended;
    yields_from = SystemClock{}.steady() + kYieldsAgainAfter;
    // The other one looks each second. Where it does not take the lease, this one has it back.
    sd_notify(0, "WATCHDOG=1");
    std::this_thread::sleep_for(kTimeToTake);
    return ended;
  };
  return run_until_stopped(run_again, [](const Error& why) {
    logger("weftd")->error("it cannot stand by yet, and tries again: {}", why.message);
    sd_notify(0, "WATCHDOG=1");
    std::this_thread::sleep_for(1s);
  });
}

}  // namespace weft::daemon
