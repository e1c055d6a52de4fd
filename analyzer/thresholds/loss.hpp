// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers that SILENT_LOSS is judged by. Each is bound to a config key.

#include "fabric/clock.hpp"

namespace weft::analyzer {

/// Thresholds of the rule SILENT_LOSS.
struct LossThresholds {
  /// What hosts lost is added up over so long, and never over less than three sweeps or three readings of nine hosts in
  /// ten: each is sampled in its own time. Hosts that are read less than twice in that time are left out.
  Duration window = std::chrono::seconds(5);
  /// Share of a host's packets that may be lost though nothing is wrong: restarts of applications, bit errors that
  /// forward error correction leaves.
  double good_ratio = 1e-6;
  /// Share that a bad link or device loses at least.
  double bad_ratio = 1e-5;
  /// Fewer lost packets of one host in a window are chance.
  double minimum_packets = 10;
  /// Share of links and devices that lose packets silently at any time: how much evidence one more needs.
  double prior = 1e-4;
  /// Windows in which the same hosts must lose packets before it is SILENT_LOSS.
  unsigned windows = 2;
  /// Windows after which the likeliest cause is named even where others are nearly as likely.
  unsigned patience_windows = 6;
  /// How sure it must be to be named before (0..1).
  double certainty = 0.9;
  /// Links and devices that begin to lose packets within half a minute, by what hosts count alone: with so many, that
  /// is suspected first.
  unsigned together = 3;
  /// SILENT_LOSS ends after so many windows without losses.
  unsigned quiet_windows = 6;
};

}  // namespace weft::analyzer
