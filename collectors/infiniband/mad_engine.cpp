// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/mad_engine.hpp"

#include <algorithm>
#include <string>

namespace weft::infiniband {
namespace {

// A lost port fails every send; a lone refusal (no buffers) happens on a healthy one.
constexpr std::uint32_t kFailedSendsMeanLost = 8;
// Two requests out of tries: the node is dead or hangs, do not wait for it a third time.
constexpr std::uint8_t kExhaustedMeansGivenUp = 2;
constexpr std::uint32_t kSmallestWindow = 8;
// The kernel gives a request back after its time-out; only where it does not (a simulator over UDP) this slack runs
// out.
constexpr std::int64_t kSlackNanoseconds = 50'000'000;

std::size_t index(MadResult result) {
  return static_cast<std::size_t>(result);
}

}  // namespace

MadEngine::MadEngine(MadPort& port, MadEngineOptions options)
    : port_(port), options_(options), window_(std::clamp(options.window, 1U, 1U << kSlotBits)) {
  options_.window = window_;
  options_.per_node_outstanding = std::clamp(options.per_node_outstanding, 1U, 255U);
  slots_.resize(window_);
  free_.reserve(window_);
  for (std::uint32_t i = window_; i-- > 0;) free_.push_back(i);
  window_ = std::min(window_, std::max(kSmallestWindow, options_.window / 2));
  read_clock();
}

void MadEngine::read_clock() {
  steady_now_ = std::chrono::steady_clock::now().time_since_epoch().count();
  wall_now_ = SystemClock{}.now();
}

MadEngine::NodeLoad* MadEngine::grown_load_of(NodeIndex node) {
  nodes_.resize(std::max<std::size_t>(node + 1, nodes_.size() * 2));
  return &nodes_[node];
}

void MadEngine::abandon(NodeIndex node) {
  NodeLoad* load = load_of(node);
  if (!load || load->gave_up) return;
  load->gave_up = true;
  to_abandon_.push_back(node);
}

void MadEngine::forget_abandoned() {
  for (NodeIndex node = 0; node < nodes_.size(); ++node) forget_abandoned(node);
}

void MadEngine::forget_abandoned(NodeIndex node) {
  if (node >= nodes_.size()) return;
  nodes_[node].gave_up = false;
  nodes_[node].exhausted = 0;
}

Result<void> MadEngine::run(MadAsker& asker) {
  port_lost_ = false;
  failed_sends_ = 0;
  while (true) {
    read_clock();
    const bool more = fill(asker);
    if (outstanding_ == 0 && !more) break;
    auto arrived = take_arrivals(asker);
    if (!arrived) port_lost_ = true;
    if (port_lost_) break;
    if (!*arrived && outstanding_ > 0) {
      const std::int64_t left = slots_[oldest_].deadline - steady_now_;
      const auto wait = std::clamp<std::int64_t>((left + 999'999) / 1'000'000, 1, 1000);
      port_.wait(std::chrono::milliseconds(wait));
      read_clock();
      expire(asker);
    }
    while (!to_abandon_.empty()) {
      const NodeIndex node = to_abandon_.back();
      to_abandon_.pop_back();
      for (std::uint32_t i = 0; i < slots_.size(); ++i)
        if (slots_[i].used && slots_[i].request.node == node) finish(asker, i, MadResult::kTimeout, buffer_);
    }
  }
  if (!port_lost_) return {};
  // Finishing one may start one that was parked: until none is left.
  while (oldest_ != kNone) finish(asker, oldest_, MadResult::kTimeout, buffer_);
  if (holding_) asker.answered(held_, MadResult::kTimeout, buffer_, wall_now_);
  holding_ = false;
  return fail(ErrorCode::kUnavailable, "the local port no longer accepts datagrams");
}

bool MadEngine::fill(MadAsker& asker) {
  while (outstanding_ < window_ && !port_lost_) {
    MadRequest request;
    if (holding_) {
      request = held_;
      holding_ = false;
    } else if (!asker.next(request)) {
      return false;
    }
    if (!start(asker, request)) break;
  }
  return true;
}

// False when the request had to be held back: no room to park it.
bool MadEngine::start(MadAsker& asker, const MadRequest& request) {
  if (NodeLoad* load = load_of(request.node)) {
    if (load->gave_up) {
      ++results_[index(MadResult::kTimeout)];
      asker.answered(request, MadResult::kTimeout, buffer_, wall_now_);
      return true;
    }
    // A node that owes an answer it has no tries left for gets one question at a time.
    const std::uint32_t limit = load->exhausted ? 1 : options_.per_node_outstanding;
    if (load->outstanding >= limit) {
      if (park(*load, request)) return true;
      held_ = request;
      holding_ = true;
      return false;
    }
    ++load->outstanding;
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  slots_[slot].request = request;
  if (request.optional)
    slots_[slot].request.tries_left = 0;
  else if (request.tries_left == 0xFF)
    slots_[slot].request.tries_left = static_cast<std::uint8_t>(options_.retries);
  slots_[slot].used = true;
  ++outstanding_;
  link_newest(slot);
  transmit(asker, slot);
  return true;
}

bool MadEngine::transmit(MadAsker& asker, std::uint32_t slot) {
  Slot& s = slots_[slot];
  asker.encode(s.request, buffer_);
  const MadClass mad_class = s.request.address.mad_class;
  if (options_.management_key != 0 &&
      (mad_class == MadClass::kSubnetLidRouted || mad_class == MadClass::kSubnetDirectedRoute))
    set_management_key(buffer_, options_.management_key);
  s.transaction = (++generation_ << kSlotBits) | slot;
  s.deadline = steady_now_ + std::chrono::nanoseconds(options_.timeout).count() + kSlackNanoseconds;
  set_transaction(buffer_, s.transaction);
  ++sent_;
  if (port_.send(s.request.address, buffer_, options_.timeout)) {
    failed_sends_ = 0;
    return true;
  }
  if (++failed_sends_ >= kFailedSendsMeanLost) port_lost_ = true;
  finish(asker, slot, MadResult::kSendFailed, buffer_);
  return false;
}

Result<bool> MadEngine::take_arrivals(MadAsker& asker) {
  bool any = false;
  // As many as a full window could bring; then it is time to send again.
  for (std::uint32_t i = 0; i < options_.window; ++i) {
    auto arrival = port_.receive(buffer_);
    if (!arrival) return tl::unexpected(arrival.error());
    if (!*arrival) break;
    any = true;
    take(asker, **arrival);
  }
  return any;
}

void MadEngine::take(MadAsker& asker, const MadPort::Arrival& arrival) {
  const std::uint32_t transaction = arrival.length >= 24 || arrival.timed_out ? transaction_of(buffer_) : 0;
  const std::uint32_t slot = transaction & ((1U << kSlotBits) - 1);
  if (slot >= slots_.size() || !slots_[slot].used || slots_[slot].transaction != transaction) {
    ++results_[index(MadResult::kUnexpected)];
    return;
  }
  if (arrival.timed_out) {
    unanswered(asker, slot);
    return;
  }
  const Slot& s = slots_[slot];
  const MadResult result = check_reply(buffer_, arrival.length, s.request.address.mad_class, s.request.attribute);
  // A mangled answer is no answer, but the question may be asked again; the node is there all the same.
  if (result == MadResult::kMalformed && s.request.tries_left > 0) {
    ++results_[index(MadResult::kMalformed)];
    unanswered(asker, slot);
    return;
  }
  if (NodeLoad* load = load_of(s.request.node)) {
    load->answered = true;
    load->exhausted = 0;
  }
  if (window_ < options_.window && ++answers_since_growth_ >= window_ / 4) {
    answers_since_growth_ = 0;
    window_ += std::max(1U, window_ / 16);
    window_ = std::min(window_, options_.window);
  }
  finish(asker, slot, result, buffer_);
}

void MadEngine::expire(MadAsker& asker) {
  while (oldest_ != kNone && slots_[oldest_].deadline <= steady_now_) unanswered(asker, oldest_);
}

void MadEngine::unanswered(MadAsker& asker, std::uint32_t slot) {
  Slot& s = slots_[slot];
  NodeLoad* load = load_of(s.request.node);
  // Only one that answers otherwise tells us that we press too hard; the dead do not.
  if (load && load->answered && !load->exhausted && !s.request.optional) shrink_window();
  if (s.request.tries_left > 0 && !(load && load->gave_up)) {
    --s.request.tries_left;
    ++results_[index(MadResult::kRetried)];
    unlink(slot);
    link_newest(slot);
    transmit(asker, slot);
    return;
  }
  if (load && !s.request.optional && ++load->exhausted >= kExhaustedMeansGivenUp) abandon(s.request.node);
  finish(asker, slot, MadResult::kTimeout, buffer_);
}

void MadEngine::shrink_window() {
  // Once in a time-out: a burst of losses is one sign, not many.
  if (steady_now_ - last_shrink_ < std::chrono::nanoseconds(options_.timeout).count()) return;
  last_shrink_ = steady_now_;
  window_ = std::max(std::min(kSmallestWindow, options_.window), window_ - window_ / 4);
  answers_since_growth_ = 0;
}

void MadEngine::finish(MadAsker& asker, std::uint32_t slot, MadResult result, ConstMadBytes mad) {
  Slot& s = slots_[slot];
  unlink(slot);
  s.used = false;
  free_.push_back(slot);
  --outstanding_;
  ++results_[index(result)];
  const NodeIndex node = s.request.node;
  if (NodeLoad* load = load_of(node)) --load->outstanding;
  const MadRequest request = s.request;
  asker.answered(request, result, mad, wall_now_);
  unpark(asker, node);
}

bool MadEngine::park(NodeLoad& load, const MadRequest& request) {
  std::uint32_t place = kNone;
  if (!parked_free_.empty()) {
    place = parked_free_.back();
    parked_free_.pop_back();
  } else if (parked_.size() < kMostParked) {
    place = static_cast<std::uint32_t>(parked_.size());
    parked_.emplace_back();
  } else {
    return false;
  }
  parked_[place] = {request, kNone};
  if (load.parked_last == kNone)
    load.parked_first = place;
  else
    parked_[load.parked_last].next = place;
  load.parked_last = place;
  return true;
}

void MadEngine::unpark(MadAsker& asker, NodeIndex node) {
  NodeLoad* load = load_of(node);
  if (!load || load->parked_first == kNone) return;
  // One comes in for the one that went out; a node that was given up has all of its waiting ones answered.
  do {
    const std::uint32_t place = load->parked_first;
    load->parked_first = parked_[place].next;
    if (load->parked_first == kNone) load->parked_last = kNone;
    const MadRequest request = parked_[place].request;
    parked_free_.push_back(place);
    start(asker, request);
    load = load_of(node);
  } while (load->gave_up && load->parked_first != kNone);
}

void MadEngine::unlink(std::uint32_t slot) {
  Slot& s = slots_[slot];
  (s.older == kNone ? oldest_ : slots_[s.older].newer) = s.newer;
  (s.newer == kNone ? newest_ : slots_[s.newer].older) = s.older;
  s.older = s.newer = kNone;
}

void MadEngine::link_newest(std::uint32_t slot) {
  slots_[slot].older = newest_;
  slots_[slot].newer = kNone;
  (newest_ == kNone ? oldest_ : slots_[newest_].newer) = slot;
  newest_ = slot;
}

}  // namespace weft::infiniband
