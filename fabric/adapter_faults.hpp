// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lines of the kernel's log by which drivers tell that an adapter or module is at fault: one bounded table. The
// collector finds them, the judge knows what they mean.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weft {

/// What a line says.
enum class FaultEffect : std::uint8_t {
  kRecovered,  ///< what was said before is over: the driver got the adapter going again, or was loaded anew
  kDegraded,   ///< it is at fault, and may recover
  kDead,       ///< the driver gave it up
};

/// One row of the table.
struct AdapterFaultRow {
  const char* key;      ///< "health_compromised": how a fact names it
  const char* driver;   ///< the line begins with it and the address of the function: "mlx5_core 0000:17:00.0"
  const char* pattern;  ///< what the line has in it
  FaultEffect effect = FaultEffect::kDegraded;
  bool of_module = false;  ///< of the module in the port, not of the adapter
  const char* words;       ///< what it means: "firmware does not answer"
  const char* source;      ///< the kernel's file that prints it
};
/// All rows; the first one that fits a line counts.
std::span<const AdapterFaultRow> adapter_faults();
/// The row of that key, or null.
const AdapterFaultRow* find_adapter_fault(std::string_view key);

/// A line of a driver about one function.
struct DriverLine {
  const AdapterFaultRow* fault = nullptr;  ///< never null
  std::string address;                     ///< "0000:17:00.0"
};
/// What the line of the kernel's log says by the table; `fault` is null where it is in no row.
DriverLine parse_driver_line(std::string_view line);

/// The value of ConfigFact::kKernelFault of an adapter that the log tells of, and of one that it says nothing of.
std::string fault_text(const AdapterFaultRow& fault, std::string_view when, std::string_view line);
inline constexpr std::string_view kNoFault = "none";
/// The key that such a value begins with.
std::string_view fault_key(std::string_view text);

}  // namespace weft
