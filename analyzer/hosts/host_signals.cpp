// SPDX-License-Identifier: Apache-2.0
#include "analyzer/hosts/host_signals.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "analyzer/hosts/host_state.hpp"
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
  kNotified,
  kLinkPauseSent,
  kLinkPauseReceived,
  kPauseSent,
  kPauseReceived = kPauseSent + kPriorities,
  kWhatCount = kPauseReceived + kPriorities
};

constexpr int kLongestGap = 10;  ///< intervals
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
      {"transmit_bytes", kSentBytes},        {"receive_bytes", kReceivedBytes}, {"transmit_packets", kSentPackets},
      {"receive_packets", kReceivedPackets}, {"sequence_nak", kSentAgain},      {"implied_nak", kSentAgain},
      {"ack_timeout", kSentAgain},           {"ecn_marked_packets", kMarked},   {"cnp_handled", kNotified}};
  for (const auto& [name, what] : kNames)
    if (series.name == name) return what;
  return std::nullopt;
}

/// What one port's counters moved by between two readings; nullopt where that is not known.
using Moved = std::array<std::optional<double>, kWhatCount>;

std::optional<double> ratio(const std::optional<double>& part, const std::optional<double>& whole, double least) {
  if (!part || !whole || *whole < least) return std::nullopt;
  return std::clamp(*part / *whole, 0.0, 1.0);
}

PortSignals signals_of(const Moved& moved, double elapsed) {
  PortSignals signals;
  const std::optional<double> microseconds = elapsed * 1e6;
  for (std::size_t priority = 0; priority < kPriorities; ++priority) {
    signals.pause_sent[priority] = ratio(moved[kPauseSent + priority], microseconds, 1);
    signals.pause_received[priority] = ratio(moved[kPauseReceived + priority], microseconds, 1);
  }
  signals.link_pause_sent = ratio(moved[kLinkPauseSent], microseconds, 1);
  signals.link_pause_received = ratio(moved[kLinkPauseReceived], microseconds, 1);
  signals.marked = ratio(moved[kMarked], moved[kReceivedPackets], kLeastPackets);
  signals.notified = ratio(moved[kNotified], moved[kSentPackets], kLeastPackets);
  if (moved[kSentBytes]) signals.sent_bits_per_second = *moved[kSentBytes] * 8 / elapsed;
  if (moved[kReceivedBytes]) signals.received_bits_per_second = *moved[kReceivedBytes] * 8 / elapsed;
  if (const auto again = ratio(moved[kSentAgain], moved[kSentPackets], 1); again && signals.sent_bits_per_second)
    signals.goodput_bits_per_second = *signals.sent_bits_per_second * (1 - *again);
  return signals;
}

void raise(SignalWatch::Peak& peak, const std::optional<double>& value, TimePoint at) {
  if (at - peak.seen > kPeakMemory) peak = {};
  if (value && *value > 0 && *value >= peak.value) peak = {*value, at};
}

std::string percent(double share) {
  return short_number(100 * share) + " %";
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

void follow_signals(HostWatch& host, const HostInventory& inventory) {
  host.signal_counters.clear();
  for (std::uint32_t i = 0; i < inventory.series.size(); ++i) {
    const HostSeries& series = inventory.series[i];
    const auto what = what_of(series);
    if (!what) continue;
    const std::uint32_t port = port_of(host, series);
    if (port == kNoIndex) continue;
    host.signal_counters.push_back({i, port, *what});
  }
}

void take_signals(HostWatch& host, const HostMovement& movement, const Thresholds& thresholds) {
  const double elapsed = seconds(movement.elapsed);
  const bool in_time =
      elapsed > 0 && movement.elapsed <= kLongestGap * std::max<Duration>(host.interval, std::chrono::seconds(1));
  std::vector<Moved> moved(host.ports.size());
  std::vector<std::bitset<kWhatCount>> broken(host.ports.size());
  for (const SignalCounter& counter : host.signal_counters) {
    const SeriesMovement& row = movement.series[counter.series];
    if (!row.present || !row.is_exact()) {
      broken[counter.port].set(counter.what);
      continue;
    }
    auto& sum = moved[counter.port][counter.what];
    sum = sum.value_or(0) + static_cast<double>(row.delta.moved);
  }
  for (std::size_t i = 0; i < host.ports.size(); ++i) {
    for (std::size_t what = 0; what < kWhatCount; ++what)
      if (broken[i][what]) moved[i][what].reset();
    PortWatch& port = host.ports[i];
    SignalWatch& watch = port.signals;
    watch.now = in_time ? signals_of(moved[i], elapsed) : PortSignals{};
    watch.taken = movement.taken;
    const auto pause = watch.now.worst_pause_sent();
    raise(watch.pause_sent, pause ? std::optional(pause->share) : std::nullopt, movement.taken);
    raise(watch.marked, watch.now.marked, movement.taken);
    raise(watch.notified, watch.now.notified, movement.taken);
    watch.slow <<= 1U;
    watch.slow[0] = pause && pause->share >= thresholds.congestion.harm_ratio;
    const double least = thresholds.congestion.deadlock_progress_ratio * static_cast<double>(port.rate);
    const bool nothing = pause && pause->share >= thresholds.congestion.pfc_storm_stalled_ratio && port.rate > 0 &&
                         watch.now.received_bits_per_second && *watch.now.received_bits_per_second < least;
    watch.storm_readings = nothing ? watch.storm_readings + 1 : 0;
  }
}

void report_pauses(const HostWatch& host, const PortWatch& port, const Thresholds& thresholds, TimePoint now,
                   std::vector<Finding>& findings) {
  const SignalWatch& watch = port.signals;
  const bool storm = watch.storm_readings >= thresholds.congestion.pfc_storm_windows;
  if (port.place || port.is_virtual || !port.up || !(storm || watch.slow.count() >= thresholds.congestion.windows))
    return;
  const bool severe = watch.pause_sent.value >= thresholds.congestion.severe_ratio;
  Finding finding = make_finding(storm ? IncidentKind::kPfcStorm : IncidentKind::kSlowReceiver,
                                 storm    ? Severity::kCritical
                                 : severe ? Severity::kWarning
                                          : Severity::kInfo,
                                 entity_of(host, port));
  finding.confidence = storm ? 0.9 : 0.8;
  finding.jobs = host.jobs;
  finding.summary = storm ? port.label + " receives nothing and sends PFC pause frames to its switch continuously"
                          : port.label + " is a slow receiver: it sends PFC pause frames to its switch";
  add_signals(port, now, finding);
  findings.push_back(std::move(finding));
}

void add_signals(const PortWatch& port, TimePoint now, Finding& finding) {
  const SignalWatch& watch = port.signals;
  const auto add = [&](const SignalWatch::Peak& peak, const char* signal, std::string text) {
    if (peak.seen == kNever || now - peak.seen > kPeakMemory) return;
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
  add(watch.pause_sent, "pfc_pause_sent",
      port.label + which + " paused its switch for up to " + percent(watch.pause_sent.value) + " of the time");
  add(watch.marked, "ecn_marked",
      "up to " + percent(watch.marked.value) + " of the packets that " + port.label +
          " received had an ECN mark: a queue on the path was long");
  add(watch.notified, "cnp_handled",
      port.label + " slowed down for up to " + short_number(watch.notified.value) +
          " congestion notifications (CNP) per packet sent");
  if (watch.now.goodput_bits_per_second && now - watch.taken <= kPeakMemory && *watch.now.goodput_bits_per_second > 0)
    add({*watch.now.goodput_bits_per_second / 1e9, watch.taken}, "goodput",
        port.label + " sends " + short_number(*watch.now.goodput_bits_per_second / 1e9) + " Gb/s without retransmits");
}

}  // namespace weft::analyzer
