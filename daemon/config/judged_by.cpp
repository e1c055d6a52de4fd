// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/judged_by.hpp"

#include <algorithm>
#include <string_view>

#include "daemon/config/schema.hpp"

namespace weft::config {
namespace {

/// Beginnings of the names of keys.
std::vector<std::string_view> beginnings_for(IncidentKind kind) {
  switch (kind) {
    case IncidentKind::kLinkDown:
      return {"analyzer.sm_patience",
              "analyzer.activation_grace_sweeps",
              "analyzer.link_group_",
              "analyzer.critical_ways_left",
              "analyzer.disagreement_sweeps",
              "analyzer.mass_share",
              "analyzer.mass_minimum_links",
              "analyzer.mass_hold",
              "analyzer.bring_up",
              "analyzer.host_port_",
              "incidents.link_down_hold"};
    case IncidentKind::kLinkFlap:
      return {"analyzer.flap_", "analyzer.bring_up", "analyzer.mass_alarm_share"};
    case IncidentKind::kLinkDegraded:
      return {"analyzer.drift_", "analyzer.fec_ratio_", "analyzer.receive_power_drop", "analyzer.mass_alarm_share"};
    case IncidentKind::kLinkErrors:
      return {"analyzer.error_", "analyzer.errored_seconds_", "analyzer.mass_alarm_share"};
    case IncidentKind::kSwitchDown:
    case IncidentKind::kNodeDown:
      return {"analyzer.sm_patience", "analyzer.disagreement_sweeps", "analyzer.mass_share",
              "analyzer.mass_minimum_links", "analyzer.mass_hold"};
    case IncidentKind::kCongestionIncast:
    case IncidentKind::kCongestionUnevenLoad:
    case IncidentKind::kCongestionOversubscribed:
      return {"analyzer.congestion_"};
    case IncidentKind::kSlowReceiver:
      return {"analyzer.congestion_", "analyzer.host_stall_ratio"};
    case IncidentKind::kPfcStorm:
      return {"analyzer.pfc_storm_"};
    case IncidentKind::kDeadlock:
      return {"analyzer.deadlock_"};
    case IncidentKind::kSilentLoss:
      return {"analyzer.silent_loss_"};
    case IncidentKind::kRdmaErrors:
      return {"analyzer.rdma_"};
    case IncidentKind::kStraggler:
      return {"analyzer.straggler_"};
    case IncidentKind::kMiscabled:
      return {"analyzer.miscabled_mass_share"};
    case IncidentKind::kCounterStuck:
      return {"analyzer.stuck_", "analyzer.mass_alarm_share"};
    case IncidentKind::kTelemetryLost:
      return {"analyzer.telemetry_", "analyzer.stale_intervals", "analyzer.node_silent_sweeps",
              "analyzer.collector_silence_minimum"};
    case IncidentKind::kLinksNotActivated:
      return {"analyzer.sm_patience", "analyzer.activation_grace_sweeps"};
    case IncidentKind::kConfigDrift:
      return {"drift."};
    case IncidentKind::kHostDegraded:
    case IncidentKind::kModuleDegraded:
      return {"parts."};
    case IncidentKind::kJobHang:
      return {"hang."};
    case IncidentKind::kDuplicateGuid:
    case IncidentKind::kCount:
      break;
  }
  return {};
}

}  // namespace

std::vector<JudgingKey> keys_that_judge(const WeftdConfig& config, IncidentKind kind) {
  std::vector<JudgingKey> keys;
  const WeftdConfig defaults;
  const auto beginnings = beginnings_for(kind);
  for (const Key& key : schema())
    if (std::ranges::any_of(beginnings, [&](std::string_view begin) { return key.name.starts_with(begin); }))
      keys.push_back({std::string(key.name), get_toml(key, config), get_toml(key, defaults), std::string(key.help)});
  return keys;
}

}  // namespace weft::config
