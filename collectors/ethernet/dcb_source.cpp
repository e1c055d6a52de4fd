// SPDX-License-Identifier: Apache-2.0
#include "collectors/ethernet/dcb_source.hpp"

#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "collectors/ethernet/dcb_message.hpp"
#include "collectors/ethernet/fact_message.hpp"

namespace weft::ethernet {

namespace {

netlink::Request settings_request(const Interface& interface) {
  return netlink::RequestBuilder(RTM_GETDCB)
      .header(dcbmsg{AF_UNSPEC, DCB_CMD_IEEE_GET, 0})
      .text(DCB_ATTR_IFNAME, interface.name)
      .finish();
}

}  // namespace

DcbSource::DcbSource() : answers_(sizeof(dcbmsg)) {
  Result<netlink::Socket> socket = netlink::Socket::open(NETLINK_ROUTE);
  if (socket)
    socket_ = std::move(*socket);
  else
    trouble_ = socket.error().message;
  // Without events a change is found by the next look at everything.
  if (Result<netlink::Socket> events = netlink::Socket::open(NETLINK_ROUTE); events && events->join(RTNLGRP_DCB))
    events_ = std::move(*events);
}

void DcbSource::watch(std::span<const Interface> interfaces) {
  answers_.clear();
  if (!socket_) return;
  for (const Interface& interface : interfaces) answers_.add(interface, settings_request(interface), parse_dcb_pfc);
  if (const Result<void> learnt = answers_.learn(*socket_); !learnt) trouble_ = learnt.error().message;
}

void DcbSource::enter(SeriesRegistry& book) {
  book.begin_source(CounterSource::kNetdev);
  answers_.enter(book);
}

void DcbSource::read(ValueSink& sink) {
  if (!socket_) return;
  const Result<void> read = answers_.read(*socket_, sink);
  trouble_ = read ? std::string() : read.error().message;
}

void DcbSource::read_facts(const Interface& interface, std::vector<FactValue>& facts) {
  if (!socket_) return;
  std::array<netlink::Request, 1> request = {settings_request(interface)};
  // A driver without data centre bridging answers EOPNOTSUPP, and the facts stay absent.
  (void)socket_->ask(request, [&](std::size_t, int error, const netlink::Message& answer) {
    if (error == 0) parse_dcb_facts(netlink::attributes_of(answer.payload, sizeof(dcbmsg)), facts);
  });
}

bool DcbSource::take_changes() {
  bool changed = false;
  if (events_ && !events_->take([&](const netlink::Message&) { changed = true; })) changed = true;
  return changed;
}

}  // namespace weft::ethernet
