// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/forwarding.hpp"

#include <algorithm>

#include "collectors/infiniband/port_sweep.hpp"

namespace weft::infiniband {
namespace {

// Shares of a sweep's requests, and the least that is worth a turn.
constexpr std::uint64_t kHurryShare = 10;
constexpr std::uint64_t kQuietShare = 100;
constexpr std::uint64_t kLeastInHurry = 256;
constexpr std::uint64_t kLeastInQuiet = 64;
// After a sign of change the tables are read quickly for at least so many sweeps: a subnet manager hears of it, sweeps
// and computes before it writes.
constexpr std::uint32_t kSettleSweeps = 10;
constexpr std::uint32_t kQuietRounds = 2;

}  // namespace

void ForwardingTables::expect_changes() {
  quiet_rounds_wanted_ = kQuietRounds;
  hurry_sweeps_ = kSettleSweeps;
}

bool ForwardingTables::is_asked(NodeIndex node) const {
  return subnet_.node(node).reachable && subnet_.reach(node).silent_sweeps == 0;
}

void ForwardingTables::find_switches() {
  for (; nodes_seen_ < subnet_.node_count(); ++nodes_seen_) {
    const auto node = static_cast<NodeIndex>(nodes_seen_);
    const bool is_switch = subnet_.node(node).type == NodeType::kSwitch;
    position_.push_back(is_switch ? static_cast<std::uint32_t>(switches_.size()) : kNoIndex);
    if (is_switch) switches_.push_back({node, false});
  }
}

void ForwardingTables::begin(std::uint64_t requests) {
  find_switches();
  next_info_ = 0;
  skipped_ = 0;
  const bool hurry = hurry_sweeps_ > 0 || quiet_rounds_wanted_ > 0;
  if (hurry_sweeps_ > 0) --hurry_sweeps_;
  budget_ = hurry ? std::max(kLeastInHurry, requests / kHurryShare) : std::max(kLeastInQuiet, requests / kQuietShare);
  // One round is enough for one sweep.
  budget_ = std::min<std::uint64_t>(budget_, switches_.size() * most_blocks_);
}

void ForwardingTables::step() {
  if (++next_switch_ < switches_.size()) return;
  next_switch_ = 0;
  if (++next_block_ < most_blocks_) return;
  next_block_ = 0;
  finish_round();
}

void ForwardingTables::finish_round() {
  if (news_in_round_)
    quiet_rounds_wanted_ = kQuietRounds;
  else if (quiet_rounds_wanted_ > 0)
    --quiet_rounds_wanted_;
  news_in_round_ = false;
}

bool ForwardingTables::next(MadRequest& request) {
  request = {};
  while (next_info_ < switches_.size()) {
    request.node = switches_[next_info_++].node;
    if (!is_asked(request.node)) continue;
    request.attribute = attribute::kSwitchInfo;
    request.address = subnet_address(subnet_, request.node, subnet_.reach(request.node).by_lid);
    return true;
  }
  const std::uint64_t whole_round = switches_.size() * std::max<std::size_t>(most_blocks_, 1);
  while (budget_ > 0 && skipped_ < whole_round) {
    const NodeIndex node = switches_[next_switch_].node;
    const std::uint16_t block = next_block_;
    step();
    if (block >= book_.blocks(node) || !is_asked(node)) {
      ++skipped_;
      continue;
    }
    skipped_ = 0;
    --budget_;
    request.node = node;
    request.attribute = attribute::kLinearForwardingTable;
    request.modifier = block;
    // By directed route where no LID leads: the routes to a switch may be the very ones that are looked into.
    request.address = subnet_address(subnet_, node, subnet_.reach(node).by_lid);
    return true;
  }
  return false;
}

void ForwardingTables::encode(const MadRequest& request, MadBytes mad) {
  if (request.address.mad_class == MadClass::kSubnetLidRouted) {
    encode_subnet_get(mad, request.attribute, request.modifier, nullptr);
    return;
  }
  const DirectedRoute route = subnet_.route_to(request.node).value_or(DirectedRoute{});
  encode_subnet_get(mad, request.attribute, request.modifier, &route);
}

void ForwardingTables::answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint) {
  if (result != MadResult::kOk) return;
  if (request.attribute == attribute::kLinearForwardingTable) {
    news_in_round_ |=
        book_.set_block(request.node, static_cast<std::uint16_t>(request.modifier), decode_forwarding_block(mad));
    return;
  }
  const SwitchInfo info = decode_switch_info(mad);
  Switch& asked = switches_[position_[request.node]];
  // Set by the switch when a port's state changes, cleared by the subnet manager when it begins to see to it.
  if (info.port_state_change != asked.port_state_change) expect_changes();
  asked.port_state_change = info.port_state_change;
  if (book_.set_top(request.node, info.linear_top)) expect_changes();
  most_blocks_ = std::max(most_blocks_, book_.blocks(request.node));
}

}  // namespace weft::infiniband
