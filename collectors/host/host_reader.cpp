#include "collectors/host/host_reader.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "collectors/rdma/sysfs_source.hpp"
#include "collectors/series/series_book.hpp"

namespace weft {

class HostReader::Sources {
 public:
  explicit Sources(HostReaderOptions options)
      : options_(std::move(options)), sysfs_({options_.sysfs_root, options_.raw_names, options_.rescan_interval}) {}

  HostReading read(TimePoint now) {
    if (options_.sysfs && sysfs_.refresh(now)) book_is_old_ = true;
    if (book_is_old_) enter_series();
    HostReading reading;
    reading.taken = now;
    reading.values.assign(book_.series().size(), 0);
    reading.present.assign(book_.series().size(), 0);
    ValueSink sink(reading.values, reading.present);
    if (options_.sysfs) {
      sysfs_.read(sink);
      reading.sources.push_back(sysfs_.status());
    }
    settle(reading);
    reading.inventory = current_inventory();
    return reading;
  }

 private:
  void enter_series() {
    book_ = SeriesBook();
    if (options_.sysfs) sysfs_.enter(book_);
    inventory_ = nullptr;
    book_is_old_ = false;
  }

  /// A figure of several parts is there when all of them are.
  void settle(HostReading& reading) const {
    const std::vector<std::uint8_t>& parts = book_.parts();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      reading.present[i] = reading.present[i] == parts[i] ? 1 : 0;
      if (reading.present[i] == 0) reading.values[i] = 0;
    }
  }

  std::shared_ptr<const HostInventory> current_inventory() {
    ports_.clear();
    sysfs_.add_ports(ports_);
    std::ranges::sort(ports_, {}, [](const HostPort& port) { return std::tie(port.device, port.number); });
    if (!inventory_ || inventory_->ports != ports_)
      inventory_ = std::make_shared<const HostInventory>(HostInventory{ports_, book_.series()});
    return inventory_;
  }

  HostReaderOptions options_;
  rdma::SysfsSource sysfs_;
  SeriesBook book_;
  bool book_is_old_ = true;
  std::vector<HostPort> ports_;
  std::shared_ptr<const HostInventory> inventory_;
};

HostReader::HostReader(HostReaderOptions options) : sources_(std::make_unique<Sources>(std::move(options))) {}
HostReader::~HostReader() = default;

HostReading HostReader::read(TimePoint now) {
  return sources_->read(now);
}

int HostReader::event_fd() const {
  return -1;
}

std::vector<LinkEvent> HostReader::take_events(TimePoint) {
  return {};
}

}  // namespace weft
