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
       "How long a link may stand in Initialize or Armed before it is LINK_DOWN. The subnet manager needs a moment to "
       "activate a port that has just trained."},
      {"analyzer.disagreement_sweeps", [](WeftdConfig& c) -> Field { return &c.analyzer.disagreement_sweeps; }, kSweeps,
       "sweeps",
       "How long one end may say Down while the other says Active. The two ends are read at different moments."},
      {"analyzer.mass_share", [](WeftdConfig& c) -> Field { return &c.analyzer.mass_share; }, kShare, "share",
       "When more than this share of the known nodes goes dark at once, our own place in the fabric is suspected "
       "rather "
       "than theirs: of two halves the larger is more likely to be the fabric."},
      {"analyzer.mass_minimum_links",
       [](WeftdConfig& c) -> Field { return &c.analyzer.mass_minimum_links; },
       {1, 1e6},
       "links",
       "Fewer links than this are too few for a share to mean anything."},
      {"analyzer.mass_hold",
       [](WeftdConfig& c) -> Field { return &c.analyzer.mass_hold; },
       {0, kDay},
       "",
       "After this long what went dark at once is taken to be really gone (half a cluster switched off) and is "
       "reported "
       "link by link."},
      {"analyzer.mass_alarm_share", [](WeftdConfig& c) -> Field { return &c.analyzer.mass_alarm_share; }, kShare,
       "share",
       "When LINK_ERRORS, LINK_FLAP, LINK_DEGRADED or COUNTER_STUCK begin on this share of all links within a few "
       "sweeps, what reads or resets the counters is suspected: one incident for the fabric, and after mass_hold one "
       "for each that is left. A leaf switch of a small fabric has an eighth of its links."},
      {"analyzer.stale_intervals", [](WeftdConfig& c) -> Field { return &c.analyzer.stale_intervals; }, kSweeps,
       "intervals",
       "A reading older than this many sweep intervals is stale: neither up nor down, neither healthy nor bad."},
      {"analyzer.node_silent_sweeps", [](WeftdConfig& c) -> Field { return &c.analyzer.node_silent_sweeps; }, kSweeps,
       "sweeps",
       "Sweeps in which a node did not answer while its neighbours see its links up, before it is TELEMETRY_LOST."},
      {"analyzer.telemetry_lost_intervals",
       [](WeftdConfig& c) -> Field { return &c.analyzer.telemetry_lost_intervals; }, kSweeps, "intervals",
       "Sweep intervals without any sweep before the whole fabric is TELEMETRY_LOST."},
      {"analyzer.telemetry_start_grace",
       [](WeftdConfig& c) -> Field { return &c.analyzer.telemetry_start_grace; },
       {0, kHour},
       "",
       "The first sweep of all may take so long before telemetry is called lost: it discovers the fabric from "
       "nothing."},
      {"analyzer.telemetry_mass_minimum",
       [](WeftdConfig& c) -> Field { return &c.analyzer.telemetry_mass_minimum; },
       {1, 1e6},
       "nodes",
       "Fewer silent nodes than this are always reported one by one; from here on telemetry_mass_nodes and "
       "telemetry_mass_share decide."},
      {"analyzer.telemetry_mass_nodes",
       [](WeftdConfig& c) -> Field { return &c.analyzer.telemetry_mass_nodes; },
       {1, 1e6},
       "nodes",
       "From so many silent nodes on the sensor is suspected: one incident for the fabric, not one for each."},
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
       "A link that came while we watched may go down for so long after it first was up without being LINK_FLAP or "
       "LINK_DOWN: cables are seated, firmware and drivers come up, and each trains it anew. What is then still down "
       "is reported."},
      {"analyzer.flap_penalty", [](WeftdConfig& c) -> Field { return &c.analyzer.flap_penalty; }, kPoints, "points",
       "Points for each time a link went down. They decay; the two layers below compare the sum, so their limits are "
       "multiples of this."},
      {"analyzer.flap_fast.half_life",
       [](WeftdConfig& c) -> Field { return &c.analyzer.flap_fast.half_life; },
       {1, 7 * kDay},
       "",
       "Fast layer: its points halve in this time, so that three flaps within it count, and an old one does not."},
      {"analyzer.flap_fast.suppress", [](WeftdConfig& c) -> Field { return &c.analyzer.flap_fast.suppress; }, kPoints,
       "points",
       "Fast layer: LINK_FLAP opens here: the third flap within a quarter of an hour; one unplugging and plugging in "
       "does "
       "not reach it."},
      {"analyzer.flap_fast.reuse", [](WeftdConfig& c) -> Field { return &c.analyzer.flap_fast.reuse; }, kPoints,
       "points",
       "Fast layer: and ends when the points have decayed below this; well under suppress, so that it does not "
       "flicker."},
      {"analyzer.flap_fast.ceiling", [](WeftdConfig& c) -> Field { return &c.analyzer.flap_fast.ceiling; }, kPoints,
       "points",
       "Fast layer: points never exceed it; with these defaults a link that became quiet is free within an hour."},
      {"analyzer.flap_slow.half_life",
       [](WeftdConfig& c) -> Field { return &c.analyzer.flap_slow.half_life; },
       {1, 90 * kDay},
       "",
       "Slow layer, for links that flap once or twice a day: its points halve in this time."},
      {"analyzer.flap_slow.suppress", [](WeftdConfig& c) -> Field { return &c.analyzer.flap_slow.suppress; }, kPoints,
       "points", "Slow layer: LINK_FLAP opens here: the fifth daily flap."},
      {"analyzer.flap_slow.reuse", [](WeftdConfig& c) -> Field { return &c.analyzer.flap_slow.reuse; }, kPoints,
       "points", "Slow layer: and ends when the points have decayed below this."},
      {"analyzer.flap_slow.ceiling", [](WeftdConfig& c) -> Field { return &c.analyzer.flap_slow.ceiling; }, kPoints,
       "points", "Slow layer: points never exceed it, which frees a link that became quiet within about six days."},
      {"analyzer.flap_slow_spacing",
       [](WeftdConfig& c) -> Field { return &c.analyzer.flap_slow_spacing; },
       {0, 30 * kDay},
       "",
       "Flaps closer together count once in the slow layer: one bad quarter of an hour must not condemn a link for "
       "days."},
      {"analyzer.flap_down_hold",
       [](WeftdConfig& c) -> Field { return &c.analyzer.flap_down_hold; },
       {0, kDay},
       "",
       "A flapping link that stays down longer than this is LINK_DOWN as well."},
      {"analyzer.flap_level_sweeps", [](WeftdConfig& c) -> Field { return &c.analyzer.flap_level_sweeps; }, kSweeps,
       "sweeps",
       "Sweeps without a flap after which the counts of both ends are levelled, so that the end which counts late does "
       "not "
       "add a flap of its own."},
  };
}

std::vector<Key> error_schema() {
  return {
      {"analyzer.error_rate_limit",
       [](WeftdConfig& c) -> Field { return &c.analyzer.error_rate_limit; },
       {1e-20, 1e-3},
       "errors/bit",
       "Errors per bit that a link may have. InfiniBand asks for a bit error ratio of at most 1e-12 (vol. 2, 6.4): at "
       "400 "
       "Gb/s one error in 2.5 s."},
      {"analyzer.error_confidence",
       [](WeftdConfig& c) -> Field { return &c.analyzer.error_confidence; },
       {0.5, 0.999999},
       "probability",
       "Confidence of the one-sided bounds on the error rate: how sure before a link is condemned or cleared."},
      {"analyzer.error_window_minimum",
       [](WeftdConfig& c) -> Field { return &c.analyzer.error_window_minimum; },
       {1, kHour},
       "",
       "An error window is never shorter: errors burst, and one burst must not fill two windows."},
      {"analyzer.error_window_maximum",
       [](WeftdConfig& c) -> Field { return &c.analyzer.error_window_maximum; },
       {kMinute, 7 * kDay},
       "",
       "Nor longer, however slow the link: enough bits to be 95 % sure of no error take 25 min at 2 Gb/s."},
      {"analyzer.error_windows",
       [](WeftdConfig& c) -> Field { return &c.analyzer.error_windows; },
       {1, 100},
       "windows",
       "Consecutive windows whose lower bound exceeds the limit before a link is LINK_ERRORS."},
      {"analyzer.error_gross_factor",
       [](WeftdConfig& c) -> Field { return &c.analyzer.error_gross_factor; },
       {1, 1e12},
       "times",
       "A window closes at once, without its minimum length, when its lower bound exceeds the limit so many times."},
      {"analyzer.stuck_sweeps", [](WeftdConfig& c) -> Field { return &c.analyzer.stuck_sweeps; }, kSweeps, "sweeps",
       "Sweeps in which the peer sent and this port's receive counter stood still, without one between in which it "
       "moved, before COUNTER_STUCK. Two ends read at different moments can disagree once, not this often."},
      {"analyzer.stuck_packets",
       [](WeftdConfig& c) -> Field { return &c.analyzer.stuck_packets; },
       {1, 1e12},
       "packets",
       "Packets that the peer must have sent in each of those sweeps on average: on an idle link it takes more of "
       "them, "
       "and sweeps with less than a tenth do not count."},
      {"analyzer.stuck_jumps", [](WeftdConfig& c) -> Field { return &c.analyzer.stuck_jumps; }, kSweeps, "readings",
       "Readings of a port that went back or were impossible, older ones counting less (half after 30 sweeps), before "
       "its counters are COUNTER_STUCK. One is somebody's clearing the counters."},
      {"analyzer.collector_silence_minimum",
       [](WeftdConfig& c) -> Field { return &c.analyzer.collector_silence_minimum; },
       {0, kHour},
       "",
       "A collector on a host is silent after telemetry_lost_intervals of its own interval, and never before this: one "
       "that "
       "reads often may still be started anew."},
      {"analyzer.host_port_hold",
       [](WeftdConfig& c) -> Field { return &c.analyzer.host_port_hold; },
       {0, kHour},
       "",
       "A host's port that came back must stay up for so long before LINK_DOWN ends: one that trains may fall again."},
      {"analyzer.host_port_forget_after",
       [](WeftdConfig& c) -> Field { return &c.analyzer.host_port_forget_after; },
       {kMinute, 365 * kDay},
       "",
       "A port whose device a host's collector has not found for so long was taken out for good, and its LINK_DOWN "
       "ends. Before somebody has seen an adapter that fell off the bus, its host should not pass for healthy again."},
      {"analyzer.rdma_error_window",
       [](WeftdConfig& c) -> Field { return &c.analyzer.rdma_error_window; },
       {1, kHour},
       "",
       "Failed requests must be counted in two readings within this time to be RDMA_ERRORS, or rdma_error_count times. "
       "One "
       "queue pair whose retries are used up is enough at once."},
      {"analyzer.rdma_error_count",
       [](WeftdConfig& c) -> Field { return &c.analyzer.rdma_error_count; },
       {1, 1e9},
       "events",
       "So many failed requests in one reading are RDMA_ERRORS without waiting for a second one."},
      {"analyzer.host_stall_ratio", [](WeftdConfig& c) -> Field { return &c.analyzer.host_stall_ratio; }, kShare,
       "share",
       "An adapter that waits for its host's PCIe for this share of a second is stalled by it, which explains a "
       "SLOW_RECEIVER. Bursts wait for some percent on any host."},
      {"analyzer.rdma_together",
       [](WeftdConfig& c) -> Field { return &c.analyzer.rdma_together; },
       {1, kHour},
       "",
       "Transfers that fail within so long of an outage that hurts their job are part of its incident, and RDMA_ERRORS "
       "of one job that begin within it belong together. A connection gives up after its retries, some thirty seconds "
       "with NCCL's."},
      {"analyzer.rdma_together_ports",
       [](WeftdConfig& c) -> Field { return &c.analyzer.rdma_together_ports; },
       {2, 1e6},
       "ports",
       "RDMA_ERRORS of so many ports of one job at once are one incident: ports do not break together, applications "
       "end together."},
      {"analyzer.rdma_error_quiet",
       [](WeftdConfig& c) -> Field { return &c.analyzer.rdma_error_quiet; },
       {1, kDay},
       "",
       "RDMA_ERRORS ends when nothing moved for so long: jobs retry for a minute."},
      {"analyzer.miscabled_mass_share", [](WeftdConfig& c) -> Field { return &c.analyzer.miscabled_mass_share; },
       kShare, "share",
       "When more of the compared links differ from the expected topology, the file is another fabric's or out of "
       "date, and "
       "one incident says so."},
  };
}

std::vector<Key> trend_schema() {
  return {
      {"analyzer.drift_baseline_readings",
       [](WeftdConfig& c) -> Field { return &c.analyzer.drift.baseline_readings; },
       {5, 10000},
       "readings",
       "Readings from which a port's usual level is learned before a change of it can be seen: with detail counters "
       "read "
       "once a minute, minutes."},
      {"analyzer.drift_slack",
       [](WeftdConfig& c) -> Field { return &c.analyzer.drift.slack; },
       {0, 10},
       "spreads",
       "Change above the usual level that a cumulative sum lets pass in each reading."},
      {"analyzer.drift_alarm",
       [](WeftdConfig& c) -> Field { return &c.analyzer.drift.alarm; },
       {1, 1000},
       "spreads",
       "Cumulative sum at which a figure drifts. 5, as textbooks have it, would raise 51 false alarms in each round of "
       "readings of 48,000 ports; 18 raises about one a day."},
      {"analyzer.drift_largest_step",
       [](WeftdConfig& c) -> Field { return &c.analyzer.drift.largest_step; },
       {1, 1000},
       "spreads",
       "What a single reading adds to the sum at most: an outlier is no trend."},
      {"analyzer.fec_ratio_rise",
       [](WeftdConfig& c) -> Field { return &c.analyzer.fec_ratio_rise; },
       {0.1, 10},
       "decades",
       "How far the share of symbols that error correction repairs must have risen over what is usual at a port before "
       "its link is LINK_DEGRADED."},
      {"analyzer.fec_ratio_minimum",
       [](WeftdConfig& c) -> Field { return &c.analyzer.fec_ratio_minimum; },
       {0, 1},
       "symbols per bit",
       "Below this a rise is of no interest: correction can bear 2.4e-4."},
      {"analyzer.fec_ratio_limit",
       [](WeftdConfig& c) -> Field { return &c.analyzer.fec_ratio_limit; },
       {0, 1},
       "symbols per bit",
       "What error correction can bear. A rise to within a decade of it is a WARNING, below that an INFO."},
      {"analyzer.receive_power_drop",
       [](WeftdConfig& c) -> Field { return &c.analyzer.receive_power_drop; },
       {0.1, 40},
       "dB",
       "How far the light that a lane of a host's module receives must have faded from what is usual there before its "
       "link is LINK_DEGRADED: a dirty connector costs 0.5 to 1, a link budget has 3 or 4 to spare."},
  };
}

std::vector<Key> congestion_schema() {
  return {
      {"analyzer.congestion_saturated_ratio",
       [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.saturated_ratio; }, kShare, "share",
       "A link that sends at this share of its rate is saturated; headers, credits and scheduling take the rest."},
      {"analyzer.congestion_stalled_ratio",
       [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.stalled_ratio; }, kShare, "share",
       "A link that had data and no credit for this share of the time is held back by what is behind it. Below, stalls "
       "are the normal play of credits."},
      {"analyzer.congestion_harm_ratio", [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.harm_ratio; },
       kShare, "share",
       "Somebody must be stalled for at least this share of the time before congestion is worth an incident."},
      {"analyzer.congestion_severe_ratio", [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.severe_ratio; },
       kShare, "share", "Congestion that stalls somebody for this share of the time is a WARNING, below it an INFO."},
      {"analyzer.congestion_windows",
       [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.windows; },
       {1, 5},
       "sweeps",
       "Of the last five sweeps, how many must show the same root: bursts come twice by chance. Jobs send in phases: a "
       "root that comes and goes with them is told when its harm exceeds congestion_harm_ratio on average over the "
       "last "
       "sixteen sweeps."},
      {"analyzer.congestion_idle_sibling_ratio",
       [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.idle_sibling_ratio; }, kShare, "share",
       "When the median utilisation of the links beside a saturated one is below this, their capacity lies idle: the "
       "load is uneven beyond doubt."},
      {"analyzer.congestion_uneven_factor",
       [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.uneven_factor; },
       {1, 100},
       "times",
       "A saturated link that sends this many times what the links beside it send on average is "
       "CONGESTION_UNEVEN_LOAD; else they are all full, CONGESTION_OVERSUBSCRIBED."},
      {"analyzer.pfc_storm_stalled_ratio",
       [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.pfc_storm_stalled_ratio; }, kShare, "share",
       "A host that leaves the link to it waiting for this share of the time, while the link makes no more progress "
       "than "
       "one of a deadlock, takes nothing at all: PFC_STORM. A slow one still takes something."},
      {"analyzer.pfc_storm_windows", [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.pfc_storm_windows; },
       kSweeps, "sweeps", "Sweeps in a row in which it must take nothing: one may be a restart of its driver."},
      {"analyzer.deadlock_progress_ratio",
       [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.deadlock_progress_ratio; }, kShare, "share",
       "A link of a deadlock sends less than this share of its rate."},
      {"analyzer.deadlock_stalled_ratio",
       [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.deadlock_stalled_ratio; }, kShare, "share",
       "And has data and no credit for at least this share of the time."},
      {"analyzer.deadlock_windows", [](WeftdConfig& c) -> Field { return &c.analyzer.congestion.deadlock_windows; },
       kSweeps, "sweeps",
       "Sweeps in a row in which a circle of waiting links makes no progress before it is DEADLOCK."},
  };
}

std::vector<Key> loss_schema() {
  static constexpr Bounds kLostShare{1e-12, 0.5};
  return {
      {"analyzer.silent_loss_window",
       [](WeftdConfig& c) -> Field { return &c.analyzer.loss.window; },
       {1, kHour},
       "",
       "What hosts lost is added up over so long, and never over less than three sweeps or three readings of a host: "
       "each is sampled in its own time."},
      {"analyzer.silent_loss_good_ratio", [](WeftdConfig& c) -> Field { return &c.analyzer.loss.good_ratio; },
       kLostShare, "packets/packet",
       "Share of its packets that a host may have to send again though nothing is wrong. On a lossless fabric that is "
       "next to nothing; published methods for lossy Ethernet assume 2e-4."},
      {"analyzer.silent_loss_bad_ratio", [](WeftdConfig& c) -> Field { return &c.analyzer.loss.bad_ratio; }, kLostShare,
       "packets/packet",
       "Share that a host loses at least whose packets cross something bad. Go-back-N repeats whole windows, so that "
       "already 1e-5 costs a collective time. Must be above silent_loss_good_ratio to find anything."},
      {"analyzer.silent_loss_packets",
       [](WeftdConfig& c) -> Field { return &c.analyzer.loss.minimum_packets; },
       {1, 1e9},
       "packets",
       "Fewer lost packets of one host in a window are chance."},
      {"analyzer.silent_loss_prior",
       [](WeftdConfig& c) -> Field { return &c.analyzer.loss.prior; },
       {1e-12, 0.1},
       "share",
       "Share of links and devices that lose packets silently at any time: the smaller, the more evidence each needs."},
      {"analyzer.silent_loss_windows",
       [](WeftdConfig& c) -> Field { return &c.analyzer.loss.windows; },
       {1, 8},
       "windows",
       "Windows in which the same hosts must lose packets before it is SILENT_LOSS. A job that is killed leaves "
       "timeouts in one."},
      {"analyzer.silent_loss_certainty", [](WeftdConfig& c) -> Field { return &c.analyzer.loss.certainty; }, kShare,
       "probability",
       "How likely the likeliest cause must be, of all that explain the same, to be named at once; after "
       "silent_loss_patience it is named all the same, with its confidence."},
      {"analyzer.silent_loss_patience", [](WeftdConfig& c) -> Field { return &c.analyzer.loss.patience_windows; },
       kSweeps, "windows",
       "Windows with losses after which the likeliest cause is named even where others are nearly as likely."},
      {"analyzer.silent_loss_together", [](WeftdConfig& c) -> Field { return &c.analyzer.loss.together; }, kSweeps, "",
       "So many links and devices that begin to lose packets within half a minute by what hosts count, while the "
       "packet "
       "counters of the fabric do not confirm it, are one COUNTER_STUCK: that so many break together is less likely "
       "than "
       "that what hosts count is wrong."},
      {"analyzer.silent_loss_quiet_windows", [](WeftdConfig& c) -> Field { return &c.analyzer.loss.quiet_windows; },
       kSweeps, "windows",
       "SILENT_LOSS ends after so many windows without losses: jobs compute for a while between two communications."},
  };
}

std::vector<Key> incident_schema() {
  return {
      {"incidents.resolve_sweeps", [](WeftdConfig& c) -> Field { return &c.incidents.resolve_sweeps; }, kSweeps,
       "sweeps",
       "Consecutive sweeps without the finding, in which the entity was really observed, before an incident resolves."},
      {"incidents.reopen_window",
       [](WeftdConfig& c) -> Field { return &c.incidents.reopen_window; },
       {0, 90 * kDay},
       "",
       "The same trouble within this time after it was resolved re-opens the old incident rather than making a new "
       "one."},
      {"incidents.retention",
       [](WeftdConfig& c) -> Field { return &c.incidents.retention; },
       {kMinute, 365 * kDay},
       "",
       "How long resolved incidents stay in memory and in lists; store.incident_retention keeps them longer on disk."},
      {"incidents.retained_incidents",
       [](WeftdConfig& c) -> Field { return &c.incidents.retained_incidents; },
       {1, 1e6},
       "incidents",
       "Most resolved incidents kept in memory."},
      {"incidents.evidence_limit",
       [](WeftdConfig& c) -> Field { return &c.incidents.evidence_limit; },
       {2, 1000},
       "pieces",
       "Pieces of evidence kept on one incident; the first ones and the latest ones survive."},
      {"incidents.evidence_refresh",
       [](WeftdConfig& c) -> Field { return &c.incidents.evidence_refresh; },
       {0, kDay},
       "",
       "A number in the evidence that moved on is shown at most this often, so that watchers are not flooded."},
      {"incidents.repeat_window",
       [](WeftdConfig& c) -> Field { return &c.incidents.repeat_window; },
       {kMinute, 365 * kDay},
       "",
       "Time in which the beginnings of the same trouble are counted. What was resolved longer ago than "
       "incidents.retention is forgotten and does not count."},
      {"incidents.repeat_count",
       [](WeftdConfig& c) -> Field { return &c.incidents.repeat_count; },
       {2, 32},
       "times",
       "From so many beginnings within repeat_window on, the summary says which time it is: what comes back every "
       "other "
       "day wants another remedy than what happened once."},
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
