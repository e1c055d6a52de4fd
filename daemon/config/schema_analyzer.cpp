// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/schema.hpp"

// Every number of analyzer/thresholds/thresholds.hpp and analyzer/thresholds/congestion.hpp as a key of its own name.

namespace weft::config {
namespace {

constexpr Bounds kSweeps{1, 1000};
constexpr Bounds kPoints{1, 1e9};

std::vector<Key> availability_schema() {
  return {
      {"analyzer.activation_grace_sweeps",
       [](WeftdConfig& c) -> Field { return &c.analyzer.activation_grace_sweeps; },
       {0, 1000},
       "sweeps",
       "Minimum number of sweeps that a link may stay in Initialize or Armed before it is reported, however short "
       "analyzer.sm_patience is."},
      {"analyzer.sm_patience",
       [](WeftdConfig& c) -> Field { return &c.analyzer.sm_patience; },
       {0, kHour},
       "",
       "Time that the subnet manager has to activate links after training and to program the routes to a node. Until "
       "then a switch or host that comes back stays one incident, and counters that cannot be read are not "
       "TELEMETRY_LOST. Where this subnet manager was seen to take longer, the time grows to twice that."},
      {"analyzer.link_group_minimum",
       [](WeftdConfig& c) -> Field { return &c.analyzer.link_group_minimum; },
       {2, 1000},
       "links",
       "Links of one switch that go down together, from this number on, are one incident of the switch: a line card or "
       "a bundle of cables."},
      {"analyzer.link_group_spacing",
       [](WeftdConfig& c) -> Field { return &c.analyzer.link_group_spacing; },
       {0, kHour},
       "",
       "Maximum time between the first and the last of them."},
      {"analyzer.critical_ways_left", [](WeftdConfig& c) -> Field { return &c.analyzer.critical_ways_left; }, kShare,
       "share",
       "LINK_DOWN is CRITICAL when no more than this share of the links of the host, or of the uplinks of the switch, "
       "is left; otherwise WARNING. A link of a host with a job is always CRITICAL."},
      {"analyzer.disagreement_sweeps", [](WeftdConfig& c) -> Field { return &c.analyzer.disagreement_sweeps; }, kSweeps,
       "sweeps", "Time that one end may be Down while the other is Active. The two ends are read at different times."},
      {"analyzer.mass_share", [](WeftdConfig& c) -> Field { return &c.analyzer.mass_share; }, kShare, "share",
       "If more than this share of the known nodes becomes unreachable at once, Weft suspects its own connection to "
       "the fabric: of two parts the larger one is more likely to be the fabric."},
      {"analyzer.mass_minimum_links",
       [](WeftdConfig& c) -> Field { return &c.analyzer.mass_minimum_links; },
       {1, 1e6},
       "links",
       "Minimum number of links for a share to apply."},
      {"analyzer.mass_hold",
       [](WeftdConfig& c) -> Field { return &c.analyzer.mass_hold; },
       {0, kDay},
       "",
       "After this time nodes that became unreachable at once count as really down (half a cluster switched off), and "
       "are reported link by link."},
      {"analyzer.mass_alarm_share", [](WeftdConfig& c) -> Field { return &c.analyzer.mass_alarm_share; }, kShare,
       "share",
       "When LINK_ERRORS, LINK_FLAP, LINK_DEGRADED or COUNTER_STUCK begin on this share of all links within a few "
       "sweeps, the cause is likely in reading or resetting the counters: one incident for the fabric, and after "
       "mass_hold one for each remaining link. A leaf switch of a small fabric has an eighth of its links."},
      {"analyzer.stale_intervals", [](WeftdConfig& c) -> Field { return &c.analyzer.stale_intervals; }, kSweeps,
       "intervals",
       "A reading older than this many sweep intervals is stale: neither up nor down, neither healthy nor bad."},
      {"analyzer.node_silent_sweeps", [](WeftdConfig& c) -> Field { return &c.analyzer.node_silent_sweeps; }, kSweeps,
       "sweeps",
       "Sweeps without a response from a node, while its neighbours report its links up, before TELEMETRY_LOST."},
      {"analyzer.telemetry_lost_intervals",
       [](WeftdConfig& c) -> Field { return &c.analyzer.telemetry_lost_intervals; }, kSweeps, "intervals",
       "Sweep intervals without a sweep before TELEMETRY_LOST for the whole fabric."},
      {"analyzer.telemetry_lost_hold",
       [](WeftdConfig& c) -> Field { return &c.analyzer.telemetry_lost_hold; },
       {0, kHour},
       "",
       "TELEMETRY_LOST for the whole fabric is a WARNING for this time, unless its reason is known: a sweep takes "
       "longer "
       "on a busy machine, and while the subnet manager works."},
      {"analyzer.telemetry_start_grace",
       [](WeftdConfig& c) -> Field { return &c.analyzer.telemetry_start_grace; },
       {0, kHour},
       "",
       "Time for the first sweep, which discovers the fabric, before TELEMETRY_LOST."},
      {"analyzer.telemetry_mass_minimum",
       [](WeftdConfig& c) -> Field { return &c.analyzer.telemetry_mass_minimum; },
       {1, 1e6},
       "nodes",
       "Fewer silent nodes than this are always reported one by one; from this number on telemetry_mass_nodes and "
       "telemetry_mass_share apply."},
      {"analyzer.telemetry_mass_nodes",
       [](WeftdConfig& c) -> Field { return &c.analyzer.telemetry_mass_nodes; },
       {1, 1e6},
       "nodes",
       "From this number of silent nodes on, the monitoring itself is suspected: one incident for the fabric, not one "
       "per node."},
      {"analyzer.telemetry_mass_share", [](WeftdConfig& c) -> Field { return &c.analyzer.telemetry_mass_share; },
       kShare, "share", "The same, as a share of all nodes, for small fabrics."},
  };
}

std::vector<Key> flap_schema() {
  return {
      {"analyzer.bring_up",
       [](WeftdConfig& c) -> Field { return &c.analyzer.bring_up; },
       {0, kDay},
       "",
       "Bring-up time of a link that appeared while weftd was running: during it a link that goes down is neither "
       "LINK_FLAP nor LINK_DOWN, since seating cables and loading firmware and drivers retrains it. A link that is "
       "down afterwards is reported."},
      {"analyzer.flap_penalty", [](WeftdConfig& c) -> Field { return &c.analyzer.flap_penalty; }, kPoints, "points",
       "Penalty points for each time a link went down. They decay; the limits of the two layers below apply to their "
       "sum, so they are multiples of this."},
      {"analyzer.flap_fast.half_life",
       [](WeftdConfig& c) -> Field { return &c.analyzer.flap_fast.half_life; },
       {1, 7 * kDay},
       "",
       "Fast layer: half-life of its points. Three flaps within it count, an old one does not."},
      {"analyzer.flap_fast.suppress", [](WeftdConfig& c) -> Field { return &c.analyzer.flap_fast.suppress; }, kPoints,
       "points",
       "Fast layer: limit at which LINK_FLAP opens: the third flap within a quarter of an hour. Unplugging and "
       "replugging once does not reach it."},
      {"analyzer.flap_fast.reuse", [](WeftdConfig& c) -> Field { return &c.analyzer.flap_fast.reuse; }, kPoints,
       "points",
       "Fast layer: LINK_FLAP ends when the points have decayed below this. It is well under suppress as hysteresis."},
      {"analyzer.flap_fast.ceiling", [](WeftdConfig& c) -> Field { return &c.analyzer.flap_fast.ceiling; }, kPoints,
       "points", "Fast layer: maximum of the points; with the defaults LINK_FLAP ends within an hour without flaps."},
      {"analyzer.flap_slow.half_life",
       [](WeftdConfig& c) -> Field { return &c.analyzer.flap_slow.half_life; },
       {1, 90 * kDay},
       "",
       "Slow layer, for links that flap once or twice a day: half-life of its points."},
      {"analyzer.flap_slow.suppress", [](WeftdConfig& c) -> Field { return &c.analyzer.flap_slow.suppress; }, kPoints,
       "points", "Slow layer: limit at which LINK_FLAP opens: the fifth daily flap."},
      {"analyzer.flap_slow.reuse", [](WeftdConfig& c) -> Field { return &c.analyzer.flap_slow.reuse; }, kPoints,
       "points", "Slow layer: LINK_FLAP ends when the points have decayed below this."},
      {"analyzer.flap_slow.ceiling", [](WeftdConfig& c) -> Field { return &c.analyzer.flap_slow.ceiling; }, kPoints,
       "points",
       "Slow layer: maximum of the points; with the defaults LINK_FLAP ends within about six days without flaps."},
      {"analyzer.flap_slow_spacing",
       [](WeftdConfig& c) -> Field { return &c.analyzer.flap_slow_spacing; },
       {0, 30 * kDay},
       "",
       "Flaps closer together count once in the slow layer, so that one bad quarter of an hour does not count for "
       "days."},
      {"analyzer.flap_down_hold",
       [](WeftdConfig& c) -> Field { return &c.analyzer.flap_down_hold; },
       {0, kDay},
       "",
       "A flapping link that stays down longer than this is also LINK_DOWN."},
      {"analyzer.flap_level_sweeps", [](WeftdConfig& c) -> Field { return &c.analyzer.flap_level_sweeps; }, kSweeps,
       "sweeps",
       "Sweeps without a flap after which the counts of both ends are equalised, so that the end that counts later "
       "does not add a second flap."},
  };
}

std::vector<Key> error_schema() {
  return {
      {"analyzer.error_rate_limit",
       [](WeftdConfig& c) -> Field { return &c.analyzer.error_rate_limit; },
       {1e-20, 1e-3},
       "errors/bit",
       "Maximum bit error rate of a link. InfiniBand requires a bit error rate of at most 1e-12 (vol. 2, 6.4): at "
       "400 Gb/s one error in 2.5 s."},
      {"analyzer.error_confidence",
       [](WeftdConfig& c) -> Field { return &c.analyzer.error_confidence; },
       {0.5, 0.999999},
       "probability",
       "Confidence level of the one-sided bounds on the error rate, for opening and resolving LINK_ERRORS."},
      {"analyzer.error_window_minimum",
       [](WeftdConfig& c) -> Field { return &c.analyzer.error_window_minimum; },
       {1, kHour},
       "",
       "Minimum length of an error window: errors come in bursts, and one burst must not fill two windows."},
      {"analyzer.error_window_maximum",
       [](WeftdConfig& c) -> Field { return &c.analyzer.error_window_maximum; },
       {kMinute, 7 * kDay},
       "",
       "Maximum length of an error window, also on slow links: enough bits for 95 % confidence without errors take 25 "
       "min at 2 Gb/s."},
      {"analyzer.error_windows",
       [](WeftdConfig& c) -> Field { return &c.analyzer.error_windows; },
       {1, 100},
       "windows",
       "Consecutive windows with the lower bound above the limit before LINK_ERRORS."},
      {"analyzer.error_gross_factor",
       [](WeftdConfig& c) -> Field { return &c.analyzer.error_gross_factor; },
       {1, 1e12},
       "times",
       "A window closes before its minimum length if its lower bound exceeds the limit by this factor."},
      {"analyzer.errored_seconds_12_minutes",
       [](WeftdConfig& c) -> Field { return &c.analyzer.errored_seconds_12_minutes; },
       {0, 720},
       "seconds",
       "Separate seconds with symbol errors or uncorrectable code words that a link may have in 12 minutes; more of "
       "them "
       "in at least three minutes of the clock are LINK_ERRORS. 0: as many as error_rate_limit makes on average. Where "
       "all "
       "links have forward error correction, 3 finds bad cables earlier: NVIDIA's UFM isolates a link above 2.88 "
       "symbol "
       "errors."},
      {"analyzer.errored_seconds_125_minutes",
       [](WeftdConfig& c) -> Field { return &c.analyzer.errored_seconds_125_minutes; },
       {0, 7500},
       "seconds",
       "The same in 125 minutes. UFM isolates a link above 3 symbol errors, which is an error rate of 1e-15 at 400 "
       "Gb/s."},
      {"analyzer.stuck_sweeps", [](WeftdConfig& c) -> Field { return &c.analyzer.stuck_sweeps; }, kSweeps, "sweeps",
       "Consecutive sweeps in which the peer sent and this port's receive counter did not move, before COUNTER_STUCK. "
       "Two ends that are read at different times can disagree once, not this often."},
      {"analyzer.stuck_packets",
       [](WeftdConfig& c) -> Field { return &c.analyzer.stuck_packets; },
       {1, 1e12},
       "packets",
       "Average number of packets that the peer must have sent in each of those sweeps: an idle link needs more "
       "sweeps, and sweeps with less than a tenth do not count."},
      {"analyzer.stuck_jumps", [](WeftdConfig& c) -> Field { return &c.analyzer.stuck_jumps; }, kSweeps, "readings",
       "Readings of a port that decreased or were impossible, before COUNTER_STUCK; older ones count less (half after "
       "30 sweeps). A single one means that the counters were cleared."},
      {"analyzer.collector_silence_minimum",
       [](WeftdConfig& c) -> Field { return &c.analyzer.collector_silence_minimum; },
       {0, kHour},
       "",
       "Minimum time without data before a host's collector is TELEMETRY_LOST, however short telemetry_lost_intervals "
       "of its interval are: it may be restarting."},
      {"analyzer.host_port_hold",
       [](WeftdConfig& c) -> Field { return &c.analyzer.host_port_hold; },
       {0, kHour},
       "",
       "Time that a host's port must stay up before LINK_DOWN resolves: a port in training may go down again."},
      {"analyzer.host_port_forget_after",
       [](WeftdConfig& c) -> Field { return &c.analyzer.host_port_forget_after; },
       {kMinute, 365 * kDay},
       "",
       "After this time without the device, its port counts as removed for good, and its LINK_DOWN resolves. Long "
       "enough that somebody notices an adapter that fell off the bus before its host is healthy again."},
      {"analyzer.rdma_error_window",
       [](WeftdConfig& c) -> Field { return &c.analyzer.rdma_error_window; },
       {1, kHour},
       "",
       "RDMA_ERRORS needs failed requests in two readings within this time, or rdma_error_count of them. One queue "
       "pair with exhausted retries is enough by itself."},
      {"analyzer.rdma_error_count",
       [](WeftdConfig& c) -> Field { return &c.analyzer.rdma_error_count; },
       {1, 1e9},
       "events",
       "Failed requests in one reading that are RDMA_ERRORS without a second reading."},
      {"analyzer.host_stall_ratio", [](WeftdConfig& c) -> Field { return &c.analyzer.host_stall_ratio; }, kShare,
       "share",
       "Share of time that an adapter waits for its host's PCIe, from which on this explains a SLOW_RECEIVER. Bursts "
       "cause some percent on any host."},
      {"analyzer.rdma_together",
       [](WeftdConfig& c) -> Field { return &c.analyzer.rdma_together; },
       {1, kHour},
       "",
       "RDMA errors within this time of an outage that affects their job are part of its incident, and RDMA_ERRORS of "
       "one job that begin within it belong together. A connection fails after its retries, some thirty seconds with "
       "NCCL's settings."},
      {"analyzer.rdma_together_ports",
       [](WeftdConfig& c) -> Field { return &c.analyzer.rdma_together_ports; },
       {2, 1e6},
       "ports",
       "RDMA_ERRORS of this many ports of one job at once are one incident: ports do not fail together, but "
       "applications end together."},
      {"analyzer.rdma_error_quiet",
       [](WeftdConfig& c) -> Field { return &c.analyzer.rdma_error_quiet; },
       {1, kDay},
       "",
       "RDMA_ERRORS resolves after this time without new errors: jobs retry for a minute."},
      {"analyzer.miscabled_mass_share", [](WeftdConfig& c) -> Field { return &c.analyzer.miscabled_mass_share; },
       kShare, "share",
       "If more than this share of the compared links differs from the expected topology, the file is out of date or "
       "of another fabric: one incident instead of one per link."},
  };
}

std::vector<Key> trend_schema() {
  return {
      {"analyzer.drift_baseline_readings",
       [](WeftdConfig& c) -> Field { return &c.analyzer.drift.baseline_readings; },
       {5, 10000},
       "readings",
       "Readings for learning a port's baseline before a change can be detected. Detail counters are read once a "
       "minute, so this is minutes."},
      {"analyzer.drift_slack",
       [](WeftdConfig& c) -> Field { return &c.analyzer.drift.slack; },
       {0, 10},
       "spreads",
       "CUSUM allowance: the change above the baseline that is tolerated in each reading."},
      {"analyzer.drift_alarm",
       [](WeftdConfig& c) -> Field { return &c.analyzer.drift.alarm; },
       {1, 1000},
       "spreads",
       "CUSUM decision limit. The textbook value 5 would raise 51 false alarms in each round of readings of 48,000 "
       "ports; 18 raises about one a day."},
      {"analyzer.drift_largest_step",
       [](WeftdConfig& c) -> Field { return &c.analyzer.drift.largest_step; },
       {1, 1000},
       "spreads",
       "Maximum that a single reading adds to the sum, so that an outlier is not a trend."},
      {"analyzer.fec_ratio_rise",
       [](WeftdConfig& c) -> Field { return &c.analyzer.fec_ratio_rise; },
       {0.1, 10},
       "decades",
       "Rise of the pre-FEC symbol error ratio over a port's baseline before LINK_DEGRADED."},
      {"analyzer.fec_ratio_minimum",
       [](WeftdConfig& c) -> Field { return &c.analyzer.fec_ratio_minimum; },
       {0, 1},
       "symbols per bit",
       "A rise below this ratio is ignored: FEC can correct up to 2.4e-4."},
      {"analyzer.fec_ratio_limit",
       [](WeftdConfig& c) -> Field { return &c.analyzer.fec_ratio_limit; },
       {0, 1},
       "symbols per bit",
       "Limit of error correction (FEC). A rise to within a factor of ten of it is a WARNING, below that an INFO."},
      {"analyzer.receive_power_drop",
       [](WeftdConfig& c) -> Field { return &c.analyzer.receive_power_drop; },
       {0.1, 40},
       "dB",
       "Loss of receive optical power of a lane of a host's module, from its baseline, before LINK_DEGRADED: a dirty "
       "connector costs 0.5 to 1, a link budget has 3 or 4 to spare."},
  };
}

std::vector<Key> congestion_schema() {
  return {
      {"analyzer.congestion_saturated_ratio",
       [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.saturated_ratio; }, kShare, "share",
       "Utilisation from which a link is saturated; headers, credits and scheduling take the rest."},
      {"analyzer.congestion_stalled_ratio",
       [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.stalled_ratio; }, kShare, "share",
       "Share of time with data to send but no credit, from which on a link counts as stalled. Lower values are normal "
       "flow control."},
      {"analyzer.congestion_harm_ratio", [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.harm_ratio; },
       kShare, "share", "Minimum stall ratio of an affected port before congestion is an incident."},
      {"analyzer.congestion_severe_ratio", [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.severe_ratio; },
       kShare, "share", "Stall ratio of an affected port from which on congestion is a WARNING, below it an INFO."},
      {"analyzer.congestion_marked_ratio", [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.marked_ratio; },
       kShare, "share",
       "Minimum share of packets with an ECN mark behind a saturated link before marks alone, without pauses, are "
       "congestion: DCQCN settles at some tenths of a percent to some percent."},
      {"analyzer.congestion_windows",
       [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.windows; },
       {1, 5},
       "sweeps",
       "How many of the last five sweeps must show the same root: bursts coincide twice by chance. Jobs send in "
       "phases: an intermittent root is reported if its stall ratio exceeds congestion_harm_ratio on average over the "
       "last sixteen sweeps."},
      {"analyzer.congestion_idle_sibling_ratio",
       [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.idle_sibling_ratio; }, kShare, "share",
       "If the median utilisation of the parallel links of a saturated one is below this, their capacity is idle and "
       "the load is clearly uneven."},
      {"analyzer.congestion_uneven_factor",
       [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.uneven_factor; },
       {1, 100},
       "times",
       "A saturated link that sends this many times the average of its parallel links is CONGESTION_UNEVEN_LOAD, else "
       "CONGESTION_OVERSUBSCRIBED."},
      {"analyzer.pfc_storm_stalled_ratio",
       [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.pfc_storm_stalled_ratio; }, kShare, "share",
       "Stall ratio of the link to a host, without more progress than in a deadlock, from which on it is PFC_STORM: "
       "the host receives nothing. A slow receiver still receives some data."},
      {"analyzer.pfc_storm_windows", [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.pfc_storm_windows; },
       kSweeps, "sweeps",
       "Consecutive sweeps in which the host must receive nothing: one may be a restart of its driver."},
      {"analyzer.deadlock_progress_ratio",
       [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.deadlock_progress_ratio; }, kShare, "share",
       "Maximum utilisation of a link in a deadlock."},
      {"analyzer.deadlock_stalled_ratio",
       [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.deadlock_stalled_ratio; }, kShare, "share",
       "Minimum stall ratio of a link in a deadlock."},
      {"analyzer.deadlock_windows", [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.deadlock_windows; },
       kSweeps, "sweeps", "Consecutive sweeps in which a cycle of stalled links makes no progress before DEADLOCK."},
  };
}

std::vector<Key> loss_schema() {
  static constexpr Bounds kLostShare{1e-12, 0.5};
  return {
      {"analyzer.silent_loss_window",
       [](WeftdConfig& c) -> Field { return &c.analyzer.loss.window; },
       {1, kHour},
       "",
       "Window over which the packet loss of hosts is summed, never less than three sweeps or three readings of nine "
       "hosts in ten. Hosts that are read less than twice in that time are left out."},
      {"analyzer.silent_loss_good_ratio", [](WeftdConfig& c) -> Field { return &c.analyzer.loss.good_ratio; },
       kLostShare, "packets/packet",
       "Retransmission ratio of a host that is normal without a fault. It is close to zero on a lossless fabric; "
       "published methods for lossy Ethernet assume 2e-4."},
      {"analyzer.silent_loss_bad_ratio", [](WeftdConfig& c) -> Field { return &c.analyzer.loss.bad_ratio; }, kLostShare,
       "packets/packet",
       "Minimum loss ratio of a host whose packets cross a faulty component. Go-back-N repeats whole windows, so 1e-5 "
       "already slows a collective. Must be above silent_loss_good_ratio."},
      {"analyzer.silent_loss_packets",
       [](WeftdConfig& c) -> Field { return &c.analyzer.loss.minimum_packets; },
       {1, 1e9},
       "packets",
       "Minimum number of lost packets of one host in a window; fewer are chance."},
      {"analyzer.silent_loss_prior",
       [](WeftdConfig& c) -> Field { return &c.analyzer.loss.prior; },
       {1e-12, 0.1},
       "share",
       "Prior probability that a link or device loses packets silently: the smaller, the more evidence is needed."},
      {"analyzer.silent_loss_windows",
       [](WeftdConfig& c) -> Field { return &c.analyzer.loss.windows; },
       {1, 8},
       "windows",
       "Windows in which the same hosts must lose packets before SILENT_LOSS. A killed job causes timeouts in one."},
      {"analyzer.silent_loss_certainty", [](WeftdConfig& c) -> Field { return &c.analyzer.loss.certainty; }, kShare,
       "probability",
       "Probability that the likeliest of the possible causes needs to be named at once; after silent_loss_patience it "
       "is named anyway, with its confidence."},
      {"analyzer.silent_loss_patience", [](WeftdConfig& c) -> Field { return &c.analyzer.loss.patience_windows; },
       kSweeps, "windows",
       "Windows with losses after which the likeliest cause is named, even if others are nearly as likely."},
      {"analyzer.silent_loss_together", [](WeftdConfig& c) -> Field { return &c.analyzer.loss.together; }, kSweeps, "",
       "If this many links and devices begin to lose packets within half a minute according to the hosts, without "
       "confirmation by the fabric's packet counters, it is one COUNTER_STUCK: wrong host counters are more likely "
       "than so many simultaneous faults."},
      {"analyzer.silent_loss_quiet_windows", [](WeftdConfig& c) -> Field { return &c.analyzer.loss.quiet_windows; },
       kSweeps, "windows",
       "SILENT_LOSS resolves after this many windows without losses: jobs compute for a while between two "
       "communications."},
  };
}

std::vector<Key> incident_schema() {
  return {
      {"incidents.resolve_sweeps", [](WeftdConfig& c) -> Field { return &c.incidents.resolve_sweeps; }, kSweeps,
       "sweeps",
       "Consecutive sweeps without the finding, in which the entity was observed, before an incident resolves."},
      {"incidents.link_down_hold",
       [](WeftdConfig& c) -> Field { return &c.incidents.link_down_hold; },
       {0, kHour},
       "",
       "For this time a LINK_DOWN that hurts no job is less severe, WARNING instead of CRITICAL and INFO instead of "
       "WARNING: a cable that is pulled and plugged in again pages nobody. LINK_DOWN and NODE_DOWN of a host on which "
       "no "
       "job runs, as its collector says, are INFO. The link is named at once all the same."},
      {"incidents.reopen_window",
       [](WeftdConfig& c) -> Field { return &c.incidents.reopen_window; },
       {0, 90 * kDay},
       "",
       "The same fault within this time after it was resolved reopens the old incident instead of opening a new one."},
      {"incidents.retention",
       [](WeftdConfig& c) -> Field { return &c.incidents.retention; },
       {kMinute, 365 * kDay},
       "",
       "Time that resolved incidents stay in memory and in lists; store.incident_retention keeps them longer on disk."},
      {"incidents.retained_incidents",
       [](WeftdConfig& c) -> Field { return &c.incidents.retained_incidents; },
       {1, 1e6},
       "incidents",
       "Maximum number of resolved incidents in memory."},
      {"incidents.evidence_limit",
       [](WeftdConfig& c) -> Field { return &c.incidents.evidence_limit; },
       {2, 1000},
       "pieces",
       "Maximum pieces of evidence on one incident; the first and the latest ones are kept."},
      {"incidents.evidence_refresh",
       [](WeftdConfig& c) -> Field { return &c.incidents.evidence_refresh; },
       {0, kDay},
       "",
       "Minimum interval between updates of a number in the evidence, so that watching clients are not flooded."},
      {"incidents.repeat_window",
       [](WeftdConfig& c) -> Field { return &c.incidents.repeat_window; },
       {kMinute, 365 * kDay},
       "",
       "Time window for counting recurrences of the same incident. Incidents resolved longer ago than "
       "incidents.retention do not count."},
      {"incidents.repeat_count",
       [](WeftdConfig& c) -> Field { return &c.incidents.repeat_count; },
       {2, 32},
       "times",
       "From this many occurrences within repeat_window on, the summary gives their number: a recurring fault needs "
       "another repair than a single one."},
  };
}

}  // namespace

std::vector<Key> analyzer_schema() {
  std::vector<Key> keys;
  for (auto part : {availability_schema(), flap_schema(), error_schema(), trend_schema(), congestion_schema(),
                    loss_schema(), straggler_schema(), incident_schema()})
    keys.insert(keys.end(), part.begin(), part.end());
  return keys;
}

}  // namespace weft::config
