// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the kernel's log says of adapters, from /dev/kmsg (Documentation/ABI/testing/dev-kmsg). Needs CAP_SYSLOG where
// kernel.dmesg_restrict is set; without it nothing is known, and nothing else suffers.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fabric/adapter_faults.hpp"
#include "fabric/clock.hpp"
#include "fabric/host.hpp"

namespace weft::host {

/// A record of the log.
struct KernelRecord {
  std::chrono::microseconds since_boot{};
  std::string_view text;  ///< its first line
};
/// Reads "6,339,5140900,-;NET: Registered …". nullopt for what is not that, and for what the kernel did not write
/// itself: programs may write into its log, too (facility other than 0).
std::optional<KernelRecord> parse_kernel_record(std::string_view record);

/// Follows the log, and keeps the gravest fault of each function. Faults that a driver may recover from, and does not
/// say so, are over after an hour.
class KernelLog {
 public:
  /// Opens nothing yet.
  explicit KernelLog(std::string path) : path_(std::move(path)) {}
  ~KernelLog();
  KernelLog(const KernelLog&) = delete;
  KernelLog& operator=(const KernelLog&) = delete;

  /// Reads what is new, a bounded number of records. `since_boot`: the kernel's clock now.
  void read(TimePoint now, std::chrono::microseconds since_boot);
  /// The fault of that function, or kNoFault; empty when the log cannot be read.
  std::string fault_of(std::string_view pci_address) const;
  /// True once after a fault came or went.
  bool take_changes() { return std::exchange(has_changed_, false); }
  /// Always ok; the message says what keeps it from being read.
  SourceStatus status() const { return {"kernel_log", true, trouble_}; }

 private:
  struct Fault {
    const AdapterFaultRow* row = nullptr;
    TimePoint at = kNever;
    std::string text;
  };

  bool open();
  bool read_records(TimePoint now, std::chrono::microseconds since_boot);
  void take(std::string_view record, TimePoint now, std::chrono::microseconds since_boot);

  std::string path_;
  int fd_ = -1;
  std::string trouble_;
  std::string rest_;                     ///< a record that is not complete yet, of a file
  std::map<std::string, Fault> faults_;  ///< by address, kMostFaults of them
  bool has_changed_ = false;
};

}  // namespace weft::host
