// SPDX-License-Identifier: Apache-2.0
#include "analyzer/loss/quiet_balance.hpp"

#include <algorithm>

namespace weft::analyzer {
namespace {

/// A port that moves no more packets in a second is quiet: keep-alives and management.
constexpr double kQuiet = 1000;
/// From one moment that is remembered to the next at least.
constexpr float kSpacing = 20;
constexpr std::size_t kMomentsNeeded = 6;
/// Of so many moments the last must still show it.
constexpr std::size_t kLately = 6;
constexpr double kLeastPackets = 10;
constexpr double kOverNoise = 3;
constexpr double kCorruptingShare = 1e-8;
/// Above this share the receiving end does not count.
constexpr double kUncountedShare = 0.5;
constexpr double kMostAtOnce = 0.5;
constexpr double kToldByCounters = 0.3;

double between(TimePoint at, TimePoint from, TimePoint to, std::uint64_t before, std::uint64_t after) {
  return static_cast<double>(before) + static_cast<double>(after - before) * (seconds(at - from) / seconds(to - from));
}

/// Within one step of a port, what it had sent or received.
double sent_at(const PacketHistory::Step& step, TimePoint at) {
  return between(at, step.from, step.to, step.sent_before, step.sent);
}
double received_at(const PacketHistory::Step& step, TimePoint at) {
  return between(at, step.from, step.to, step.received_before, step.received);
}
bool has(const PacketHistory::Step& step, TimePoint at) {
  return step.from <= at && at <= step.to;
}
bool is_quiet(const PacketHistory::Step& step, std::uint64_t before, std::uint64_t after) {
  return static_cast<double>(after - before) <= kQuiet * seconds(step.to - step.from);
}

}  // namespace

std::optional<Vanished> compare_moments(std::span<const QuietMoment> moments) {
  if (moments.size() < kMomentsNeeded) return std::nullopt;
  Vanished vanished;
  double most = static_cast<double>(moments.front().missing);
  double at_once = 0;
  for (std::size_t i = 1; i < moments.size(); ++i) {
    const auto missing = static_cast<double>(moments[i].missing);
    at_once = std::max(at_once, missing - static_cast<double>(moments[i - 1].missing));
    most = std::max(most, missing);
    vanished.noise = std::max(vanished.noise, most - missing);
  }
  const auto grown = [&](float QuietMoment::*what, std::size_t from) {
    return static_cast<double>(moments.back().*what) - static_cast<double>(moments[from].*what);
  };
  vanished.lost = grown(&QuietMoment::missing, 0);
  vanished.passed = grown(&QuietMoment::passed, 0);
  const double lately = grown(&QuietMoment::missing, moments.size() - kLately);
  vanished.is_loss = vanished.lost >= std::max(kLeastPackets, kOverNoise * vanished.noise) &&
                     lately > std::max(1.0, vanished.noise) && at_once <= kMostAtOnce * vanished.lost &&
                     vanished.lost >= kCorruptingShare * vanished.passed &&
                     vanished.lost <= kUncountedShare * vanished.passed &&
                     grown(&QuietMoment::counted, 0) < kToldByCounters * vanished.lost;
  return vanished;
}

bool QuietBalance::is_due(const Record& record) const {
  return record.count == 0 ||
         static_cast<float>(seconds(now_ - began_)) - record.moments[record.count - 1].at >= kSpacing;
}

/// At a moment when one end was read the other's count lies between two readings; while those are near to each other
/// it is known.
std::optional<QuietBalance::Totals> QuietBalance::of_cable(const Topology& topology, PortIndex sender) const {
  const PortIndex receiver = topology.port(sender).peer;
  if (receiver == kNoIndex) return std::nullopt;
  const auto out = last_two_.last_step(sender);
  const auto in = out ? last_two_.last_step(receiver) : std::nullopt;
  if (!in) return std::nullopt;
  Totals totals{.run = std::max(out->run, in->run), .counted = static_cast<double>(out->counted) + in->counted};
  if (has(*out, in->to) && is_quiet(*out, out->sent_before, out->sent)) {
    totals.at = in->to;
    totals.in = sent_at(*out, in->to);
    totals.out = static_cast<double>(in->received);
  } else if (has(*in, out->to) && is_quiet(*in, in->received_before, in->received)) {
    totals.at = out->to;
    totals.in = static_cast<double>(out->sent);
    totals.out = received_at(*in, out->to);
  } else {
    return std::nullopt;
  }
  return totals;
}

/// While all of its ports are quiet.
std::optional<QuietBalance::Totals> QuietBalance::of_switch(const Topology& topology, const Node& node) const {
  Totals totals;
  std::vector<PacketHistory::Step> steps;
  for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port) {
    const Port& end = topology.port(port);
    if (end.peer == kNoIndex || !end.is_up()) continue;
    const auto step = last_two_.last_step(port);
    if (!step || !is_quiet(*step, step->sent_before, step->sent) ||
        !is_quiet(*step, step->received_before, step->received))
      return std::nullopt;
    totals.at = totals.at == kNever ? step->to : std::min(totals.at, step->to);
    steps.push_back(*step);
  }
  for (const PacketHistory::Step& step : steps) {
    if (!has(step, totals.at)) return std::nullopt;
    totals.run = std::max(totals.run, step.run);
    totals.in += received_at(step, totals.at);
    totals.out += sent_at(step, totals.at);
    totals.counted += step.counted;
  }
  if (steps.size() < 2) return std::nullopt;
  return totals;
}

void QuietBalance::note(const Totals& totals, Record& record) const {
  if (record.count == 0 || record.run != totals.run)
    record = {.run = totals.run, .in = totals.in, .out = totals.out, .counted = totals.counted};
  if (record.count == kMoments) {
    std::shift_left(record.moments.begin(), record.moments.end(), 1);
    --record.count;
  }
  // One that went back was cleared: that tells nothing.
  const double counted = std::max(0.0, totals.counted - record.counted) +
                         (record.count > 0 ? static_cast<double>(record.moments[record.count - 1].counted) : 0);
  record.counted = totals.counted;
  record.moments[record.count++] = {.at = static_cast<float>(seconds(totals.at - began_)),
                                    .passed = static_cast<float>(totals.in - record.in),
                                    .missing = static_cast<float>((totals.in - record.in) - (totals.out - record.out)),
                                    .counted = static_cast<float>(counted)};
}

void QuietBalance::take(const Sweep& sweep) {
  const Topology& topology = *sweep.topology;
  if (topology.is_ethernet()) return;
  if (epoch_ != topology.epoch() || began_ == kNever || sweep.started < now_) {
    *this = {};
    epoch_ = topology.epoch();
    began_ = sweep.started;
  }
  now_ = sweep.started;
  last_two_.take(sweep);
  cables_.resize(topology.ports().size());
  switches_.resize(topology.nodes().size());
  forget_what_began_anew(topology);
  for (PortIndex port = 0; port < cables_.size(); ++port)
    if (is_due(cables_[port]))
      if (const auto totals = of_cable(topology, port)) note(*totals, cables_[port]);
  for (NodeIndex node = 0; node < switches_.size(); ++node)
    if (topology.node(node).type == NodeType::kSwitch && is_due(switches_[node]))
      if (const auto totals = of_switch(topology, topology.node(node))) note(*totals, switches_[node]);
}

/// Of a switch the next moment tells.
void QuietBalance::forget_what_began_anew(const Topology& topology) {
  for (PortIndex port = 0; port < cables_.size(); ++port) {
    Record& record = cables_[port];
    if (record.count == 0) continue;
    const PortIndex peer = topology.port(port).peer;
    if (peer == kNoIndex || record.run != std::max(last_two_.run(port), last_two_.run(peer))) record = {};
  }
}

std::vector<VanishingPoint> QuietBalance::losses() const {
  std::vector<VanishingPoint> losses;
  const auto add = [&](const Record& record, const LossSuspect& suspect) {
    if (const auto vanished = compare_moments(record.known()); vanished && vanished->is_loss)
      losses.push_back({suspect, *vanished,
                        std::chrono::duration_cast<Duration>(std::chrono::duration<double>(
                            static_cast<double>(record.known().back().at - record.known().front().at)))});
  };
  for (PortIndex port = 0; port < cables_.size(); ++port) add(cables_[port], {.sender = port});
  for (NodeIndex node = 0; node < switches_.size(); ++node) add(switches_[node], {.node = node});
  return losses;
}

std::optional<Vanished> QuietBalance::of(const LossSuspect& suspect) const {
  if (suspect.sender < cables_.size()) return compare_moments(cables_[suspect.sender].known());
  if (suspect.node < switches_.size()) return compare_moments(switches_[suspect.node].known());
  return std::nullopt;
}

}  // namespace weft::analyzer
