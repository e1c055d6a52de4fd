// SPDX-License-Identifier: Apache-2.0
// Attribute messages of rtnetlink, ethtool netlink, dcbnl and RDMA netlink. The first byte says which.
#include "collectors/ethernet/dcb_message.hpp"
#include "collectors/ethernet/driver_statistics.hpp"
#include "collectors/ethernet/ethtool_message.hpp"
#include "collectors/ethernet/fact_message.hpp"
#include "collectors/ethernet/link_message.hpp"
#include "collectors/rdma/nldev_message.hpp"
#include "fabric/counters.hpp"
#include "fuzz.hpp"

namespace {

using weft::ethernet::Figures;
using weft::fuzz::demand;

void check(const Figures& figures, std::size_t size) {
  demand(figures.size() <= size, "no more values than bytes");
  for (const weft::ethernet::Figure& figure : figures) {
    const weft::CounterInfo* info = weft::find_counter(figure.name);
    demand(info != nullptr && info->on_hosts, "every value is in the catalogue");
    demand(figure.priority < 8 || figure.priority == weft::kNoPriority, "a priority is one");
    demand(figure.lane < 32 || figure.lane == weft::kNoLane, "a lane is one");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const weft::netlink::Bytes bytes = std::as_bytes(std::span(data + 1, size - 1));
  Figures figures;
  switch (data[0]) {
    case 'l':
      if (const auto link = weft::ethernet::parse_link_message(bytes)) {
        demand(link->index > 0, "a link has an index");
        demand(link->name.size() < size, "a name is in the message");
      }
      break;
    case 'f':
      weft::ethernet::parse_fec(bytes, figures);
      break;
    case 'p':
      weft::ethernet::parse_pause(bytes, figures);
      break;
    case 's':
      weft::ethernet::parse_statistics(bytes, figures);
      break;
    case 'k':
      weft::ethernet::parse_link_state(bytes, figures);
      weft::ethernet::parse_down_reason(bytes);
      break;
    case 'd':
      weft::ethernet::parse_dcb_pfc(bytes, figures);
      break;
    case 'e':
      demand(weft::ethernet::parse_module_eeprom(bytes).size() < size, "pages are in the message");
      weft::ethernet::parse_family(bytes);
      break;
    case 'n':
      weft::rdma::parse_nldev_device(bytes);
      weft::rdma::parse_nldev_port_netdev(bytes);
      weft::rdma::parse_nldev_statistics(
          bytes, [&](std::string_view name, std::uint64_t) { demand(!name.empty(), "a counter has a name"); });
      break;
    case 'g':
      for (const std::string_view name :
           weft::ethernet::parse_statistics_names(weft::fuzz::text_of(data + 1, size - 1)))
        demand(name.size() <= 32, "a name of ethtool is short");
      break;
    case 'c': {
      std::vector<weft::FactValue> facts;
      weft::ethernet::parse_pause_facts(bytes, facts);
      weft::ethernet::parse_fec_facts(bytes, facts);
      weft::ethernet::parse_dcb_facts(bytes, facts);
      demand(facts.size() <= weft::kConfigFacts, "each fact once");
      break;
    }
    default:
      break;
  }
  // DCB and FEC give several values for one attribute.
  if (data[0] != 'd') check(figures, size);
  return 0;
}
