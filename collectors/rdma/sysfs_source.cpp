// SPDX-License-Identifier: Apache-2.0
#include "collectors/rdma/sysfs_source.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <utility>

#include "collectors/rdma/driver_tables.hpp"
#include "collectors/sysfs/sysfs_text.hpp"
#include "fabric/result.hpp"

namespace weft::rdma {
namespace {

bool same_counters(const std::vector<ScannedDevice>& before, const std::vector<ScannedDevice>& after) {
  const auto same_port = [](const ScannedPort& a, const ScannedPort& b) {
    return a.port.number == b.port.number && a.counters == b.counters && a.hw_counters == b.hw_counters;
  };
  return std::ranges::equal(before, after, [&](const ScannedDevice& a, const ScannedDevice& b) {
    return a.name == b.name && a.driver == b.driver && a.hw_counters == b.hw_counters &&
           std::ranges::equal(a.ports, b.ports, same_port);
  });
}

/// A counter that stuck at its top stays there in the catalogue's unit too.
std::uint64_t scaled(std::uint64_t value, std::uint32_t factor) {
  constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();
  return value > kTop / factor ? kTop : value * factor;
}

}  // namespace

bool SysfsSource::StateFile::changed() {
  std::array<char, 64> buffer;
  const std::string_view now = file.read(buffer).value_or(std::string_view());
  if (now == text()) return false;
  std::ranges::copy(now, last.begin());
  last_size = now.size();
  return true;
}

bool SysfsSource::refresh(TimePoint now) {
  std::vector<sysfs::DirectoryEntry> listed = sysfs::list_directory(options_.sysfs_root + "/class/infiniband");
  const bool came_or_went = listed != listed_;
  if (!came_or_went && scanned_at_ != kNever && now >= scanned_at_ && now - scanned_at_ < options_.rescan_interval)
    return false;
  listed_ = std::move(listed);
  scanned_at_ = now;
  std::vector<ScannedDevice> devices = scan_devices(options_.sysfs_root);
  const bool is_new = came_or_went || !same_counters(devices_, devices);
  devices_ = std::move(devices);
  return is_new;
}

void SysfsSource::enter(SeriesRegistry& book) {
  book.begin_source(CounterSource::kRdma);
  values_.clear();
  ports_.clear();
  not_opened_ = 0;
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const ScannedDevice& device = devices_[d];
    const std::span<const DriverCounter> hw_table = hw_counter_table(device.driver);
    for (std::size_t p = 0; p < device.ports.size(); ++p) {
      const ScannedPort& port = device.ports[p];
      ports_.push_back({d,
                        p,
                        {sysfs::SysfsFile(port.path + "/state"), {}, 0},
                        {sysfs::SysfsFile(port.path + "/phys_state"), {}, 0}});
      open_values(book, port.path + "/counters/", port.counters, port_counter_table(), device, port.port.number);
      open_values(book, port.path + "/hw_counters/", port.hw_counters, hw_table, device, port.port.number);
    }
    open_values(book, device.path + "/hw_counters/", device.hw_counters, hw_table, device, 0);
  }
}

void SysfsSource::open_values(SeriesRegistry& book, const std::string& folder, const std::vector<std::string>& names,
                              std::span<const DriverCounter> table, const ScannedDevice& device, std::uint8_t port) {
  for (const std::string& name : names) {
    const std::optional<CounterMatch> match = find_own_counter(table, name, device.is_beside_its_port);
    if (!match && !options_.raw_names) continue;
    sysfs::SysfsFile file(folder + name);
    if (!file.is_open()) {
      ++not_opened_;
      open_error_ = errno;
      continue;
    }
    const std::optional<SeriesPosition> position =
        book.enter(match ? series_of(*match, device.name, port) : raw_series(name, device.name, port));
    const bool sticks = match && match->counter->behaviour == CounterBehaviour::kSticks;
    if (position) values_.push_back({std::move(file), *position, match ? match->counter->factor : 1, sticks});
  }
}

void SysfsSource::read(ValueSink& sink) {
  read_states();
  std::array<char, 64> buffer;
  for (const ValueFile& value : values_) {
    const std::optional<std::string_view> text = value.file.read(buffer);
    if (!text) continue;
    if (const std::optional<std::uint64_t> number = sysfs::parse_counter(*text);
        number && (value.sticks || !is_no_reading(*number)))
      sink.put(value.position, scaled(*number, value.factor));
  }
}

void SysfsSource::read_states() {
  for (PortFiles& files : ports_) {
    const bool state_changed = files.state.changed();
    const bool physical_changed = files.physical_state.changed();
    if (!state_changed && !physical_changed) continue;
    const ScannedPort& scanned = devices_[files.device].ports[files.port];
    HostPort& port = devices_[files.device].ports[files.port].port;
    port.state = sysfs::parse_port_state(files.state.text());
    port.physical_state = sysfs::parse_physical_state(files.physical_state.text());
    // A link that trained again may have another rate, and a subnet manager may have given another LID.
    const bool is_down = port.state == PortState::kDown;
    port.rate_bits_per_second = is_down ? 0 : sysfs::parse_rate(sysfs::read_text(scanned.path + "/rate"));
    port.lid = sysfs::parse_lid(sysfs::read_text(scanned.path + "/lid"));
  }
}

void SysfsSource::add_ports(std::vector<HostPort>& ports) const {
  for (const ScannedDevice& device : devices_)
    for (const ScannedPort& port : device.ports) ports.push_back(port.port);
}

SourceStatus SysfsSource::status() const {
  SourceStatus status{"sysfs", true, {}};
  if (not_opened_ > 0) {
    status.ok = false;
    status.message = std::to_string(not_opened_) + " counters cannot be opened: " + errno_message(open_error_);
  } else if (devices_.empty()) {
    status.message = "no RDMA device below " + options_.sysfs_root + "/class/infiniband";
  }
  return status;
}

}  // namespace weft::rdma
