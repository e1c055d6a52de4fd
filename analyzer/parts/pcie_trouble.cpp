// SPDX-License-Identifier: Apache-2.0
#include "analyzer/parts/pcie_trouble.hpp"

#include <string>

#include "fabric/minute_text.hpp"
#include "fabric/number_text.hpp"

namespace weft::analyzer {
namespace {

/// Of what a link carries this share is payload: each packet of 256 bytes, the usual MaxPayloadSize, has 24 to 28 of
/// header, sequence number and CRC (PCI Express Base Specification, chapters 2 and 3).
constexpr double kPayloadShare = 0.9;
constexpr double kGiga = 1e9;

Evidence number(const char* signal, std::string text, double value, double threshold, const char* unit,
                const Entity& where, TimePoint now) {
  return {.signal = signal,
          .description = std::move(text),
          .value = value,
          .threshold = threshold,
          .unit = unit,
          .observed = now,
          .where = where};
}

}  // namespace

const PcieLink* worst_link(std::span<const PcieLink> links) {
  const PcieLink* worst = nullptr;
  for (const PcieLink& link : links)
    if (link.is_degraded() && (!worst || link.now.bits_per_second() < worst->now.bits_per_second())) worst = &link;
  return worst;
}

std::string shortfall_text(const PcieLink& link) {
  const PcieRate most = link.most();
  if (link.now.speed >= most.speed) return "x" + std::to_string(link.now.lanes) + " of x" + std::to_string(most.lanes);
  if (link.now.lanes >= most.lanes)
    return short_number(link.now.speed / 10.0) + " of " + short_number(most.speed / 10.0) + " GT/s";
  return to_text(link.now) + " of " + to_text(most);
}

PartTrouble pcie_trouble(const PcieLink& link, double port_rate, const Entity& where, TimePoint since, TimePoint now) {
  const PcieRate most = link.most();
  const double carried = link.now.bits_per_second();
  const bool is_enough = port_rate > 0 && carried * kPayloadShare >= port_rate;
  PartTrouble trouble;
  trouble.sign = PartSign::kPcieLink;
  trouble.since = since;
  trouble.severity = is_enough ? Severity::kInfo : Severity::kWarning;
  trouble.words = "PCIe link " + link.address + " runs at " + shortfall_text(link);
  if (is_enough) trouble.words += ", which is enough for its ports";
  const std::string ends = "its lower end could " + to_text(link.below) + ", the port above " + to_text(link.above) +
                           " (LnkSta, LnkCap of lspci -vvs " + link.address + "), since " + minute_text(since);
  if (link.now.lanes < most.lanes)
    trouble.evidence.push_back(number("pcie_width",
                                      "PCIe link " + link.address + " ran at " + to_text(link.now) + ": " + ends,
                                      link.now.lanes, most.lanes, "lanes", where, now));
  if (link.now.speed < most.speed)
    trouble.evidence.push_back(number("pcie_speed",
                                      "PCIe link " + link.address + " ran at " + to_text(link.now) + ": " + ends,
                                      link.now.speed / 10.0, most.speed / 10.0, "GT/s", where, now));
  std::string text = "it carried at most " + rate_text(carried) + " in each direction";
  if (port_rate > 0) text += ", for ports of " + rate_text(port_rate) + " in all";
  trouble.evidence.push_back(
      number("pcie_bandwidth", std::move(text), carried / kGiga, port_rate / kGiga, "Gb/s", where, now));
  return trouble;
}

}  // namespace weft::analyzer
