// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/assumptions.hpp"

#include <algorithm>
#include <limits>

#include "tests/scenarios/random.hpp"

namespace weft::scenarios {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
/// A host's background is up to so many times the usual one, or that part of it. No published figure was found; hosts
/// of one job that read one set of data differ less, those with other work beside it more.
constexpr double kBackgroundSpread = 3;

/// The scenario as it is now is what its truths and plan follow from.
void derive(Case& made) {
  if (!made.scenario.advice.empty()) return;  // that follows from no fault
  made.plan = *lay_out(made.scenario.fabric);
  made.scenario.truths = truths_of(made.scenario, made.plan);
}

/// Links of the newest speed, as a sweep reads them.
void use_xdr(Random&, Case& made) {
  made.scenario.fabric.speed = kSpeedXdr;
  made.scenario.assumptions.wire_speeds = true;
}

/// Eight ways, as many as most leaves of these fabrics have uplinks.
void route_adaptively(Random&, Case& made) {
  made.scenario.assumptions.ways = 8;
}

/// Every endpoint sends to one at the other end of the fabric, whatever its jobs do; each at a rate of its own, which
/// the others do not tell.
void add_background(Random& random, Case& made) {
  const auto endpoints = static_cast<std::uint32_t>(made.plan.adapters.size());
  Job job{.kind = JobKind::kSteady, .load = 1e-3};
  for (std::uint32_t from = 0; from < endpoints; ++from) {
    job.members.push_back(from);
    job.targets.push_back((from + endpoints / 2) % endpoints);
    job.shares.push_back(random.log_uniform(1 / kBackgroundSpread, kBackgroundSpread));
  }
  made.scenario.jobs.push_back(std::move(job));
}

/// Checkpoints and data sets: bursts of storage every few seconds instead of once a minute.
void add_storage(Random& random, Case& made) {
  for (Job& job : made.scenario.jobs) {
    if (job.kind != JobKind::kStorage) continue;
    job.period = random.uniform(4, 12);
    job.communication = random.uniform(0.1, 0.4);
  }
}

void lose_where_full(Random&, Case& made) {
  made.scenario.assumptions.full_link_loss = 1e-5;
}

void mark_only(Random&, Case& made) {
  made.scenario.assumptions.marks_only = true;
}

/// With go-back-N all that is under way behind a lost packet arrives out of order: 5 to 20 us at 400 Gb/s.
void count_late_packets(Random& random, Case& made) {
  const double under_way = random.uniform(5e-6, 20e-6);
  made.scenario.assumptions.late_packets =
      std::max(1.0, link_bits_per_second(2, made.scenario.fabric.speed) * under_way / 8 / kBytesOfPacket);
}

void slow_manager(Random& random, Case& made) {
  Scenario& scenario = made.scenario;
  scenario.assumptions.manager.sweep = random.log_uniform(2, 15);
  // What opens after the repair is to be seen as well.
  scenario.duration += 2 * scenario.assumptions.manager.settling() + 60;
}

/// Losses as they are; and time to see them, for most of them are rare.
void draw_real_losses(Random& random, Case& made) {
  for (Fault& fault : made.scenario.faults) {
    if (fault.kind != FaultKind::kLossOnLink && fault.kind != FaultKind::kLossInSwitch) continue;
    fault.amount = loss_of_corropt(random);
    fault.end = fault.start + 300;
    made.scenario.duration = fault.end + 25;
  }
}

/// Where it is hard to say whether they are too many: the specification's limit is 1e-12 (vol. 2, 6.4).
void draw_errors_near_limit(Random& random, Case& made) {
  for (Fault& fault : made.scenario.faults) {
    if (fault.kind != FaultKind::kErrors) continue;
    fault.amount = random.log_uniform(3e-13, 3e-12);
    fault.end = fault.start + 1500;
    made.scenario.duration = fault.end + 25;
  }
}

/// All hosts send across the fabric, most of the time, so that uplinks that are missing hold somebody up.
void load_uplinks(Random& random, Case& made) {
  std::erase_if(made.scenario.jobs, [](const Job& job) { return job.kind != JobKind::kStorage; });
  const std::uint32_t rails = made.plan.spec.rails;
  for (std::uint32_t rail = 0; rail < rails; ++rail) {
    Job job{.kind = JobKind::kAllToAll,
            .period = random.uniform(1, 4),
            .communication = random.uniform(0.7, 0.95),
            .load = random.uniform(0.6, 0.9)};
    for (std::uint32_t host = 0; host < made.plan.spec.hosts; ++host) job.members.push_back(host * rails + rail);
    made.scenario.jobs.push_back(std::move(job));
  }
  for (Fault& fault : made.scenario.faults)
    if (fault.kind == FaultKind::kOversubscription) fault.amount = 0.125;  // one of eight uplinks is left
  if (made.plan.is_ethernet()) made.scenario.switch_collectors = true;     // hosts do not see what is full
}

/// Everything that README.md lists as shared between the model and the rules, otherwise.
void vary_constants(Random& random, Case& made) {
  Constants& constants = made.scenario.constants;
  constants.harm = random.uniform(0.1, 0.3);
  constants.first_send = random.log_uniform(1 << 20, 32 << 20);
  constants.efficiency = random.uniform(0.9, 0.99);
  constants.restless = random.uniform(0.001, 0.008);
  constants.pace = random.uniform(0.003, 0.03);
  constants.last_of_message = random.log_uniform(0.002, 0.2);
  constants.unposted = random.log_uniform(0.3, 300);
}

/// No part errs before its link goes down.
void hide_errors(Random&, Case& made) {
  std::erase_if(made.scenario.actions, [](const Action& action) { return action.kind == ActionKind::kErrorRate; });
}

/// The counters of one end of the first link that fails stand still, and say that all is well.
void freeze_one_end(Random& random, Case& made) {
  const PortKey key = random.chance(0.5) ? made.scenario.advice[0].links[0].a : made.scenario.advice[0].links[0].b;
  for (PortIndex port = 0; port < made.plan.ports.size(); ++port)
    if (made.plan.key_of(port) == key)
      made.scenario.actions.push_back({.at = 0, .kind = ActionKind::kFreeze, .a = port, .value = 1});
}

/// Modules and cables are pieces of their own, and only hosts tell of theirs.
void loosen_modules(Random&, Case& made) {
  std::erase_if(made.scenario.actions, [&](const Action& action) {
    return action.kind == ActionKind::kModule && made.plan.tier_of(action.a) != Tier::kAdapter;
  });
  for (Action& action : made.scenario.actions)
    if (action.kind == ActionKind::kModule) action.b = 0;
}

struct Change {
  std::string_view name;
  void (*make)(Random&, Case&);
};
constexpr Change kChanges[] = {{"xdr", use_xdr},
                               {"adaptive_routing", route_adaptively},
                               {"lossy", lose_where_full},
                               {"ecn_only", mark_only},
                               {"background", add_background},
                               {"storage", add_storage},
                               {"late_packets", count_late_packets},
                               {"slow_manager", slow_manager},
                               {"corropt", draw_real_losses},
                               {"near_limit", draw_errors_near_limit},
                               {"loaded", load_uplinks},
                               {"constants", vary_constants},
                               {"silent", hide_errors},
                               {"frozen_end", freeze_one_end},
                               {"loose_modules", loosen_modules}};

}  // namespace

const std::vector<Assumption>& assumptions() {
  static const std::vector<Assumption> kAll{
      {"xdr", {"quiet", "link_down", "width_loss", "speed_loss", "errors"}},
      {"adaptive_routing",
       {"quiet", "link_down", "incast", "slow_receiver", "loss_on_link", "loss_in_switch", "straggler"}},
      {"lossy",
       {"ethernet_quiet", "ethernet_incast", "ethernet_collision", "ethernet_slow_receiver", "ethernet_loss_on_link"}},
      {"ecn_only",
       {"ethernet_quiet", "ethernet_incast", "ethernet_collision", "ethernet_loss_on_link", "ethernet_straggler"}},
      {"background", {"quiet", "straggler", "loss_on_link", "ethernet_quiet", "ethernet_straggler"}},
      {"storage", {"quiet", "straggler", "ethernet_quiet", "ethernet_straggler"}},
      {"late_packets",
       {"quiet", "loss_on_link", "loss_in_switch", "ethernet_quiet", "ethernet_loss_on_link",
        "ethernet_loss_in_switch"}},
      {"slow_manager",
       {"link_down", "switch_down", "host_down", "flap_fast", "flap_slow", "flap_sub_sample", "node_silent",
        "node_reboot", "driver_reload", "retraining"}},
      {"corropt", {"loss_on_link", "loss_in_switch", "ethernet_loss_on_link"}},
      {"near_limit", {"errors"}},
      {"loaded", {"oversubscription", "ethernet_oversubscription"}},
      {"constants",
       {"quiet", "incast", "collision", "slow_receiver", "pcie_stall", "loss_on_link", "straggler", "ethernet_incast",
        "ethernet_collision", "ethernet_straggler"}},
      {"silent", {"cable_part", "host_part", "switch_part", "module_part", "ethernet_cable_part"}},
      {"frozen_end", {"cable_part", "switch_part", "swap_moved"}},
      {"loose_modules", {"swap_in_vain", "swap_done"}}};
  return kAll;
}

bool assume(std::string_view assumption, Random& random, Case& made) {
  const auto found = std::ranges::find(kChanges, assumption, &Change::name);
  if (found == std::end(kChanges)) return false;
  found->make(random, made);
  derive(made);
  return true;
}

// The same numbers are in NUS-SNL/linkguardian, simulator/trace_generator/dist_data/loss_rates_dist-corropt.json.
double loss_of_corropt(Random& random) {
  struct Class {
    double low, high, share;
  };
  constexpr Class kClasses[] = {
      {1e-8, 1e-5, 0.4723}, {1e-5, 1e-4, 0.1843}, {1e-4, 1e-3, 0.2167}, {1e-3, 1e-2, kForever}};
  double left = random.uniform();
  for (const Class& loss : kClasses) {
    if (left < loss.share) return random.log_uniform(loss.low, loss.high);
    left -= loss.share;
  }
  return kClasses[3].high;  // never reached: the last class takes the rest
}

}  // namespace weft::scenarios
