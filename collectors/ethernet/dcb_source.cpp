// SPDX-License-Identifier: Apache-2.0
#include "collectors/ethernet/dcb_source.hpp"

#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <utility>

#include "collectors/ethernet/dcb_message.hpp"

namespace weft::ethernet {

DcbSource::DcbSource() : answers_(sizeof(dcbmsg)) {
  Result<netlink::Socket> socket = netlink::Socket::open(NETLINK_ROUTE);
  if (socket)
    socket_ = std::move(*socket);
  else
    trouble_ = socket.error().message;
}

void DcbSource::watch(std::span<const Interface> interfaces) {
  answers_.clear();
  if (!socket_) return;
  for (const Interface& interface : interfaces)
    answers_.add(interface,
                 netlink::RequestBuilder(RTM_GETDCB)
                     .header(dcbmsg{AF_UNSPEC, DCB_CMD_IEEE_GET, 0})
                     .text(DCB_ATTR_IFNAME, interface.name)
                     .finish(),
                 parse_dcb_pfc);
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

}  // namespace weft::ethernet
