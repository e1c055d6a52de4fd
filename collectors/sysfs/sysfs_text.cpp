// SPDX-License-Identifier: Apache-2.0
#include "collectors/sysfs/sysfs_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace weft::sysfs {
namespace {

bool is_hex_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

template <typename Number>
std::optional<Number> parse_whole(std::string_view text, int base) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::optional<std::uint64_t> parse_counter(std::string_view text) {
  return parse_whole<std::uint64_t>(trimmed(text), 10);
}

std::optional<std::int64_t> parse_signed(std::string_view text) {
  return parse_whole<std::int64_t>(trimmed(text), 10);
}

std::optional<std::uint64_t> parse_aer_total(std::string_view text) {
  text = trimmed(text);
  text.remove_prefix(text.rfind('\n') + 1);  // npos + 1 is none
  if (!text.starts_with("TOTAL_ERR_")) return std::nullopt;
  const std::size_t blank = text.find(' ');
  return blank == std::string_view::npos ? std::nullopt : parse_counter(text.substr(blank));
}

std::optional<std::uint64_t> parse_numbered(std::string_view text) {
  text = trimmed(text);
  return parse_whole<std::uint64_t>(text.substr(0, text.find(':')), 10);
}

PortState parse_port_state(std::string_view text) {
  const std::uint64_t number = parse_numbered(text).value_or(0);
  return number <= static_cast<std::uint64_t>(PortState::kActive) ? static_cast<PortState>(number)
                                                                  : PortState::kUnknown;
}

PortPhysicalState parse_physical_state(std::string_view text) {
  const std::uint64_t number = parse_numbered(text).value_or(0);
  return number <= static_cast<std::uint64_t>(PortPhysicalState::kPhyTest) ? static_cast<PortPhysicalState>(number)
                                                                           : PortPhysicalState::kUnknown;
}

LinkLayer parse_link_layer(std::string_view text) {
  text = trimmed(text);
  if (text == "InfiniBand") return LinkLayer::kInfiniBand;
  if (text == "Ethernet") return LinkLayer::kEthernet;
  return LinkLayer::kUnknown;
}

std::uint64_t parse_rate(std::string_view text) {
  constexpr std::uint64_t kMostGigabits = 1'000'000;
  text = trimmed(text);
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos || !text.substr(blank).starts_with(" Gb/sec")) return 0;
  const std::string_view number = text.substr(0, blank);
  const std::size_t point = number.find('.');
  const std::optional<std::uint64_t> whole = parse_whole<std::uint64_t>(number.substr(0, point), 10);
  if (!whole || *whole > kMostGigabits) return 0;
  std::uint64_t rate = *whole * 1'000'000'000;
  if (point != std::string_view::npos) {
    // The kernel knows ".5" only.
    const std::string_view tenths = number.substr(point + 1);
    if (tenths.size() != 1 || tenths[0] < '0' || tenths[0] > '9') return 0;
    rate += static_cast<std::uint64_t>(tenths[0] - '0') * 100'000'000;
  }
  return rate;
}

Lid parse_lid(std::string_view text) {
  text = trimmed(text);
  if (!text.starts_with("0x")) return {};
  return {parse_whole<std::uint16_t>(text.substr(2), 16).value_or(0)};
}

PortGuid parse_gid(std::string_view text, bool link_local_only) {
  text = trimmed(text);
  constexpr std::size_t kGroups = 8;
  constexpr std::size_t kGroupLength = 5;  // four digits and a colon
  if (text.size() != kGroups * kGroupLength - 1) return {};
  std::array<std::uint16_t, kGroups> groups{};
  for (std::size_t i = 0; i < kGroups; ++i) {
    const std::string_view group = text.substr(i * kGroupLength, 4);
    const std::optional<std::uint16_t> value = parse_whole<std::uint16_t>(group, 16);
    if (!value || (i + 1 < kGroups && text[i * kGroupLength + 4] != ':')) return {};
    groups[i] = *value;
  }
  if (link_local_only && groups[0] != 0xFE80) return {};
  std::uint64_t guid = 0;
  for (std::size_t i = kGroups / 2; i < kGroups; ++i) guid = guid << 16 | groups[i];
  return {guid};
}

NodeGuid parse_node_guid(std::string_view text) {
  return {parse_guid(trimmed(text)).value_or(0)};
}

bool is_pci_address(std::string_view name) {
  // domain:bus:device.function; domains have four digits or more
  const std::size_t domain = name.find(':');
  if (domain == std::string_view::npos || domain < 4 || name.size() != domain + 8) return false;
  const std::string_view rest = name.substr(domain);
  return rest[3] == ':' && rest[6] == '.' && std::ranges::all_of(name.substr(0, domain), is_hex_digit) &&
         is_hex_digit(rest[1]) && is_hex_digit(rest[2]) && is_hex_digit(rest[4]) && is_hex_digit(rest[5]) &&
         is_hex_digit(rest[7]);
}

std::string pci_address_in(std::string_view path) {
  // The last part that is one: a subfunction stands below its function, a function below bridges.
  while (!path.empty()) {
    const std::size_t slash = path.rfind('/');
    const std::string_view part = slash == std::string_view::npos ? path : path.substr(slash + 1);
    if (is_pci_address(part)) return std::string(part);
    if (slash == std::string_view::npos) break;
    path = path.substr(0, slash);
  }
  return {};
}

}  // namespace weft::sysfs
