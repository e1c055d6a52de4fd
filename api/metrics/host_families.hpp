// SPDX-License-Identifier: Apache-2.0
#pragma once
// Series of what collectors tell, written straight from the hosts' last readings.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/metrics/family.hpp"
#include "fabric/snapshot.hpp"

namespace weft::api {

/// Lines of the hosts' ports, family by family, host by host. Names are those of the collector's own page; a port that
/// a watched subnet shows as well is left out of the families that the subnet's sweep gives.
class HostFamilies {
 public:
  /// Name, help and type of one metric family.
  struct Family {
    std::string name;
    std::string_view help;
    MetricType type = MetricType::kGauge;
  };

  HostFamilies() = default;
  /// `swept`: names of the families that the sweeps of subnets give. `now` tells what is stale.
  HostFamilies(std::shared_ptr<const Snapshot> snapshot, TimePoint now, std::span<const std::string> swept);

  /// In the order of `swept`, then in that of the catalogue; none without hosts.
  std::span<const Family> families() const { return families_; }
  /// Room that write() may need beyond `full`.
  static constexpr std::size_t kLongestLine = 8 * 1024;
  /// Writes lines of families()[family] until `full` is passed, with `head` before the first one unless `headed`. True
  /// when the family is done; else call again. Families come in their order, each once.
  bool write(std::size_t family, char*& at, const char* full, bool& headed, std::string_view head);

 private:
  struct Line;
  enum class Source : std::uint8_t { kUp, kStale, kInfo, kByteRate, kCounter, kRaw };

  void index_series();
  void write_port(Source source, std::string_view name, const HostView& host, const HostPort& port, Line& line) const;
  void write_series(std::string_view name, const HostView& host, std::size_t series, Line& line) const;
  bool is_swept(const HostView& host, const std::string& device, std::uint8_t number) const;

  std::shared_ptr<const Snapshot> snapshot_;
  TimePoint now_;
  std::vector<Family> families_;
  std::vector<Source> sources_;
  std::vector<std::uint8_t> is_swept_family_;

  // For each host: its series in the order of families, as 16-bit positions in one block.
  std::vector<std::uint16_t> order_;
  std::vector<std::uint32_t> begin_;
  std::vector<std::uint32_t> cursor_;       ///< into order_: the first series not written yet
  std::vector<std::uint16_t> family_of_;    ///< along order_
  std::vector<std::uint64_t> swept_ports_;  ///< port GUIDs that subnets show, sorted

  std::size_t host_ = 0;  ///< where the next call goes on
  std::size_t port_ = 0;
};

/// Appends weft_collectors{state}.
void append_collector_states(std::string& out, const Snapshot& snapshot, MetricsFormat format);
/// Appends a piece of the families with one sample for each collector; false when there is nothing more. `position`
/// starts at 0 and is the caller's to keep.
bool append_collectors(std::string& out, const Snapshot& snapshot, MetricsFormat format, std::size_t& position);

}  // namespace weft::api
