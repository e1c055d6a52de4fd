#include "analyzer/cohort/port_activity.hpp"

#include <algorithm>

namespace weft::analyzer {

void PortActivity::interrupt() {
  silences_.fill({});
  now_ = {};
  sends_ = false;
  read_ = kNever;
}

void PortActivity::take(TimePoint at, std::uint64_t sent, std::uint64_t received, Duration longest,
                        const StragglerThresholds& thresholds) {
  if (read_ == kNever || at <= read_ || at - read_ > longest) {
    interrupt();
    read_ = at;
    return;
  }
  const auto octets = static_cast<double>(sent);
  const bool sends = octets > thresholds.transfer;
  if (sends || static_cast<double>(received) > thresholds.transfer) {
    // Whoever only receives is late to nobody.
    if (now_.until != kNever && (sends || sends_)) {
      silences_[next_] = now_;
      next_ = (next_ + 1) % kSilences;
    }
    sends_ = sends || (sends_ && now_.until == kNever);
    if (sends && sends_since_ == kNever) sends_since_ = at;
    now_ = {};
    now_.since = at;
  } else if (now_.since != kNever) {
    if (!now_.was_seen_to_begin() && octets >= thresholds.first_send) {
      now_.asleep = read_;
      now_.begun = at;
    }
    now_.received = now_.received || static_cast<double>(received) >= thresholds.first_send;
    now_.until = at;
  }
  read_ = at;
}

}  // namespace weft::analyzer
