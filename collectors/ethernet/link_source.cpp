// SPDX-License-Identifier: Apache-2.0
#include "collectors/ethernet/link_source.hpp"

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace weft::ethernet {
namespace {

void put(ValueSink& sink, std::optional<SeriesPosition> position, std::optional<std::uint64_t> value) {
  if (position && value) sink.put(*position, *value);
}

netlink::Request link_request(std::uint32_t index) {
  ifinfomsg header{};
  header.ifi_family = AF_UNSPEC;
  header.ifi_index = static_cast<int>(index);
  return netlink::RequestBuilder(RTM_GETLINK).header(header).finish();
}

}  // namespace

LinkSource::LinkSource(std::string sysfs_root, const std::regex* also)
    : sysfs_root_(std::move(sysfs_root)), also_(also) {
  Result<netlink::Socket> questions = netlink::Socket::open(NETLINK_ROUTE);
  if (!questions) {
    trouble_ = questions.error().message;
    return;
  }
  questions_ = std::move(*questions);
  Result<netlink::Socket> events = netlink::Socket::open(NETLINK_ROUTE);
  const Result<void> joined = events ? events->join(RTNLGRP_LINK) : tl::unexpected<Error>(events.error());
  if (!joined) {
    trouble_ = "no link events: " + joined.error().message;
    return;
  }
  events_ = std::move(*events);
}

void LinkSource::watch(std::span<const Interface> interfaces) {
  for (const Interface& old : interfaces_)
    if (std::ranges::find(interfaces, old.index, &Interface::index) == interfaces.end()) tracker_.forget(old.index);
  interfaces_.assign(interfaces.begin(), interfaces.end());
  states_.assign(interfaces_.size(), State{});
  places_.assign(interfaces_.size(), Places{});
  requests_.clear();
  for (const Interface& interface : interfaces_) requests_.push_back(link_request(interface.index));
}

void LinkSource::enter(SeriesRegistry& book) {
  book.begin_source(CounterSource::kNetdev);
  for (std::size_t i = 0; i < interfaces_.size(); ++i) {
    const Interface& interface = interfaces_[i];
    Places& places = places_[i];
    places = {};
    if (interface.is_infiniband || !questions_) continue;
    const auto enter = [&](const char* name, std::uint8_t bits) {
      HostSeries series;
      series.device = interface.device;
      series.port = interface.port;
      series.name = name;
      series.bits = bits;
      return book.enter(std::move(series));
    };
    places.carrier_up = enter("carrier_up", 32);
    places.carrier_down = enter("carrier_down", 32);
    places.receive_errors = enter("receive_errors", 64);
    places.transmit_errors = enter("transmit_errors", 64);
    places.crc_errors = enter("crc_errors", 64);
    // An adapter with RDMA carries traffic past the interface: what the interface counts is not the port's.
    if (interface.port != 0 && !interface.is_software_rdma) continue;
    places.receive_bytes = enter("receive_bytes", 64);
    places.transmit_bytes = enter("transmit_bytes", 64);
    places.receive_packets = enter("receive_packets", 64);
    places.transmit_packets = enter("transmit_packets", 64);
  }
}

void LinkSource::read(ValueSink& sink, std::vector<LinkChange>& changes) {
  if (!questions_) return;
  tracker_.settle();
  const Result<void> asked = questions_->ask(requests_, [&](std::size_t i, int error, const netlink::Message& answer) {
    // An interface that is gone is missed by the events, not here.
    const std::optional<LinkMessage> message = error == 0 ? parse_link_message(answer.payload) : std::nullopt;
    if (!message || message->index != interfaces_[i].index) {
      states_[i].known = false;
      return;
    }
    note(i, *message, changes);
    const Places& places = places_[i];
    put(sink, places.carrier_up, message->carrier_up_count);
    put(sink, places.carrier_down, message->carrier_down_count);
    if (!message->statistics) return;
    const LinkStatistics& statistics = *message->statistics;
    put(sink, places.receive_errors, statistics.receive_errors);
    put(sink, places.transmit_errors, statistics.transmit_errors);
    put(sink, places.crc_errors, statistics.receive_crc_errors);
    put(sink, places.receive_bytes, statistics.receive_bytes);
    put(sink, places.transmit_bytes, statistics.transmit_bytes);
    put(sink, places.receive_packets, statistics.receive_packets);
    put(sink, places.transmit_packets, statistics.transmit_packets);
  });
  if (!asked) trouble_ = asked.error().message;
}

std::size_t LinkSource::find(std::uint32_t index) const {
  return static_cast<std::size_t>(std::ranges::find(interfaces_, index, &Interface::index) - interfaces_.begin());
}

void LinkSource::note(std::size_t place, const LinkMessage& message, std::vector<LinkChange>& changes) {
  states_[place] = {true, message.administratively_up, message.carrier};
  tracker_.take(message, changes);
}

bool LinkSource::take_events(std::vector<LinkChange>& changes) {
  if (!events_) return false;
  bool scan_again = false;
  const bool complete =
      events_->take([&](const netlink::Message& message) { scan_again = take_event(message, changes) || scan_again; });
  // What was dropped is found by the next read(), which compares counts; a new interface only by a scan.
  return scan_again || !complete;
}

bool LinkSource::take_event(const netlink::Message& message, std::vector<LinkChange>& changes) {
  if (message.type != RTM_NEWLINK && message.type != RTM_DELLINK) return false;
  const std::optional<LinkMessage> link = parse_link_message(message.payload);
  if (!link) return false;
  const std::size_t place = find(link->index);
  const bool is_watched = place < interfaces_.size();
  if (message.type == RTM_DELLINK) {
    if (link->moved) tracker_.forget(link->index);
    tracker_.remove(link->index, changes);
    return is_watched;
  }
  if (!is_watched) return is_watched_alone(sysfs_root_, std::string(link->name), also_);
  if (!link->name.empty() && link->name != interfaces_[place].name) return true;
  note(place, *link, changes);
  return false;
}

SourceStatus LinkSource::status() const {
  return {"rtnetlink", trouble_.empty(), trouble_};
}

}  // namespace weft::ethernet
