// SPDX-License-Identifier: Apache-2.0
#include "analyzer/stragglers/port_activity.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

/// Two readings that are nearer to each other say nothing new, and clocks may agree no better.
constexpr Duration kNearest = 20ms;
/// So often a sweep may have read what the collector can not have read; then the two count different things.
constexpr unsigned kMostDisagreements = 3;
/// The rate of transfers is the highest that was seen; it is forgotten by so much with each reading.
constexpr double kRateKept = 0.98;
/// A reading that follows one of a transfer and moves at least such a part of its rate is of the same transfer, however
/// short it is: by its bytes alone it would look like a first sending.
constexpr double kGoesOn = 0.5;
/// Transfers by which a port is taken for one that sends, or that only receives.
constexpr unsigned kTransfers = 4;
constexpr unsigned kTransferBits = (1U << kTransfers) - 1;
/// Readings without a first sending differ by less than such a part of the least one.
constexpr double kPartOfLeast = 0.5;
/// Nothing that a port sends all the time is steadier than that: a smaller share of it is no first sending.
constexpr double kSteadiest = 0.01;
/// While nobody knows what a port sends besides, a reading is a transfer above such a share of what transfers move in
/// that time: what it sends besides may be more than StragglerThresholds::transfer.
constexpr double kTransferShare = 0.01;
/// Silences that must agree on a level before it counts in others, and for how long it does then.
constexpr unsigned kLeastAgreed = 2;
constexpr Duration kLevelHolds = 60s;

}  // namespace

void SilenceLevel::add(TimePoint from, TimePoint to, double sent) {
  if (count_ < kMost) readings_[count_] = {from, to, sent};
  count_ = std::min(count_ + 1, kMost + 1);
}

double SilenceLevel::lowest() const {
  double lowest = readings_[0].sent / readings_[0].seconds();
  for (std::size_t i = 1; i < count_; ++i) lowest = std::min(lowest, readings_[i].sent / readings_[i].seconds());
  return lowest;
}

/// False where the readings do not fit the level.
bool SilenceLevel::begins_above(double level, Silence& silence, const StragglerThresholds& thresholds) const {
  Silence told = silence;
  told.asleep = told.begun = told.asleep_again = told.begun_again = kNever;
  told.first = told.first_again = 0;
  told.hidden = thresholds.first_send;
  for (std::size_t i = 0; i < count_; ++i) {
    const One& one = readings_[i];
    const double rise = one.sent - level * one.seconds();
    const double least = std::max(thresholds.first_send, kSteadiest * level * one.seconds());
    told.hidden = std::max(told.hidden, least);
    if (std::abs(rise) < kPartOfLeast * least) continue;
    if (rise < least) return false;
    if (!told.was_seen_to_begin()) {
      told.asleep = one.from;
      told.begun = one.to;
      told.first = rise;
    } else if (told.begun == told.second && told.begun_again == kNever) {
      told.asleep_again = one.from;
      told.begun_again = one.to;
      told.first_again = rise;
    } else {
      return false;
    }
  }
  told.has_background = true;
  told.may_have_background = told.is_alike = told.may_include_first = false;
  told.background = level;
  silence = told;
  return true;
}

void SilenceLevel::tell(Silence& silence, const StragglerThresholds& thresholds) {
  if (!silence.may_have_background && !silence.is_alike && !silence.may_include_first) return;
  if (count_ == 0 || count_ > kMost) return;
  const bool holds = agreed_ >= kLeastAgreed && silence.until - told_ <= kLevelHolds && silence.until > told_;
  if (count_ == 1) {
    if (holds && !begins_above(level_, silence, thresholds)) agreed_ = 0;
    return;
  }
  const double lowest = this->lowest();
  if (lowest * silence.longest < thresholds.first_send || !begins_above(lowest, silence, thresholds)) return;
  const double apart = std::abs(lowest - level_) * silence.longest;
  agreed_ = apart < kPartOfLeast * silence.hidden ? agreed_ + 1 : 1;
  level_ = lowest;
  told_ = silence.until;
}

void PortActivity::interrupt() {
  waiting_count_ = 0;
  silences_.fill({});
  now_ = {};
  level_ = {};
  sends_ = false;
  transfers_ = known_transfers_ = 0;
  last_ = {};
}

void PortActivity::take(const Reading& reading, const StragglerThresholds& thresholds) {
  if (reading.is_sweep && disagreements_ >= kMostDisagreements) return;
  if (last_.at != kNever && reading.at <= last_.at) {
    if (reading.is_sweep || last_.at - reading.at <= kLongest) return;
    interrupt();  // the clock was set back
  }
  if (waiting_count_ == kMostWaiting) {
    use(waiting_[0], thresholds);
    std::shift_left(waiting_.begin(), waiting_.end(), 1);
    --waiting_count_;
  }
  std::size_t at = waiting_count_++;
  for (; at > 0 && waiting_[at - 1].at > reading.at; --at) waiting_[at] = waiting_[at - 1];
  waiting_[at] = reading;
}

void PortActivity::settle(TimePoint until, const StragglerThresholds& thresholds) {
  std::size_t used = 0;
  while (used < waiting_count_ && waiting_[used].at < until) use(waiting_[used++], thresholds);
  std::shift_left(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(waiting_count_),
                  static_cast<std::ptrdiff_t>(used));
  waiting_count_ -= used;
}

void PortActivity::use(const Reading& reading, const StragglerThresholds& thresholds) {
  if (last_.at == kNever || reading.at - last_.at > kLongest) {
    silences_.fill({});
    now_ = {};
    sends_ = false;
    last_ = reading;
    return;
  }
  if (reading.at - last_.at < kNearest) return;
  if (reading.sent < last_.sent || reading.received < last_.received) {
    if (reading.is_sweep || last_.is_sweep) ++disagreements_;
    if (reading.is_sweep) return;
    now_ = {};
    last_ = reading;
    return;
  }
  pass(reading.at, static_cast<double>(reading.sent - last_.sent),
       static_cast<double>(reading.received - last_.received), thresholds);
  last_ = reading;
}

void PortActivity::pass(TimePoint at, double sent, double received, const StragglerThresholds& thresholds) {
  const double passed = seconds(at - last_.at);
  const double moved = std::max(sent, received);
  const double all_sent = sent;
  sent_background_.take(sent, passed, rate_, thresholds);
  received_background_.take(received, passed, rate_, thresholds);
  sent -= sent_background_.bytes(passed);
  received -= received_background_.bytes(passed);
  const bool is_known = sent_background_.state() != Background::State::kUnknown;
  const double transfer =
      is_known ? thresholds.transfer : std::max(thresholds.transfer, kTransferShare * rate_ * passed);
  const bool sends = sent > transfer;
  const bool goes_on =
      now_.since != kNever && now_.until == kNever && std::max(sent, received) >= kGoesOn * now_.rate * passed;
  if (sends || received > transfer || goes_on) {
    if (now_.until != kNever) {
      // Whoever only receives is late to nobody, though it may send something to others now and then.
      transfers_ = ((transfers_ << 1) | (sends_ ? 1U : 0U)) & kTransferBits;
      known_transfers_ = std::min(known_transfers_ + 1, kTransfers);
      // Slow ones look like first sendings for too long after they began.
      const bool is_fast = rate_ * seconds(thresholds.least_delay) >= thresholds.transfer;
      if (is_fast) level_.tell(now_, thresholds);
      // In so short a time a slow transfer moves no more than a first sending, and a delay is no matter.
      const bool is_long = now_.until - now_.since >= thresholds.least_delay;
      if (is_fast && is_long && 2 * static_cast<unsigned>(std::popcount(transfers_)) > known_transfers_) {
        now_.then_sent = sends;
        silences_[next_] = now_;
        next_ = (next_ + 1) % kSilences;
      }
    }
    sends_ = sends || (sends_ && now_.until == kNever);
    worked_at_ = at;
    rate_ = std::max(kRateKept * rate_, moved / passed);
    if (sends) sent_at_ = at;
    if (sends && sends_since_ == kNever) sends_since_ = at;
    const double rate = std::max(goes_on ? now_.rate : 0, moved / passed);
    now_ = {};
    level_.clear();
    now_.sending = last_.at;
    now_.rate = rate;
    now_.since = at;
  } else if (now_.since != kNever) {
    const double least =
        std::max({thresholds.first_send, sent_background_.noise(passed), kSteadiest * sent_background_.bytes(passed)});
    level_.add(last_.at, at, all_sent);
    now_.hidden = std::max(now_.hidden, least);
    now_.has_background = now_.has_background || sent_background_.state() == Background::State::kSteady;
    now_.may_have_background = now_.may_have_background || sent_background_.state() == Background::State::kUnknown;
    now_.is_alike = now_.is_alike || sent_background_.state() == Background::State::kAlike;
    now_.may_include_first = now_.may_include_first || sent_background_.may_include_first();
    now_.background = std::max(now_.background, sent_background_.bytes(1));
    now_.longest = std::max(now_.longest, passed);
    if (now_.second == kNever) now_.second = at;
    if (!now_.was_seen_to_begin() && sent >= least) {
      now_.asleep = last_.at;
      now_.begun = at;
      now_.first = sent;
    } else if (now_.begun == now_.second && now_.begun_again == kNever && sent >= least) {
      now_.asleep_again = last_.at;
      now_.begun_again = at;
      now_.first_again = sent;
    }
    now_.received = now_.received || received >= std::max(thresholds.first_send, received_background_.noise(passed));
    now_.until = at;
  }
}

}  // namespace weft::analyzer
