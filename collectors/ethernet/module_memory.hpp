// SPDX-License-Identifier: Apache-2.0
#pragma once
// The memory of optical modules and cables, and what it says of temperature, supply, light and laser current: SFF-8472
// (SFP), SFF-8636 (QSFP) and CMIS (QSFP-DD, OSFP). Pure.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "collectors/ethernet/ethtool_message.hpp"
#include "fabric/part_limits.hpp"

namespace weft::ethernet {

/// Which memory map a module has.
enum class ModuleKind : std::uint8_t { kUnknown, kSfp, kQsfp, kCmis };

/// The parts of a module's memory that are looked at, 128 bytes each.
enum class ModulePart : std::uint8_t {
  kLower,          ///< address 0x50, bytes 0..127
  kUpper,          ///< page 0, bytes 128..255
  kAdvertisement,  ///< CMIS page 0x01
  kLanes,          ///< CMIS page 0x11: monitors of each lane
  kDiagnostics,    ///< SFF-8472 address 0x51, bytes 0..127
  kQsfpLimits,     ///< SFF-8636 page 0x03
  kCmisLimits,     ///< CMIS page 0x02
  kCount,
};

/// Where a part is, in the terms of ETHTOOL_MSG_MODULE_EEPROM_GET.
struct ModulePlace {
  std::uint8_t i2c_address;
  std::uint8_t page;
  std::uint8_t offset;
};
/// Where the part is read from.
ModulePlace place_of(ModulePart part);

/// What was read so far; parts that could not be read are absent.
class ModuleMemory {
 public:
  static constexpr std::size_t kPartSize = 128;
  /// The bytes of one part.
  using Part = std::array<std::uint8_t, kPartSize>;

  /// Takes a part in; a shorter one counts as not read.
  void set(ModulePart part, netlink::Bytes bytes);
  /// Makes the part absent.
  void clear(ModulePart part) { parts_[static_cast<std::size_t>(part)].reset(); }
  /// The part, or null when it was not read.
  const Part* get(ModulePart part) const;

  /// By the identifier in byte 0 (SFF-8024, table 4-1); kUnknown without the lower part.
  ModuleKind kind() const;

 private:
  std::array<std::optional<Part>, static_cast<std::size_t>(ModulePart::kCount)> parts_;
};

/// The parts that say what a module has, read once; and those that say how it is, read every time. A part that the
/// module says it lacks is in neither: asking for it makes drivers complain in the kernel's log.
std::span<const ModulePart> fixed_parts(const ModuleMemory& memory);
/// The parts to read each time.
std::span<const ModulePart> changing_parts(const ModuleMemory& memory);

/// Adds what the module measures to `figures`: module_temperature, module_supply, and for each lane from 0
/// module_transmit_power, module_receive_power, module_bias. Copper and what a module does not measure give nothing.
void parse_module(const ModuleMemory& memory, Figures& figures);

/// The limits that a module names itself, in the units of its figures.
struct ModuleLimits {
  PartLimits temperature;
  PartLimits bias;
  PartLimits transmit_power;

  bool operator==(const ModuleLimits&) const = default;
};
/// As the module's memory says: SFF-8472, table 9-5 (address 0x51, bytes 0, 16 and 24); SFF-8636, page 0x03 (128, 184
/// and 192); CMIS, page 0x02 (128, 184 and 176). Four words each: high alarm, low alarm, high warning, low warning.
/// What contradicts itself is absent, as are the limits of an SFP that is calibrated from outside.
ModuleLimits limits_of(const ModuleMemory& memory);

/// Who made a module, and which one it is. Printable ASCII without the blanks that fill a field; empty: not told.
struct ModuleIdentity {
  std::string vendor;
  std::string part_number;
  std::string revision;
  std::string serial_number;

  bool operator==(const ModuleIdentity&) const = default;
};
/// As the module's memory says: SFF-8472, table 4-1 (bytes 20, 40, 56, 68); SFF-8636, table 6-14 (148, 168, 184, 196);
/// CMIS, page 0 (129, 148, 164, 166). Copper tells it too. A field with anything but printable ASCII is not told.
ModuleIdentity identity_of(const ModuleMemory& memory);

}  // namespace weft::ethernet
