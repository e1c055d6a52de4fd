// SPDX-License-Identifier: Apache-2.0
#include "analyzer/loss/loss_tracker.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/loss/late_packets.hpp"
#include "analyzer/loss/spread_ways.hpp"

namespace weft::analyzer {
namespace {

/// A window is no shorter than so many sweeps, or readings of a host.
constexpr int kReadingsOfWindow = 3;
/// A window's last sweep is remembered when the one before is at least such a part of the usual step older.
constexpr int kPartOfStep = 4;
/// What is blamed already stays so until another is this much likelier: natural logarithm.
constexpr double kLoyalty = 3;
/// A suspect whose own counters tell of this share of what it would have lost is not silent.
constexpr double kOwnedUpShare = 0.3;
/// Nor is what was lost where others on its ways tell of this share of it: chance events that add up.
constexpr double kToldShare = 0.5;
/// Where counters will say which cable of a device it is, they are given so many times the patience.
constexpr unsigned kMorePatience = 2;
/// Packets that its counters tell of from which on that is no chance: a burst of symbol errors on a full link hits
/// fewer.
constexpr double kManyErrors = 300;
/// With equal-cost ways: so likely that what is left is no second one like it, such as the other end of a single flow.
constexpr double kMoreLikely = 0.8;
/// Ends that vote where each way is hundreds of cables: ways grow with the square of that. One flow of a hash is
/// anywhere; flows that are spread all cross what loses, and more of them tell more.
constexpr std::size_t kVotersOfEqualWays = 32;
constexpr std::size_t kVotersOfSpreadWays = 64;
/// Rivals less likely than this are not named.
constexpr double kLeastRival = 0.02;

/// Totals are of a host's adapter: one that is forgotten and returns, or that moves, counts from nothing.
bool has_begun_anew(const TransferTotals& now, const TransferTotals& before) {
  return now.sent < before.sent || now.received < before.received || now.sent_again < before.sent_again ||
         now.out_of_sequence < before.out_of_sequence;
}

}  // namespace

void LossTracker::forget() {
  slot_of_.clear();
  last_.clear();
  has_last_.clear();
  end_suspicion();
  judged_ = 0;
  began_ = kNever;
  spread_.reset();
}

void LossTracker::end_suspicion() {
  windows_.clear();
  losses_.clear();
  challengers_.clear();
  suspicious_ = quiet_ = 0;
}

void LossTracker::forget_moved(const Topology& now) {
  const auto has_moved = [&](const LossSuspect& suspect) {
    return suspect.sender != kNoIndex && topology_->port(suspect.sender).peer != now.port(suspect.sender).peer;
  };
  const bool was_known = !losses_.empty();
  std::erase_if(losses_, [&](const SilentLoss& loss) { return has_moved(loss.suspect); });
  for (SilentLoss& loss : losses_)
    std::erase_if(loss.rivals, [&](const auto& rival) { return has_moved(rival.first); });
  std::erase_if(challengers_, has_moved);
  // What hosts lost through the old cable would be blamed on the new one.
  if (was_known && losses_.empty()) end_suspicion();
}

void LossTracker::take(const Sweep& sweep) {
  if (topology_ && topology_->epoch() != sweep.topology->epoch()) forget();
  if (topology_ && topology_ != sweep.topology) forget_moved(*sweep.topology);
  topology_ = sweep.topology;
  routes_ = sweep.routes;
  multipath_ = sweep.multipath;
  sweep_interval_ = sweep.interval;
  // Sweeps are not quite even. The last one of a window is remembered too: what it counts, hosts have lost by then.
  const Duration age = sweep.started - remembered_ + sweep.interval / 2;
  const bool ends_window = began_ != kNever && sweep.started - began_ + sweep.interval * 3 / 2 >= window({});
  if (remembered_ != kNever && sweep.started > remembered_ &&
      age < (ends_window ? history_step_ / kPartOfStep : history_step_))
    return;
  remembered_ = sweep.started;
  history_.take(sweep);
}

bool LossTracker::is_due(TimePoint now, Duration reading) const {
  if (!topology_ || (!routes_ && !multipath_)) return false;
  if (began_ == kNever || now < began_) return true;
  return now - began_ >= window(reading);
}

Duration LossTracker::window(Duration reading) const {
  return std::max({thresholds_.window, reading * kReadingsOfWindow, sweep_interval_ * kReadingsOfWindow});
}

LossTracker::Window LossTracker::measure(std::span<const TransferEnd> ends, TimePoint now) {
  Window window{.began = began_, .ended = now, .moved = {}, .senders = {}, .missed = {}};
  for (const TransferEnd& end : ends) {
    const auto [found, is_new] = slot_of_.emplace(end.port, static_cast<std::uint32_t>(slot_of_.size()));
    const std::uint32_t slot = found->second;
    if (is_new) {
      last_.emplace_back();
      has_last_.push_back(0);
    }
    window.moved.resize(std::max<std::size_t>(window.moved.size(), slot + 1));
    const TransferTotals& before = last_[slot];
    if (has_last_[slot] && !has_begun_anew(end.totals, before))
      window.moved[slot] = {.sent = static_cast<float>(end.totals.sent - before.sent),
                            .received = static_cast<float>(end.totals.received - before.received),
                            .sent_again = static_cast<float>(end.totals.sent_again - before.sent_again),
                            .out_of_sequence = static_cast<float>(end.totals.out_of_sequence - before.out_of_sequence)};
    last_[slot] = end.totals;
    has_last_[slot] = 1;
  }
  return window;
}

/// The last `windows` added up; in the order of `ends`.
std::vector<LossEnd> LossTracker::sum(std::span<const TransferEnd> ends, std::size_t windows) const {
  std::vector<LossEnd> sums;
  sums.reserve(ends.size());
  for (const TransferEnd& end : ends) {
    LossEnd& sum = sums.emplace_back();
    sum.port = end.port;
    sum.rail = end.rail;
    sum.jobs = end.jobs;
    const std::uint32_t slot = slot_of_.at(end.port);
    for (std::size_t i = windows_.size() - windows; i < windows_.size(); ++i) {
      if (slot >= windows_[i].moved.size()) continue;
      const Moved& moved = windows_[i].moved[slot];
      sum.sent += static_cast<double>(moved.sent);
      sum.received += static_cast<double>(moved.received);
      sum.sent_again += static_cast<double>(moved.sent_again);
      sum.out_of_sequence += static_cast<double>(moved.out_of_sequence);
    }
  }
  weigh_late_packets(sums);
  return sums;
}

/// Has somebody lost what somebody else of the same job missed?
bool LossTracker::is_suspicious(const Window& window, std::span<const LossEnd> ends) const {
  if (window.senders.empty() || window.missed.empty()) return false;
  std::unordered_map<std::uint32_t, const LossEnd*> by_slot;
  for (const LossEnd& end : ends) by_slot.emplace(slot_of_.at(end.port), &end);
  return std::ranges::any_of(window.senders, [&](std::uint32_t from) {
    return std::ranges::any_of(window.missed,
                               [&](std::uint32_t to) { return may_talk(*by_slot.at(from), *by_slot.at(to)); });
  });
}

bool LossTracker::repeats(std::vector<std::uint32_t> Window::*side, std::span<const std::uint32_t> slots) const {
  return std::ranges::any_of(slots, [&](std::uint32_t slot) {
    return std::ranges::count_if(windows_, [&](const Window& window) {
             return std::ranges::binary_search(window.*side, slot);
           }) >= std::min<std::ptrdiff_t>(thresholds_.windows, 2);
  });
}

/// Was somebody of either side hurt in two windows?
bool LossTracker::any_repeats() const {
  const auto repeated = [&](auto side) {
    return std::ranges::any_of(windows_, [&](const Window& window) { return repeats(side, window.*side); });
  };
  return suspicious_ >= thresholds_.windows && repeated(&Window::senders) && repeated(&Window::missed);
}

/// Were its own senders and receivers hurt in two windows? Else two chance events of different hosts make a cause.
bool LossTracker::repeats(const LossHypothesis& cause, std::span<const LossEnd> ends) const {
  const auto slots = [&](const std::vector<std::uint32_t>& side) {
    std::vector<std::uint32_t> found;
    for (const std::uint32_t end : side) found.push_back(slot_of_.at(ends[end].port));
    return found;
  };
  return repeats(&Window::senders, slots(cause.senders)) && repeats(&Window::missed, slots(cause.receivers));
}

bool LossTracker::is_among(const std::vector<LinkKey>& links, const LossSuspect& suspect) const {
  if (suspect.sender == kNoIndex || links.empty()) return false;
  const auto link = topology_->link_of(suspect.sender);
  return link && std::ranges::find(links, *link) != links.end();
}

bool LossTracker::was_surely_blamed(const LossSuspect& suspect) const {
  return std::ranges::any_of(losses_, [&](const SilentLoss& loss) { return loss.suspect == suspect && !loss.around; });
}

LossTestimony LossTracker::testify(const LossSuspect& suspect, double lost) const {
  LossTestimony testimony;
  const TimePoint since = windows_.front().began;
  const PacketBalance balance = suspect.sender != kNoIndex ? history_.of_link(suspect.sender, lost, since)
                                                           : history_.of_switch(suspect.node, lost, since);
  testimony.passed = balance.passed;
  testimony.counted = balance.counted;
  const bool condemned = is_among(condemned_, suspect) || (balance.passed <= 0 && is_among(full_, suspect));
  testimony.owned_up = condemned || (balance.counted > 0 && balance.counted >= kOwnedUpShare * lost) ||
                       (balance.counts_no_more && balance.support <= 0);
  testimony.surely = condemned || (testimony.owned_up && balance.counted >= kManyErrors);
  // Packets with errors may count as received all the same: then nothing is missing, and that says nothing.
  testimony.support = testimony.owned_up ? std::max(0.0, balance.support) : balance.support;
  if (was_surely_blamed(suspect)) testimony.support += kLoyalty;
  return testimony;
}

void LossTracker::end_window(std::span<const TransferEnd> ends, TimePoint now) {
  if (!topology_ || (!routes_ && !multipath_)) return;
  const bool first = began_ == kNever || now < began_;
  Window window = measure(ends, now);
  began_ = now;
  if (first) return;
  judged_ = std::min(judged_ + 1, thresholds_.quiet_windows);
  windows_.push_back(std::move(window));
  if (windows_.size() > kWindows) windows_.pop_front();

  // The last window alone says whether it goes on; all together say where.
  Window& last = windows_.back();
  const std::vector<LossEnd> now_lost = sum(ends, 1);
  for (const LossEnd& end : now_lost) {
    if (may_have_sent_again(end, thresholds_)) last.senders.push_back(slot_of_.at(end.port));
    if (may_have_missed(end, thresholds_)) last.missed.push_back(slot_of_.at(end.port));
  }
  std::ranges::sort(last.senders);
  std::ranges::sort(last.missed);
  if (!is_suspicious(last, now_lost)) {
    if (suspicious_ == 0) windows_.clear();
    if (suspicious_ > 0 && ++quiet_ >= thresholds_.quiet_windows) end_suspicion();
    return;
  }
  ++suspicious_;
  quiet_ = 0;
  if (!any_repeats()) return;
  const std::vector<LossEnd> sums = sum(ends, windows_.size());
  std::vector<LossHypothesis> rivals;
  auto causes = find(sums, rivals);
  accept(std::move(causes), rivals, sums);
}

/// Follows the ways that explain the losses best: those of the tables, or all equal ones where traffic is spread over
/// them.
std::vector<LossHypothesis> LossTracker::find(std::span<const LossEnd> ends, std::vector<LossHypothesis>& rivals) {
  const auto witness = [this](const LossSuspect& suspect, double lost) { return testify(suspect, lost); };
  LossInput input{.topology = *topology_, .routes = routes_.get(), .multipath = multipath_.get(), .ends = ends};
  const TimePoint since = windows_.front().began;
  const bool may_be =
      !multipath_ && may_be_spread(*topology_, [&](PortIndex port) { return history_.sent(port, since); });
  input.voters = multipath_ ? kVotersOfEqualWays : may_be ? kVotersOfSpreadWays : input.voters;
  auto causes = find_losses(input, thresholds_, witness, &rivals);
  is_spread_ = false;
  if (!may_be) return causes;
  if (!spread_ || spread_->topology() != topology_) spread_ = std::make_shared<const Multipath>(topology_);
  input.multipath = spread_.get();
  input.spread = true;
  std::vector<LossHypothesis> others;
  auto spread = find_losses(input, thresholds_, witness, &others);
  if (spread.empty() || (!causes.empty() && causes.front().score >= spread.front().score)) return causes;
  is_spread_ = true;
  rivals = std::move(others);
  return spread;
}

void LossTracker::accept(std::vector<LossHypothesis> causes, const std::vector<LossHypothesis>& rivals,
                         std::span<const LossEnd> ends) {
  std::vector<SilentLoss> accepted;
  std::vector<LossSuspect> challengers;
  const auto was_blamed = [&](const LossSuspect& suspect) {
    return std::ranges::find(losses_, suspect, &SilentLoss::suspect) != losses_.end();
  };
  for (std::size_t i = 0; i < causes.size(); ++i) {
    const LossHypothesis& cause = causes[i];
    // Of equal-cost ways that nobody can tell apart none is named by chance.
    // Where packets are counted along the ways, they will say more in a while.
    const bool early = cause.around && cause.testimony.passed > 0;
    const bool patient = suspicious_ >= thresholds_.patience_windows * (early ? kMorePatience : 1) &&
                         ((!multipath_ && !is_spread_) || cause.confidence > kMoreLikely);
    const bool sure = (cause.confidence >= thresholds_.certainty && !early) || patient;
    // What its own counters tell is not silent, and other rules speak of it; it still explains what hosts lost.
    const bool is_told = cause.testimony.owned_up || cause.told_on_way >= kToldShare * cause.lost;
    if (is_told || (!was_blamed(cause.suspect) && (!sure || !repeats(cause, ends)))) continue;
    // Beside or instead of a known cause one is believed when two windows in a row say it.
    if (!losses_.empty() && !was_blamed(cause.suspect)) {
      challengers.push_back(cause.suspect);
      if (std::ranges::find(challengers_, cause.suspect) == challengers_.end()) continue;
    }
    SilentLoss& loss = accepted.emplace_back();
    loss.suspect = cause.suspect;
    loss.around = cause.around;
    loss.spread = is_spread_;
    loss.confidence = cause.confidence;
    loss.lost = cause.lost;
    // That it was blamed before is no word of the counters.
    loss.support = cause.testimony.support - (was_surely_blamed(cause.suspect) ? kLoyalty : 0);
    loss.ended = windows_.back().ended;
    loss.observed = loss.ended - windows_.front().began;
    loss.limit = thresholds_.bad_ratio;
    for (const std::uint32_t end : cause.senders) {
      loss.senders.push_back(ends[end].port);
      loss.sent += ends[end].sent;
    }
    for (const std::uint32_t end : cause.receivers) loss.receivers.push_back(ends[end].port);
    loss.passed = cause.testimony.passed > 0 ? cause.testimony.passed : loss.sent;
    if (i > 0) continue;
    for (const LossHypothesis& rival : rivals)
      if (rival.suspect != cause.suspect && rival.confidence >= kLeastRival)
        loss.rivals.emplace_back(rival.suspect, rival.confidence);
  }
  challengers_ = std::move(challengers);
  // Nobody else is believed yet: what is known stays.
  if (!accepted.empty() || challengers_.empty()) losses_ = std::move(accepted);
}

}  // namespace weft::analyzer
