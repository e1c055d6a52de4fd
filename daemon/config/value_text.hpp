// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values as people write them in a configuration. Every parser gives the value or a sentence: what is wrong and what is
// allowed. parse(format(x)) is x.

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "daemon/config/config.hpp"
#include "daemon/platform/cli/duration.hpp"

namespace weft::config {

/// A value, or what is wrong with the text.
template <typename T>
using Parsed = tl::expected<T, std::string>;

/// As usage::parse_duration() reads it.
Parsed<Duration> parse_duration(std::string_view text);
using usage::format_duration;

/// "512", "64KiB", "20GiB", "1TiB".
Parsed<Bytes> parse_bytes(std::string_view text);
/// In the largest unit that divides it: "20GiB", "512".
std::string format_bytes(Bytes bytes);

/// "127.0.0.1:9640", "[::1]:9640". Names are not resolved.
Parsed<Address> parse_address(std::string_view text);
/// As parse_address() reads it; IPv6 addresses in brackets.
std::string format_address(const Address& address);

/// "weft.example:9641", "192.0.2.1:9641", "[2001:db8::1]:9641". Names are not resolved.
Parsed<Peer> parse_peer(std::string_view text);
/// As parse_peer() reads it.
std::string format_peer(const Peer& peer);
/// Up to 16 of them, each once. A text may hold several, separated by commas; a single empty text means none.
Parsed<std::vector<Peer>> parse_peers(const std::vector<std::string>& texts);
/// One text for each, as parse_peers() reads them.
std::vector<std::string> format_peers(const std::vector<Peer>& peers);

/// {"auto"}, or any number of "mlx5_0:1" and "compute=mlx5_0:1".
Parsed<InfinibandPorts> parse_ports(const std::vector<std::string>& texts);
/// As parse_ports() reads them.
std::vector<std::string> format_ports(const InfinibandPorts& ports);

/// "0.5", "1e-12".
Parsed<double> parse_real(std::string_view text);
/// As parse_real() reads it.
std::string format_real(double value);

/// Decimal, not negative.
Parsed<std::uint64_t> parse_integer(std::string_view text);

/// "true" or "false".
Parsed<bool> parse_bool(std::string_view text);

}  // namespace weft::config
