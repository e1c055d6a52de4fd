// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every number that a rule compares with, its unit and why it has the default it has. Each is bound to a config key.

#include "analyzer/thresholds/config_drift.hpp"
#include "analyzer/thresholds/congestion.hpp"
#include "analyzer/thresholds/drift.hpp"
#include "analyzer/thresholds/hangs.hpp"
#include "analyzer/thresholds/loss.hpp"
#include "analyzer/thresholds/parts.hpp"
#include "analyzer/thresholds/stragglers.hpp"
#include "fabric/clock.hpp"

namespace weft::analyzer {

/// One layer of flap damping: penalty ← penalty · 2^(−Δt / half_life) + flap_penalty for each flap.
struct Damping {
  Duration half_life{};  ///< the penalty halves in this time
  double suppress = 0;   ///< LINK_FLAP opens when the penalty reaches it (points)
  double reuse = 0;      ///< and ends when the penalty has decayed below it (points)
  double ceiling = 0;    ///< the penalty never exceeds it, which bounds how long a link stays condemned (points)
};

/// Thresholds of all rules over sweeps and hosts.
struct Thresholds {
  // --- LINK_DOWN, SWITCH_DOWN, NODE_DOWN
  /// The subnet manager is given so long to activate links that have trained and to program the routes to a node, more
  /// where this one was seen to need more: OpenSM looks every 10 s and needs minutes for a fabric of 40,000 hosts.
  Duration sm_patience = std::chrono::minutes(1);
  /// And never fewer sweeps than this.
  unsigned activation_grace_sweeps = 2;
  /// Links of one switch that go down within link_group_spacing of each other are one trouble (a line card, a loom of
  /// cables) from so many on.
  unsigned link_group_minimum = 3;
  Duration link_group_spacing = std::chrono::seconds(5);
  /// LINK_DOWN is CRITICAL when no more than this share (0..1) of the links of the host, or of the uplinks of the
  /// switch, is left.
  double critical_ways_left = 0.5;
  /// Sweeps for which one end may say Down while the other says Active: the two ends are read at different moments.
  unsigned disagreement_sweeps = 2;
  /// Share (0..1) of the known nodes that may go dark at once before we suspect our own place in the fabric rather than
  /// theirs. More than half: the larger part is more likely to be the fabric.
  double mass_share = 0.5;
  /// Fewer links than this (count) are too few for a share to mean anything.
  unsigned mass_minimum_links = 8;
  /// After this long the dark part is taken to be really gone (half a cluster switched off) and its culprits are
  /// reported.
  Duration mass_hold = std::chrono::minutes(10);

  /// Share (0..1) of all links on which errors, flaps, degradation or standing counters must begin within a few sweeps
  /// (and on at least mass_minimum_links of them) before what reads the counters is suspected: twice what one leaf
  /// switch of a small fabric has.
  double mass_alarm_share = 0.25;

  // --- LINK_FLAP
  /// Points for each time a link went down. The two layers' limits are multiples of it.
  double flap_penalty = 1000;
  /// Trips on the third flap within a quarter of an hour; one unplugging and plugging in does not.
  Damping flap_fast{std::chrono::minutes(15), 2000, 750, 12000};
  /// Trips on the fifth daily flap. The ceiling frees a link that became quiet within about six days.
  Damping flap_slow{std::chrono::hours(72), 3000, 1500, 6000};
  /// Flaps of one burst count once in the slow layer: a bad quarter of an hour must not condemn a link for days.
  Duration flap_slow_spacing = std::chrono::hours(1);
  /// A flapping link that stays down longer than this is LINK_DOWN as well.
  Duration flap_down_hold = std::chrono::minutes(1);
  /// Sweeps without a flap after which the counts of both ends are levelled, so that an end which counts late is not
  /// counted as a flap of its own.
  unsigned flap_level_sweeps = 3;

  /// A link that came while we watched may go down so long after it first was up: neither a flap nor LINK_DOWN. Cables
  /// are seated, firmware and drivers come up, and each trains the link anew.
  Duration bring_up = std::chrono::minutes(5);

  // --- LINK_ERRORS
  /// Errors per bit that a link may have. The InfiniBand specification asks for a bit error rate of at most 1e-12
  /// (vol. 2, 6.4); 1e-12 at 400 Gb/s is one error in 2.5 s.
  double error_rate_limit = 1e-12;
  /// Confidence (0..1) of the one-sided bounds on the error rate.
  double error_confidence = 0.95;
  /// An error window is never shorter: errors burst, and one burst must not fill two windows.
  Duration error_window_minimum = std::chrono::seconds(10);
  /// Nor longer, however slow the link: enough bits for 95 % with no error (3 / limit) is 25 min at 2 Gb/s.
  Duration error_window_maximum = std::chrono::minutes(30);
  /// Consecutive windows whose lower bound exceeds the limit before a link is condemned.
  unsigned error_windows = 2;
  /// A window closes at once, without its minimum length, when its lower bound exceeds the limit this many times.
  double error_gross_factor = 1000;
  /// Seconds with physical errors that a link may have in 12 and in 125 minutes; 0: as many as error_rate_limit makes
  /// on average. Behind error correction a good link has none: NVIDIA's UFM isolates one above 2.88 errors in 12
  /// minutes, which is 1e-14 at 400 Gb/s, or 3 in 125 minutes, which is 1e-15.
  unsigned errored_seconds_12_minutes = 0;
  unsigned errored_seconds_125_minutes = 0;

  // --- LINK_DEGRADED, early
  DriftLimits drift;
  /// Decades by which the share of symbols that error correction repairs must have risen over what is usual at a port.
  double fec_ratio_rise = 0.5;
  /// Symbols repaired per bit below which a rise is of no interest: five decades below what correction can bear.
  double fec_ratio_minimum = 1e-9;
  /// What RS(544,514), the correction of PAM4 links, can bear (IEEE 802.3, 91.5.3.3: 2.4e-4 wrong bits). A rise to
  /// within a decade of it is a WARNING, below that an INFO.
  double fec_ratio_limit = 2.4e-4;
  /// Decibels by which the light that a lane receives must have faded from what is usual there: a module's own step is
  /// 0.1, a dirty connector costs 0.5 to 1, a link budget has 3 or 4 to spare.
  double receive_power_drop = 2;

  // --- Freshness and TELEMETRY_LOST
  /// A reading older than this many sweep intervals is stale: neither up nor down, neither healthy nor bad.
  unsigned stale_intervals = 3;
  /// Sweeps in which a node did not answer, while its neighbours see its links up, before its telemetry is called lost.
  unsigned node_silent_sweeps = 2;
  /// Sweep intervals without any sweep before the whole fabric's telemetry is called lost.
  unsigned telemetry_lost_intervals = 3;
  /// And CRITICAL only after this, unless the reason is known: a sweep on a busy machine, or while the subnet manager
  /// floods the switches, takes longer.
  Duration telemetry_lost_hold = std::chrono::seconds(30);
  /// The first sweep of all may take so long: it discovers the fabric from nothing.
  Duration telemetry_start_grace = std::chrono::minutes(1);
  /// When at least telemetry_mass_minimum nodes and (telemetry_mass_nodes nodes, or telemetry_mass_share of all) fall
  /// silent with their links up, the sensor is suspected: one incident for the fabric.
  unsigned telemetry_mass_minimum = 5;
  unsigned telemetry_mass_nodes = 32;  ///< nodes
  double telemetry_mass_share = 0.1;   ///< 0..1

  // --- Hosts with a collector
  /// A collector is silent after telemetry_lost_intervals of its own interval, and never before this.
  Duration collector_silence_minimum = std::chrono::seconds(5);
  /// A host's port that came back must stay up for so long before LINK_DOWN ends: one that trains may fall again.
  Duration host_port_hold = std::chrono::seconds(3);
  /// A port whose device the collector has not found for so long was taken out for good, and its LINK_DOWN ends.
  Duration host_port_forget_after = std::chrono::hours(24);
  /// Errors that end a request must move in two readings of this window to be RDMA_ERRORS, or rdma_error_count times.
  /// One queue pair whose retries are used up is enough at once.
  Duration rdma_error_window = std::chrono::seconds(10);
  unsigned rdma_error_count = 10;  ///< events
  /// An adapter that waits for its host's PCIe for this share of a second is stalled by it.
  double host_stall_ratio = 0.1;
  /// RDMA_ERRORS of so many ports of one job that begin within rdma_together are one incident; and those that begin
  /// within it of an outage that hurts their job are part of that. Connections give up after some thirty seconds.
  Duration rdma_together = std::chrono::minutes(1);
  unsigned rdma_together_ports = 4;
  /// RDMA_ERRORS ends when nothing moved for so long.
  Duration rdma_error_quiet = std::chrono::minutes(1);

  // --- COUNTER_STUCK
  /// Sweeps in which the peer sent and this port's receive counter stood still, without one between in which it moved.
  /// Two ends read at different moments can disagree once, not this often.
  unsigned stuck_sweeps = 5;
  /// Packets that the peer must have sent in each of them on average. A link with less takes more sweeps; a tenth of it
  /// is too few to say anything.
  double stuck_packets = 1000;
  /// Readings of a port that went back or were impossible, the older ones counting less (half after 30 sweeps), before
  /// its agent is not believed any more. One is somebody's clearing the counters.
  unsigned stuck_jumps = 3;

  // --- MISCABLED
  /// When more than this share (0..1) of the compared links differ (and more than mass_minimum_links of them), the
  /// expected topology is another fabric's or out of date: one incident says so.
  double miscabled_mass_share = 0.25;

  // --- CONGESTION_INCAST, CONGESTION_UNEVEN_LOAD, CONGESTION_OVERSUBSCRIBED, SLOW_RECEIVER, PFC_STORM, DEADLOCK
  CongestionThresholds congestion;

  // --- SILENT_LOSS
  LossThresholds loss;

  // --- STRAGGLER
  StragglerThresholds straggler;

  // --- CONFIG_DRIFT
  ConfigDriftLimits config_drift;

  // --- HOST_DEGRADED, MODULE_DEGRADED
  PartsLimits parts;

  // --- JOB_HANG
  HangLimits hang;
};

/// The life cycle of incidents.
struct IncidentPolicy {
  /// Consecutive sweeps without the finding, in which the entity was really observed, before an incident resolves.
  unsigned resolve_sweeps = 3;
  /// For so long LINK_DOWN that hurts no job is less severe, WARNING for CRITICAL and INFO for WARNING: a cable that is
  /// pulled and plugged in again wakes nobody. NODE_DOWN and LINK_DOWN of a host on which no job runs are INFO.
  Duration link_down_hold = std::chrono::seconds(30);
  /// The same trouble within this time after it was resolved re-opens the old incident rather than making a new one.
  Duration reopen_window = std::chrono::hours(24);
  /// Resolved incidents are kept in memory (and in the snapshot) this long.
  Duration retention = std::chrono::hours(7 * 24);
  /// And at most so many of them.
  unsigned retained_incidents = 10000;
  /// Pieces of evidence kept on one incident; the first ones and the latest ones survive.
  unsigned evidence_limit = 16;
  /// A number in the evidence that moved on is shown at most this often.
  Duration evidence_refresh = std::chrono::minutes(1);
  /// The same trouble that begins repeat_count times within this time is called a repeated one: what comes back every
  /// other day wants another remedy than what happened once. Not longer than `retention` reaches back.
  Duration repeat_window = std::chrono::hours(7 * 24);
  unsigned repeat_count = 3;
};

}  // namespace weft::analyzer
