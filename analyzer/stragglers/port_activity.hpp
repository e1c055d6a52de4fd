// SPDX-License-Identifier: Apache-2.0
#pragma once
// When a port was silent between two transfers, and when it began again: from its byte counters, reading by reading.

#include <array>
#include <cstdint>

#include "analyzer/stragglers/background.hpp"
#include "analyzer/thresholds/stragglers.hpp"

namespace weft::analyzer {

/// A silence between two transfers of a port: only its background moves. All times are those of readings.
struct Silence {
  TimePoint sending = kNever;        ///< the last reading before that: the transfer before was not over by then
  double rate = 0;                   ///< from `sending` to `since`, bytes per second
  TimePoint since = kNever;          ///< the last reading with a part of the transfer before
  TimePoint until = kNever;          ///< the last reading before the next transfer
  TimePoint asleep = kNever;         ///< until then it had sent nothing; kNever where it was not seen to begin …
  TimePoint begun = kNever;          ///< … and by then it had sent its first, and waited
  bool received = false;             ///< somebody's first came in meanwhile
  bool then_sent = false;            ///< the next transfer began with sending; else it only received, for so long
  double first = 0;                  ///< bytes of its first sending
  TimePoint asleep_again = kNever;   ///< where that was in the first reading after `since`: what it sent after that …
  TimePoint begun_again = kNever;    ///< …
  double first_again = 0;            ///< …, for the first reading may have the end of the transfer before
  double hidden = 0;                 ///< a first sending of fewer bytes would not have been seen
  bool has_background = false;       ///< something moved all the time, and was not counted
  bool may_have_background = false;  ///< it is not known whether it had
  bool is_alike = false;             ///< the same, and it was not counted: each reading may be a first sending
  bool may_include_first = false;    ///< what was not counted may have had a first sending in it
  double background = 0;             ///< what was not counted, bytes per second
  double longest = 0;                ///< seconds of its longest reading
  TimePoint second = kNever;         ///< the first reading after `since`

  /// False where the port did not send first: its own beginning is not known.
  bool was_seen_to_begin() const { return begun != kNever; }
};

/// What a port sends besides, as far as its readings of single silences tell: a first sending is in one reading of a
/// silence only, so that the others show the level without it. It holds for a while in silences of one reading, where
/// two silences agreed on it. Bounded: 16 readings of a silence.
class SilenceLevel {
 public:
  /// A silence begins.
  void clear() { count_ = 0; }
  /// A reading of it, with the bytes that were sent.
  void add(TimePoint from, TimePoint to, double sent);
  /// The silence is over. Where nothing else knows its background, and its readings differ by nothing but a first
  /// sending and perhaps the end of the transfer before, `silence` gets the level and when the port began above it.
  void tell(Silence& silence, const StragglerThresholds& thresholds);

 private:
  static constexpr std::size_t kMost = 16;
  struct One {
    TimePoint from = kNever, to = kNever;
    double sent = 0;  ///< bytes, with what it sends besides
    double seconds() const { return weft::seconds(to - from); }
  };
  bool begins_above(double level, Silence& silence, const StragglerThresholds& thresholds) const;
  double lowest() const;

  std::array<One, kMost> readings_;
  std::size_t count_ = 0;    ///< kMost + 1 where there were more
  double level_ = 0;         ///< bytes per second, of the last silence that told it
  unsigned agreed_ = 0;      ///< silences in a row that told it
  TimePoint told_ = kNever;  ///< the last one
};

/// How often a port began late, one beginning after the other.
struct Lateness {
  unsigned late = 0;          ///< beginnings in a row in which it was late
  unsigned waited = 0;        ///< beginnings in a row in which it waited for somebody else
  unsigned on_time = 0;       ///< silences since it was late in which nobody was seen to wait
  bool is_straggler = false;  ///< it was late often enough, and has not waited as often since
  TimePoint first = kNever;   ///< the first late beginning of this run, and the last
  TimePoint last = kNever;    ///<
  double delay = 0;           ///< of the last: at least so much after the others, seconds
  double threshold = 0;       ///< the delay that its cohort's score allows, seconds
  double score = 0;           ///< of the last one
  double total = 0;           ///< delays of this run, seconds
  unsigned witnesses = 0;     ///< others that had begun by then and waited
};

/// Finds the silences and transfers of one port in its byte counters. The two sources of readings may differ in age.
class PortActivity {
 public:
  static constexpr std::size_t kSilences = 6;  ///< that are remembered
  /// After a longer time without a reading nobody knows what was.
  static constexpr Duration kLongest = std::chrono::milliseconds(3500);

  /// What the port's counters said at a moment; bytes since some beginning.
  struct Reading {
    TimePoint at = kNever;
    std::uint64_t sent = 0, received = 0;
    bool is_sweep = false;
  };

  /// Takes a reading of the host's collector, or of a sweep of its subnet. Both read the same counters, each in its own
  /// time and heard in any order: they are put in order, and used by settle(). Where the two do not agree sweeps are
  /// left out. One that is older than what was used is ignored.
  void take(const Reading& reading, const StragglerThresholds& thresholds);
  /// Uses what was read before `until`: nothing older will come.
  void settle(TimePoint until, const StragglerThresholds& thresholds);
  /// A counter was reset or the clock was set: what was before can not be compared with what comes.
  void interrupt();

  /// Calls `use` with each silence that is over and ended after `after`, the oldest first.
  template <typename Use>
  void each_silence(TimePoint after, const Use& use) const {
    for (std::size_t i = 0; i < kSilences; ++i)
      if (const Silence& silence = silences_[(next_ + i) % kSilences]; silence.until > after) use(silence);
  }
  /// When it was first seen to send a transfer; kNever while it was not.
  TimePoint sends_since() const { return sends_since_; }
  /// And when for the last time.
  TimePoint sent_at() const { return sent_at_; }
  /// When it was last seen to send or receive a transfer.
  TimePoint worked_at() const { return worked_at_; }

  Lateness lateness;

 private:
  static constexpr std::size_t kMostWaiting = 10;  ///< readings to be put in order

  void use(const Reading& reading, const StragglerThresholds& thresholds);
  void pass(TimePoint at, double sent, double received, const StragglerThresholds& thresholds);

  std::array<Reading, kMostWaiting> waiting_;  ///< the first `waiting_count_` of them, in the order of time
  std::size_t waiting_count_ = 0;
  Reading last_;                ///< the last that was used
  unsigned disagreements_ = 0;  ///< of sweeps with the collector
  std::array<Silence, kSilences> silences_;
  std::size_t next_ = 0;
  SilenceLevel level_;
  Silence now_;                   ///< `since` is kNever while nobody knows when the transfer before ended
  bool sends_ = false;            ///< the transfer before was one of sending
  unsigned transfers_ = 0;        ///< a bit for each of the last ones, the newest lowest: was it one of sending?
  unsigned known_transfers_ = 0;  ///< so many of the bits mean something
  TimePoint sends_since_ = kNever;
  TimePoint sent_at_ = kNever;
  TimePoint worked_at_ = kNever;
  double rate_ = 0;  ///< of its transfers, bytes per second
  Background sent_background_, received_background_;
};

}  // namespace weft::analyzer
