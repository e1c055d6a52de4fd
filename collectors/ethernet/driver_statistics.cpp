// SPDX-License-Identifier: Apache-2.0
#include "collectors/ethernet/driver_statistics.hpp"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace weft::ethernet {
namespace {

// A driver with more is not read at all.
constexpr std::uint32_t kMostStatistics = 32'768;
// Kernels write as many statistics as the driver has now, whatever was asked for: room for those that appeared since.
constexpr std::size_t kSpare = 4096;

std::string text_of(const char* bytes, std::size_t size) {
  return {bytes, ::strnlen(bytes, size)};
}

}  // namespace

std::vector<std::string_view> parse_statistics_names(std::string_view bytes) {
  std::vector<std::string_view> names;
  for (; bytes.size() >= ETH_GSTRING_LEN; bytes.remove_prefix(ETH_GSTRING_LEN)) {
    std::string_view name = bytes.substr(0, ETH_GSTRING_LEN);
    name = name.substr(0, name.find('\0'));
    const std::size_t first = name.find_first_not_of(' ');
    const std::size_t last = name.find_last_not_of(' ');
    names.push_back(first == std::string_view::npos ? std::string_view() : name.substr(first, last - first + 1));
  }
  return names;
}

DriverStatistics::DriverStatistics(bool raw_names)
    : raw_names_(raw_names), fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {}

DriverStatistics::~DriverStatistics() {
  if (fd_ >= 0) ::close(fd_);
}

bool DriverStatistics::ask(const Watched& watched, void* command) const {
  ifreq request{};
  const std::string& name = watched.interface.name;
  if (name.empty() || name.size() >= sizeof(request.ifr_name)) return false;
  std::memcpy(request.ifr_name, name.data(), name.size());
  request.ifr_data = static_cast<char*>(command);
  return ::ioctl(fd_, SIOCETHTOOL, &request) == 0;
}

std::uint32_t DriverStatistics::count_of(const Watched& watched) const {
  // The answer stands behind the structure.
  std::array<std::uint32_t, sizeof(ethtool_sset_info) / sizeof(std::uint32_t) + 1> command{};
  ethtool_sset_info info{};
  info.cmd = ETHTOOL_GSSET_INFO;
  info.sset_mask = std::uint64_t{1} << ETH_SS_STATS;
  std::memcpy(command.data(), &info, sizeof(info));
  if (!ask(watched, command.data())) return 0;
  std::memcpy(&info, command.data(), sizeof(info));
  const std::uint32_t count = info.sset_mask == 0 ? 0 : command.back();
  return count <= kMostStatistics ? count : 0;
}

void DriverStatistics::learn(Watched& watched) const {
  ethtool_drvinfo driver{};
  driver.cmd = ETHTOOL_GDRVINFO;
  if (!ask(watched, &driver)) return;
  watched.driver = text_of(driver.driver, sizeof(driver.driver));
  watched.firmware = text_of(driver.fw_version, sizeof(driver.fw_version));
  watched.version = text_of(driver.version, sizeof(driver.version));
  if (ethtool_table(watched.driver).empty() && !raw_names_) return;
  watched.count = count_of(watched);
  if (watched.count == 0) return;
  std::vector<char> bytes(sizeof(ethtool_gstrings) + (watched.count + kSpare) * ETH_GSTRING_LEN);
  ethtool_gstrings command{};
  command.cmd = ETHTOOL_GSTRINGS;
  command.string_set = ETH_SS_STATS;
  command.len = watched.count;
  std::memcpy(bytes.data(), &command, sizeof(command));
  if (!ask(watched, bytes.data())) {
    watched.count = 0;
    return;
  }
  std::memcpy(&command, bytes.data(), sizeof(command));
  watched.count = std::min(command.len, watched.count);
  // A driver may have thousands; those that nobody wants are not kept.
  std::uint32_t index = 0;
  for (const std::string_view name :
       parse_statistics_names({bytes.data() + sizeof(command), watched.count * std::size_t{ETH_GSTRING_LEN}})) {
    if (!name.empty() && (raw_names_ || find_driver_counter(table_of(watched), name)))
      watched.statistics.push_back({index, std::string(name), std::nullopt});
    ++index;
  }
}

std::span<const DriverCounter> DriverStatistics::table_of(const Watched& watched) {
  // All that the tables have is counted by the physical port.
  if (watched.interface.is_beside_its_port) return {};
  return ethtool_table(watched.driver);
}

void DriverStatistics::watch(std::span<const Interface> interfaces) {
  watched_.clear();
  is_outdated_ = false;
  if (fd_ < 0) return;
  for (const Interface& interface : interfaces) {
    Watched watched;
    watched.interface = interface;
    learn(watched);
    watched_.push_back(std::move(watched));
  }
}

void DriverStatistics::enter(SeriesRegistry& book) {
  book.begin_source(CounterSource::kNetdev);
  for (Watched& watched : watched_) {
    const Interface& interface = watched.interface;
    const std::span<const DriverCounter> table = table_of(watched);
    for (Watched::Statistic& statistic : watched.statistics) {
      const auto match = find_driver_counter(table, statistic.name);
      statistic.position = book.enter(match ? series_of(*match, interface.device, interface.port)
                                            : raw_series(statistic.name, interface.device, interface.port));
    }
  }
}

void DriverStatistics::read(ValueSink& sink) {
  for (const Watched& watched : watched_) {
    if (watched.statistics.empty()) continue;
    // A driver whose queues changed has other statistics under the same indices.
    if (count_of(watched) != watched.count) {
      is_outdated_ = true;
      continue;
    }
    const std::size_t head = sizeof(ethtool_stats) / sizeof(std::uint64_t);
    buffer_.assign(head + watched.count + kSpare, 0);
    ethtool_stats command{};
    command.cmd = ETHTOOL_GSTATS;
    command.n_stats = watched.count;
    std::memcpy(buffer_.data(), &command, sizeof(command));
    if (!ask(watched, buffer_.data())) continue;
    std::memcpy(&command, buffer_.data(), sizeof(command));
    if (command.n_stats != watched.count) {
      is_outdated_ = true;
      continue;
    }
    for (const Watched::Statistic& statistic : watched.statistics)
      if (const std::uint64_t value = buffer_[head + statistic.index]; statistic.position && !is_no_reading(value))
        sink.put(*statistic.position, value);
  }
}

std::string DriverStatistics::firmware_of(std::string_view interface) const {
  for (const Watched& watched : watched_)
    if (watched.interface.name == interface) return watched.firmware;
  return {};
}

std::string DriverStatistics::version_of(std::string_view interface) const {
  for (const Watched& watched : watched_)
    if (watched.interface.name == interface) return watched.version;
  return {};
}

}  // namespace weft::ethernet
