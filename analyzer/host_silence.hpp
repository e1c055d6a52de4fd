// SPDX-License-Identifier: Apache-2.0
#pragma once
// TELEMETRY_LOST of collectors: one that is silent, or many at once.

#include <vector>

#include "analyzer/ports/host_watch.hpp"
#include "analyzer/thresholds/thresholds.hpp"

namespace weft::analyzer {

/// The collectors of many hosts, as one thing.
Entity all_collectors();

/// Which hosts have not been heard for too long.
class HostSilence {
 public:
  /// `now`: when we began to listen.
  HostSilence(const Thresholds& thresholds, TimePoint now) : thresholds_(thresholds), started_(now) {}

  /// The collector of `host` was heard, for the first time if `is_new`; its readings are `interval` apart.
  void hear(HostWatch& host, bool is_new, Duration interval, TimePoint now) const;
  /// weftd itself drives collectors away at `now`: for telemetry_start_grace nobody who is not lost yet becomes lost.
  void excuse(TimePoint now) { excused_until_ = now + thresholds_.telemetry_start_grace; }
  /// Decides of each host whether it is lost, and adds what is to be said of that. Call it about once a second.
  void judge(Hosts& hosts, TimePoint now, std::vector<Finding>& findings);

  /// It was heard since we began to listen, and not long ago: one that was lost has come back.
  bool is_heard(const HostWatch& host, TimePoint now) const {
    return host.heard >= started_ && now - host.heard <= patience(host);
  }
  /// Whoever is not heard is called lost now: we began to listen long ago, and drive nobody away.
  bool is_telling(TimePoint now) const { return is_settled(now) && now >= excused_until_; }
  /// So many are lost that they are one incident.
  bool many_lost() const { return many_lost_; }
  /// After our own start collectors need a moment to find us again: is it over?
  bool is_settled(TimePoint now) const { return now - started_ >= thresholds_.telemetry_start_grace; }

 private:
  /// When the clock was set forward, or this process stood still, nobody is more silent for it.
  void tolerate_clock_jump(Hosts& hosts, TimePoint now);
  bool is_lost(const HostWatch& host, TimePoint now) const;
  Duration patience(const HostWatch& host) const;

  Thresholds thresholds_;
  TimePoint started_;
  TimePoint excused_until_ = kNever;
  bool many_lost_ = false;
  TimePoint judged_ = kNever;  ///< the last judgement
  Duration step_{};            ///< from the one before to it
};

}  // namespace weft::analyzer
