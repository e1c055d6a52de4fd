// SPDX-License-Identifier: Apache-2.0
#pragma once
// rtnetlink: state, carrier counts and traffic of interfaces, and their changes as events.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectors/ethernet/interface_scan.hpp"
#include "collectors/ethernet/link_tracker.hpp"
#include "collectors/netlink/socket.hpp"
#include "collectors/series/series_registry.hpp"

namespace weft::ethernet {

/// Reads interfaces through rtnetlink and follows their changes.
class LinkSource {
 public:
  /// State of one interface; `known` is false until the kernel told it.
  struct State {
    bool known = false;
    bool administratively_up = false;
    bool carrier = false;
    bool is_up() const { return administratively_up && carrier; }
  };

  /// Opens its sockets; when that fails the source stays silent and status() says why. `sysfs_root` is only looked at
  /// to tell whether a new interface is of interest; `also` as scan_interfaces() has it, and outlives this.
  explicit LinkSource(std::string sysfs_root, const std::regex* also = nullptr);

  /// Readable when the kernel told of a link; -1 when there is no socket.
  int event_fd() const { return events_ ? events_->fd() : -1; }

  /// From now on these interfaces are watched.
  void watch(std::span<const Interface> interfaces);
  /// Enters the series of all watched interfaces.
  void enter(SeriesRegistry& book);
  /// Asks for every interface. Changes that no event told yet are added to `changes`.
  void read(ValueSink& sink, std::vector<LinkChange>& changes);
  /// Takes in what the kernel told since the last call, without waiting. True when interfaces of interest came, went or
  /// changed their names, so that they must be scanned again.
  bool take_events(std::vector<LinkChange>& changes);

  /// As of the last read() or event; in the order of watch().
  std::span<const State> states() const { return states_; }
  /// What went wrong last; ok when nothing did.
  SourceStatus status() const;

 private:
  /// Positions of what is read for one interface; nullopt where another source has it.
  struct Places {
    std::optional<SeriesPosition> carrier_up, carrier_down;
    std::optional<SeriesPosition> receive_errors, transmit_errors, crc_errors;
    std::optional<SeriesPosition> receive_bytes, transmit_bytes, receive_packets, transmit_packets;
  };

  std::size_t find(std::uint32_t index) const;
  void note(std::size_t place, const LinkMessage& message, std::vector<LinkChange>& changes);
  bool take_event(const netlink::Message& message, std::vector<LinkChange>& changes);

  std::string sysfs_root_;
  const std::regex* also_;
  std::optional<netlink::Socket> questions_;
  std::optional<netlink::Socket> events_;
  std::string trouble_;
  std::vector<Interface> interfaces_;
  std::vector<State> states_;
  std::vector<Places> places_;
  std::vector<netlink::Request> requests_;
  LinkTracker tracker_;
};

}  // namespace weft::ethernet
