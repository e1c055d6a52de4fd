// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/subnet_watchers.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <system_error>
#include <utility>

#include "analyzer/ports/freshness.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/programs/weftd/port_finder.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

constexpr Duration kLookForFirstPortEvery = 5s;
constexpr auto kSeeOffEvery = 250ms;
constexpr const char* kNoPortAdvice =
    "; weftd looks again every 5 s. A port is Active (ibstat) when its cable is plugged in and a subnet manager runs. "
    "Without InfiniBand set infiniband.enabled = false, and for an Ethernet fabric ethernet.discovery = true (guide: "
    "connect.md)";

std::filesystem::path sweeper_program(const config::Infiniband& infiniband) {
  if (!infiniband.sweeper.empty()) return infiniband.sweeper;
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "weft-sweeper";
}

}  // namespace

bool sees_up(const Sweep& sweep, PortKey port, Duration within) {
  const Topology& topology = *sweep.topology;
  const auto is_up = [&topology](PortIndex index) {
    return topology.port(index).is_up() && topology.node_of(topology.port(index)).reachable;
  };
  const PortIndex index = topology.find_port(port);
  // An adapter on two subnets shows both of its ports in each, but a cable only in one.
  if (index == kNoIndex || topology.port(index).peer == kNoIndex || index >= sweep.state_read_at.size()) return false;
  const TimePoint read_at = sweep.state_read_at[index];
  return is_up(index) && is_up(topology.port(index).peer) && read_at != kNever && sweep.finished - read_at <= within;
}

SubnetWatchers::SubnetWatchers(asio::io_context& main, const config::WeftdConfig& config, Core& core,
                               RemedyController& remedies, ActsAs acts_as, Duration look_every)
    : main_(main),
      config_(config),
      core_(core),
      remedies_(remedies),
      acts_as_(std::move(acts_as)),
      look_every_(look_every),
      program_(sweeper_program(config.infiniband)),
      look_(main),
      see_off_(main),
      finder_({.name = "port-finder", .capacity = 2, .when_full = runtime::WhenFull::kRefuse}) {}

void SubnetWatchers::start() {
  if (!config_.infiniband.enabled) return;
  if (!config_.infiniband.ports.automatic) {
    for (const config::InfinibandPort& port : config_.infiniband.ports.named) add(port);
    return;
  }
  look();
}

void SubnetWatchers::stop() {
  stopped_ = true;
  look_.cancel();
  see_off_.cancel();
  for (auto& [name, watcher] : watchers_) watcher->leave();  // all at once
  finder_.stop();
  for (auto& [name, watcher] : watchers_) watcher->stop();
  for (const auto& watcher : leaving_) watcher->stop();
}

void SubnetWatchers::act_as(ActsAs acts_as) {
  acts_as_ = std::move(acts_as);
  for (auto& [name, watcher] : watchers_) watcher->act_as(acts_as_);
}

std::map<std::string, SubnetFigures> SubnetWatchers::figures() const {
  std::map<std::string, SubnetFigures> figures;
  for (const auto& [name, watcher] : watchers_)
    figures[name] = {watcher->restarts(), watcher->skipped(),
                     acts_as_.installation.empty() ? std::nullopt : std::optional(watcher->acting())};
  return figures;
}

std::filesystem::path SubnetWatchers::scratch(const std::string& name) const {
  return std::filesystem::absolute(config_.state_dir) / "run" / name;
}

void SubnetWatchers::look() {
  finder_.post([this] {
    auto ports = find_ports(program_, scratch("port-finder"), 10s, stopped_);
    asio::post(main_, [this, ports = std::move(ports)] { looked(ports); });
  });
}

void SubnetWatchers::looked(const Result<std::vector<config::InfinibandPort>>& ports) {
  if (stopped_) return;
  const std::string none = !ports ? ports.error().message : ports->empty() ? "no active InfiniBand port" : "";
  core_.show_no_port(none.empty() || !watchers_.empty() ? "" : none + kNoPortAdvice);
  if (!ports && ports.error().message != complaint_) {
    complaint_ = ports.error().message;
    logger("infiniband")->warn("no InfiniBand port to monitor yet: {}", complaint_);
  } else if (ports) {
    if (ports->empty() && watchers_.empty() && complaint_.empty()) {
      complaint_ = none;
      logger("infiniband")->warn("no InfiniBand port to monitor yet: {}", complaint_);
    }
    for (const config::InfinibandPort& port : *ports)
      if (!watchers_.contains(port.fabric) && !is_leaving(port.fabric) && !has_another_way(port)) add(port);
  }
  look_.expires_after(watchers_.empty() ? std::min(kLookForFirstPortEvery, look_every_) : look_every_);
  look_.async_wait([this](boost::system::error_code error) {
    if (!error) look();
  });
}

void SubnetWatchers::add(const config::InfinibandPort& port) {
  core_.add_fabric(port.fabric, LinkLayer::kInfiniBand, port.device + ':' + std::to_string(port.port));
  auto watcher = std::make_unique<FabricWatcher>(
      main_, FabricWatcher::Options{port, config_.infiniband, program_, scratch(port.fabric), acts_as_},
      [this, name = port.fabric](Sweep sweep) { take(name, std::move(sweep)); },
      [this, name = port.fabric](const std::string& why) { core_.take_trouble(name, why); });
  watcher->start();
  watchers_[port.fabric] = std::move(watcher);
}

void SubnetWatchers::take(const std::string& name, Sweep sweep) {
  if (!watchers_.contains(name) || reserve_.contains(name)) return;  // on its way out
  if (config_.infiniband.ports.automatic) {
    // In each sweep: the first one may have been replaced by a newer one before we looked, and cables move.
    const auto sees = [&](PortKey port) {
      return sees_up(sweep, port, analyzer::stale_after(sweep, config_.analyzer));
    };
    if (const std::string other = twin_of(name, sweep.local_port, sees); !other.empty()) {
      const PortKey others = core_.last_sweep(other)->local_port;
      const bool is_seen = !twin_of(name, sweep.local_port, [](PortKey) { return false; }).empty();
      // A link that a plan holds can be brought back only where its fabric has the name that the plan knows.
      if (claim_on(name) <= claim_on(other))
        return make_standby(name, {sweep.local_port, is_seen ? PortKey{} : others}, other, "");
      make_standby(other, {others}, name,
                   claim_on(name) == Claim::kPlans ? ", whose links plans hold" : ", which open incidents name");
    }
  }
  remedies_.take_acting(name, watchers_.at(name)->acting(), *sweep.topology);
  core_.take_sweep(std::move(sweep));
}

SubnetWatchers::Claim SubnetWatchers::claim_on(const std::string& name) const {
  if (remedies_.changes_links_of(name)) return Claim::kPlans;
  return core_.has_open_incident(name) ? Claim::kIncidents : Claim::kNone;
}

void SubnetWatchers::make_standby(const std::string& name, Standby standby, const std::string& watched,
                                  const char* why) {
  logger("infiniband")->info("{} is on the same subnet as {}{}: kept as standby", name, watched, why);
  if (claim_on(name) == Claim::kPlans)
    logger("infiniband")
        ->warn("plans hold links of {}, which can be brought back only while it is watched; {} has such plans, too",
               name, watched);
  reserve_[name] = standby;
  // Not from within its own callback.
  asio::post(main_, [this, name] { let_go(name); });
}

void SubnetWatchers::let_go(const std::string& name) {
  const auto at = watchers_.find(name);
  if (stopped_ || at == watchers_.end()) return;
  at->second->leave();
  leaving_.push_back(std::move(at->second));
  watchers_.erase(at);
  remedies_.forget_acting(name);
  core_.remove_fabric(name);
  see_off();
}

// A sweeper that hangs must not hold up the main thread. Its port is watched by nobody else until it has ended.
void SubnetWatchers::see_off() {
  std::erase_if(leaving_, [](const auto& watcher) { return watcher->is_gone(); });
  if (leaving_.empty()) return;
  see_off_.expires_after(kSeeOffEvery);
  see_off_.async_wait([this](boost::system::error_code error) {
    if (!error) see_off();
  });
}

bool SubnetWatchers::is_leaving(const std::string& name) const {
  return std::ranges::any_of(leaving_, [&](const auto& watcher) { return watcher->fabric() == name; });
}

std::string SubnetWatchers::twin_of(const std::string& name, PortKey local_port,
                                    const std::function<bool(PortKey)>& sees) const {
  for (const auto& [other, watcher] : watchers_) {
    // One that is being let go stands in for nobody.
    if (other == name || reserve_.contains(other) || !core_.is_watching(other)) continue;
    const auto last = core_.last_sweep(other);
    if (!last) continue;
    const Duration within = analyzer::stale_after(*last, config_.analyzer);
    // What cannot see its own port up sees no subnet any more, whatever it saw before.
    if (!sees_up(*last, last->local_port, within)) continue;
    // An adapter that does not answer the other one's questions may itself ask.
    if (sees_up(*last, local_port, within) || sees(last->local_port)) return other;
  }
  return {};
}

bool SubnetWatchers::has_another_way(const config::InfinibandPort& port) {
  const auto reserved = reserve_.find(port.fabric);
  if (reserved == reserve_.end()) return false;
  Standby& standby = reserved->second;
  const bool is_believed = standby.looks > 0;
  if (is_believed) --standby.looks;
  const std::string other = twin_of(port.fabric, standby.local_port, [&](PortKey port_of_other) {
    return is_believed && port_of_other == standby.seen;
  });
  if (!other.empty() && claim_on(port.fabric) <= claim_on(other)) return true;
  logger("infiniband")
      ->info("{} is no standby any more: {}", port.fabric,
             other.empty() ? "no port that is watched sees it up on its subnet"
                           : "more depends on its name than on " + other);
  reserve_.erase(reserved);
  return false;
}

}  // namespace weft::daemon
