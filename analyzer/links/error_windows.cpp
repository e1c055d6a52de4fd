// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/error_windows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "analyzer/links/link_findings.hpp"

namespace weft::analyzer {
namespace {

enum Stream : std::uint8_t { kPhysical = 1, kPackets = 2, kSeconds = 4 };

/// Errored seconds in fewer minutes of the clock than this may be of one burst.
constexpr unsigned kSeparateMinutes = 3;
/// How often ports are looked at that had too many errored seconds.
constexpr Duration kReview = std::chrono::minutes(1);

/// The least that a packet received with an error can have been: a link packet's headers and data, in bits.
constexpr double kSmallestPacketBits = 512;

constexpr const char* kRateSignal = "error_rate";

std::uint64_t physical_errors(const ErrorDelta& delta) {
  return delta.symbol_errors + delta.link_error_recovery + delta.local_link_integrity_errors + delta.fec_uncorrectable;
}

std::uint32_t capped(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max() / 2));
}

void add_to(ErrorDelta& sum, const ErrorDelta& delta) {
  sum.symbol_errors += delta.symbol_errors;
  sum.link_error_recovery += delta.link_error_recovery;
  sum.receive_errors += delta.receive_errors;
  sum.receive_remote_physical_errors += delta.receive_remote_physical_errors;
  sum.local_link_integrity_errors += delta.local_link_integrity_errors;
  sum.fec_uncorrectable += delta.fec_uncorrectable;
}

double packet_bits(double received, std::uint32_t errors) {
  return received + kSmallestPacketBits * errors;
}

}  // namespace

ErrorWindows::ErrorWindows(const Thresholds& thresholds)
    : thresholds_(thresholds), bounds_(thresholds.error_confidence) {}

void ErrorWindows::restore(std::span<const ErrorState> states) {
  for (const ErrorState& state : states) condemned_[state.port].rate = state.rate;
}

void ErrorWindows::remember(const Incident& incident) {
  if (!incident.is_open() || incident.finding.kind != IncidentKind::kLinkErrors) return;
  for (const Evidence& evidence : incident.finding.evidence) {
    const auto found = evidence.signal == kRateSignal ? condemned_.find(evidence.where.port) : condemned_.end();
    if (found != condemned_.end()) found->second.before = evidence.observed;
  }
}

std::vector<ErrorState> ErrorWindows::state() const {
  std::vector<ErrorState> states;
  for (const auto& [port, condemned] : condemned_)
    if (condemned.rate > 0) states.push_back({port, condemned.rate});
  return states;
}

void ErrorWindows::remap(const Topology& topology, TimePoint now) {
  const bool same = started_ && topology.epoch() == epoch_;
  if (!same) {
    windows_.clear();
    sums_.clear();
  }
  const std::size_t known = windows_.size();
  windows_.resize(topology.ports().size());
  if (windows_.size() == known) return;
  started_ = true;
  epoch_ = topology.epoch();
  for (auto& [key, condemned] : condemned_) {
    if (condemned.before == kNever) condemned.before = now;
    const PortIndex port = topology.find_port(key);
    if (port == kNoIndex || port < known) continue;
    if (condemned.rate > 0) windows_[port].condemned = kPhysical | kPackets;
    if (condemned.errored_at != kNever) windows_[port].condemned |= kSeconds;
    windows_[port].rate = static_cast<float>(condemned.rate);
  }
}

bool ErrorWindows::over(std::uint32_t errors, double bits, double factor) const {
  return errors > 0 && bounds_.lower(errors) > thresholds_.error_rate_limit * factor * bits;
}

void ErrorWindows::add(Window& window, const ErrorDelta& delta) {
  const std::uint64_t physical = physical_errors(delta);
  if (physical + delta.receive_errors == 0) return;
  window.physical = capped(window.physical + physical);
  window.packets = capped(window.packets + delta.receive_errors);
  if (window.errored_readings < 0xFFFF) ++window.errored_readings;
  ErrorDelta& sum = sums_[delta.port];
  add_to(sum, delta);
}

void ErrorWindows::update(const Topology& topology, const CounterPass& pass, std::span<const float> line_rates,
                          const PlannedLinks& planned, TimePoint now) {
  remap(topology, now);
  const double enough_bits = bounds_.upper(0) / thresholds_.error_rate_limit;
  const auto shortest = static_cast<float>(seconds(thresholds_.error_window_minimum));
  const auto longest = static_cast<float>(seconds(thresholds_.error_window_maximum));
  std::vector<PortRates>& rates = *pass.rates;
  auto delta = pass.errors.begin();
  for (PortIndex port = 0; port < windows_.size(); ++port) {
    Window& window = windows_[port];
    const bool moved = delta != pass.errors.end() && delta->port == port;
    const ErrorDelta* const errors = moved ? &*delta : nullptr;
    if (moved) ++delta;
    const bool up = line_rates[port] > 0;
    const float elapsed = pass.elapsed_seconds[port];
    if (!up) {
      rates[port].error_rate = std::numeric_limits<double>::quiet_NaN();
      window.was_up = false;
      continue;
    }
    if (elapsed <= 0) {
      rates[port].error_rate = static_cast<double>(window.rate);
      continue;
    }
    // A counter that is stuck says nothing: neither more errors, nor time without any.
    if (!moved && std::ranges::binary_search(pass.uncounted, port)) {
      rates[port].error_rate = static_cast<double>(window.rate);
      continue;
    }
    const bool training = !window.was_up || (errors && (errors->link_downed > 0 || planned.has_port(port)));
    window.was_up = true;
    if (training) {
      errored_.forget(topology.key_of(port));
    } else {
      window.line_bits += static_cast<double>(line_rates[port]) * static_cast<double>(elapsed);
      window.packet_bits += static_cast<double>(std::max(0.0F, pass.receive_bits[port]));
      window.elapsed += elapsed;
      if (errors) add(window, *errors);
      if (errors && physical_errors(*errors) > 0)
        note_second(topology.key_of(port), window, static_cast<double>(line_rates[port]), static_cast<double>(elapsed),
                    now);
    }
    const bool errored = window.physical + window.packets > 0;
    const bool gross = errored && (over(window.physical, window.line_bits, thresholds_.error_gross_factor) ||
                                   over(window.packets, packet_bits(window.packet_bits, window.packets),
                                        thresholds_.error_gross_factor));
    const bool full = window.elapsed >= shortest && (window.line_bits >= enough_bits || window.elapsed >= longest ||
                                                     (window.condemned & ~kSeconds) == kPackets);
    double rate = static_cast<double>(window.rate);
    if (errored)
      rate = std::max({rate, window.physical / std::max(1.0, window.line_bits),
                       window.packets / packet_bits(window.packet_bits, window.packets)});
    rates[port].error_rate = rate;
    if (gross || full) judge(topology, port, window, now);
  }
  if (reviewed_ == kNever || now < reviewed_ || now - reviewed_ >= kReview) review_seconds(topology, now);
}

/// A reading with physical errors, `elapsed` seconds after the one before. Where nobody has set a limit it is what a
/// link with the error rate that it may have would show on average.
void ErrorWindows::note_second(PortKey port, Window& window, double line_rate, double elapsed, TimePoint now) {
  errored_.add(port, now, elapsed);
  for (std::size_t i = 0; i < ErroredSeconds::kWindows.size(); ++i) {
    const ErroredSeconds::Count count = errored_.count(port, i, now);
    const unsigned set = i == 0 ? thresholds_.errored_seconds_12_minutes : thresholds_.errored_seconds_125_minutes;
    // The usual time between readings: a late one would make few of them, and with that a low limit.
    const double spacing = std::max(count.spacing, 1e-3);
    const double readings = 60 * ErroredSeconds::kWindows[i] / spacing;
    const double limit = set > 0 ? set : readings * -std::expm1(-thresholds_.error_rate_limit * line_rate * spacing);
    const double surely = set > 0 ? count.seconds : bounds_.lower(count.seconds);
    if (surely <= limit || count.minutes < kSeparateMinutes) continue;
    if (!window.condemned) ++revision_;
    window.condemned |= kSeconds;
    Condemned& entry = condemned_[port];
    entry.errored = count;
    entry.errored_limit = limit;
    entry.errored_window = i;
    entry.errored_at = now;
    return;
  }
}

/// Reinstates ports with at most half of the errored seconds that they may have.
void ErrorWindows::review_seconds(const Topology& topology, TimePoint now) {
  reviewed_ = now;
  errored_.expire(now);
  for (auto entry = condemned_.begin(); entry != condemned_.end();) {
    auto& [key, condemned] = *entry;
    const PortIndex port = topology.find_port(key);
    const bool is_over = 2 * errored_.count(key, condemned.errored_window, now).seconds > condemned.errored_limit;
    if (condemned.errored_at == kNever || is_over) {
      ++entry;
      continue;
    }
    if (port != kNoIndex) windows_[port].condemned &= static_cast<std::uint8_t>(~kSeconds);
    condemned.errored_at = kNever;
    if (condemned.rate > 0) {
      ++entry;
      continue;
    }
    ++revision_;
    entry = condemned_.erase(entry);
  }
}

void ErrorWindows::release(const Topology& topology, const LinkTable& table) {
  if (topology.is_ethernet()) return;  // cables need not be known there
  std::erase_if(condemned_, [&](const auto& entry) {
    if (table.is_expected_at(entry.first)) return false;
    const PortIndex port = topology.find_port(entry.first);
    // What is at its other end may never have answered.
    if (port != kNoIndex && topology.port(port).is_up() && topology.node_of(topology.port(port)).reachable)
      return false;
    if (port != kNoIndex) windows_[port].condemned = 0;
    ++revision_;
    return true;
  });
}

void ErrorWindows::judge(const Topology& topology, PortIndex port, Window& window, TimePoint now) {
  const double received = packet_bits(window.packet_bits, window.packets);
  const double limit = thresholds_.error_rate_limit;
  const bool physical_over = over(window.physical, window.line_bits, 1);
  const bool packets_over = over(window.packets, received, 1);
  double rate = 0;
  if (window.physical > 0) rate = window.physical / std::max(1.0, window.line_bits);
  if (window.packets > 0) rate = std::max(rate, window.packets / received);
  window.rate = static_cast<float>(rate);
  window.strikes = physical_over || packets_over ? static_cast<std::uint8_t>(std::min(window.strikes + 1, 255)) : 0;
  window.clean = window.packets == 0 ? static_cast<std::uint8_t>(std::min(window.clean + 1, 255)) : 0;

  const std::uint8_t before = window.condemned;
  if (window.strikes >= thresholds_.error_windows) {
    if (physical_over) window.condemned |= kPhysical;
    if (packets_over) window.condemned |= kPackets;
  } else if (before) {
    // An idle link never receives enough bits for the upper bound of its packets: clean windows must do.
    if (bounds_.upper(window.physical) < limit * window.line_bits)
      window.condemned &= static_cast<std::uint8_t>(~kPhysical);
    if (window.clean >= thresholds_.error_windows || bounds_.upper(window.packets) < limit * received)
      window.condemned &= static_cast<std::uint8_t>(~kPackets);
  }
  if (window.condemned && (physical_over || packets_over)) {
    Condemned& entry = condemned_[topology.key_of(port)];
    entry.rate = rate;
    entry.bits = physical_over ? window.line_bits : received;
    entry.elapsed = static_cast<double>(window.elapsed);
    entry.errored_readings = window.errored_readings;
    entry.closed = now;
    entry.sums = {};
    if (const auto found = sums_.find(port); found != sums_.end()) entry.sums = found->second;
  } else if (before && !window.condemned) {
    condemned_.erase(topology.key_of(port));
  }
  if ((before != 0) != (window.condemned != 0)) ++revision_;

  if (window.errored_readings > 0) sums_.erase(port);
  window.line_bits = window.packet_bits = 0;
  window.elapsed = 0;
  window.physical = window.packets = 0;
  window.errored_readings = 0;
  window.judged = true;
}

void ErrorWindows::add_rate(const Condemned& condemned, const Entity& where, TimePoint now, Finding& finding) const {
  const auto window = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(condemned.elapsed));
  // Of a link that carries nothing the errors cannot be measured again: they are as old as they are.
  const TimePoint observed = condemned.closed == kNever ? std::min(condemned.before, now) : condemned.closed;
  const std::string measured =
      condemned.closed == kNever
          ? std::string(", measured before weftd was restarted")
          : " over " + bits_text(condemned.bits) + " in " + quantity_text(condemned.elapsed, "s") + ", in " +
                count_text(condemned.errored_readings) + (condemned.errored_readings == 1 ? " reading" : " readings");
  finding.evidence.push_back(
      {.signal = kRateSignal,
       .description = where.label + ": " + short_number(condemned.rate) + " errors per bit" + measured,
       .value = condemned.rate,
       .threshold = thresholds_.error_rate_limit,
       .unit = "errors/bit",
       .observed = observed,
       .where = where,
       .window = window});
  const auto add = [&](const char* signal, std::uint64_t count) {
    if (count == 0) return;
    finding.evidence.push_back({.signal = signal,
                                .description = where.label + ": " + signal + " grew by " + count_text(count) +
                                               " in the window above the limit",
                                .value = static_cast<double>(count),
                                .threshold = 0,
                                .unit = "events",
                                .observed = observed,
                                .where = where,
                                .window = window});
  };
  add("symbol_errors", condemned.sums.symbol_errors);
  add("link_error_recovery", condemned.sums.link_error_recovery);
  add("receive_errors", condemned.sums.receive_errors);
  add("local_link_integrity_errors", condemned.sums.local_link_integrity_errors);
  add("fec_uncorrectable", condemned.sums.fec_uncorrectable);
}

void ErrorWindows::add_seconds(const Condemned& condemned, const Entity& where, Finding& finding) {
  const std::chrono::minutes window(ErroredSeconds::kWindows[condemned.errored_window]);
  finding.evidence.push_back({.signal = "errored_seconds",
                              .description = where.label + ": errors in " + count_text(condemned.errored.seconds) +
                                             " separate seconds of " + short_duration(window) + ", in " +
                                             count_text(condemned.errored.minutes) + " of its minutes; the limit was " +
                                             short_number(condemned.errored_limit),
                              .value = static_cast<double>(condemned.errored.seconds),
                              .threshold = condemned.errored_limit,
                              .unit = "errored seconds",
                              .observed = condemned.errored_at,
                              .where = where,
                              .window = window});
}

void ErrorWindows::report(const Topology& topology, const LinkTable& table, const Describe& describe, TimePoint now,
                          std::vector<Finding>& findings) const {
  std::map<LinkId, std::size_t> of_link;
  std::map<std::size_t, std::string> suspects;  // by finding: the end whose transmitter may be to blame
  for (const auto& [key, condemned] : condemned_) {
    const PortIndex port = topology.find_port(key);
    const LinkId link = port == kNoIndex ? kNoIndex : table.link_at(port);
    const Entity where = describe.port(key);
    const bool by_rate = condemned.rate > 0 && (port == kNoIndex || (windows_[port].condemned & ~kSeconds) != 0);
    std::size_t position = findings.size();
    if (link != kNoIndex) position = of_link.try_emplace(link, findings.size()).first->second;
    if (position == findings.size()) {
      Finding finding =
          link == kNoIndex ? make_finding(IncidentKind::kLinkErrors, Severity::kWarning, where)
                           : link_finding(IncidentKind::kLinkErrors, Severity::kWarning, reported_link(describe, link));
      finding.confidence = 0.9;
      finding.summary =
          (link == kNoIndex ? "Port " : "Link ") + finding.cause.label +
          (by_rate ? " has a bit error rate above its limit of " + short_number(thresholds_.error_rate_limit)
                   : std::string(" has errors in many separate seconds")) +
          ", received at " + where.label;
      if (link != kNoIndex)
        suspects[position] = describe.end(link, table.links()[link].key.low == key).label;  // the end that sends
      findings.push_back(std::move(finding));
    } else {
      findings[position].summary += " and at " + where.label;
      suspects.erase(position);
    }
    Finding& finding = findings[position];
    if (condemned.rate > 0) add_rate(condemned, where, now, finding);
    if (condemned.errored_at != kNever) add_seconds(condemned, where, finding);
  }
  for (const auto& [position, sender] : suspects)
    findings[position].summary += ": the cable or the transmitter of " + sender + " is suspected";
}

}  // namespace weft::analyzer
