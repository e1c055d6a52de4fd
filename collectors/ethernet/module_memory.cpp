// SPDX-License-Identifier: Apache-2.0
#include "collectors/ethernet/module_memory.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace weft::ethernet {
namespace {

using Part = ModuleMemory::Part;

// Units of all three standards.
constexpr std::uint64_t kNanowattsPerStep = 100;   // 0.1 µW
constexpr std::uint64_t kMicroamperesPerStep = 2;  // 2 µA
constexpr std::uint64_t kMicrovoltsPerStep = 100;  // 100 µV
constexpr std::int64_t kTemperatureSteps = 256;    // of a degree Celsius

/// An byte by its number in the standards, where upper parts begin with 128.
std::uint8_t byte(const Part& part, std::size_t number) {
  return part[number % ModuleMemory::kPartSize];
}
std::uint16_t word(const Part& part, std::size_t number) {
  return static_cast<std::uint16_t>(byte(part, number) << 8 | byte(part, number + 1));
}
bool bit(std::uint8_t value, unsigned number) {
  return (value >> number & 1) != 0;
}

void add(Figures& figures, std::string_view name, std::uint64_t value, std::uint8_t lane = kNoLane) {
  figures.push_back({.name = name, .lane = lane, .is_gauge = true, .value = value});
}

void add_temperature(Figures& figures, std::uint16_t raw) {
  const std::int64_t milli = static_cast<std::int16_t>(raw) * std::int64_t{1000} / kTemperatureSteps;
  add(figures, "module_temperature", static_cast<std::uint64_t>(milli));
}

// --- SFF-8472 ---------------------------------------------------------------------------------------------------

/// Slope (unsigned, 8.8) and offset (signed) of an externally calibrated figure.
double calibrated(const Part& diagnostics, std::size_t slope, double raw) {
  return raw * word(diagnostics, slope) / 256.0 + static_cast<std::int16_t>(word(diagnostics, slope + 2));
}

float number_at(const Part& diagnostics, std::size_t place) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < 4; ++i) bits = bits << 8 | byte(diagnostics, place + i);
  return std::bit_cast<float>(bits);
}

/// Received power of an externally calibrated module: a polynomial of the raw value (table 9-6, Rx_PWR(4) first).
double calibrated_receive_power(const Part& diagnostics, double raw) {
  double power = 0;
  for (std::size_t i = 0; i < 5; ++i) power = power * raw + static_cast<double>(number_at(diagnostics, 56 + 4 * i));
  return power;
}

std::uint64_t steps(double value, double unit) {
  constexpr double kMost = 65'535;
  return std::isfinite(value) ? static_cast<std::uint64_t>(std::clamp(value, 0.0, kMost) * unit) : 0;
}

constexpr std::size_t kMonitoringTypeOfSfp = 92;
constexpr unsigned kExternallyCalibrated = 4;  ///< a bit of it

bool has_diagnostics(const Part& lower) {
  return bit(byte(lower, kMonitoringTypeOfSfp), 6);
}

void parse_sfp(const ModuleMemory& memory, Figures& figures) {
  const Part* lower = memory.get(ModulePart::kLower);
  const Part* diagnostics = memory.get(ModulePart::kDiagnostics);
  if (lower == nullptr || diagnostics == nullptr || !has_diagnostics(*lower)) return;
  const Part& page = *diagnostics;
  const std::uint16_t temperature = word(page, 96);
  const std::uint16_t supply = word(page, 98);
  const std::uint16_t bias = word(page, 100);
  const std::uint16_t transmit = word(page, 102);
  const std::uint16_t receive = word(page, 104);
  if (!bit(byte(*lower, kMonitoringTypeOfSfp), kExternallyCalibrated)) {
    add_temperature(figures, temperature);
    add(figures, "module_supply", supply * kMicrovoltsPerStep);
    add(figures, "module_bias", bias * kMicroamperesPerStep, 0);
    add(figures, "module_transmit_power", transmit * kNanowattsPerStep, 0);
    add(figures, "module_receive_power", receive * kNanowattsPerStep, 0);
    return;
  }
  const double warm = std::clamp(calibrated(page, 84, static_cast<std::int16_t>(temperature)), -32'768.0, 32'767.0);
  add_temperature(figures, static_cast<std::uint16_t>(static_cast<std::int16_t>(warm)));
  add(figures, "module_supply", steps(calibrated(page, 88, supply), kMicrovoltsPerStep));
  add(figures, "module_bias", steps(calibrated(page, 76, bias), kMicroamperesPerStep), 0);
  add(figures, "module_transmit_power", steps(calibrated(page, 80, transmit), kNanowattsPerStep), 0);
  add(figures, "module_receive_power", steps(calibrated_receive_power(page, receive), kNanowattsPerStep), 0);
}

// --- SFF-8636 ---------------------------------------------------------------------------------------------------

void parse_qsfp(const ModuleMemory& memory, Figures& figures) {
  const Part* lower = memory.get(ModulePart::kLower);
  const Part* upper = memory.get(ModulePart::kUpper);
  if (lower == nullptr || upper == nullptr) return;
  constexpr std::size_t kTechnology = 147;
  constexpr std::uint8_t kFirstCopper = 0xA;  // upper half: from here on cables without lasers
  if (byte(*upper, kTechnology) >> 4 >= kFirstCopper) return;
  add_temperature(figures, word(*lower, 22));
  add(figures, "module_supply", word(*lower, 26) * kMicrovoltsPerStep);
  constexpr std::size_t kMonitoringType = 220;
  constexpr unsigned kTransmitPowerMeasured = 2;
  for (std::uint8_t lane = 0; lane < 4; ++lane) {
    const std::size_t at = std::size_t{2} * lane;
    add(figures, "module_receive_power", word(*lower, 34 + at) * kNanowattsPerStep, lane);
    add(figures, "module_bias", word(*lower, 42 + at) * kMicroamperesPerStep, lane);
    if (bit(byte(*upper, kMonitoringType), kTransmitPowerMeasured))
      add(figures, "module_transmit_power", word(*lower, 50 + at) * kNanowattsPerStep, lane);
  }
}

// --- CMIS -------------------------------------------------------------------------------------------------------

bool is_flat(const Part& lower) {
  return bit(byte(lower, 2), 7);
}

/// Bits 4..3: the bias steps are 1, 2 or 4 times as long; 3 is reserved.
unsigned bias_multiplier(const Part& advertisement) {
  return 1U << std::min(byte(advertisement, 160) >> 3 & 3, 2);
}

void parse_cmis_lanes(const Part& upper, const Part& advertisement, const Part& lanes, Figures& figures) {
  const std::uint8_t monitors = byte(advertisement, 160);
  const bool has_bias = bit(monitors, 0);
  const bool has_transmit = bit(monitors, 1);
  const bool has_receive = bit(monitors, 2);
  const unsigned multiplier = bias_multiplier(advertisement);
  const std::uint8_t missing_lanes = byte(upper, 210);
  for (std::uint8_t lane = 0; lane < 8; ++lane) {
    if (bit(missing_lanes, lane)) continue;
    const std::size_t at = std::size_t{2} * lane;
    if (has_transmit) add(figures, "module_transmit_power", word(lanes, 154 + at) * kNanowattsPerStep, lane);
    if (has_bias) add(figures, "module_bias", word(lanes, 170 + at) * kMicroamperesPerStep * multiplier, lane);
    if (has_receive) add(figures, "module_receive_power", word(lanes, 186 + at) * kNanowattsPerStep, lane);
  }
}

void parse_cmis(const ModuleMemory& memory, Figures& figures) {
  const Part* lower = memory.get(ModulePart::kLower);
  const Part* upper = memory.get(ModulePart::kUpper);
  const Part* advertisement = memory.get(ModulePart::kAdvertisement);
  const Part* lanes = memory.get(ModulePart::kLanes);
  // Passive cables have flat memory and measure nothing.
  if (lower == nullptr || is_flat(*lower) || advertisement == nullptr) return;
  const std::uint8_t monitors = byte(*advertisement, 159);
  if (bit(monitors, 0)) add_temperature(figures, word(*lower, 14));
  if (bit(monitors, 1)) add(figures, "module_supply", word(*lower, 16) * kMicrovoltsPerStep);
  if (upper != nullptr && lanes != nullptr) parse_cmis_lanes(*upper, *advertisement, *lanes, figures);
}

// --- limits ---------------------------------------------------------------------------------------------------

/// Four words: high alarm, low alarm, high warning, low warning.
PartLimits limits_at(const Part& part, std::size_t first, std::int64_t unit) {
  const auto limit = [&](std::size_t place) { return std::optional(word(part, first + 2 * place) * unit); };
  return without_contradictions({limit(1), limit(3), limit(2), limit(0)});
}

PartLimits temperature_limits_at(const Part& part, std::size_t first) {
  const auto limit = [&](std::size_t place) {
    return std::optional(static_cast<std::int16_t>(word(part, first + 2 * place)) * std::int64_t{1000} /
                         kTemperatureSteps);
  };
  return without_contradictions({limit(1), limit(3), limit(2), limit(0)});
}

ModuleLimits limits_from(const Part& part, std::size_t temperature, std::size_t bias, std::size_t power,
                         std::uint64_t bias_step) {
  return {temperature_limits_at(part, temperature), limits_at(part, bias, static_cast<std::int64_t>(bias_step)),
          limits_at(part, power, static_cast<std::int64_t>(kNanowattsPerStep))};
}

// --- who made it ------------------------------------------------------------------------------------------------

/// A field of text, which blanks fill at its end (some modules: zeros).
std::string text_at(const Part& part, std::size_t first, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint8_t letter = byte(part, first + i);
    if (letter == 0) break;
    if (letter < 0x20 || letter > 0x7E) return {};
    text += static_cast<char>(letter);
  }
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

}  // namespace

ModuleLimits limits_of(const ModuleMemory& memory) {
  const Part* const lower = memory.get(ModulePart::kLower);
  switch (memory.kind()) {
    case ModuleKind::kSfp: {
      const Part* const part = memory.get(ModulePart::kDiagnostics);
      if (!part || !has_diagnostics(*lower) || bit(byte(*lower, kMonitoringTypeOfSfp), kExternallyCalibrated))
        return {};
      return limits_from(*part, 0, 16, 24, kMicroamperesPerStep);
    }
    case ModuleKind::kQsfp: {
      const Part* const part = memory.get(ModulePart::kQsfpLimits);
      return part ? limits_from(*part, 128, 184, 192, kMicroamperesPerStep) : ModuleLimits{};
    }
    case ModuleKind::kCmis: {
      const Part* const part = memory.get(ModulePart::kCmisLimits);
      const Part* const advertisement = memory.get(ModulePart::kAdvertisement);
      if (!part || !advertisement) return {};
      return limits_from(*part, 128, 184, 176, kMicroamperesPerStep * bias_multiplier(*advertisement));
    }
    case ModuleKind::kUnknown:
      break;
  }
  return {};
}

ModuleIdentity identity_of(const ModuleMemory& memory) {
  constexpr std::size_t kName = 16;  // of vendor, part and serial number in all three standards
  const Part* lower = memory.get(ModulePart::kLower);
  const Part* upper = memory.get(ModulePart::kUpper);
  const ModuleKind kind = memory.kind();
  if (kind == ModuleKind::kSfp)
    return {text_at(*lower, 20, kName), text_at(*lower, 40, kName), text_at(*lower, 56, 4), text_at(*lower, 68, kName)};
  if (upper == nullptr) return {};
  if (kind == ModuleKind::kQsfp)
    return {text_at(*upper, 148, kName), text_at(*upper, 168, kName), text_at(*upper, 184, 2),
            text_at(*upper, 196, kName)};
  if (kind == ModuleKind::kCmis)
    return {text_at(*upper, 129, kName), text_at(*upper, 148, kName), text_at(*upper, 164, 2),
            text_at(*upper, 166, kName)};
  return {};
}

ModulePlace place_of(ModulePart part) {
  constexpr std::uint8_t kModule = 0x50;
  constexpr std::uint8_t kSecond = 0x51;
  constexpr std::uint8_t kUpperHalf = 128;
  switch (part) {
    case ModulePart::kUpper:
      return {kModule, 0, kUpperHalf};
    case ModulePart::kAdvertisement:
      return {kModule, 0x01, kUpperHalf};
    case ModulePart::kLanes:
      return {kModule, 0x11, kUpperHalf};
    case ModulePart::kDiagnostics:
      return {kSecond, 0, 0};
    case ModulePart::kQsfpLimits:
      return {kModule, 0x03, kUpperHalf};
    case ModulePart::kCmisLimits:
      return {kModule, 0x02, kUpperHalf};
    default:
      return {kModule, 0, 0};
  }
}

void ModuleMemory::set(ModulePart part, netlink::Bytes bytes) {
  clear(part);
  if (bytes.size() < kPartSize) return;
  Part copy;
  std::memcpy(copy.data(), bytes.data(), copy.size());
  parts_[static_cast<std::size_t>(part)] = copy;
}

const ModuleMemory::Part* ModuleMemory::get(ModulePart part) const {
  const std::optional<Part>& found = parts_[static_cast<std::size_t>(part)];
  return found ? &*found : nullptr;
}

ModuleKind ModuleMemory::kind() const {
  const Part* lower = get(ModulePart::kLower);
  if (lower == nullptr) return ModuleKind::kUnknown;
  switch ((*lower)[0]) {
    case 0x03:  // SFP, SFP+, SFP28
    case 0x0B:  // DWDM SFP
      return ModuleKind::kSfp;
    case 0x0C:  // QSFP
    case 0x0D:  // QSFP+
    case 0x11:  // QSFP28
      return ModuleKind::kQsfp;
    case 0x18:  // QSFP-DD
    case 0x19:  // OSFP
    case 0x1B:  // DSFP
    case 0x1E:  // QSFP+ with CMIS
    case 0x1F:  // SFP-DD with CMIS
    case 0x20:  // SFP+ with CMIS
      return ModuleKind::kCmis;
    default:
      return ModuleKind::kUnknown;
  }
}

std::span<const ModulePart> fixed_parts(const ModuleMemory& memory) {
  static constexpr ModulePart kUpperAlone[] = {ModulePart::kUpper};
  static constexpr ModulePart kOfQsfp[] = {ModulePart::kUpper, ModulePart::kQsfpLimits};
  static constexpr ModulePart kOfCmis[] = {ModulePart::kUpper, ModulePart::kAdvertisement, ModulePart::kCmisLimits};
  const ModuleKind kind = memory.kind();
  // SFF-8636, byte 2, bit 2: page 0 alone; else page 3 is there at least.
  if (kind == ModuleKind::kQsfp && !bit(byte(*memory.get(ModulePart::kLower), 2), 2)) return kOfQsfp;
  if (kind == ModuleKind::kQsfp) return kUpperAlone;
  if (kind != ModuleKind::kCmis) return {};
  // Flat memory has page 0 and no other.
  if (is_flat(*memory.get(ModulePart::kLower))) return kUpperAlone;
  return kOfCmis;
}

std::span<const ModulePart> changing_parts(const ModuleMemory& memory) {
  static constexpr ModulePart kLowerAlone[] = {ModulePart::kLower};
  static constexpr ModulePart kOfSfp[] = {ModulePart::kLower, ModulePart::kDiagnostics};
  static constexpr ModulePart kOfCmis[] = {ModulePart::kLower, ModulePart::kLanes};
  const ModuleKind kind = memory.kind();
  if (kind == ModuleKind::kSfp && has_diagnostics(*memory.get(ModulePart::kLower))) return kOfSfp;
  if (kind == ModuleKind::kCmis && !is_flat(*memory.get(ModulePart::kLower))) return kOfCmis;
  return kLowerAlone;
}

void parse_module(const ModuleMemory& memory, Figures& figures) {
  switch (memory.kind()) {
    case ModuleKind::kSfp:
      return parse_sfp(memory, figures);
    case ModuleKind::kQsfp:
      return parse_qsfp(memory, figures);
    case ModuleKind::kCmis:
      return parse_cmis(memory, figures);
    case ModuleKind::kUnknown:
      return;
  }
}

}  // namespace weft::ethernet
