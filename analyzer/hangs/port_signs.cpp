// SPDX-License-Identifier: Apache-2.0
#include "analyzer/hangs/port_signs.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace weft::analyzer {
namespace {

/// Senders that wait for an answer. Adapters name it differently; one of them is enough.
constexpr std::string_view kRetries[] = {"ack_timeout", "retransmit", "adaptive_retransmit_timeout",
                                         "unresponsive_peer"};
/// Receivers whose software posts nothing.
constexpr std::string_view kRefusals[] = {"out_of_buffer", "rnr_nak_sent"};

/// A peer that goes away makes a burst of timeouts, and that is all; one that others wait for makes them again and
/// again: with NCCL's defaults each queue pair every 4.3 s.
constexpr unsigned kReadings = 3;
constexpr Duration kSpan = std::chrono::seconds(8);

template <std::size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name) {
  return std::ranges::find(names, name) != std::end(names);
}

}  // namespace

void PortSigns::follow(const HostWatch& host, std::vector<std::uint32_t>& followed) {
  const auto sign_of = [](const HostSeries& series) -> std::optional<Run Signs::*> {
    if (is_one_of(kRetries, series.name)) return &Signs::retries;
    if (is_one_of(kRefusals, series.name)) return &Signs::refusals;
    return std::nullopt;
  };
  for (const PortWatch& port : host.ports) signs_[port.slot].followed.clear();
  follow_series(host, followed, sign_of,
                [&](const PortWatch& port, const auto& sign) { signs_[port.slot].followed.push_back(sign); });
}

void PortSigns::take(const HostWatch& host, const HostMovement& movement, bool moves) {
  for (const PortWatch& port : host.ports) {
    Signs& signs = signs_[port.slot];
    if (moves) {
      signs.retries = signs.refusals = {};
      continue;
    }
    for (Run Signs::*const sign : {&Signs::retries, &Signs::refusals}) {
      std::uint64_t moved = 0;
      for (const auto& [series, what] : signs.followed)
        if (what == sign && movement.series[series].present) moved += movement.series[series].delta.moved;
      if (moved == 0) continue;
      Run& run = signs.*sign;
      if (run.readings == 0) run.first = movement.taken;
      run.events += moved;
      ++run.readings;
      run.last = movement.taken;
    }
  }
}

void PortSigns::add_suspects(const HostWatch& host, TimePoint since, std::vector<HangSuspect>& suspects) const {
  for (const PortWatch& port : host.ports) {
    if (port.is_virtual) continue;
    const bool is_down = is_gone(port) || (port.present && port.known && !port.up);
    const TimePoint changed = is_gone(port) ? port.missing_since : port.changed;
    if (is_down && changed >= since - kHangTogether && changed <= since + kHangTogether) {
      suspects.push_back({&host, &port, HangSign::kDown, 0, changed, changed});
      continue;
    }
    const Signs& signs = signs_[port.slot];
    const auto goes_on = [](const Run& run) { return run.readings >= kReadings && run.last - run.first >= kSpan; };
    if (goes_on(signs.refusals))
      suspects.push_back(
          {&host, &port, HangSign::kRefuses, signs.refusals.events, signs.refusals.first, signs.refusals.last});
    else if (goes_on(signs.retries))
      suspects.push_back(
          {&host, &port, HangSign::kRetries, signs.retries.events, signs.retries.first, signs.retries.last});
  }
}

}  // namespace weft::analyzer
