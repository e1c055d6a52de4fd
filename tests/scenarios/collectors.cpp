// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/collectors.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace weft::scenarios {
namespace {

/// A receiver notifies a sender at most so often, per second (DCQCN, SIGCOMM 2015: one CNP in 50 us).
constexpr double kMostNotifications = 20'000;
/// Times that a request is sent again before it fails: the usual retry count of a queue pair.
constexpr std::uint64_t kRetries = 7;
/// mlx5's queue pair counters have 32 bits and wrap.
constexpr std::uint8_t kQueueCounterBits = 32;

/// The series of one adapter, in the order of its values.
constexpr const char* kSeries[] = {"transmit_bytes",         "receive_bytes",
                                   "transmit_packets",       "receive_packets",
                                   "sequence_nak",           "ack_timeout",
                                   "out_of_sequence",        "rnr_nak",
                                   "out_of_buffer",          "retries_exhausted",
                                   "pcie_read_stall",        "pcie_write_stall",
                                   "pcie_read_stall_events", "pcie_write_stall_events"};
/// Only where a scenario assumes that marks are all there is to see of congestion.
constexpr const char* kMarkSeries[] = {"ecn_marked_packets", "cnp_sent", "cnp_handled"};
/// Only where it has jobs that end. mlx5's resp_cqe_error and req_cqe_error count flushed requests as well; those are
/// counted once more by themselves (resp_cqe_flush_error), where the catalogue has them.
constexpr const char* kFlushSeries[] = {"response_completion_error", "request_completion_error", "response_flush",
                                        "request_flush"};
/// The priority of RoCE (IEEE 802.1Q), as is usual.
constexpr std::uint8_t kLosslessPriority = 3;
/// Of a link of Ethernet, behind those of the adapter: PFC's pauses by their direction, and its troubles.
constexpr const char* kPause = "pfc_pause";
constexpr const char* kLinkSeries[] = {kPause, kPause, "receive_errors", "transmit_discards", "carrier_down"};
/// A switch's port has the traffic besides.
constexpr std::size_t kTrafficSeries = 4;

/// The RDMA device; of an interface "eth2" it is "mlx5_2".
std::string device_of(const Plan& plan, NodeIndex adapter) {
  if (plan.is_ethernet()) return "mlx5_" + std::to_string(plan.endpoint_of[adapter] % plan.spec.rails);
  const std::string& name = plan.nodes[adapter].description;
  return name.substr(name.find(' ') + 1);
}

void add_link_series(const std::string& device, std::uint8_t number, std::vector<HostSeries>& list) {
  Direction direction = Direction::kReceive;
  for (const char* name : kLinkSeries) {
    HostSeries& series = list.emplace_back(HostSeries{.device = device, .port = number, .name = name});
    if (name != kPause) continue;
    series.priority = kLosslessPriority;
    series.direction = std::exchange(direction, Direction::kTransmit);
  }
}

/// What adapters tell besides kSeries in this scenario.
std::vector<const char*> extras_of(const Scenario& scenario) {
  std::vector<const char*> names;
  if (scenario.assumptions.marks_only) names.insert(names.end(), std::begin(kMarkSeries), std::end(kMarkSeries));
  if (scenario.assumptions.flushes)
    std::ranges::copy_if(kFlushSeries, std::back_inserter(names), [](const char* name) { return find_counter(name); });
  return names;
}

SeriesList series_of_host(const Plan& plan, std::uint32_t first, const Scenario& scenario) {
  std::vector<HostSeries> list;
  std::vector<const char*> names(std::begin(kSeries), std::end(kSeries));
  const std::vector<const char*> extras = extras_of(scenario);
  names.insert(names.end(), extras.begin(), extras.end());
  for (std::uint32_t rail = 0; rail < plan.spec.rails; ++rail) {
    const std::string device = device_of(plan, plan.adapters[first + rail]);
    for (const char* name : names) {
      HostSeries series{.device = device, .port = 1, .name = name};
      const CounterInfo& info = *find_counter(name);
      if (info.family == CounterFamily::kRdmaError) series.bits = kQueueCounterBits;
      if (info.is_gauge) series.behaviour = CounterBehaviour::kGauge;
      list.push_back(std::move(series));
    }
    if (plan.is_ethernet()) add_link_series(device, 1, list);
  }
  return list;
}

/// Whole seconds of stalling that are complete with `stalled` more seconds; the rest stays in `begun`.
std::uint64_t whole_seconds(double& begun, double stalled) {
  begun += stalled;
  const double whole = std::floor(begun);
  begun -= whole;
  return static_cast<std::uint64_t>(whole);
}

}  // namespace

std::vector<std::vector<PlacedJob>> jobs_of_hosts(const Scenario& scenario, const Plan& plan) {
  std::vector<std::vector<PlacedJob>> placed(plan.spec.hosts);
  std::map<std::pair<std::vector<std::uint32_t>, double>, std::string> known;  // by hosts and start
  for (const Job& job : scenario.jobs) {
    if (job.kind == JobKind::kStorage || job.kind == JobKind::kSteady) continue;
    std::vector<std::uint32_t> hosts;
    for (const std::uint32_t member : job.members) hosts.push_back(member / plan.spec.rails);
    std::ranges::sort(hosts);
    hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
    const auto [name, is_new] =
        known.emplace(std::pair(hosts, job.start), "slurm:" + std::to_string(1000 + known.size()));
    if (!is_new) continue;
    for (const std::uint32_t host : hosts)
      placed[host].push_back({name->second, job.start, job.released > 0 ? job.released : job.end});
  }
  return placed;
}

Collectors::Collectors(const Scenario& scenario, const Plan& plan)
    : scenario_(scenario),
      plan_(plan),
      random_(scenario.seed ^ 0x5EEDC011EC7ULL),
      adapters_(plan.adapters.size()),
      hosts_(plan.spec.hosts) {
  const auto jobs = jobs_of_hosts(scenario, plan);
  std::shared_ptr<const std::vector<HostSeries>> series = series_of_host(plan, 0, scenario).shared();
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    add_host(host, series);
    hosts_[host].jobs = jobs[host];
    const double first = random_.uniform(0, interval());
    if (scenario.collectors) plan_reading(first, host);
  }
  for (std::size_t i = 0; i < std::size(kFlushSeries); ++i)
    if (find_counter(kFlushSeries[i])) flush_divisors_.push_back(i % 2 == 0 ? 1 : 4);
  if (has_straggler(scenario)) reading_times_.resize(hosts_.size());
  if (plan.is_ethernet() && scenario.switch_collectors)
    for (NodeIndex node = 0; node < plan.nodes.size(); ++node)
      if (plan.tiers[node] != Tier::kAdapter) add_switch(node);
  for (Adapter& adapter : adapters_) {
    if (scenario.noisy)
      adapter.healthy_loss = random_.log_uniform(scenario.noise.retransmits_low, scenario.noise.retransmits_high);
    // Queue pair counters count from the driver's loading: some have come round.
    adapter.nak_count = random_.chance(0.1) ? (1ULL << kQueueCounterBits) - random_.below(100) : random_.below(5000);
    adapter.out_of_sequence_count = random_.below(5000);
  }
}

void Collectors::add_host(std::uint32_t host, const std::shared_ptr<const std::vector<HostSeries>>& series) {
  auto inventory = std::make_shared<HostInventory>();
  inventory->series = SeriesList(series);
  for (std::uint32_t rail = 0; rail < plan_.spec.rails; ++rail) {
    const NodeIndex index = plan_.adapters[host * plan_.spec.rails + rail];
    const Node& adapter = plan_.nodes[index];
    HostPort& port = inventory->ports.emplace_back();
    port.device = device_of(plan_, index);
    port.number = 1;
    port.driver = "mlx5";
    hosts_[host].ports.push_back(adapter.first_port);
    if (plan_.is_ethernet()) {
      port.link_layer = LinkLayer::kEthernet;
      port.netdev = plan_.interface_of(adapter.first_port);
      continue;
    }
    port.link_layer = LinkLayer::kInfiniBand;
    port.rate_bits_per_second = static_cast<std::uint64_t>(link_bits_per_second(2, plan_.spec.speed));
    port.node_guid = adapter.guid;
    port.port_guid = plan_.ports[adapter.first_port].guid;
    port.lid = plan_.ports[adapter.first_port].lid;
  }
  hosts_[host].name = host_name(plan_.nodes[plan_.adapters[host * plan_.spec.rails]]);
  hosts_[host].inventory = std::move(inventory);
}

void Collectors::add_switch(NodeIndex node) {
  Host& host = hosts_.emplace_back();
  host.name = plan_.nodes[node].name;
  host.is_switch = true;
  auto inventory = std::make_shared<HostInventory>();
  std::vector<HostSeries> list;
  for (PortIndex index = plan_.port(node, 1); index <= plan_.port(node, plan_.nodes[node].port_count); ++index) {
    HostPort& port = inventory->ports.emplace_back();
    port.device = port.netdev = plan_.interface_of(index);
    port.driver = "mlxsw_spectrum";
    port.link_layer = LinkLayer::kEthernet;
    host.ports.push_back(index);
    for (std::size_t i = 0; i < kTrafficSeries; ++i)
      list.push_back({.device = port.device, .port = port.number, .name = kSeries[i]});
    add_link_series(port.device, port.number, list);
  }
  inventory->series = SeriesList(std::move(list));
  host.inventory = std::move(inventory);
  plan_reading(random_.uniform(0, interval()), static_cast<std::uint32_t>(hosts_.size() - 1));
}

void Collectors::plan_reading(double at, std::uint32_t host) {
  const Due due{at, host};
  auto place = due_.end();
  while (place != due_.begin() && due < *std::prev(place)) --place;
  due_.insert(place, due);
}

/// An inventory is another one when a link of it is in another state.
void Collectors::look_at_links(Host& host, std::span<const Port> ports) const {
  std::shared_ptr<HostInventory> changed;
  for (std::size_t i = 0; i < host.ports.size(); ++i) {
    const Port& now = ports[host.ports[i]];
    const bool up = now.is_up();
    const auto rate = up ? static_cast<std::uint64_t>(link_bits_per_second(now.width_active, now.speed_active)) : 0;
    const PortState state = up ? PortState::kActive : PortState::kDown;
    const HostPort& before = (changed ? *changed : *host.inventory).ports[i];
    if (before.state == state && before.rate_bits_per_second == rate) continue;
    if (!changed) changed = std::make_shared<HostInventory>(*host.inventory);
    HostPort& port = changed->ports[i];
    port.state = state;
    port.physical_state = up ? PortPhysicalState::kLinkUp : PortPhysicalState::kPolling;
    port.rate_bits_per_second = rate;
  }
  if (changed) host.inventory = std::move(changed);
}

void Collectors::read_link(PortIndex port, double now, const Registers& registers,
                           std::vector<std::uint64_t>& values) const {
  // What the other end waited for, this one asked it to wait.
  const std::uint64_t paused = registers.waited(port, now);
  const std::uint64_t pausing = registers.waited(plan_.ports[port].peer, now);
  for (const std::uint64_t value :
       {paused, pausing, registers.events(port, CounterId::kReceiveErrors),
        registers.events(port, CounterId::kTransmitDiscards), registers.events(port, CounterId::kLinkDowned)})
    values.push_back(value);
}

void Collectors::settle(double now) {
  const double passed = now - settled_;
  settled_ = now;
  for (Adapter& adapter : adapters_) {
    adapter.naks += adapter.nak_rate * passed;
    adapter.out_of_sequence += adapter.out_of_sequence_rate * passed;
    adapter.rnr += adapter.rnr_rate * passed;
    adapter.out_of_buffer += adapter.out_of_buffer_rate * passed;
    adapter.failures += adapter.failure_rate * passed;
    adapter.marked += adapter.marked_rate * passed;
    adapter.told += adapter.told_rate * passed;
    adapter.obeyed += adapter.obeyed_rate * passed;
    adapter.write_stalled += adapter.write_stall * passed;
    adapter.read_stalled += adapter.read_stall * passed;
  }
}

void Collectors::calm() {
  for (Adapter& adapter : adapters_) {
    adapter.nak_rate = adapter.out_of_sequence_rate = adapter.rnr_rate = adapter.out_of_buffer_rate = 0;
    adapter.write_stall = adapter.read_stall = 0;
    adapter.marked_rate = adapter.told_rate = adapter.obeyed_rate = 0;
  }
}

void Collectors::lose(std::uint32_t from, std::uint32_t to, double packets, double late) {
  adapters_[from].nak_rate += packets;
  adapters_[to].out_of_sequence_rate += packets * (1 - scenario_.constants.last_of_message) * late;
}

void Collectors::mark(std::uint32_t from, std::uint32_t to, double packets) {
  const double notifications = std::min(packets, kMostNotifications);
  adapters_[to].marked_rate += packets;
  adapters_[to].told_rate += notifications;
  adapters_[from].obeyed_rate += notifications;
}

void Collectors::flush(std::uint32_t endpoint, std::uint64_t requests) {
  adapters_[endpoint].flushed_count += requests;
}

void Collectors::stall(std::uint32_t endpoint, double writes, double reads) {
  adapters_[endpoint].write_stall = writes;
  adapters_[endpoint].read_stall = reads;
}

void Collectors::refuse(std::uint32_t from, std::uint32_t to, double packets) {
  adapters_[from].rnr_rate += packets;
  adapters_[to].out_of_buffer_rate += packets;
}

void Collectors::fail(std::uint32_t endpoint, double requests) {
  adapters_[endpoint].failure_rate = requests;
}

void Collectors::time_out(std::uint32_t endpoint, std::uint64_t requests) {
  adapters_[endpoint].timeout_count += requests;
}

void Collectors::starve(std::uint32_t endpoint, double packets) {
  adapters_[endpoint].starving_rate = packets;
}

void Collectors::plug(PortIndex port, unsigned module, bool has_fixed_cable) {
  for (Host& host : hosts_) {
    const auto found = std::ranges::find(host.ports, port);
    if (found == host.ports.end()) continue;
    const HostPort& own = host.inventory->ports[static_cast<std::size_t>(found - host.ports.begin())];
    FactTable table = host.facts ? *host.facts : FactTable();
    std::erase_if(table.ports, [&](const PortFacts& facts) { return facts.device == own.device; });
    if (module > 0)
      table.ports.push_back({own.device,
                             own.number,
                             {{ConfigFact::kModuleVendor, FactSource::kEthtool, "ACME"},
                              {ConfigFact::kModulePart, FactSource::kEthtool, has_fixed_cable ? "MCP4Y10" : "MMA4Z00"},
                              {ConfigFact::kModuleSerial, FactSource::kEthtool, "MT24" + std::to_string(module)}}});
    host.facts = std::make_shared<const FactTable>(tidy(std::move(table)));
  }
}

void Collectors::add_lost(std::uint32_t from, std::uint32_t to, std::uint64_t packets, double late) {
  adapters_[from].naks += static_cast<double>(packets);
  adapters_[to].out_of_sequence += static_cast<double>(packets) * (1 - scenario_.constants.last_of_message) * late;
}

void Collectors::read_adapter(std::uint32_t endpoint, double now, double passed, const Registers& registers,
                              std::vector<std::uint64_t>& values) {
  Adapter& adapter = adapters_[endpoint];
  const Registers::Traffic traffic = registers.traffic(plan_.endpoint_port(endpoint), now);
  const auto moved = [](std::uint64_t after, std::uint64_t before) {
    return static_cast<double>(after > before ? after - before : 0);
  };
  const double since = now - settled_;
  // What is expected was lost on the way; healthy adapters send a few packets again as well.
  const double lost =
      adapter.naks + adapter.nak_rate * since + moved(traffic.sent_packets, adapter.sent) * adapter.healthy_loss;
  const double missed =
      adapter.out_of_sequence + adapter.out_of_sequence_rate * since +
      moved(traffic.received_packets, adapter.received) * adapter.healthy_loss * scenario_.assumptions.late_packets;
  const double last_of_message = scenario_.constants.last_of_message;
  const std::uint64_t timeouts = random_.poisson(lost * last_of_message);
  adapter.nak_count += random_.poisson(lost * (1 - last_of_message));
  const std::uint64_t failures = random_.poisson(adapter.failures + adapter.failure_rate * since);
  adapter.failure_count += failures;
  adapter.timeout_count += timeouts + failures * (1 + kRetries);
  adapter.out_of_sequence_count += random_.poisson(missed);
  adapter.rnr_count += random_.poisson(adapter.rnr + adapter.rnr_rate * since);
  adapter.out_of_buffer_count +=
      random_.poisson(adapter.out_of_buffer + adapter.out_of_buffer_rate * since + adapter.starving_rate * passed);
  const double write_stalled = adapter.write_stalled + adapter.write_stall * since;
  const double read_stalled = adapter.read_stalled + adapter.read_stall * since;
  adapter.write_stall_count += whole_seconds(adapter.write_stall_begun, write_stalled);
  adapter.read_stall_count += whole_seconds(adapter.read_stall_begun, read_stalled);
  if (scenario_.noisy && random_.chance(scenario_.noise.retransmit_bursts * passed / kSecondsOfDay)) {
    // A peer that has gone: its sender's timers run out; or an application that starts anew in the middle of it.
    if (random_.chance(0.7))
      adapter.timeout_count += static_cast<std::uint64_t>(random_.log_uniform(10, 1000));
    else
      adapter.out_of_sequence_count += static_cast<std::uint64_t>(random_.log_uniform(10, 3000));
  }
  // What was expected up to now is drawn; what the rates add up to the next settle() is expected anew.
  adapter.naks = -adapter.nak_rate * since;
  adapter.out_of_sequence = -adapter.out_of_sequence_rate * since;
  adapter.rnr = -adapter.rnr_rate * since;
  adapter.out_of_buffer = -adapter.out_of_buffer_rate * since;
  adapter.failures = -adapter.failure_rate * since;
  adapter.write_stalled = -adapter.write_stall * since;
  adapter.read_stalled = -adapter.read_stall * since;
  adapter.sent = traffic.sent_packets;
  adapter.received = traffic.received_packets;
  const auto queue_counter = [](std::uint64_t count) -> std::uint64_t {
    return count & ((1ULL << kQueueCounterBits) - 1);
  };
  const auto percent = [passed](double stalled) -> std::uint64_t {
    return static_cast<std::uint64_t>(passed > 0 ? std::clamp(std::round(100 * stalled / passed), 0.0, 100.0) : 0);
  };
  for (const std::uint64_t value :
       {traffic.sent_bytes, traffic.received_bytes, traffic.sent_packets, traffic.received_packets,
        queue_counter(adapter.nak_count), queue_counter(adapter.timeout_count),
        queue_counter(adapter.out_of_sequence_count), queue_counter(adapter.rnr_count),
        queue_counter(adapter.out_of_buffer_count), queue_counter(adapter.failure_count), percent(read_stalled),
        percent(write_stalled), adapter.read_stall_count, adapter.write_stall_count})
    values.push_back(value);
  read_extras(adapter, since, values);
}

void Collectors::read_extras(Adapter& adapter, double since, std::vector<std::uint64_t>& values) {
  if (scenario_.assumptions.marks_only) {
    for (const auto& [count, expected, rate] : {std::tuple{&adapter.marked_count, &adapter.marked, adapter.marked_rate},
                                                {&adapter.told_count, &adapter.told, adapter.told_rate},
                                                {&adapter.obeyed_count, &adapter.obeyed, adapter.obeyed_rate}}) {
      *count += random_.poisson(*expected + rate * since);
      *expected = -rate * since;
      values.push_back(*count);
    }
  }
  if (!scenario_.assumptions.flushes) return;
  // A request that is flushed ends with an error at either end; the flush itself is counted where it can be.
  for (const std::uint64_t divisor : flush_divisors_) values.push_back(adapter.flushed_count / divisor);
}

void Collectors::read_host(std::uint32_t index, double now, const Registers& registers, TimePoint taken) {
  Host& host = hosts_[index];
  HostReading reading;
  if (!spare_.empty()) {
    reading = std::move(spare_.back());
    spare_.pop_back();
  }
  reading.taken = taken;
  reading.inventory = host.inventory;
  reading.facts = host.facts;
  reading.jobs.clear();
  for (const PlacedJob& job : host.jobs)
    if (now >= job.start && now < job.end) reading.jobs.push_back(job.name);
  reading.values.clear();
  reading.values.reserve(host.inventory->series.size());
  for (const PortIndex port : host.ports) {
    if (host.is_switch) {
      const Registers::Traffic traffic = registers.traffic(port, now);
      for (const std::uint64_t value :
           {traffic.sent_bytes, traffic.received_bytes, traffic.sent_packets, traffic.received_packets})
        reading.values.push_back(value);
    } else {
      read_adapter(plan_.endpoint_of[plan_.ports[port].node], now, now - host.read_at, registers, reading.values);
    }
    if (plan_.is_ethernet()) read_link(port, now, registers, reading.values);
  }
  reading.present.assign(reading.values.size(), 1);
  host.read_at = now;
  if (index < reading_times_.size()) reading_times_[index].push_back(now);
  bool lost = false;
  Delivery delivery{.heard = now + random_.uniform(0.001, 0.02), .host = std::string(), .batch = {}};
  if (scenario_.noisy) {
    lost = random_.chance(scenario_.noise.lost_readings);
    // One source of the collector did not answer: what it tells is absent.
    if (random_.chance(scenario_.noise.lost_readings))
      for (std::size_t i = 0; i < reading.present.size(); ++i)
        if (find_counter(host.inventory->series[i].name)->family == CounterFamily::kRdmaError) reading.present[i] = 0;
    if (random_.chance(scenario_.noise.late_readings)) {
      delivery.heard += interval() * random_.uniform(0.3, 1.5);
      delivery.batch.is_late = delivery.heard > now + interval();
    }
  }
  host.heard = delivery.heard = std::max(delivery.heard, host.heard);
  delivery.host = host.name;
  delivery.batch.sequence = ++host.sequence;
  if (!lost) delivery.batch.reading = std::move(reading);  // its collector lives all the same, and is heard
  under_way_.push_back(std::move(delivery));
}

void Collectors::read(double until, const Registers& registers, std::span<const Port> ports,
                      const std::function<bool(NodeIndex)>& is_up, const std::function<TimePoint(double)>& wall) {
  while (is_due(until)) {
    const auto [at, host] = due_.front();
    due_.pop_front();
    plan_reading(at + interval() * random_.uniform(0.95, 1.05), host);
    if (!is_up(plan_.ports[hosts_[host].ports.front()].node)) continue;
    if (plan_.is_ethernet()) look_at_links(hosts_[host], ports);
    const TimePoint taken = wall(at);
    read_host(host, at, registers, taken);
  }
}

void Collectors::hear(double now, std::vector<Delivery>& heard) {
  for (Delivery& delivery : heard)
    if (delivery.batch.reading) spare_.push_back(std::move(*delivery.batch.reading));
  heard.clear();
  // Deliveries are large: what is sorted is where they stand.
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < under_way_.size(); ++i)
    if (under_way_[i].heard <= now) order.emplace_back(under_way_[i].heard, i);
  std::ranges::sort(order);
  for (const auto& [at, position] : order) heard.push_back(std::move(under_way_[position]));
  std::erase_if(under_way_, [now](const Delivery& delivery) { return delivery.heard <= now; });
}

}  // namespace weft::scenarios
