// SPDX-License-Identifier: Apache-2.0
#pragma once
// LINK_ERRORS: is a link's error rate above the limit, and how sure is that?

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyzer/links/errored_seconds.hpp"
#include "analyzer/links/planned_links.hpp"
#include "analyzer/ports/describe.hpp"
#include "analyzer/ports/error_bounds.hpp"
#include "analyzer/ports/rates.hpp"
#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/analyzer_state.hpp"

namespace weft::analyzer {

/// Counts errors and bits of each port in windows. Two streams, each against the bits it could have hit:
///  - physical: symbol errors, link error recoveries, local link integrity, uncorrectable FEC code words. Symbols flow
///  on
///    an idle link too, so the bits are line rate × time.
///  - packets: receive errors, against the bits received. Packets that arrive already marked bad (remote physical
///  errors)
///    are not counted: their fault lies before the peer.
/// A port is condemned when the lower bound of a stream exceeds the limit in consecutive windows, and reinstated when
/// the upper bound is below it. A port is also condemned when more of the seconds of the last 12 or 125 minutes had
/// physical errors than the limit lets expect, or than Thresholds::errored_seconds_* allow, and reinstated at half of
/// that; one burst, which lies within two minutes of the clock, is not enough. Errors of a port blame its link: the
/// peer's transmitter, the cable, this receiver.
class ErrorWindows {
 public:
  explicit ErrorWindows(const Thresholds& thresholds);

  /// Takes over the condemned ports that an earlier process saved.
  void restore(std::span<const ErrorState> states);
  /// Takes from an open incident of an earlier process when its errors were measured. After restore().
  void remember(const Incident& incident);
  /// The ports that are condemned for their rate, to be saved and handed to restore() by the next process. Errored
  /// seconds are counted anew.
  std::vector<ErrorState> state() const;
  /// Grows when a port is condemned or reinstated.
  std::uint64_t revision() const { return revision_; }

  /// Takes the movements of one sweep and fills in PortRates::error_rate. Errors around a link's going up or down are
  /// not counted, for training makes them; nor are those of a link that somebody works on.
  void update(const Topology& topology, const CounterPass& pass, std::span<const float> line_rates,
              const PlannedLinks& planned, TimePoint now);

  /// Lets go of condemned ports of InfiniBand at which no cable is known any more: it was moved, and its errors with
  /// it.
  void release(const Topology& topology, const LinkTable& table);

  /// A window of this port has closed in this process.
  bool judged(PortIndex port) const { return port < windows_.size() && windows_[port].judged; }
  /// Adds a LINK_ERRORS for each link with a condemned port.
  void report(const Topology& topology, const LinkTable& table, const Describe& describe, TimePoint now,
              std::vector<Finding>& findings) const;

 private:
  struct Window {
    double line_bits = 0;
    double packet_bits = 0;
    float elapsed = 0;  ///< seconds
    float rate = 0;     ///< errors per bit of the last closed window
    std::uint32_t physical = 0;
    std::uint32_t packets = 0;
    std::uint16_t errored_readings = 0;
    std::uint8_t strikes = 0;    ///< consecutive windows over the limit
    std::uint8_t clean = 0;      ///< consecutive windows without a receive error
    std::uint8_t condemned = 0;  ///< bits of Stream
    bool was_up = false;         ///< at the reading before
    bool judged = false;
  };
  struct Condemned {
    double rate = 0;
    double bits = 0;     ///< of the stream's window that condemned or last confirmed it
    double elapsed = 0;  ///< seconds
    unsigned errored_readings = 0;
    TimePoint closed = kNever;  ///< when that window closed; kNever: before a restart
    TimePoint before = kNever;  ///< when that was, or when we took the port over; kNever: not said yet
    ErrorDelta sums;
    /// Condemned for its errored seconds: those of the window that had too many, and how many it may have.
    ErroredSeconds::Count errored{};
    double errored_limit = 0;
    std::size_t errored_window = 0;  ///< position in ErroredSeconds::kWindows
    TimePoint errored_at = kNever;
  };

  void remap(const Topology& topology, TimePoint now);
  void add(Window& window, const ErrorDelta& delta);
  void judge(const Topology& topology, PortIndex port, Window& window, TimePoint now);
  bool over(std::uint32_t errors, double bits, double factor) const;
  void note_second(PortKey port, Window& window, double line_rate, double elapsed, TimePoint now);
  void review_seconds(const Topology& topology, TimePoint now);
  void add_rate(const Condemned& condemned, const Entity& where, TimePoint now, Finding& finding) const;
  static void add_seconds(const Condemned& condemned, const Entity& where, Finding& finding);

  const Thresholds& thresholds_;
  ErrorBounds bounds_;
  std::uint64_t epoch_ = 0;
  bool started_ = false;
  std::vector<Window> windows_;
  std::unordered_map<PortIndex, ErrorDelta> sums_;  ///< what the open window's errors are, by counter
  std::map<PortKey, Condemned> condemned_;
  ErroredSeconds errored_;
  TimePoint reviewed_ = kNever;
  std::uint64_t revision_ = 0;
};

}  // namespace weft::analyzer
