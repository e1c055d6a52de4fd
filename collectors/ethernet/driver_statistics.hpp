// SPDX-License-Identifier: Apache-2.0
#pragma once
// The statistics strings of drivers (ioctl SIOCETHTOOL: GDRVINFO, GSSET_INFO, GSTRINGS, GSTATS) and what they mean.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/ethernet/interface_scan.hpp"
#include "collectors/series/driver_counter.hpp"
#include "collectors/series/series_registry.hpp"

namespace weft::ethernet {

/// The statistics of an Ethernet driver, as ETHTOOL_GDRVINFO spells it; empty for one that nobody knows.
std::span<const DriverCounter> ethtool_table(std::string_view driver);

/// The names in the bytes of ETH_SS_STATS: 32 bytes each, padded with NULs or blanks.
std::vector<std::string_view> parse_statistics_names(std::string_view bytes);

/// Reads the drivers' own statistics of interfaces (ethtool -S).
class DriverStatistics {
 public:
  /// Opens its socket; when that fails the source stays silent.
  explicit DriverStatistics(bool raw_names);
  DriverStatistics(const DriverStatistics&) = delete;
  DriverStatistics& operator=(const DriverStatistics&) = delete;
  ~DriverStatistics();

  /// From now on these interfaces are asked; asks for their drivers' names.
  void watch(std::span<const Interface> interfaces);
  /// Enters the series that the drivers have.
  void enter(SeriesRegistry& book);
  /// Asks each driver and writes the values.
  void read(ValueSink& sink);
  /// Whether a driver has other statistics than it had: watch() must be called again.
  bool is_outdated() const { return is_outdated_; }
  /// Firmware of an interface as its driver tells; empty when it does not.
  std::string firmware_of(std::string_view interface) const;
  /// Version of an interface's driver as it tells; that of the kernel for most of its own. Empty when it does not.
  std::string version_of(std::string_view interface) const;
  /// False when the socket could not be opened.
  bool is_open() const { return fd_ >= 0; }

 private:
  struct Watched {
    Interface interface;
    std::string driver;
    std::string firmware;
    std::string version;
    std::uint32_t count = 0;  ///< of the driver's statistics
    /// One that is wanted: its place among the driver's, and where it goes.
    struct Statistic {
      std::uint32_t index;
      std::string name;
      std::optional<SeriesPosition> position;
    };
    std::vector<Statistic> statistics;
  };

  bool ask(const Watched& watched, void* command) const;
  std::uint32_t count_of(const Watched& watched) const;
  void learn(Watched& watched) const;
  static std::span<const DriverCounter> table_of(const Watched& watched);

  bool raw_names_;
  int fd_ = -1;
  bool is_outdated_ = false;
  std::vector<Watched> watched_;
  std::vector<std::uint64_t> buffer_;
};

}  // namespace weft::ethernet
