// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/host_stalls.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

constexpr Duration kStallMemory = std::chrono::seconds(30);

}  // namespace

void HostStalls::follow(const HostWatch& host, std::vector<std::uint32_t>& followed) {
  const auto sign_of = [](const HostSeries& series) -> std::optional<Sign Stall::*> {
    if (series.name == "pcie_write_stall") return &Stall::pcie_write;
    if (series.name == "pcie_read_stall") return &Stall::pcie_read;
    if (series.name == "out_of_buffer") return &Stall::out_of_buffer;
    return std::nullopt;
  };
  for (const PortWatch& port : host.ports) stalls_[port.slot].followed.clear();
  follow_series(host, followed, sign_of,
                [&](const PortWatch& port, const auto& sign) { stalls_[port.slot].followed.push_back(sign); });
}

/// `amount`: packets, or a share of the time. One that is worth nothing ends what has not been seen for long.
void HostStalls::show(Sign& sign, double amount, bool is_share, TimePoint at) const {
  if (at - sign.seen > kStallMemory) sign = {};
  if (is_share ? amount < least_share_ : amount <= 0) return;
  if (sign.began == kNever) sign.began = at;
  sign.seen = at;
  sign.value = is_share ? std::max(sign.value, amount) : sign.value + amount;
}

void HostStalls::take(const HostWatch& host, const HostMovement& movement) {
  for (const PortWatch& port : host.ports) {
    Stall& stall = stalls_[port.slot];
    for (const auto& [series, sign] : stall.followed) {
      const SeriesMovement& row = movement.series[series];
      if (!row.present) continue;
      const bool is_share = host.inventory->series[series].behaviour == CounterBehaviour::kGauge;
      show(stall.*sign, is_share ? static_cast<double>(row.value) / 100 : static_cast<double>(row.delta.moved),
           is_share, movement.taken);
    }
  }
}

bool HostStalls::is_stalled(const PortWatch& port, TimePoint now) const {
  const auto lately = [&](const Sign& sign) { return sign.seen != kNever && now - sign.seen <= kStallMemory; };
  const Stall& stall = stalls_[port.slot];
  return lately(stall.pcie_write) || lately(stall.pcie_read);
}

void HostStalls::add(const PortWatch& port, TimePoint now, Finding& finding) const {
  const auto note = [&](const Sign& sign, const char* signal, std::string text, bool is_share) {
    if (sign.seen == kNever || now - sign.seen > kStallMemory) return;
    finding.evidence.push_back({.signal = signal,
                                .description = std::move(text),
                                .value = sign.value,
                                .threshold = is_share ? least_share_ : 0,
                                .unit = is_share ? "" : "packets",
                                .observed = sign.seen,
                                .where = finding.cause,
                                .window = sign.seen - sign.began});
    finding.confidence = std::max(finding.confidence, is_share ? 0.95 : 0.9);
  };
  const Stall& stall = stalls_[port.slot];
  const auto share = [](const Sign& sign) { return share_text(sign.value) + " of a second"; };
  note(stall.pcie_write, "pcie_write_stall",
       port.label + " waited up to " + share(stall.pcie_write) + " to write to host memory over PCIe", true);
  note(stall.pcie_read, "pcie_read_stall",
       port.label + " waited up to " + share(stall.pcie_read) + " to read from host memory over PCIe", true);
  note(stall.out_of_buffer, "out_of_buffer",
       short_number(stall.out_of_buffer.value) + " packets were dropped without a receive request at " + port.label +
           ": the application posted them too slowly",
       false);
}

}  // namespace weft::analyzer
