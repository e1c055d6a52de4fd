// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/value_text.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "fabric/list_text.hpp"

namespace weft::config {
namespace {

tl::unexpected<std::string> wrong(std::string_view text, std::string_view rest) {
  return tl::unexpected<std::string>('"' + std::string(text) + "\" " + std::string(rest));
}

struct Unit {
  std::string_view name;
  double size;
};
constexpr std::array<Unit, 5> kSizes{{{"", 1}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}}};

/// Names become file names, metric labels and URLs.
// It becomes the name of a folder that is emptied: "." and ".." must not pass.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

Parsed<InfinibandPort> parse_port(std::string_view text) {
  constexpr std::string_view kAllowed = "is not a port; use \"auto\", \"mlx5_0:1\" or \"NAME=mlx5_0:1\"";
  const std::size_t equals = text.find('=');
  const std::string_view place = equals == std::string_view::npos ? text : text.substr(equals + 1);
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) return wrong(text, kAllowed);
  const auto number = parse_integer(place.substr(colon + 1));
  if (!number || *number < 1 || *number > 254 || !is_plain_name(place.substr(0, colon))) return wrong(text, kAllowed);
  InfinibandPort port{{}, std::string(place.substr(0, colon)), static_cast<std::uint8_t>(*number)};
  port.fabric = equals == std::string_view::npos ? port.device + '-' + std::to_string(*number) : text.substr(0, equals);
  if (!is_plain_name(port.fabric))
    return wrong(text, "has an invalid fabric name; use letters, digits, _, - and ., without a leading .");
  return port;
}

}  // namespace

Parsed<Duration> parse_duration(std::string_view text) {
  return usage::parse_duration(text).map_error([text](const std::string& why) { return wrong(text, why).value(); });
}

Parsed<Bytes> parse_bytes(std::string_view text) {
  constexpr std::string_view kAllowed =
      "is not a size; use a number of bytes or one with KiB, MiB, GiB or TiB, such as \"20GiB\"";
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || number < 0 || !std::isfinite(number)) return wrong(text, kAllowed);
  const std::string_view name(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const auto* const unit = std::ranges::find(kSizes, name, &Unit::name);
  if (unit == kSizes.end()) return wrong(text, kAllowed);
  const double value = number * unit->size;
  if (value > 0x1p62) return wrong(text, "is too large");
  return Bytes{static_cast<std::uint64_t>(value)};
}

std::string format_bytes(Bytes bytes) {
  if (bytes.value == 0) return "0";
  std::size_t i = kSizes.size() - 1;
  while (bytes.value % static_cast<std::uint64_t>(kSizes[i].size) != 0) --i;
  return std::to_string(bytes.value / static_cast<std::uint64_t>(kSizes[i].size)) + std::string(kSizes[i].name);
}

Parsed<Address> parse_address(std::string_view text) {
  constexpr std::string_view kAllowed =
      "is not an address; use a numeric address and a port, such as \"127.0.0.1:9640\" or \"[::1]:9640\"";
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong(text, kAllowed);
  std::string host(text.substr(0, colon));
  const auto port = parse_integer(text.substr(colon + 1));
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  in6_addr address{};
  if (inet_pton(bracketed ? AF_INET6 : AF_INET, host.c_str(), &address) != 1 || !port) return wrong(text, kAllowed);
  if (*port > 65535) return wrong(text, "has a port above 65535");
  return Address{std::move(host), static_cast<std::uint16_t>(*port)};
}

std::string format_address(const Address& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return (v6 ? '[' + address.host + ']' : address.host) + ':' + std::to_string(address.port);
}

Parsed<Peer> parse_peer(std::string_view text) {
  constexpr std::string_view kAllowed =
      "is not a host and a port; examples: \"weft.example:9641\", \"192.0.2.1:9641\" or \"[2001:db8::1]:9641\"";
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong(text, kAllowed);
  const auto port = parse_integer(text.substr(colon + 1));
  if (!port || *port == 0 || *port > 65535) return wrong(text, kAllowed);
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[')) {
    const auto address = parse_address(text);
    if (!address) return wrong(text, kAllowed);
    return Peer{address->host, address->port};
  }
  const bool is_name = !host.empty() && host.size() <= 253 && std::ranges::all_of(host, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
  });
  if (!is_name) return wrong(text, kAllowed);
  return Peer{std::string(host), static_cast<std::uint16_t>(*port)};
}

std::string format_peer(const Peer& peer) {
  return format_address({peer.host, peer.port});
}

Parsed<std::vector<Peer>> parse_peers(const std::vector<std::string>& texts) {
  constexpr std::size_t kMostPeers = 16;
  std::vector<Peer> peers;
  if (texts.size() == 1 && texts.front().empty()) return peers;
  for (const std::string& several : texts) {
    for (const std::string& text : split_list(several)) {
      auto peer = parse_peer(text);
      if (!peer) return tl::unexpected<std::string>(peer.error());
      if (std::ranges::find(peers, *peer) != peers.end()) return wrong(text, "is listed twice");
      peers.push_back(std::move(*peer));
    }
  }
  if (peers.size() > kMostPeers) return tl::unexpected<std::string>("has more than 16 addresses");
  return peers;
}

std::vector<std::string> format_peers(const std::vector<Peer>& peers) {
  std::vector<std::string> texts;
  for (const Peer& peer : peers) texts.push_back(format_peer(peer));
  return texts;
}

Parsed<InfinibandPorts> parse_ports(const std::vector<std::string>& texts) {
  if (texts.empty())
    return tl::unexpected<std::string>("is empty; to disable InfiniBand set infiniband.enabled = false");
  if (texts.size() == 1 && texts.front() == "auto") return InfinibandPorts{};
  InfinibandPorts ports{false, {}};
  std::set<std::string> fabrics;
  std::set<std::pair<std::string, std::uint8_t>> places;
  for (const std::string& text : texts) {
    if (text == "auto") return wrong(text, "must be the only entry: it means every active port");
    auto port = parse_port(text);
    if (!port) return tl::unexpected<std::string>(port.error());
    if (!places.emplace(port->device, port->port).second) return wrong(text, "is listed twice");
    if (!fabrics.insert(port->fabric).second)
      return wrong(text, "has the fabric name of another port; names must differ");
    ports.named.push_back(std::move(*port));
  }
  return ports;
}

std::vector<std::string> format_ports(const InfinibandPorts& ports) {
  if (ports.automatic) return {"auto"};
  std::vector<std::string> texts;
  for (const InfinibandPort& port : ports.named)
    texts.push_back(port.fabric + '=' + port.device + ':' + std::to_string(port.port));
  return texts;
}

Parsed<double> parse_real(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    return wrong(text, "is not a number");
  return value;
}

std::string format_real(double value) {
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

Parsed<std::uint64_t> parse_integer(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty())
    return wrong(text, "is not a whole number from 0 upwards");
  return value;
}

Parsed<bool> parse_bool(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return wrong(text, "is not true or false");
}

}  // namespace weft::config
