// SPDX-License-Identifier: Apache-2.0
#include "collectors/ethernet/ethtool_source.hpp"

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <array>
#include <cerrno>
#include <utility>

#include "collectors/ethernet/fact_message.hpp"

namespace weft::ethernet {
namespace {

/// The header attribute is number 1 in every message of ethtool.
constexpr std::uint16_t kHeaderAttribute = 1;
static_assert(ETHTOOL_A_FEC_HEADER == kHeaderAttribute && ETHTOOL_A_STATS_HEADER == kHeaderAttribute + 1);

netlink::RequestBuilder ethtool_request(std::uint16_t family, std::uint8_t command, std::uint16_t header_attribute,
                                        const Interface& interface, std::uint32_t flags) {
  netlink::RequestBuilder builder(family);
  builder.header(genlmsghdr{command, ETHTOOL_GENL_VERSION, 0})
      .begin_nest(header_attribute)
      .u32(ETHTOOL_A_HEADER_DEV_INDEX, interface.index)
      .u32(ETHTOOL_A_HEADER_FLAGS, flags)
      .end_nest();
  return builder;
}

netlink::Request statistics_request(std::uint16_t family, const Interface& interface) {
  constexpr std::uint32_t kGroups = 1U << ETHTOOL_STATS_ETH_PHY | 1U << ETHTOOL_STATS_ETH_MAC;
  return ethtool_request(family, ETHTOOL_MSG_STATS_GET, ETHTOOL_A_STATS_HEADER, interface, 0)
      .begin_nest(ETHTOOL_A_STATS_GROUPS)
      .flag(ETHTOOL_A_BITSET_NOMASK)
      .u32(ETHTOOL_A_BITSET_SIZE, __ETHTOOL_STATS_CNT)
      .u32(ETHTOOL_A_BITSET_VALUE, kGroups)
      .end_nest()
      .finish();
}

}  // namespace

EthtoolSource::EthtoolSource() : fec_(sizeof(genlmsghdr)), answers_(sizeof(genlmsghdr)) {
  Result<netlink::Socket> socket = netlink::Socket::open(NETLINK_GENERIC);
  if (!socket) {
    trouble_ = socket.error().message;
    return;
  }
  std::array<netlink::Request, 1> request = {netlink::RequestBuilder(GENL_ID_CTRL)
                                                 .header(genlmsghdr{CTRL_CMD_GETFAMILY, 1, 0})
                                                 .text(CTRL_ATTR_FAMILY_NAME, ETHTOOL_GENL_NAME)
                                                 .finish()};
  const Result<void> asked = socket->ask(request, [&](std::size_t, int error, const netlink::Message& answer) {
    if (error == 0) family_ = parse_family(netlink::attributes_of(answer.payload, sizeof(genlmsghdr))).value_or(0);
  });
  if (!asked || family_ == 0) {
    trouble_ = asked ? "the kernel has no ethtool netlink" : asked.error().message;
    return;
  }
  socket_ = std::move(*socket);
}

void EthtoolSource::watch(std::span<const Interface> interfaces) {
  fec_.clear();
  answers_.clear();
  if (!socket_) return;
  for (const Interface& interface : interfaces) {
    const auto request = [&](std::uint8_t command, std::uint32_t flags) {
      return ethtool_request(family_, command, kHeaderAttribute, interface, flags).finish();
    };
    fec_.add(interface, request(ETHTOOL_MSG_FEC_GET, ETHTOOL_FLAG_STATS), parse_fec);
    answers_.add(interface, request(ETHTOOL_MSG_PAUSE_GET, ETHTOOL_FLAG_STATS), parse_pause);
    answers_.add(interface, request(ETHTOOL_MSG_LINKSTATE_GET, 0), parse_link_state);
    answers_.add(interface, statistics_request(family_, interface), parse_statistics);
  }
  for (KernelAnswers* answers : {&fec_, &answers_})
    if (const Result<void> learnt = answers->learn(*socket_); !learnt) trouble_ = learnt.error().message;
}

void EthtoolSource::enter_fec(SeriesRegistry& book) {
  book.begin_source(CounterSource::kNetdev);
  fec_.enter(book);
}

void EthtoolSource::enter(SeriesRegistry& book) {
  book.begin_source(CounterSource::kNetdev);
  answers_.enter(book);
}

void EthtoolSource::read(ValueSink& sink) {
  if (!socket_) return;
  trouble_.clear();
  for (KernelAnswers* answers : {&fec_, &answers_})
    if (const Result<void> read = answers->read(*socket_, sink); !read) trouble_ = read.error().message;
}

std::string EthtoolSource::down_reason(const Interface& interface) {
  std::string reason;
  if (!socket_) return reason;
  std::array<netlink::Request, 1> request = {
      ethtool_request(family_, ETHTOOL_MSG_LINKSTATE_GET, kHeaderAttribute, interface, 0).finish()};
  // Without an answer the reason stays unknown, which is what it is.
  (void)socket_->ask(request, [&](std::size_t, int error, const netlink::Message& answer) {
    if (error == 0) reason = parse_down_reason(netlink::attributes_of(answer.payload, sizeof(genlmsghdr)));
  });
  return reason;
}

void EthtoolSource::read_facts(const Interface& interface, std::vector<FactValue>& facts) {
  if (!socket_) return;
  std::array<netlink::Request, 2> requests = {
      ethtool_request(family_, ETHTOOL_MSG_PAUSE_GET, kHeaderAttribute, interface, 0).finish(),
      ethtool_request(family_, ETHTOOL_MSG_FEC_GET, kHeaderAttribute, interface, 0).finish()};
  // A driver without one of them answers EOPNOTSUPP, and the fact stays absent.
  (void)socket_->ask(requests, [&](std::size_t request, int error, const netlink::Message& answer) {
    if (error != 0) return;
    const netlink::Bytes attributes = netlink::attributes_of(answer.payload, sizeof(genlmsghdr));
    if (request == 0)
      parse_pause_facts(attributes, facts);
    else
      parse_fec_facts(attributes, facts);
  });
}

int EthtoolSource::read_module(const Interface& interface, ModulePlace place,
                               const std::function<void(netlink::Bytes)>& take) {
  if (!socket_) return EOPNOTSUPP;
  std::array<netlink::Request, 1> request = {
      ethtool_request(family_, ETHTOOL_MSG_MODULE_EEPROM_GET, kHeaderAttribute, interface, 0)
          .u32(ETHTOOL_A_MODULE_EEPROM_OFFSET, place.offset)
          .u32(ETHTOOL_A_MODULE_EEPROM_LENGTH, ModuleMemory::kPartSize)
          .u8(ETHTOOL_A_MODULE_EEPROM_PAGE, place.page)
          .u8(ETHTOOL_A_MODULE_EEPROM_BANK, 0)
          .u8(ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, place.i2c_address)
          .finish()};
  int result = ETIMEDOUT;
  const Result<void> asked = socket_->ask(request, [&](std::size_t, int error, const netlink::Message& answer) {
    result = error;
    if (error == 0) take(parse_module_eeprom(netlink::attributes_of(answer.payload, sizeof(genlmsghdr))));
  });
  return asked ? result : ETIMEDOUT;
}

}  // namespace weft::ethernet
