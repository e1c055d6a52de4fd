// SPDX-License-Identifier: Apache-2.0
#include "analyzer/congestion/host_signals.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

/// What a counter adds to; pauses of a priority stand at kPauseSent + priority and kPauseReceived + priority.
enum What : std::uint8_t {
  kSentBytes,
  kReceivedBytes,
  kSentPackets,
  kReceivedPackets,
  kSentAgain,
  kMarked,
  kMarksMade,
  kNotified,
  kLinkPauseSent,
  kLinkPauseReceived,
  kPauseSent,
  kPauseReceived = kPauseSent + kPriorities,
  kWhatCount = kPauseReceived + kPriorities
};

constexpr int kLongestGap = 10;    ///< intervals
constexpr int kFreshReadings = 3;  ///< intervals
/// Of fewer packets no share is made.
constexpr double kLeastPackets = 100;
constexpr Duration kPeakMemory = std::chrono::seconds(30);

std::optional<std::uint8_t> what_of(const HostSeries& series) {
  if (series.is_raw || series.lane != kNoLane) return std::nullopt;
  const bool sent = series.direction == Direction::kTransmit;
  if (series.name == "pfc_pause" && series.priority < kPriorities)
    return static_cast<std::uint8_t>((sent ? kPauseSent : kPauseReceived) + series.priority);
  if (series.priority != kNoPriority) return std::nullopt;
  if (series.name == "pause") return sent ? kLinkPauseSent : kLinkPauseReceived;
  constexpr std::pair<std::string_view, What> kNames[] = {
      {"transmit_bytes", kSentBytes},     {"receive_bytes", kReceivedBytes},
      {"transmit_packets", kSentPackets}, {"receive_packets", kReceivedPackets},
      {"sequence_nak", kSentAgain},       {"implied_nak", kSentAgain},
      {"ack_timeout", kSentAgain},        {"ecn_marked_packets", kMarked},
      {"ecn_marks_made", kMarksMade},     {"cnp_handled", kNotified}};
  for (const auto& [name, what] : kNames)
    if (series.name == name) return what;
  return std::nullopt;
}

Duration interval_of(const HostWatch& host) {
  return std::max<Duration>(host.interval, std::chrono::seconds(1));
}

/// What one port's counters moved by between two readings; nothing where that is not known.
struct Moved {
  std::array<double, kWhatCount> sums{};
  std::bitset<kWhatCount> known;

  std::optional<double> operator[](std::size_t what) const {
    return known[what] ? std::optional(sums[what]) : std::nullopt;
  }
  /// The share of `part` in `whole`; nullopt where one is not known, or the whole is less than `least`.
  std::optional<double> ratio(std::size_t part, std::size_t whole, double least) const {
    if (!known[part] || !known[whole] || sums[whole] < least) return std::nullopt;
    return std::clamp(sums[part] / sums[whole], 0.0, 1.0);
  }
  /// The same of a time in microseconds in the time between the readings.
  std::optional<double> share(std::size_t part, double microseconds) const {
    if (!known[part] || microseconds < 1) return std::nullopt;
    return std::clamp(sums[part] / microseconds, 0.0, 1.0);
  }
};

PortSignals signals_of(const Moved& moved, double elapsed) {
  PortSignals signals;
  const double microseconds = elapsed * 1e6;
  if ((moved.known >> kPauseSent).any())
    for (std::size_t priority = 0; priority < kPriorities; ++priority) {
      signals.pause_sent[priority] = moved.share(kPauseSent + priority, microseconds);
      signals.pause_received[priority] = moved.share(kPauseReceived + priority, microseconds);
    }
  signals.link_pause_sent = moved.share(kLinkPauseSent, microseconds);
  signals.link_pause_received = moved.share(kLinkPauseReceived, microseconds);
  signals.marked = moved.ratio(kMarked, kReceivedPackets, kLeastPackets);
  signals.marks_made = moved.ratio(kMarksMade, kSentPackets, kLeastPackets);
  signals.notified = moved.ratio(kNotified, kSentPackets, kLeastPackets);
  if (const auto notified = moved[kNotified]) signals.notifications_per_second = *notified / elapsed;
  if (const auto sent = moved[kSentBytes]) signals.sent_bits_per_second = *sent * 8 / elapsed;
  if (const auto received = moved[kReceivedBytes]) signals.received_bits_per_second = *received * 8 / elapsed;
  if (const auto again = moved.ratio(kSentAgain, kSentPackets, 1); again && signals.sent_bits_per_second)
    signals.goodput_bits_per_second = *signals.sent_bits_per_second * (1 - *again);
  return signals;
}

}  // namespace

std::optional<PortSignals::Pause> PortSignals::worst_pause_sent() const {
  std::optional<Pause> worst;
  if (link_pause_sent) worst = Pause{*link_pause_sent, {}};
  for (unsigned priority = 0; priority < kPriorities; ++priority)
    if (pause_sent[priority] && (!worst || *pause_sent[priority] > worst->share))
      worst = Pause{*pause_sent[priority], priority};
  return worst;
}

void HostSignals::raise(Peak& peak, const std::optional<double>& value, TimePoint at) {
  if (std::chrono::abs(at - peak.seen) > kPeakMemory) peak = {};  // or the clock was set back
  if (value && *value > 0 && *value >= peak.value) peak = {*value, at};
}

void HostSignals::follow(const HostWatch& host, std::vector<std::uint32_t>& followed) {
  for (const PortWatch& port : host.ports) ports_[port.slot].followed.clear();
  follow_series(host, followed, what_of,
                [&](const PortWatch& port, const auto& what) { ports_[port.slot].followed.push_back(what); });
}

void HostSignals::take(const HostWatch& host, const HostMovement& movement) {
  const double elapsed = seconds(movement.elapsed);
  const bool in_time = elapsed > 0 && movement.elapsed <= kLongestGap * interval_of(host);
  for (const PortWatch& port : host.ports) {
    Signals& signals = ports_[port.slot];
    Moved moved;
    std::bitset<kWhatCount> broken;
    for (const auto& [series, what] : signals.followed) {
      const SeriesMovement& row = movement.series[series];
      (row.present && row.is_exact() ? moved.known : broken).set(what);
      moved.sums[what] += static_cast<double>(row.delta.moved);
    }
    moved.known &= ~broken;
    signals.now = in_time ? signals_of(moved, elapsed) : PortSignals{};
    signals.taken = movement.taken;
    const auto pause = signals.now.worst_pause_sent();
    raise(signals.pause_sent, pause ? std::optional(pause->share) : std::nullopt, movement.taken);
    raise(signals.marked, signals.now.marked, movement.taken);
    raise(signals.notified, signals.now.notified, movement.taken);
    signals.slow <<= 1U;
    signals.slow[0] = pause && pause->share >= thresholds_.harm_ratio;
    const double least = thresholds_.deadlock_progress_ratio * static_cast<double>(port.rate);
    const bool nothing = pause && pause->share >= thresholds_.pfc_storm_stalled_ratio && port.rate > 0 &&
                         signals.now.received_bits_per_second && *signals.now.received_bits_per_second < least;
    signals.storm_readings = nothing ? signals.storm_readings + 1 : 0;
  }
}

std::optional<PortMarks> HostSignals::marks(const HostWatch& host, const PortWatch& port, TimePoint now) const {
  const Signals& watch = ports_[port.slot];
  if (watch.taken == kNever || now - watch.taken > kFreshReadings * interval_of(host)) return std::nullopt;
  if (!watch.now.marked && !watch.now.marks_made && !watch.now.notifications_per_second) return std::nullopt;
  return PortMarks{.received = static_cast<float>(watch.now.marked.value_or(-1)),
                   .made = static_cast<float>(watch.now.marks_made.value_or(-1)),
                   .notified = static_cast<float>(watch.now.notifications_per_second.value_or(-1))};
}

void HostSignals::report(const HostWatch& host, const PortWatch& port, TimePoint now,
                         std::vector<Finding>& findings) const {
  const Signals& watch = ports_[port.slot];
  const bool storm = watch.storm_readings >= thresholds_.pfc_storm_windows;
  if (port.place || port.is_virtual || !port.up || !(storm || watch.slow.count() >= thresholds_.windows)) return;
  const bool severe = watch.pause_sent.value >= thresholds_.severe_ratio;
  Finding finding = make_finding(storm ? IncidentKind::kPfcStorm : IncidentKind::kSlowReceiver,
                                 storm    ? Severity::kCritical
                                 : severe ? Severity::kWarning
                                          : Severity::kInfo,
                                 entity_of(host, port));
  finding.confidence = storm ? 0.9 : 0.8;
  finding.jobs = host.jobs;
  finding.summary = storm ? port.label + " receives nothing and sends PFC pause frames to its switch continuously"
                          : port.label + " is a slow receiver: it sends PFC pause frames to its switch";
  add(port, now, finding);
  findings.push_back(std::move(finding));
}

void HostSignals::add(const PortWatch& port, TimePoint now, Finding& finding) const {
  const Signals& watch = ports_[port.slot];
  const auto note = [&](const Peak& peak, const char* signal, std::string text) {
    if (peak.seen == kNever || std::chrono::abs(now - peak.seen) > kPeakMemory) return;
    finding.evidence.push_back({.signal = signal,
                                .description = std::move(text),
                                .value = peak.value,
                                .threshold = 0,
                                .unit = "",
                                .observed = peak.seen,
                                .where = finding.cause,
                                .window = kPeakMemory});
  };
  const auto pause = watch.now.worst_pause_sent();
  const std::string which =
      pause && pause->priority ? " (priority " + std::to_string(*pause->priority) + ")" : std::string();
  note(watch.pause_sent, "pfc_pause_sent",
       port.label + which + " paused its switch for up to " + share_text(watch.pause_sent.value) + " of the time");
  note(watch.marked, "ecn_marked",
       "up to " + share_text(watch.marked.value) + " of the packets that " + port.label +
           " received had an ECN mark: a queue on the path was long");
  note(watch.notified, "cnp_handled",
       port.label + " slowed down for up to " + short_number(watch.notified.value) +
           " congestion notifications (CNP) per packet sent");
  if (watch.now.goodput_bits_per_second && now - watch.taken <= kPeakMemory && *watch.now.goodput_bits_per_second > 0)
    note({*watch.now.goodput_bits_per_second / 1e9, watch.taken}, "goodput",
         port.label + " sent " + rate_text(*watch.now.goodput_bits_per_second) + " without retransmits");
}

}  // namespace weft::analyzer
