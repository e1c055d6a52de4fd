// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/sweeper.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "collectors/infiniband/own_cable.hpp"

namespace weft::infiniband {
namespace {

// Every cable is looked at again, and every name asked again, once in so many sweeps: what no port state shows (a cable
// moved between two readings, a renamed host) shows then.
constexpr std::size_t kVerifyWithin = 60;
// A node that does not answer is asked again after 1, 2, 4 … and at most so many sweeps.
constexpr std::uint64_t kLongestBackOff = 16;
// A node whose LID route fails is asked by directed route for 1, 2, 4 … and at most so many sweeps until the LID is
// tried again.
constexpr std::uint64_t kDirectedSweeps = 16;
// Optional attributes that an agent did not have are asked for again after so many sweeps: firmware changes.
constexpr std::uint64_t kOptionalAgainAfter = 4096;
// Ports that are asked for their vendor's speeds in one sweep: a fabric of the days of FDR10 is done in a few.
constexpr std::size_t kVendorSpeedsAtOnce = 512;

// A sweep during which our own cable was moved is read again, at most so often in all.
constexpr unsigned kMostReadings = 3;

constexpr std::uint16_t kDefaultPartition = 0xFFFF;  // vol. 1, 10.9.1.2

}  // namespace

Sweeper::Sweeper(MadPort& port, SweeperOptions options)
    : port_(port), options_(std::move(options)), engine_(port, options_.engine), epoch_(options_.first_epoch) {}

Result<Sweep> Sweeper::sweep() {
  const TimePoint started = SystemClock{}.now();
  auto local = port_.describe();
  if (!local) return tl::unexpected(local.error());
  services_.pkeys = local->pkeys;
  services_.management_key = options_.engine.management_key;
  services_.pkey_index = options_.pkey_index.value_or(find_pkey(services_.pkeys, kDefaultPartition).value_or(0));
  engine_.forget_abandoned();
  for (unsigned tries = 1;; ++tries) {
    auto is_of_one_subnet = read(*local);
    if (!is_of_one_subnet) return tl::unexpected(is_of_one_subnet.error());
    if (*is_of_one_subnet) break;
    discover_next_ = true;
    acting_ = {};  // what was learned of others is of the subnet from before
    if (tries == kMostReadings) return fail(ErrorCode::kUnavailable, "the cable of the local port is being moved");
  }

  if (!topology_ || subnet_->changed()) topology_ = subnet_->publish();
  Sweep result;
  result.fabric = options_.fabric;
  result.number = number_;
  result.started = started;
  result.interval = options_.interval;
  result.local_port = {subnet_->node(subnet_->local_node()).guid, subnet_->local_port()};
  result.subnet_manager = find_subnet_manager();
  result.topology = topology_;
  const auto borrowed = [](const SampleTable& table) {
    return std::shared_ptr<const SampleTable>(std::shared_ptr<void>(), &table);
  };
  result.counters = borrowed(counters_);
  if (details_.columns() > 0) result.details = borrowed(details_);
  result.routes = forwarding_->publish();
  result.state_read_at = state_read_at_;
  result.statistics.requests = engine_.results();
  // Well-formed to the engine, impossible to the graph.
  const std::uint64_t absurd = absurd_before_ + discovery_->absurd_replies();
  result.statistics.requests[static_cast<std::size_t>(MadResult::kOk)] -= absurd;
  result.statistics.requests[static_cast<std::size_t>(MadResult::kMalformed)] += absurd;
  result.statistics.window = engine_.window();
  for (NodeIndex i = 0; i < subnet_->node_count(); ++i) {
    result.statistics.nodes_backed_off += subnet_->reach(i).ask_again_at > number_ ? 1U : 0U;
    result.statistics.nodes_with_other_key += subnet_->reach(i).has_other_key ? 1U : 0U;
  }
  result.statistics.path_records = path_records_;
  result.statistics.silent_neighbors = subnet_->silent_neighbors();
  result.finished = SystemClock{}.now();
  result.statistics.duration = result.finished - started;
  return result;
}

Result<bool> Sweeper::read(const LocalPort& local) {
  // Where our own cable was put into another subnet, what we ask reaches nodes there in the place of those we know.
  const bool discovers = std::exchange(discover_next_, false);
  if (discovers)
    if (auto done = discover(); !done) return tl::unexpected(done.error());
  const std::optional<NodeGuid> began_at = own_neighbor(*subnet_);
  const NodeIndex known = discovers ? 0 : static_cast<NodeIndex>(subnet_->node_count());
  ++number_;
  const std::uint64_t sent_before = engine_.sent();
  if (local.state == PortState::kDown)
    if (auto done = read_own_node(); !done) return tl::unexpected(done.error());
  spare_subnet_managers();
  if (auto done = learn_agents(); !done) return tl::unexpected(done.error());
  if (auto done = learn_service_levels(); !done) return tl::unexpected(done.error());
  if (auto done = learn_who_acts(local); !done) return tl::unexpected(done.error());
  if (auto done = read_ports(); !done) return tl::unexpected(done.error());
  if (options_.clear_saturated_counters)
    if (auto done = clear_saturated(); !done) return tl::unexpected(done.error());
  if (auto done = read_routes(sent_before); !done) return tl::unexpected(done.error());
  if (!began_at) return true;
  OwnCableQuestion question(*subnet_);
  if (auto done = engine_.run(question); !done) return tl::unexpected(done.error());
  if (!question.neighbor() || *question.neighbor() == *began_at) return true;
  // A switch that was known before is one of this subnet.
  const NodeIndex there = subnet_->find(*question.neighbor());
  return there != kNoIndex && there < known;
}

Result<void> Sweeper::discover() {
  const auto before = std::chrono::steady_clock::now();
  const std::uint64_t sent_before = engine_.sent();
  subnet_ = std::make_unique<Subnet>(topology_ ? ++epoch_ : epoch_);
  if (discovery_) absurd_before_ += discovery_->absurd_replies();
  discovery_ = std::make_unique<Discovery>(*subnet_, options_.names);
  forwarding_ = std::make_unique<ForwardingTables>(*subnet_, epoch_);
  topology_.reset();
  number_ = 0;
  discovery_->begin();
  do {
    if (auto done = engine_.run(*discovery_); !done) return done;
    discovery_->finish();
  } while (discovery_->has_questions());
  if (subnet_->node_count() == 0) {
    discover_next_ = true;
    return fail(ErrorCode::kUnavailable,
                std::string("the local port does not respond to subnet management") +
                    (options_.engine.management_key != 0 ? ": check infiniband.management_key_file, too"
                                                         : ": it may need an M_Key (infiniband.management_key_file)"));
  }
  subnet_->recompute_routes();
  counters_ = SampleTable::of_group(CounterGroup::kEverySweep, 0);
  details_ = SampleTable{};
  state_read_at_.clear();
  next_to_verify_ = 0;
  detail_schedule_.restart();
  service_levels_.restart();
  grow_tables();
  discovery_time_ = std::chrono::steady_clock::now() - before;
  discovery_requests_ = engine_.sent() - sent_before;
  return {};
}

void Sweeper::grow_tables() {
  counters_.grow(subnet_->port_count());
  if (details_.columns() > 0) details_.grow(subnet_->port_count());
  state_read_at_.resize(subnet_->port_count(), kNever);
}

std::vector<NodeIndex> Sweeper::nodes_due() const {
  std::vector<NodeIndex> due;
  due.reserve(subnet_->node_count());
  for (NodeIndex i = 0; i < subnet_->node_count(); ++i)
    if (subnet_->node(i).reachable && subnet_->reach(i).ask_again_at <= number_) due.push_back(i);
  return due;
}

void Sweeper::spare_subnet_managers() {
  for (NodeIndex i = 0; i < subnet_->node_count(); ++i) {
    PerformanceAgent& agent = subnet_->agent(i);
    agent.spared = agent.beside_subnet_manager;
  }
  const Lid master = subnet_->subnet_manager_lid();
  for (PortIndex p = 0; p < subnet_->port_count() && master.is_unicast(); ++p)
    if (subnet_->port(p).lid == master) subnet_->agent(subnet_->port(p).node).spared = true;
}

std::optional<PortKey> Sweeper::find_subnet_manager() const {
  const Lid master = subnet_->subnet_manager_lid();
  for (PortIndex port = 0; port < subnet_->port_count() && master.is_unicast(); ++port)
    if (subnet_->port(port).lid == master && subnet_->is_here(port)) return subnet_->key_of(port);
  return std::nullopt;
}

Result<void> Sweeper::learn_agents() {
  std::vector<NodeIndex> unknown;
  for (const NodeIndex node : nodes_due())
    if (!subnet_->agent(node).known && subnet_->reach(node).by_lid) unknown.push_back(node);
  if (unknown.empty()) return {};
  AgentQuestions questions(*subnet_, services_, std::move(unknown));
  return engine_.run(questions);
}

Result<void> Sweeper::learn_service_levels() {
  if (options_.service_level) {
    for (NodeIndex i = 0; i < subnet_->node_count(); ++i) subnet_->agent(i).service_level = *options_.service_level;
    return {};
  }
  const Lid own = subnet_->port(subnet_->port_of(subnet_->local_node(), subnet_->local_port())).lid;
  const Lid manager = subnet_->subnet_manager_lid();
  if (!manager.is_unicast() || !own.is_unicast()) return {};
  const auto routes = forwarding_->publish();
  const std::vector<NodeIndex> nodes =
      service_levels_.next(*subnet_, manager, routes ? routes->revision() : 0, number_);
  bool all_answered = true;
  std::uint64_t levels = 0;
  // One question first: an administrator that does not answer it is not asked the others.
  for (std::size_t first = 0, count = 1; first < nodes.size() && all_answered;
       first += count, count = ServiceLevels::kOutstanding) {
    const std::size_t some = std::min(count, nodes.size() - first);
    ServiceLevelQuestions questions(*subnet_, services_, own, std::span(nodes).subspan(first, some));
    const auto done = engine_.run(questions);
    for (std::size_t i = 0; i < kMadResultCount; ++i) path_records_[i] += questions.results()[i];
    if (!done) return done;
    all_answered = questions.all_answered();
    levels += questions.levels();
  }
  if (!nodes.empty()) service_levels_.note(all_answered && levels > 0, number_);
  return {};
}

Result<void> Sweeper::learn_who_acts(const LocalPort& local) {
  if (options_.acts_as.installation.empty()) return {};
  // As swept, too: a driver may not say it.
  const Port& own = subnet_->port(subnet_->port_of(subnet_->local_node(), subnet_->local_port()));
  const bool is_down = local.state == PortState::kDown || own.state == PortState::kDown;
  if (is_down || !local.lid.is_unicast() || !subnet_->subnet_manager_lid().is_unicast()) {
    acting_.lose_administrator(is_down ? "our own port is down" : "there is no subnet administrator");
    return {};
  }
  const std::uint16_t pkey =
      services_.pkey_index < services_.pkeys.size() ? services_.pkeys[services_.pkey_index] : kDefaultPartition;
  return acting_.renew(engine_, acting_record(options_.acts_as, local.subnet_prefix, local.guid, pkey),
                       administrator_address(*subnet_, services_), ActingSchedule::Clock::now());
}

// Our own port is down: say so before everybody behind it is waited for in vain.
Result<void> Sweeper::read_own_node() {
  const std::array<NodeIndex, 1> own{subnet_->local_node()};
  Reach& reach = subnet_->reach(own[0]);
  reach.by_lid = false;  // its LID may lead out of that port
  reach.try_lid_at = number_ + 1;
  PortReadings readings(*subnet_, services_, own, counters_, state_read_at_);
  if (auto done = engine_.run(readings); !done) return done;
  if (readings.links_changed()) subnet_->recompute_routes();
  const Port& port = subnet_->port(subnet_->port_of(own[0], subnet_->local_port()));
  if (port.physical_state == PortPhysicalState::kLinkUp) reach.by_lid = true;  // it came up this very moment
  return {};
}

Result<void> Sweeper::read_ports() {
  for (NodeIndex i = 0; i < subnet_->node_count(); ++i) {
    Reach& reach = subnet_->reach(i);
    if (!reach.by_lid && reach.try_lid_at <= number_) reach.by_lid = true;
  }
  // One try only: those that stay silent are asked again below, once the port states have told who is still reachable.
  IdentityCheck check(*subnet_, nodes_due(), false, 0);
  if (auto done = engine_.run(check); !done) return done;
  discover_next_ |= check.needs_new_epoch();
  for (const NodeIndex node : check.present()) {
    Reach& reach = subnet_->reach(node);
    if (reach.silent_sweeps > 0) ask_for_details_again(node);
    reach.silent_sweeps = 0;
    reach.ask_again_at = 0;
    if (reach.by_lid) reach.lid_failures = 0;
  }
  engine_.forget_abandoned();

  PortReadings readings(*subnet_, services_, check.present(), counters_, state_read_at_);
  if (auto done = engine_.run(readings); !done) return done;
  if (readings.links_changed()) subnet_->recompute_routes();
  drop_settled_duplicates();

  std::vector<PortIndex> to_look = readings.to_look_behind();
  const std::vector<PortIndex> to_verify = links_to_verify();
  to_look.insert(to_look.end(), to_verify.begin(), to_verify.end());
  if (auto done = look_behind(to_look); !done) return done;
  if (auto done = find_missing(check.missing()); !done) return done;
  if (auto done = read_vendor_speeds(); !done) return done;
  return read_details(readings);
}

Result<void> Sweeper::find_missing(const std::vector<NodeIndex>& missing) {
  std::vector<NodeIndex> still;
  for (const NodeIndex node : missing)
    if (subnet_->node(node).reachable) still.push_back(node);
  if (still.empty()) return {};
  for (const NodeIndex node : still) engine_.forget_abandoned(node);
  IdentityCheck check(*subnet_, std::move(still), true, static_cast<std::uint8_t>(options_.engine.retries));
  if (auto done = engine_.run(check); !done) return done;
  discover_next_ |= check.needs_new_epoch();
  for (const NodeIndex node : check.missing()) {
    Reach& reach = subnet_->reach(node);
    reach.ask_again_at = number_ + std::min(kLongestBackOff, std::uint64_t{1} << reach.silent_sweeps);
    reach.silent_sweeps = std::min(reach.silent_sweeps + 1, 16U);
  }
  std::vector<PortIndex> to_look;
  for (const NodeIndex node : check.replaced())
    if (const Reach& reach = subnet_->reach(node); reach.parent != kNoIndex)
      to_look.push_back(subnet_->port_of(reach.parent, reach.parent_exit));
  if (check.present().empty()) return look_behind(to_look);
  const auto lid_of = [this](NodeIndex node) { return subnet_->port(subnet_->node(node).first_port).lid; };
  std::vector<Lid> before;
  for (const NodeIndex node : check.present()) {
    Reach& reach = subnet_->reach(node);
    if (reach.silent_sweeps > 0) ask_for_details_again(node);
    reach.silent_sweeps = 0;
    reach.ask_again_at = 0;
    reach.by_lid = false;
    // A subnet manager that is changing routes is done in a moment; counters can be read by LID only.
    reach.try_lid_at = number_ + std::min(kDirectedSweeps, std::uint64_t{1} << std::min(reach.lid_failures++, 16U));
    before.push_back(lid_of(node));
  }
  PortReadings readings(*subnet_, services_, check.present(), counters_, state_read_at_);
  if (auto done = engine_.run(readings); !done) return done;
  // It only moved to another LID: the new one is as good as the old one was.
  for (std::size_t i = 0; i < before.size(); ++i)
    if (const NodeIndex node = check.present()[i]; lid_of(node) != before[i]) subnet_->reach(node).by_lid = true;
  if (readings.links_changed()) subnet_->recompute_routes();
  to_look.insert(to_look.end(), readings.to_look_behind().begin(), readings.to_look_behind().end());
  return look_behind(to_look);
}

std::vector<PortIndex> Sweeper::links_to_verify() {
  // Our own cable each time: all that is known was found through it.
  std::vector<PortIndex> chosen{subnet_->port_of(subnet_->local_node(), subnet_->local_port())};
  const std::size_t ports = subnet_->port_count();
  for (std::size_t i = 0; i < ports / kVerifyWithin + 1 && ports > 0; ++i) {
    const PortIndex index = next_to_verify_;
    next_to_verify_ = static_cast<PortIndex>((next_to_verify_ + 1) % ports);
    const Port& port = subnet_->port(index);
    const Node& node = subnet_->node(port.node);
    if (node.type == NodeType::kSwitch && port.number.value != 0 && node.reachable) chosen.push_back(index);
  }
  std::erase_if(chosen,
                [this](PortIndex index) { return subnet_->port(index).physical_state != PortPhysicalState::kLinkUp; });
  const std::size_t nodes = subnet_->node_count();
  for (std::size_t i = 0; i < nodes / kVerifyWithin + 1 && nodes > 0; ++i) {
    next_to_describe_ = static_cast<NodeIndex>((next_to_describe_ + 1) % nodes);
    if (subnet_->node(next_to_describe_).reachable && subnet_->reach(next_to_describe_).silent_sweeps == 0)
      discovery_->refresh_description(next_to_describe_);
  }
  return chosen;
}

Result<void> Sweeper::look_behind(const std::vector<PortIndex>& ports) {
  for (const PortIndex port : ports)
    if (subnet_->node(subnet_->port(port).node).reachable) discovery_->look_behind(port);
  while (discovery_->has_questions()) {
    if (auto done = engine_.run(*discovery_); !done) return done;
    discovery_->finish();
  }
  discover_next_ |= discovery_->needs_new_epoch();
  if (subnet_->changed()) subnet_->recompute_routes();
  grow_tables();
  return {};
}

void Sweeper::drop_settled_duplicates() {
  const auto settled = [this](const DuplicateGuid& duplicate) {
    const NodeIndex node = subnet_->find(duplicate.second_seen_behind.node);
    if (node == kNoIndex) return true;
    const Port& port = subnet_->port(subnet_->port_of(node, duplicate.second_seen_behind.port));
    if (port.physical_state != PortPhysicalState::kLinkUp) return true;
    // Somebody is known behind it, and agrees that this cable is up: a twin's port would be down at the first node.
    return port.peer != kNoIndex && subnet_->port(port.peer).physical_state == PortPhysicalState::kLinkUp;
  };
  if (std::erase_if(subnet_->duplicates(), settled) > 0) subnet_->mark_changed();
}

Result<void> Sweeper::read_vendor_speeds() {
  std::vector<PortIndex> due;
  for (PortIndex p = 0; p < subnet_->port_count() && due.size() < kVendorSpeedsAtOnce; ++p)
    if (is_due_for_vendor_speeds(*subnet_, p, number_)) due.push_back(p);
  if (due.empty()) return {};
  VendorSpeedQuestions questions(*subnet_, std::move(due), number_);
  return engine_.run(questions);
}

void Sweeper::ask_for_details_again(NodeIndex node) {
  subnet_->agent(node).unsupported_details = 0;
  subnet_->agent(node).details_unanswered = {};
}

Result<void> Sweeper::read_details(const PortReadings& readings) {
  if (number_ % kOptionalAgainAfter == 0)
    for (NodeIndex i = 0; i < subnet_->node_count(); ++i) ask_for_details_again(i);
  const std::size_t ports = subnet_->port_count();
  // A switch answers for a port that is down, too, which is of interest only when its errors moved.
  std::vector<PortIndex> chosen =
      detail_schedule_.next(readings.troubled(), readings.moved(), ports, options_.interval, options_.detail_interval,
                            SystemClock{}.now(), [this](PortIndex index) { return subnet_->port(index).is_up(); });
  std::erase_if(chosen, [this](PortIndex index) {
    const Port& port = subnet_->port(index);
    const Node& node = subnet_->node(port.node);
    const Reach& reach = subnet_->reach(port.node);
    const bool is_switch = node.type == NodeType::kSwitch;
    return (is_switch ? port.number.value == 0 : !port.is_up()) || !node.reachable || !subnet_->is_here(index) ||
           reach.silent_sweeps != 0 || !reach.by_lid || engine_.gave_up(port.node);
  });
  if (chosen.empty()) return {};
  if (details_.columns() == 0) details_ = SampleTable::of_group(CounterGroup::kDetail, ports);
  DetailReadings details(*subnet_, services_, std::move(chosen), details_);
  return engine_.run(details);
}

Result<void> Sweeper::read_routes(std::uint64_t sent_before) {
  if (subnet_->changed()) forwarding_->expect_changes();
  forwarding_->begin(engine_.sent() - sent_before);
  return engine_.run(*forwarding_);
}

Result<void> Sweeper::clear_saturated() {
  // Only the narrow counters that stick, only where they did (CounterSelect bits, 16.1.3.5).
  struct Clearable {
    CounterId counter;
    std::uint16_t select;
  };
  static constexpr std::array<Clearable, 12> kClearable{{{CounterId::kSymbolErrors, 1 << 0},
                                                         {CounterId::kLinkErrorRecovery, 1 << 1},
                                                         {CounterId::kLinkDowned, 1 << 2},
                                                         {CounterId::kReceiveErrors, 1 << 3},
                                                         {CounterId::kReceiveRemotePhysicalErrors, 1 << 4},
                                                         {CounterId::kReceiveSwitchRelayErrors, 1 << 5},
                                                         {CounterId::kTransmitDiscards, 1 << 6},
                                                         {CounterId::kTransmitConstraintErrors, 1 << 7},
                                                         {CounterId::kReceiveConstraintErrors, 1 << 8},
                                                         {CounterId::kLocalLinkIntegrityErrors, 1 << 9},
                                                         {CounterId::kExcessiveBufferOverrunErrors, 1 << 10},
                                                         {CounterId::kVl15Dropped, 1 << 11}}};
  std::vector<std::pair<PortIndex, std::uint16_t>> what;
  for (PortIndex p = 0; p < subnet_->port_count(); ++p) {
    const PerformanceAgent& agent = subnet_->agent(subnet_->port(p).node);
    if (!agent.known || agent.info.has_wide_errors() || !subnet_->node(subnet_->port(p).node).reachable) continue;
    unsigned select = 0;
    for (const auto& [counter, bit] : kClearable)
      if (const auto c = counters_.column(counter); counters_.present(p, c) && counters_.saturated(p, c)) select |= bit;
    if (select) what.emplace_back(p, static_cast<std::uint16_t>(select));
  }
  if (what.empty()) return {};
  CounterClears clears(*subnet_, services_, std::move(what));
  return engine_.run(clears);
}

}  // namespace weft::infiniband
