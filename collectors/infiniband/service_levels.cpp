// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/service_levels.hpp"

#include <algorithm>

namespace weft::infiniband {
namespace {

void forget_refusals(Subnet& subnet) {
  for (NodeIndex i = 0; i < subnet.node_count(); ++i) subnet.agent(i).service_level_refused = false;
}

/// It has no record, and will have none in a moment: unlike an administrator that is busy (vol. 1, 13.4.7) or out of
/// resources (IB_SA_MAD_STATUS_NO_RESOURCES of OpenSM's ib_types.h).
bool is_refusal(MadResult result, ConstMadBytes mad) {
  constexpr unsigned kBusy = 0x0001, kOwnStatus = 0xFF00, kNoResources = 0x0100;
  if (result == MadResult::kUnsupported) return true;
  return result == MadResult::kBadStatus && !(status_of(mad) & kBusy) && (status_of(mad) & kOwnStatus) != kNoResources;
}

}  // namespace

bool ServiceLevels::matters(Subnet& subnet) const {
  if (differ_ || level_of_all_.value_or(0) != 0) return true;
  for (const NodeIndex node : sample_)
    if (subnet.agent(node).service_level != 0) return true;
  return false;
}

void ServiceLevels::begin(Subnet& subnet, const std::vector<NodeIndex>& candidates) {
  for (NodeIndex i = 0; i < subnet.node_count(); ++i) subnet.agent(i).service_level_known = false;
  sample_.clear();
  const std::size_t count = std::min(kSample, candidates.size());
  for (std::size_t i = 0; i < count; ++i) sample_.push_back(candidates[i * candidates.size() / count]);
  level_of_all_.reset();
  differ_ = false;
  turn_ = 0;
}

/// The routes have settled and are others than when levels were asked for. Tables that are read for the first time are
/// those of that time.
bool ServiceLevels::routes_changed(std::uint64_t revision, std::uint64_t sweep) {
  if (revision != newest_revision_) newest_since_ = sweep;
  newest_revision_ = revision;
  const bool settled = revision != 0 && sweep >= newest_since_ + kSettled;
  const bool changed = settled && revision_ != 0 && revision_ != revision;
  if (settled) revision_ = revision;
  return changed;
}

std::vector<NodeIndex> ServiceLevels::next(Subnet& subnet, Lid manager, std::uint64_t routes_revision,
                                           std::uint64_t sweep) {
  const bool other_routes = routes_changed(routes_revision, sweep);
  if (manager != manager_ || other_routes) forget_refusals(subnet);
  std::vector<NodeIndex> candidates;
  for (NodeIndex i = 0; i < subnet.node_count(); ++i)
    if (subnet.node(i).reachable && subnet.agent(i).known && !subnet.agent(i).service_level_refused &&
        speaking_port(subnet, i) != kNoIndex)
      candidates.push_back(i);
  if (candidates.empty()) forget_refusals(subnet);
  // A node of the sample that went away is not waited for.
  std::erase_if(sample_, [&](NodeIndex node) { return !std::ranges::binary_search(candidates, node); });
  const bool too_few = sample_.size() * 2 <= std::min(kSample, candidates.size());
  if (manager != manager_ || (other_routes && matters(subnet)) || (too_few && !differ_)) begin(subnet, candidates);
  manager_ = manager;

  const auto is_known = [&](NodeIndex node) { return subnet.agent(node).service_level_known; };
  if (!level_of_all_ && !differ_ && !sample_.empty() && std::ranges::all_of(sample_, is_known))
    level_of_all_ = subnet.agent(sample_.front()).service_level;
  if (level_of_all_) {
    for (NodeIndex i = 0; i < subnet.node_count(); ++i) {
      if (is_known(i))
        differ_ |= subnet.agent(i).service_level != *level_of_all_;
      else
        subnet.agent(i).service_level = *level_of_all_;
    }
    if (differ_) level_of_all_.reset();
  }

  const bool tries = level_of_all_ && sweep >= try_at_;
  if (sweep < ask_at_ || (level_of_all_ && !tries)) return {};
  std::vector<NodeIndex> chosen;
  if (!level_of_all_ && !differ_) {
    std::ranges::copy_if(sample_, std::back_inserter(chosen), [&](NodeIndex node) { return !is_known(node); });
  } else {
    const std::size_t most = differ_ ? at_once_ : 1;
    for (std::size_t i = 0; i < candidates.size() && chosen.size() < most; ++i) {
      const NodeIndex node = candidates[turn_++ % candidates.size()];
      if (!is_known(node)) chosen.push_back(node);
    }
    if (tries) try_at_ = sweep + kTryEvery;
  }
  if (chosen.size() > at_once_) chosen.resize(at_once_);
  return chosen;
}

void ServiceLevels::note(bool all_answered, std::uint64_t sweep) {
  at_once_ = all_answered ? std::min(at_once_ * 2, kMostAtOnce) : kFewestAtOnce;
  pause_ = all_answered ? kPause : std::min(pause_ * 2, kLongestPause);
  ask_at_ = sweep + pause_;
}

ServiceLevelQuestions::ServiceLevelQuestions(Subnet& subnet, const GeneralServices& services, Lid own,
                                             std::span<const NodeIndex> nodes)
    : subnet_(subnet), services_(services), own_(own), nodes_(nodes) {}

bool ServiceLevelQuestions::next(MadRequest& request) {
  while (next_ < nodes_.size()) {
    const NodeIndex node = nodes_[next_++];
    const PortIndex port = speaking_port(subnet_, node);
    if (port == kNoIndex) continue;
    request = {};
    // Nobody's: that the administrator keeps silent is no sign of trouble at the node it runs on, nor of a window too
    // large.
    request.node = kNoIndex;
    request.port = port;
    request.tag = node;
    request.attribute = attribute::kPathRecord;
    request.tries_left = 0;
    request.address = administrator_address(subnet_, services_);
    ++asked_;
    return true;
  }
  return false;
}

void ServiceLevelQuestions::encode(const MadRequest& request, MadBytes mad) {
  encode_path_record_get(mad, own_, subnet_.port(request.port).lid);
}

void ServiceLevelQuestions::answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint) {
  ++results_[static_cast<std::size_t>(result)];
  PerformanceAgent& agent = subnet_.agent(request.tag);
  if (is_refusal(result, mad)) {
    agent.service_level_refused = true;
    ++refused_;
  }
  if (result != MadResult::kOk) return;
  agent.service_level = decode_path_record_sl(mad);
  agent.service_level_known = true;
}

}  // namespace weft::infiniband
