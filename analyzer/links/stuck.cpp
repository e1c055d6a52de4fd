// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/stuck.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::analyzer {
namespace {

/// A reading that went back is half forgotten after so many sweeps: somebody who clears the counters now and then is
/// no trouble.
constexpr double kJumpHalfLife = 30;
/// A sweep in which the peer sent less than this share of stuck_packets says nothing.
constexpr double kFewestPackets = 0.1;

}  // namespace

void StuckCounters::update(const Sweep& sweep, const LinkTable& table, const CounterPass& pass) {
  const Topology& topology = *sweep.topology;
  if (sweeps_ == 0 || epoch_ != topology.epoch()) {
    epoch_ = topology.epoch();
    sweeps_ = 0;
    standing_.clear();
    jumps_.clear();
  }
  follow_jumps(pass);
  if (sweeps_ <= thresholds_.stuck_sweeps) ++sweeps_;
  standing_.resize(topology.ports().size());
  auto error = pass.errors.begin();
  for (PortIndex port = 0; port < standing_.size(); ++port) {
    const bool errors = error != pass.errors.end() && error->port == port;
    if (errors) ++error;
    const PortIndex peer = topology.port(port).peer;
    if (peer == kNoIndex || pass.receive_packets[port] != 0 || errors || !topology.port(port).is_up() ||
        !table.state_fresh(port)) {
      // A reading that is missing says nothing either way.
      if (pass.receive_packets[port] > 0 || errors || peer == kNoIndex) standing_[port] = {};
      continue;
    }
    // Nor does a pause of the sender: jobs that compute between their bursts are the rule.
    const auto sent = static_cast<double>(pass.transmit_packets[peer]);
    if (sent < kFewestPackets * thresholds_.stuck_packets) continue;
    Standing& standing = standing_[port];
    standing.sweeps = static_cast<std::uint8_t>(std::min<unsigned>(standing.sweeps + 1U, 255));
    standing.packets += static_cast<float>(sent);
  }
}

bool StuckCounters::stands(const Standing& standing) const {
  return standing.sweeps >= thresholds_.stuck_sweeps &&
         static_cast<double>(standing.packets) >= thresholds_.stuck_packets * thresholds_.stuck_sweeps;
}

void StuckCounters::follow_jumps(const CounterPass& pass) {
  const double decay = std::exp2(-1 / kJumpHalfLife);
  for (auto& [port, jumps] : jumps_) jumps.count *= decay;
  for (const auto* ports : {&pass.resets, &pass.impossible})
    for (const PortIndex port : *ports) {
      Jumps& jumps = jumps_[port];
      jumps.count += 1;
      jumps.stuck |= jumps.count > thresholds_.stuck_jumps;
    }
  for (auto& [port, jumps] : jumps_) jumps.stuck &= jumps.count > 1;
  std::erase_if(jumps_, [](const auto& entry) { return entry.second.count < 0.1; });
}

void StuckCounters::report(const Sweep& sweep, const Describe& describe, const CounterPass& pass,
                           std::vector<Finding>& findings) const {
  const Topology& topology = *sweep.topology;
  const auto start = [&](PortIndex port) {
    Finding finding = make_finding(IncidentKind::kCounterStuck, Severity::kInfo, describe.port(topology.key_of(port)));
    finding.confidence = 0.99;
    return finding;
  };
  auto saturated = pass.saturated.begin();
  auto jumping = jumps_.begin();
  for (PortIndex port = 0; port < standing_.size(); ++port) {
    const bool full = saturated != pass.saturated.end() && *saturated == port;
    if (full) ++saturated;
    const bool still = stands(standing_[port]);
    while (jumping != jumps_.end() && jumping->first < port) ++jumping;
    const bool mad = jumping != jumps_.end() && jumping->first == port && jumping->second.stuck;
    if (!full && !still && !mad) continue;
    Finding finding = start(port);
    std::string names;
    if (full) {
      for (const CounterId id : sweep.counters->counters()) {
        const CounterInfo& info = counter_info(id);
        const SampleTable::Column column = sweep.counters->column(id);
        if (!info.is_error || !sweep.counters->saturated(port, column)) continue;
        names += (names.empty() ? "" : ", ") + std::string(info.name);
        const auto value = static_cast<double>(sweep.counters->value(port, column));
        finding.evidence.push_back({.signal = std::string(info.name),
                                    .description = std::string(info.name) + " was at its maximum, " +
                                                   count_text(sweep.counters->value(port, column)),
                                    .value = value,
                                    .threshold = value,
                                    .unit = "events",
                                    .observed = sweep.counters->read_at(port),
                                    .where = finding.cause});
      }
      finding.summary = finding.cause.label + ": " + names +
                        " saturated (all ones); no further errors are visible until it is cleared";
    }
    if (still) {
      finding.severity = Severity::kWarning;
      finding.confidence = 0.8;
      finding.summary = finding.cause.label + ": receive_packets does not move while the peer sends" +
                        (names.empty() ? "" : "; " + names + " saturated (all ones)");
      finding.evidence.push_back({.signal = "receive_packets",
                                  .description = "did not move for " + std::to_string(thresholds_.stuck_sweeps) +
                                                 " sweeps or more, in which the peer sent more than " +
                                                 short_number(thresholds_.stuck_packets) + " packets each on average",
                                  .value = 0,
                                  .threshold = thresholds_.stuck_packets,
                                  .unit = "packets",
                                  .observed = sweep.finished,
                                  .where = finding.cause,
                                  .window = sweep.interval * thresholds_.stuck_sweeps});
    }
    if (mad) {
      finding.severity = Severity::kWarning;
      finding.confidence = 0.9;
      finding.summary = finding.cause.label + ": its counters are inconsistent and not used";
      finding.evidence.push_back(
          {.signal = "counter_jumps",
           .description = "its counters repeatedly decreased, or increased more than the link can carry",
           .value = std::round(jumping->second.count),
           .threshold = static_cast<double>(thresholds_.stuck_jumps),
           .unit = "events",
           .observed = sweep.finished,
           .where = finding.cause});
    }
    findings.push_back(std::move(finding));
  }
}

}  // namespace weft::analyzer
