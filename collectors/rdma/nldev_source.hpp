// SPDX-License-Identifier: Apache-2.0
#pragma once
// RDMA netlink: all hw_counters of a port in one answer, optional ones included, without a privilege.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectors/netlink/socket.hpp"
#include "collectors/rdma/device_scan.hpp"
#include "collectors/series/answer_slots.hpp"

namespace weft::rdma {

/// Reads hw_counters of RDMA devices through netlink.
class NldevSource {
 public:
  /// Opens its socket; when the kernel has no RDMA netlink the source stays silent and status() says so.
  explicit NldevSource(bool raw_names);

  /// From now on these devices are asked. Learns at once what they have.
  void watch(std::span<const ScannedDevice> devices);
  /// Fills in the interfaces of watched devices that sysfs did not tell.
  void add_netdevs(std::span<ScannedDevice> devices);
  /// Enters the series of all watched devices.
  void enter(SeriesRegistry& book);
  /// Asks the kernel and writes the values.
  void read(ValueSink& sink) { ask(&sink); }
  /// Whether counters appeared (an optional one was switched on), so that enter() should be called again.
  bool has_new() const;
  /// What went wrong last; always ok while there is no RDMA device.
  SourceStatus status() const;

 private:
  struct Port {
    std::string device;
    std::string driver;
    std::uint8_t number;
    std::uint32_t index;  ///< of the device, as the kernel counts them
    bool is_beside_its_port;
    AnswerSlots slots;
  };

  void ask(ValueSink* sink);

  bool raw_names_;
  std::optional<netlink::Socket> socket_;
  std::string trouble_;
  bool has_devices_ = false;
  std::vector<Port> ports_;
  std::vector<netlink::Request> requests_;
};

}  // namespace weft::rdma
