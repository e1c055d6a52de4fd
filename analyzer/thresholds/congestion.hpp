// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every number that the congestion rules compare with. Each is bound to a config key, see
// analyzer/thresholds/thresholds.hpp.

namespace weft::analyzer {

/// Thresholds of the congestion rules. Ratios are 0..1 unless a comment says otherwise.
struct CongestionThresholds {
  /// A link that sends at this share (0..1) of its rate is saturated: headers, credits and scheduling take the rest.
  double saturated_ratio = 0.9;
  /// A link that had data and no credit for this share of the time is held back by what is behind it; below that,
  /// stalls are the normal play of credits.
  double stalled_ratio = 0.05;
  /// Somebody must be stalled for at least this share of the time before congestion is worth an incident.
  double harm_ratio = 0.15;
  /// From this share on it is a WARNING, below an INFO.
  double severe_ratio = 0.25;
  /// A full link marks its queue when this share of the packets behind it carry an ECN mark; fewer are bursts. DCQCN
  /// settles at some tenths of a per cent to some per cent (SIGCOMM 2015, 5).
  double marked_ratio = 0.002;
  /// Sweeps, of the last five, in which the same root must be seen: bursts come twice by chance. One that comes and
  /// goes with the phases of a job must exceed harm_ratio on average over the last sixteen.
  unsigned windows = 4;
  /// A saturated link whose siblings' median utilisation is below this: their capacity lies idle beside it.
  double idle_sibling_ratio = 0.7;
  /// And which sends this many times what they send on average.
  double uneven_factor = 1.3;
  /// A host that leaves the link to it waiting for this share of the time, while the link makes no more progress than
  /// one of a deadlock, takes nothing at all: PFC_STORM.
  double pfc_storm_stalled_ratio = 0.99;
  /// Sweeps in a row in which it must take nothing.
  unsigned pfc_storm_windows = 2;
  /// A link of a deadlock sends less than this share of its rate …
  double deadlock_progress_ratio = 0.01;
  /// … and waits for at least this share of the time.
  double deadlock_stalled_ratio = 0.9;
  /// Sweeps in a row in which a circle of waiting links makes no progress before it is a deadlock.
  unsigned deadlock_windows = 2;
};

}  // namespace weft::analyzer
