// SPDX-License-Identifier: Apache-2.0
#include "fabric/pcie_links.hpp"

#include <algorithm>
#include <charconv>

namespace weft {
namespace {

/// The number that `text` begins with, which is taken off it.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number > 10'000) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// "32", "32.0" or "2.5", in tenths.
std::optional<std::uint32_t> take_speed(std::string_view& text) {
  const auto whole = take_number(text);
  if (!whole) return std::nullopt;
  std::uint32_t tenths = *whole * 10;
  if (take(text, ".")) {
    const auto part = take_number(text);
    if (!part || *part > 9) return std::nullopt;
    tenths += *part;
  }
  return tenths > 0 ? std::optional(tenths) : std::nullopt;
}

bool is_lanes(std::uint32_t lanes) {
  return lanes > 0 && lanes < 255;
}

std::string speed_text(std::uint32_t tenths) {
  std::string text = std::to_string(tenths / 10);
  if (tenths % 10 != 0) text += '.' + std::to_string(tenths % 10);
  return text;
}

/// "32x16"
std::optional<PcieRate> take_rate(std::string_view& text) {
  const auto speed = take_speed(text);
  if (!speed || !take(text, "x")) return std::nullopt;
  const auto lanes = take_number(text);
  if (!lanes || !is_lanes(*lanes)) return std::nullopt;
  return PcieRate{*speed, *lanes};
}

std::string short_text(PcieRate rate) {
  return speed_text(rate.speed) + 'x' + std::to_string(rate.lanes);
}

}  // namespace

double PcieRate::bits_per_second() const {
  constexpr std::uint32_t kLastOf8b10b = 50;
  constexpr std::uint32_t kFirstOfFlits = 640;
  const double coding = speed <= kLastOf8b10b ? 8.0 / 10 : speed < kFirstOfFlits ? 128.0 / 130 : 242.0 / 256;
  return 1e8 * speed * lanes * coding;
}

PcieRate PcieLink::most() const {
  return {std::min(below.speed, above.speed), std::min(below.lanes, above.lanes)};
}

std::optional<PcieRate> parse_pcie_rate(std::string_view speed, std::string_view width) {
  const auto each = take_speed(speed);
  const auto lanes = take_number(width);
  if (!each || !speed.starts_with(" GT/s") || !lanes || !width.empty() || !is_lanes(*lanes)) return std::nullopt;
  return PcieRate{*each, *lanes};
}

std::string to_text(PcieRate rate) {
  return speed_text(rate.speed) + " GT/s x" + std::to_string(rate.lanes);
}

std::string to_text(std::span<const PcieLink> links) {
  std::string text;
  for (const PcieLink& link : links.subspan(0, std::min(links.size(), kMostPcieLinks)))
    text += (text.empty() ? "" : " ") + link.address + ' ' + short_text(link.now) + '/' + short_text(link.below) + '/' +
            short_text(link.above);
  return text;
}

std::vector<PcieLink> parse_pcie_links(std::string_view text) {
  std::vector<PcieLink> links;
  while (!text.empty() && links.size() < kMostPcieLinks) {
    const std::size_t blank = text.find(' ');
    if (blank == 0 || blank == std::string_view::npos) break;
    PcieLink link;
    link.address = text.substr(0, blank);
    text.remove_prefix(blank + 1);
    const auto now = take_rate(text);
    const auto below = now && take(text, "/") ? take_rate(text) : std::nullopt;
    const auto above = below && take(text, "/") ? take_rate(text) : std::nullopt;
    if (!above || !(text.empty() || take(text, " "))) break;
    link.now = *now;
    link.below = *below;
    link.above = *above;
    links.push_back(std::move(link));
  }
  return links;
}

}  // namespace weft
