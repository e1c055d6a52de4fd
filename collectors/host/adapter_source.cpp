// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/adapter_source.hpp"

#include <algorithm>
#include <string_view>

#include "collectors/sysfs/pcie_path.hpp"
#include "collectors/sysfs/sysfs_files.hpp"
#include "collectors/sysfs/sysfs_text.hpp"

namespace weft::host {
namespace {

/// Files of Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats. A fault of the link is often seen by the other
/// end alone, so that the port above counts, too.
constexpr std::pair<const char*, const char*> kErrorFiles[] = {{"pcie_correctable_errors", "/aer_dev_correctable"},
                                                               {"pcie_nonfatal_errors", "/aer_dev_nonfatal"},
                                                               {"pcie_fatal_errors", "/aer_dev_fatal"}};

std::optional<std::int64_t> temperature_in(const std::string& file) {
  const auto value = sysfs::parse_signed(sysfs::read_text(file));
  // Drivers say 0 of a limit that they do not know, and 255 degrees of a sensor that is none.
  constexpr std::int64_t kMost = 200'000;
  return value && *value > -kMost && *value < kMost ? value : std::nullopt;
}

/// The first sensor of the function is that of its chip (drivers mlx5, bnxt_en, ice).
std::string sensor_of(const std::string& function) {
  for (const sysfs::DirectoryEntry& entry : sysfs::list_directory(function + "/hwmon")) {
    std::string sensor = function + "/hwmon/" + entry.name + "/temp1";
    if (sysfs::exists(sensor + "_input")) return sensor;
  }
  return {};
}

std::optional<std::int64_t> limit_in(const std::string& file) {
  const auto limit = temperature_in(file);
  return limit && *limit > 0 ? limit : std::nullopt;
}

std::optional<std::uint64_t> read_value(bool is_gauge, const std::string& file) {
  if (!is_gauge) return sysfs::parse_aer_total(sysfs::read_text(file));
  const auto value = temperature_in(file);
  return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

}  // namespace

AdapterSource::Adapter AdapterSource::look_at(const HostPort& port) const {
  Adapter adapter;
  adapter.key = adapter_key(port);
  adapter.device = port.device;
  const std::string folder = port.number != 0 ? "/class/infiniband/" : "/class/net/";
  const std::vector<std::string> functions = sysfs::pcie_functions(sysfs_root_ + folder + port.device + "/device");
  if (functions.empty()) return adapter;
  adapter.function = functions.front();
  for (const auto& [name, file] : kErrorFiles) {
    Value value{name, false, {}, {}, {}};
    for (std::size_t i = 0; i < std::min<std::size_t>(functions.size(), 2); ++i)
      if (sysfs::exists(functions[i] + file)) value.files.push_back(functions[i] + file);
    if (!value.files.empty()) adapter.values.push_back(std::move(value));
  }
  if (const std::string sensor = sensor_of(adapter.function); !sensor.empty()) {
    adapter.values.push_back({"adapter_temperature", true, {sensor + "_input"}, {}, {}});
    adapter.limits = without_contradictions({{}, {}, limit_in(sensor + "_max"), limit_in(sensor + "_crit")});
  }
  return adapter;
}

bool AdapterSource::watch(std::span<const HostPort> ports) {
  std::vector<Adapter> adapters;
  for (const HostPort& port : ports) {
    if (port.is_virtual_function || port.pci_address.empty()) continue;
    const std::string key = adapter_key(port);
    if (std::ranges::find(adapters, key, &Adapter::key) == adapters.end()) adapters.push_back(look_at(port));
  }
  const auto is_same = [](const Adapter& a, const Adapter& b) {
    return a.device == b.device && std::ranges::equal(a.values, b.values, [](const Value& one, const Value& other) {
             return one.files == other.files;
           });
  };
  if (std::ranges::equal(adapters, adapters_, is_same)) {
    for (std::size_t i = 0; i < adapters.size(); ++i) adapters_[i].limits = adapters[i].limits;
    return false;
  }
  adapters_ = std::move(adapters);
  read_at_ = kNever;
  return true;
}

void AdapterSource::enter(SeriesRegistry& book) {
  book.begin_source(CounterSource::kUnknown);
  for (Adapter& adapter : adapters_)
    for (Value& value : adapter.values) {
      value.positions.clear();
      for (std::size_t i = 0; i < value.files.size(); ++i) {
        HostSeries series;
        series.device = adapter.device;
        series.name = value.name;
        if (value.is_gauge) series.behaviour = CounterBehaviour::kGauge;
        const std::optional<SeriesPosition> position = book.enter(std::move(series));
        if (position) value.positions.push_back(*position);
      }
    }
}

void AdapterSource::read(ValueSink& sink, TimePoint now) {
  const bool is_due = read_at_ == kNever || now < read_at_ || now - read_at_ >= interval_;
  if (is_due) read_at_ = now;
  for (Adapter& adapter : adapters_)
    for (Value& value : adapter.values) {
      if (is_due) {
        value.last.clear();
        for (const std::string& file : value.files) value.last.push_back(read_value(value.is_gauge, file));
      }
      for (std::size_t i = 0; i < std::min(value.positions.size(), value.last.size()); ++i)
        if (value.last[i]) sink.put(value.positions[i], *value.last[i]);
    }
}

std::string AdapterSource::temperature_limits(std::string_view device) const {
  const auto found = std::ranges::find(adapters_, device, &Adapter::device);
  return found == adapters_.end() ? std::string() : to_text(found->limits, 3);
}

}  // namespace weft::host
