// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a host's ports and adapters are set up: facts that stay as they are until somebody changes them. Counters and
// states are no such facts (host.hpp has them). One table of kinds; collectors, the stream, the judge and the command
// line all read it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// A kind of fact. Its number is its number on the wire (api/telemetry/fact_codec.hpp): new ones go before kCount.
enum class ConfigFact : std::uint8_t {
  kFirmware,
  kDriver,
  kDriverVersion,
  kPcieSpeed,
  kPcieWidth,
  kPcieSpeedMost,
  kPcieWidthMost,
  kVirtualFunctions,
  kMtu,
  kPfc,
  kEtsPriorities,
  kEtsClasses,
  kDscp,
  kPause,
  kFecSetting,
  kFecActive,
  kBoard,
  kPciIds,
  kHostModel,
  kModuleVendor,
  kModulePart,
  kModuleRevision,
  kModuleSerial,
  kPcieLinks,
  kModuleTemperatureLimits,
  kModuleBiasLimits,
  kModuleTransmitPowerLimits,
  kAdapterTemperatureLimits,
  kKernelFault,
  kHostAddresses,
  kNcclRanks,
  kCount,
};
inline constexpr std::size_t kConfigFacts = static_cast<std::size_t>(ConfigFact::kCount);

/// What a fact is a fact of.
enum class FactScope : std::uint8_t {
  kPort,     ///< each port has its own
  kAdapter,  ///< all ports and functions of an adapter have the same
  kHost,     ///< of the machine; stands under the device "" and the port 0
};

/// Where a fact was read. Its number is its number on the wire, too.
enum class FactSource : std::uint8_t { kSysfs, kEthtool, kDcb, kKernelLog, kNetlink, kNccl, kCount };
const char* to_string(FactSource source);  ///< "sysfs", "ethtool", "dcb", "kernel_log", "netlink", "nccl"

/// One row of the table of kinds.
struct ConfigFactRow {
  const char* name;       ///< "pfc_priorities": the spelling of JSON, metrics and people who filter
  const char* words;      ///< "PFC priorities": for sentences
  const char* unit;       ///< "bytes", "lanes"; empty for texts
  const char* read_from;  ///< the kernel's file or message, for people who want to check it
  FactScope scope;
  bool by_cohort;  ///< ports of one make should agree on it
  bool by_ends;    ///< the two ends of a link should
};
/// The row of `fact`, which is not kCount.
const ConfigFactRow& row_of(ConfigFact fact);
/// The kind of that name; nullopt for any other text.
std::optional<ConfigFact> parse_config_fact(std::string_view name);

/// What was read. A fact that was not read is absent: it stands in no table.
struct FactValue {
  ConfigFact fact = ConfigFact::kCount;
  FactSource source = FactSource::kSysfs;
  std::string value;  ///< "28.41.1000", "9000", "0,3"; printable ASCII, never empty in a table that is tidy()

  bool operator==(const FactValue&) const = default;
};

/// The facts of one port, of the adapter behind it too; of the host itself with an empty device.
struct PortFacts {
  std::string device;            ///< as HostPort::device
  std::uint8_t number = 0;       ///< as HostPort::number
  std::vector<FactValue> facts;  ///< in the order of their numbers, each once

  bool operator==(const PortFacts&) const = default;
};

/// All facts of a host. Made anew only when something of it changed; readings share it by pointer.
struct FactTable {
  std::vector<PortFacts> ports;  ///< sorted by (device, number), each once

  bool operator==(const FactTable&) const = default;
};

/// What a table may have; tidy() cuts what is above.
struct FactLimits {
  static constexpr std::size_t kPorts = 2'049;  ///< as many as a batch has, and the host
  static constexpr std::size_t kDeviceLength = 128;
  static constexpr std::size_t kValueLength = 128;
};

/// The table in its order, within FactLimits, whoever made it: of a port or a fact that is told twice the first one
/// stays, letters that are not printable ASCII are '?', and facts without a value or of no kind that is known are left
/// out, as are ports without facts.
FactTable tidy(FactTable table);

/// The value of that fact of the port; null where it was not read. Valid as long as `table`. Needs a tidy() table.
const FactValue* find_fact(const PortFacts& port, ConfigFact fact);
/// Its text; empty where it was not read, and of null. Valid as long as `port`. Needs a tidy() table.
std::string_view fact_text(const PortFacts* port, ConfigFact fact);
/// Of which make its adapter is: "board MT_0000000838", "PCI ids 0x15b3:0x1021", "driver rxe"; empty: not known. Needs
/// a tidy() table.
std::string make_of(const PortFacts& port);
/// The port's facts, or null. Valid as long as `table`, which is tidy().
const PortFacts* find_facts(const FactTable& table, std::string_view device, std::uint8_t number);

}  // namespace weft
