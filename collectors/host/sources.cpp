// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/sources.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <tuple>

#include "collectors/host/interface_state.hpp"
#include "collectors/sysfs/sysfs_files.hpp"
#include "collectors/sysfs/sysfs_text.hpp"

namespace weft::host {
namespace {

constexpr std::size_t kMostEvents = 4096;

/// Of an Ethernet interface, in bits per second; 0 when it says none (-1 or EINVAL while down).
std::uint64_t interface_rate(const std::string& sysfs_root, const std::string& interface) {
  constexpr std::uint64_t kMostMegabits = 10'000'000;
  const auto megabits = sysfs::parse_counter(sysfs::read_text(sysfs_root + "/class/net/" + interface + "/speed"));
  return megabits && *megabits <= kMostMegabits ? *megabits * 1'000'000 : 0;
}

/// "/sys/" is /sys.
HostReaderOptions with_plain_root(HostReaderOptions options) {
  while (options.sysfs_root.size() > 1 && options.sysfs_root.ends_with('/')) options.sysfs_root.pop_back();
  return options;
}

}  // namespace

Sources::Sources(HostReaderOptions options)
    : options_(with_plain_root(std::move(options))),
      sysfs_({options_.sysfs_root, options_.raw_names, options_.rescan_interval}),
      facts_({options_.sysfs_root, options_.sysfs, options_.rescan_interval, options_.facts_interval}) {
  if (options_.sysfs) adapters_.emplace(options_.sysfs_root, options_.rescan_interval);
  const bool is_kernels_log = options_.kernel_log_path == HostReaderOptions{}.kernel_log_path;
  if (options_.kernel_log && (options_.sysfs_root == "/sys" || !is_kernels_log))
    kernel_log_.emplace(options_.kernel_log_path);
  if (options_.sysfs_root != "/sys") return;  // a recorded tree: the kernel knows nothing of it
  if (options_.sysfs && options_.rdma_netlink) nldev_.emplace(options_.raw_names);
  if (options_.ethtool) ethtool_.emplace();
  if (options_.ethtool) statistics_.emplace(options_.raw_names);
  if (options_.dcb) dcb_.emplace();
  if (options_.ethtool && options_.module) modules_.emplace(options_.module_interval);
  if (options_.rtnetlink) links_.emplace(options_.sysfs_root, options_.interfaces ? &*options_.interfaces : nullptr);
  if (options_.lldp) neighbours_.emplace(lldp::LldpOptions{options_.lldp_socket, options_.lldp_interval});
}

HostReading Sources::read(TimePoint now) {
  take_link_events(now);
  find_devices(now);
  if (book_is_old_) enter_series();
  HostReading reading;
  reading.taken = now;
  reading.values.assign(book_.series().size(), 0);
  reading.present.assign(book_.series().size(), 0);
  ValueSink sink(reading.values, reading.present);
  read_sources(now, sink);
  // A figure of several parts is there when all of them are.
  const std::vector<std::uint8_t>& parts = book_.parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    reading.present[i] = reading.present[i] == parts[i] ? 1 : 0;
    if (reading.present[i] == 0) reading.values[i] = 0;
  }
  if (neighbours_) {
    neighbours_->read(now);
    reading.neighbours = neighbours_->table();
    reading.neighbours_at = neighbours_->read_at();
  }
  reading.sources = statuses();
  const std::shared_ptr<const HostInventory> before = inventory_;
  reading.inventory = current_inventory();
  if (reading.inventory != before) {
    tell_port_states(now);
    if (adapters_ && adapters_->watch(inventory_->ports)) book_is_old_ = true;
  }
  // The kernel dates its lines by this clock (local_clock(), kernel/printk/printk.c).
  if (kernel_log_)
    kernel_log_->read(now, std::chrono::duration_cast<std::chrono::microseconds>(
                               std::chrono::steady_clock::now().time_since_epoch()));
  read_facts(now);
  reading.facts = facts_.table();
  reading.facts_at = facts_.read_at();
  return reading;
}

void Sources::read_facts(TimePoint now) {
  FactAsk ask;
  ask.ethtool = ethtool_ ? &*ethtool_ : nullptr;
  ask.statistics = statistics_ ? &*statistics_ : nullptr;
  ask.dcb = dcb_ ? &*dcb_ : nullptr;
  ask.modules = modules_ ? &*modules_ : nullptr;
  ask.adapters = adapters_ ? &*adapters_ : nullptr;
  ask.kernel_log = kernel_log_ ? &*kernel_log_ : nullptr;
  facts_.read(now, inventory_->ports, interfaces_.interfaces, ask);
}

void Sources::read_sources(TimePoint now, ValueSink& sink) {
  if (ethtool_) ethtool_->read(sink);
  if (statistics_) statistics_->read(sink);
  if (dcb_) dcb_->read(sink);
  if (modules_) modules_->read(sink, *ethtool_, now);
  if (nldev_) nldev_->read(sink);
  if (options_.sysfs) sysfs_.read(sink);
  if (adapters_) adapters_->read(sink, now);
  if (links_) {
    std::vector<ethernet::LinkChange> changes;
    links_->read(sink, changes);
    tell(now, changes);
  }
  // What appeared meanwhile is read from the next time on.
  if (has_new()) book_is_old_ = true;
  if (statistics_ && statistics_->is_outdated()) relearn_ = true;
}

bool Sources::has_new() const {
  return (ethtool_ && ethtool_->has_new()) || (dcb_ && dcb_->has_new()) || (modules_ && modules_->has_new()) ||
         (nldev_ && nldev_->has_new());
}

std::vector<SourceStatus> Sources::statuses() const {
  std::vector<SourceStatus> statuses;
  if (options_.sysfs) statuses.push_back(sysfs_.status());
  if (nldev_) statuses.push_back(nldev_->status());
  if (links_) statuses.push_back(links_->status());
  if (ethtool_) statuses.push_back(ethtool_->status());
  if (dcb_) statuses.push_back(dcb_->status());
  if (modules_) statuses.push_back(modules_->status());
  if (neighbours_) statuses.push_back(neighbours_->status());
  if (kernel_log_) statuses.push_back(kernel_log_->status());
  return statuses;
}

void Sources::find_devices(TimePoint now) {
  if (options_.sysfs && sysfs_.refresh(now)) {
    book_is_old_ = true;
    suspect_ = true;
    if (nldev_) nldev_->watch(sysfs_.devices());
  }
  if (nldev_ && sysfs_.scanned_at() == now) nldev_->add_netdevs(sysfs_.devices());
  const bool is_due = scanned_at_ == kNever || now < scanned_at_ || now - scanned_at_ >= options_.rescan_interval;
  if (suspect_ || is_due) find_interfaces(now);
  if (relearn_) watch_interfaces(now);
}

void Sources::find_interfaces(TimePoint now) {
  suspect_ = false;
  scanned_at_ = now;
  if (!links_ && !ethtool_ && !dcb_) return;
  ports_.clear();
  sysfs_.add_ports(ports_);
  ethernet::InterfaceScan found =
      ethernet::scan_interfaces(options_.sysfs_root, ports_, options_.interfaces ? &*options_.interfaces : nullptr);
  // Whoever is missing now was told of before it left sysfs: to be heard while we still know whose it was.
  take_link_events(now);
  const bool is_new = found.interfaces != interfaces_.interfaces;
  interfaces_ = std::move(found);
  down_reasons_.clear();
  if (is_new) watch_interfaces(now);
  for (HostPort& port : interfaces_.alone) {
    port.rate_bits_per_second = interface_rate(options_.sysfs_root, port.netdev);
    if (statistics_) port.firmware = statistics_->firmware_of(port.netdev);
  }
}

void Sources::watch_interfaces(TimePoint now) {
  relearn_ = false;
  book_is_old_ = true;
  std::vector<ethernet::Interface> of_ethernet;
  std::ranges::remove_copy_if(interfaces_.interfaces, std::back_inserter(of_ethernet),
                              &ethernet::Interface::is_infiniband);
  if (ethtool_) ethtool_->watch(of_ethernet);
  if (statistics_) statistics_->watch(of_ethernet);
  if (dcb_) dcb_->watch(of_ethernet);
  if (modules_) modules_->watch(interfaces_.interfaces, *ethtool_, now);
  if (links_) links_->watch(interfaces_.interfaces);
}

void Sources::enter_series() {
  // In order of trust: the first one to know a series keeps it. A driver's own statistics tell the most of a port, but
  // for FEC some drivers name there what is none exactly; RDMA counters see only RDMA's part of a port. Counters that
  // the catalogue tells apart by source keep a series of each, in this order.
  book_ = SeriesRegistry();
  if (ethtool_) ethtool_->enter_fec(book_);
  if (statistics_) statistics_->enter(book_);
  if (ethtool_) ethtool_->enter(book_);
  if (dcb_) dcb_->enter(book_);
  if (modules_) modules_->enter(book_);
  if (nldev_) nldev_->enter(book_);
  if (options_.sysfs) sysfs_.enter(book_);
  if (adapters_) adapters_->enter(book_);
  if (links_) links_->enter(book_);
  if (inventory_ && inventory_->series != book_.series()) inventory_ = nullptr;
  book_is_old_ = false;
}

std::shared_ptr<const HostInventory> Sources::current_inventory() {
  ports_.clear();
  sysfs_.add_ports(ports_);
  ports_.insert(ports_.end(), interfaces_.alone.begin(), interfaces_.alone.end());
  add_interface_states();
  std::ranges::sort(ports_, {}, [](const HostPort& port) { return std::tie(port.device, port.number); });
  if (!inventory_ || inventory_->ports != ports_)
    inventory_ = std::make_shared<const HostInventory>(HostInventory{ports_, book_.series()});
  return inventory_;
}

void Sources::add_interface_states() {
  if (!links_) return;
  for (std::size_t i = 0; i < interfaces_.interfaces.size(); ++i) {
    const ethernet::LinkSource::State& state = links_->states()[i];
    if (!state.known || interfaces_.interfaces[i].is_infiniband) continue;
    for (HostPort& port : ports_) {
      if (port.netdev != interfaces_.interfaces[i].name) continue;
      add_interface_state(port, state);
      if (state.administratively_up && !state.carrier) port.down_reason = down_reason(interfaces_.interfaces[i]);
    }
  }
}

std::string Sources::down_reason(const ethernet::Interface& interface) {
  if (!ethtool_) return {};
  const auto [known, is_new] = down_reasons_.try_emplace(interface.index);
  if (is_new) known->second = ethtool_->down_reason(interface);
  return known->second;
}

std::vector<LinkEvent> Sources::take_events(TimePoint now) {
  take_link_events(now);
  return std::exchange(events_, {});
}

void Sources::take_link_events(TimePoint now) {
  if (!links_) return;
  std::vector<ethernet::LinkChange> changes;
  if (links_->take_events(changes)) suspect_ = true;
  tell(now, changes);
}

std::string Sources::reason_of(const ethernet::LinkChange& change, const ethernet::Interface& interface) {
  if (change.removed) return "Interface removed";
  return change.up || change.administrative ? std::string() : down_reason(interface);
}

void Sources::tell(TimePoint now, const std::vector<ethernet::LinkChange>& changes) {
  bool look_at_ports = false;
  for (const ethernet::LinkChange& change : changes) {
    const auto interface = std::ranges::find(interfaces_.interfaces, change.index, &ethernet::Interface::index);
    if (interface == interfaces_.interfaces.end() || !inventory_) continue;
    down_reasons_.erase(change.index);
    // It may have come back at another rate, and its driver may have more to tell.
    if (change.up) suspect_ = relearn_ = true;
    for (const HostPort& port : inventory_->ports) {
      if (port.netdev != interface->name) continue;
      if (interface->is_infiniband) {
        look_at_ports = true;
        continue;
      }
      add_event({now, port.device, port.number, port.netdev, change.up, change.carrier_up_count,
                 change.carrier_down_count, change.administrative, reason_of(change, *interface)});
    }
  }
  if (!look_at_ports) return;
  // IPoIB notices at once when its port fails; what happened is in the port's own state.
  sysfs_.read_states();
  current_inventory();
  tell_port_states(now);
}

bool Sources::has_carrier_events(const HostPort& port) const {
  // The carrier of an IPoIB interface is its subnet manager's matter, not the link's.
  return links_ && std::ranges::any_of(interfaces_.interfaces, [&](const ethernet::Interface& interface) {
           return interface.name == port.netdev && !interface.is_infiniband;
         });
}

void Sources::tell_port_states(TimePoint now) {
  for (const HostPort& port : ports_) {
    if (port.number == 0 || has_carrier_events(port) || port.state == PortState::kUnknown) continue;
    const bool is_active = port.state == PortState::kActive;
    const auto [known, is_new] = was_active_.try_emplace({port.device, port.number}, is_active);
    if (is_new || known->second == is_active) continue;
    known->second = is_active;
    add_event({now, port.device, port.number, port.netdev, is_active, {}, {}, false, {}});
  }
  std::erase_if(was_active_, [&](const auto& entry) {
    return std::ranges::none_of(ports_, [&](const HostPort& port) {
      return port.device == entry.first.first && port.number == entry.first.second;
    });
  });
}

void Sources::add_event(LinkEvent event) {
  // Whoever never takes them loses the oldest.
  if (events_.size() >= kMostEvents) events_.erase(events_.begin());
  events_.push_back(std::move(event));
}

}  // namespace weft::host
