// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/scenario.hpp"

#include <algorithm>
#include <array>

namespace weft::scenarios {
namespace {

constexpr std::array<const char*, kFaultKinds> kFaultNames{"link_down",          "switch_down",      "host_down",
                                                           "flap_fast",          "flap_slow",        "flap_sub_sample",
                                                           "width_loss",         "speed_loss",       "errors",
                                                           "error_bursts",       "incast",           "collision",
                                                           "oversubscription",   "slow_receiver",    "pcie_stall",
                                                           "pfc_storm",          "deadlock",         "loss_on_link",
                                                           "loss_in_switch",     "straggler",        "optics_drift",
                                                           "optics_fading",      "crossed_cables",   "frozen_counters",
                                                           "saturated_counter",  "node_silent",      "collector_death",
                                                           "mad_sensor",         "counter_reset",    "clock_jump",
                                                           "errors_below_limit", "failed_transfers", "manager_restart",
                                                           "manager_failover",   "node_reboot",      "driver_reload",
                                                           "retraining",         "job_hang"};
constexpr std::array<const char*, kJobKinds> kJobNames{"ring", "tree", "all_to_all", "pipeline", "storage", "steady"};

template <typename Kind, std::size_t N>
std::optional<Kind> parse(const std::array<const char*, N>& names, std::string_view text) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return std::nullopt;
  return static_cast<Kind>(found - names.begin());
}

}  // namespace

bool has_straggler(const Scenario& scenario) {
  return std::ranges::any_of(scenario.faults, [](const Fault& fault) { return fault.kind == FaultKind::kStraggler; });
}

const char* to_string(FaultKind kind) {
  return kFaultNames[static_cast<std::size_t>(kind)];
}
std::optional<FaultKind> parse_fault_kind(std::string_view text) {
  return parse<FaultKind>(kFaultNames, text);
}
const char* to_string(JobKind kind) {
  return kJobNames[static_cast<std::size_t>(kind)];
}
std::optional<JobKind> parse_job_kind(std::string_view text) {
  return parse<JobKind>(kJobNames, text);
}

}  // namespace weft::scenarios
