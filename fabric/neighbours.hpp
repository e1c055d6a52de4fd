// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the neighbours at a system's interfaces say of themselves by LLDP (IEEE 802.1AB), whoever read it there.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/clock.hpp"

namespace weft {

/// What a chassis id is made of (802.1AB, table 8-2); the numbers are the standard's.
enum class ChassisIdType : std::uint8_t {
  kUnknown = 0,
  kComponent = 1,
  kInterfaceAlias = 2,
  kPortComponent = 3,
  kMac = 4,
  kNetworkAddress = 5,
  kInterfaceName = 6,
  kLocal = 7,
};
/// "mac", "local", …; "unknown".
const char* to_string(ChassisIdType type);

/// What a port id is made of (802.1AB, table 8-3); the numbers are the standard's.
enum class PortIdType : std::uint8_t {
  kUnknown = 0,
  kInterfaceAlias = 1,
  kPortComponent = 2,
  kMac = 3,
  kNetworkAddress = 4,
  kInterfaceName = 5,
  kAgentCircuit = 6,
  kLocal = 7,
};
/// "mac", "interface name", …; "unknown".
const char* to_string(PortIdType type);

/// Which system it is. All texts here are printable ASCII; MAC addresses are "02:00:00:00:00:01".
struct ChassisId {
  ChassisIdType type = ChassisIdType::kUnknown;
  std::string id;
  auto operator<=>(const ChassisId&) const = default;
};

/// Which of its ports it is, as the system itself says.
struct LldpPortId {
  PortIdType type = PortIdType::kUnknown;
  std::string id;
  auto operator<=>(const LldpPortId&) const = default;
};

/// One neighbour at an interface. All of it is what the neighbour claims.
struct Neighbour {
  ChassisId chassis;
  LldpPortId port;
  std::string system_name;             ///< empty: not told
  std::string port_description;        ///< often the interface's name; empty: not told
  std::vector<std::string> addresses;  ///< of management, sorted
  std::uint16_t capabilities = 0;      ///< that are in use: system capabilities, bits as in 802.1AB, table 8-4
  std::uint16_t ttl_seconds = 0;       ///< for so long it counts without being told again
  std::int64_t since = 0;              ///< when it last changed: seconds since 1970 UTC by the clock of who read it
  bool operator==(const Neighbour&) const = default;
};
inline constexpr std::uint16_t kCapabilityBridge = 1U << 2;
inline constexpr std::uint16_t kCapabilityRouter = 1U << 4;

/// An interface of the system that was read, and who is heard there.
struct NeighbourPort {
  std::string interface;  ///< "eth2", "swp1"
  LldpPortId own;         ///< what it tells its own neighbours
  std::string own_description;
  std::vector<Neighbour> neighbours;  ///< sorted by chassis and port
  std::uint32_t left_out = 0;         ///< neighbours beyond the limits
  bool operator==(const NeighbourPort&) const = default;
};

/// All interfaces of one system.
struct NeighbourTable {
  ChassisId chassis;                 ///< of the system itself, as it tells its neighbours
  std::string system_name;           ///< the same
  std::vector<NeighbourPort> ports;  ///< sorted by interface
  bool operator==(const NeighbourTable&) const = default;
};

/// What a table may hold. Neighbours may be hostile: who floods an interface hides nobody elsewhere.
struct NeighbourLimits {
  static constexpr std::size_t kPorts = 1'024;
  static constexpr std::size_t kOfPort = 4;           ///< neighbours at one interface
  static constexpr std::size_t kNeighbours = 1'024;   ///< at all of them
  static constexpr std::size_t kBytes = 256UL << 10;  ///< of what all of them say
  static constexpr std::size_t kAddresses = 4;
  static constexpr std::size_t kIdLength = 255;  ///< bytes, as the standard has it
  static constexpr std::size_t kTextLength = 128;
};

/// Printable ASCII of at most `most` bytes: every other byte becomes '?'.
std::string plain_text(std::string_view text, std::size_t most);

/// `table` in order and within the limits, with plain texts. Of the neighbours of an interface those stay that have
/// been there longest, and every interface keeps its first before any keeps its second.
NeighbourTable tidy(NeighbourTable table);

}  // namespace weft
