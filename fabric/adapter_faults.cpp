// SPDX-License-Identifier: Apache-2.0
#include "fabric/adapter_faults.hpp"

#include <algorithm>
#include <iterator>

namespace weft {
namespace {

constexpr const char* kMlx5Health = "drivers/net/ethernet/mellanox/mlx5/core/health.c";
constexpr const char* kMlx5Events = "drivers/net/ethernet/mellanox/mlx5/core/events.c";
constexpr const char* kMlx5Main = "drivers/net/ethernet/mellanox/mlx5/core/main.c";
constexpr const char* kBnxt = "drivers/net/ethernet/broadcom/bnxt/bnxt.c";
constexpr const char* kIonic = "drivers/net/ethernet/pensando/ionic/ionic_dev.c";

using enum FaultEffect;
constexpr AdapterFaultRow kFaultRows[] = {
    {"recovery_aborted", "mlx5_core", "health recovery flow aborted", kDead, false,
     "driver gave it up: PCIe reads do not work", kMlx5Health},
    {"recovery_failed", "mlx5_core", "health recovery failed", kDead, false, "driver could not recover it",
     kMlx5Health},
    {"recovered", "mlx5_core", "health recovery succeeded", kRecovered, false, "driver recovered it", kMlx5Health},
    // Printed when the driver begins with the function (mlx5_function_enable).
    {"loaded", "mlx5_core", "firmware version: ", kRecovered, false, "driver was loaded", kMlx5Main},
    {"health_compromised", "mlx5_core", "device's health compromised", kDegraded, false,
     "firmware does not answer its driver", kMlx5Health},
    {"fatal_error", "mlx5_core", "Fatal error ", kDegraded, false, "firmware reported a fatal error", kMlx5Health},
    {"firmware_error", "mlx5_core", ": firmware internal error", kDegraded, false,
     "firmware reported an internal error", kMlx5Health},
    {"hardware_error", "mlx5_core", ": unrecoverable hardware error", kDegraded, false,
     "firmware reported a hardware error", kMlx5Health},
    {"adapter_hot", "mlx5_core", "High temperature on sensors", kDegraded, false, "adapter is too hot", kMlx5Events},
    {"slot_power", "mlx5_core", "Detected insufficient power on the PCIe slot", kDegraded, false,
     "slot gives too little power", kMlx5Events},
    {"module_hot", "mlx5_core", "Cable error, High Temperature", kDegraded, true, "module is too hot", kMlx5Events},
    {"module_fault", "mlx5_core", "Port module event[error]", kDegraded, true, "module or cable has a fault",
     kMlx5Events},
    // Printed when the driver begins with the function (bnxt_init_one).
    {"found", "bnxt_en", " found at mem ", kRecovered, false, "driver was loaded", kBnxt},
    {"reset_aborted", "bnxt_en", "Firmware reset aborted", kDead, false, "firmware could not be reset", kBnxt},
    {"fatal_reset", "bnxt_en", "Firmware fatal reset event", kDegraded, false, "firmware failed and was reset", kBnxt},
    {"heartbeat_stalled", "ionic", "FW heartbeat stalled", kDegraded, false, "firmware does not answer its driver",
     kIonic},
    {"heartbeat_restored", "ionic", "FW heartbeat restored", kRecovered, false, "firmware answers again", kIonic},
};

bool is_hex(char letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
}

/// "0000:17:00.0" at the beginning; empty without one.
std::string_view address_in(std::string_view text) {
  const std::size_t end = text.find_first_of(" :", text.find('.') == std::string_view::npos ? 0 : text.find('.'));
  const std::string_view address = text.substr(0, end);
  constexpr std::size_t kBusAndFunction = 8;  // ":17:00.0"
  if (end == std::string_view::npos || address.size() < kBusAndFunction + 4 || address.size() > kBusAndFunction + 8)
    return {};
  for (std::size_t i = 0; i < address.size(); ++i) {
    const std::size_t from_end = address.size() - i;
    const char wanted = from_end == 8 || from_end == 5 ? ':' : from_end == 2 ? '.' : 'f';
    if (wanted == 'f' ? !is_hex(address[i]) : address[i] != wanted) return {};
  }
  return address;
}

}  // namespace

std::span<const AdapterFaultRow> adapter_faults() {
  return kFaultRows;
}

const AdapterFaultRow* find_adapter_fault(std::string_view key) {
  const auto found = std::ranges::find_if(kFaultRows, [key](const AdapterFaultRow& row) { return key == row.key; });
  return found == std::end(kFaultRows) ? nullptr : &*found;
}

DriverLine parse_driver_line(std::string_view line) {
  DriverLine told;
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return told;
  const std::string_view driver = line.substr(0, blank);
  const std::string_view rest = line.substr(blank + 1);
  const auto fits = [&](const AdapterFaultRow& row) {
    return driver == row.driver && rest.find(row.pattern) != std::string_view::npos;
  };
  const auto row = std::ranges::find_if(kFaultRows, fits);
  if (row == std::end(kFaultRows)) return told;
  told.address = address_in(rest);
  if (!told.address.empty()) told.fault = &*row;
  return told;
}

std::string fault_text(const AdapterFaultRow& fault, std::string_view when, std::string_view line) {
  return std::string(fault.key) + ' ' + std::string(when) + ": " + std::string(line);
}

std::string_view fault_key(std::string_view text) {
  return text.substr(0, text.find(' '));
}

}  // namespace weft
