// SPDX-License-Identifier: Apache-2.0
#pragma once
// Series of ports that collectors read, written straight from the hosts' last readings.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/metrics/port_family_table.hpp"
#include "api/metrics/scrape_time.hpp"
#include "fabric/snapshot.hpp"

namespace weft::api {

/// Lines of the hosts' ports, family by family, host by host. A port that a watched subnet shows as well is left out of
/// what the subnet's sweep gives, except where a label tells the sources apart.
class HostRows {
 public:
  /// Of `groups` write() will be asked.
  HostRows(std::shared_ptr<const Snapshot> snapshot, ScrapeTime now, MetricGroups groups);

  /// Room that write() may need beyond `full`.
  static constexpr std::size_t kLongestLine = 8 * 1024;
  /// Writes lines of that place in port_family_table() until `full` is passed, with `head` before the first one unless
  /// `headed`. True when the family is done; else call again. Families of the groups come in their order, each once.
  bool write(std::size_t family, char*& at, const char* full, bool& headed, std::string_view head);

 private:
  void index_series();
  bool write_series(std::size_t family, char*& at, const char* full, bool& headed, std::string_view head);
  bool is_swept(const HostView& host, const std::string& device, std::uint8_t number) const;

  std::shared_ptr<const Snapshot> snapshot_;
  ScrapeTime now_;
  MetricGroups groups_;

  // For each host: its series in the order of families, as 16-bit positions in one block.
  std::vector<std::uint16_t> order_;
  std::vector<std::uint32_t> begin_;
  std::vector<std::uint32_t> cursor_;       ///< into order_: the first series not written yet
  std::vector<std::uint16_t> family_of_;    ///< along order_
  std::vector<std::uint64_t> swept_ports_;  ///< port GUIDs that subnets show, sorted

  std::size_t host_ = 0;  ///< where the next call goes on
  std::size_t port_ = 0;
};

}  // namespace weft::api
