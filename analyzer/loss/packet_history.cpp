// SPDX-License-Identifier: Apache-2.0
#include "analyzer/loss/packet_history.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::analyzer {
namespace {

/// Moments that a balance needs before it tells anything.
constexpr std::size_t kFewestMoments = 4;
/// How far a moment may be from the supposed loss and still agree, as a share of that loss …
constexpr double kTolerance = 0.12;
/// … and no less than this: counters are whole numbers, read one after the other.
constexpr double kLeastTolerance = 2;
/// Hosts are sampled at other moments than the fabric, and may lose packets elsewhere too: what they lost here is known
/// no better.
constexpr double kScales[] = {0.5, 0.7, 0.9, 1.1, 1.4, 2};
/// What a moment that agrees is worth: one in two does where the loss is there, one in ten where it is not.
constexpr double kWorth = 1.6;
constexpr double kMostSupport = 24;
/// A link or switch that would have to lose more than this share of all its packets is not silent about it.
constexpr double kMostLostShare = 0.5;
/// Packets that one end sends in a sweep while the other end's counter stands still: it does not count any more.
constexpr double kStandsStill = 1000;

constexpr CounterId kCounted[] = {CounterId::kReceiveErrors,           CounterId::kReceiveSwitchRelayErrors,
                                  CounterId::kTransmitDiscards,        CounterId::kTransmitConstraintErrors,
                                  CounterId::kReceiveConstraintErrors, CounterId::kExcessiveBufferOverrunErrors};

double difference(std::uint64_t after, std::uint64_t before) {
  return static_cast<double>(static_cast<std::int64_t>(after - before));
}

/// What an error counter grew by from one reading to the next. One that went back was cleared: that tells nothing.
double grown(std::uint32_t after, std::uint32_t before) {
  return after > before ? static_cast<double>(after - before) : 0;
}

/// The most numbers of `sorted` that lie within `width` of each other.
unsigned densest(std::vector<double>& values, double width) {
  std::ranges::sort(values);
  unsigned best = 0;
  for (std::size_t low = 0, high = 0; high < values.size(); ++high) {
    while (values[high] - values[low] > width) ++low;
    best = std::max(best, static_cast<unsigned>(high - low + 1));
  }
  return best;
}

struct Moments {
  std::vector<double> in, missing, skew;
};

PacketBalance judge(const Moments& moments, double lost) {
  PacketBalance balance;
  if (moments.in.empty()) return balance;
  balance.passed = moments.in.back();
  if (lost > kMostLostShare * balance.passed) {
    balance.support = -kMostSupport;
    return balance;
  }
  if (moments.in.size() < kFewestMoments) return balance;
  const double tolerance = std::max(kLeastTolerance, kTolerance * lost);
  if (lost < 3 * tolerance) return balance;  // a handful: that may be anything
  const auto agreeing = [&](double share) {
    return static_cast<double>(count_agreeing(moments.in, moments.missing, moments.skew, share, tolerance));
  };
  double with = 0;
  for (const double scale : kScales) with = std::max(with, agreeing(scale * lost / balance.passed));
  balance.support = std::clamp(kWorth * (with - agreeing(0)), -kMostSupport, kMostSupport);
  return balance;
}

}  // namespace

unsigned count_agreeing(std::span<const double> in, std::span<const double> missing, std::span<const double> skew,
                        double share, double tolerance) {
  // `missing` counts what is under way as well: with the receiver read later, less is missing than was lost.
  unsigned best = 0;
  std::vector<double> rates;
  for (std::size_t base = 0; base < in.size(); ++base) {
    const double level = missing[base] - share * in[base];
    unsigned agree = 0;
    rates.clear();
    double skews = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const double off = level - (missing[i] - share * in[i]);
      if (std::abs(off) <= tolerance) {
        ++agree;
      } else if (off * skew[i] > 0) {
        rates.push_back(off / skew[i]);
        skews += std::abs(skew[i]);
      }
    }
    // One unknown more, the rate, explains one moment for nothing.
    if (rates.size() > 1) agree += densest(rates, tolerance * static_cast<double>(rates.size()) / skews) - 1;
    best = std::max(best, agree);
  }
  return best;
}

void PacketHistory::forget() {
  slots_.clear();
  next_ = 0;
  taken_ = 0;
  good_from_.clear();
  last_read_.clear();
  topology_.reset();
}

bool PacketHistory::good(PortIndex port, std::size_t age) const {
  const std::uint64_t number = taken_ - 1 - age;
  return port < good_from_.size() && number >= good_from_[port] && slot(age).read_at[port] != kNever;
}

void PacketHistory::take(const Sweep& sweep) {
  if (topology_ && topology_->epoch() != sweep.topology->epoch()) forget();
  const std::size_t ports = sweep.topology->ports().size();
  if (!sweep.counters || sweep.counters->rows() < ports) return;
  const SampleTable& table = *sweep.counters;
  const auto sent = table.column(CounterId::kTransmitPackets);
  const auto received = table.column(CounterId::kReceivePackets);
  if (sent == SampleTable::kNoColumn || received == SampleTable::kNoColumn) return;

  if (slots_.size() < sweeps_ && next_ == slots_.size()) slots_.emplace_back();
  Slot& now = slots_[next_];
  now.taken = sweep.started;
  now.read_at.assign(ports, kNever);
  now.sent.resize(ports);
  now.received.resize(ports);
  now.counted.assign(ports, 0);
  now.saturated.assign(ports, 0);
  good_from_.resize(ports, taken_);
  last_read_.resize(ports, kNever);
  const bool ethernet = sweep.topology->is_ethernet();
  std::vector<SampleTable::Column> counted;
  const std::size_t words = table.words_per_row();
  std::vector<std::uint64_t> needed(words, 0), owned(words, 0);  // bits of columns: of packets; of what is counted
  for (const SampleTable::Column column : {sent, received}) needed[column / 64] |= 1ULL << (column % 64);
  for (const CounterId id : kCounted)
    if (const SampleTable::Column column = table.column(id); column != SampleTable::kNoColumn) {
      counted.push_back(column);
      owned[column / 64] |= 1ULL << (column % 64);
    }
  for (PortIndex port = 0; port < ports; ++port) {
    if (sweep.topology->port(port).peer == kNoIndex || table.read_at(port) == kNever) continue;
    // An old reading? Those of collectors are taken before their sweep is put together.
    if (ethernet ? table.read_at(port) == last_read_[port] : table.read_at(port) < sweep.started) continue;
    last_read_[port] = table.read_at(port);
    bool told = true;
    bool has_all = true;
    bool saturated = false;
    for (std::size_t word = 0; word < words; ++word) {
      const std::uint64_t present = table.raw_present()[port * words + word];
      const std::uint64_t stuck = table.raw_saturated()[port * words + word];
      told = told && (present & ~stuck & needed[word]) == needed[word];
      has_all = has_all && (present & owned[word]) == owned[word];
      saturated = saturated || (present & stuck & owned[word]) != 0;
    }
    if (!told || !sweep.topology->port(port).is_up()) {
      good_from_[port] = taken_ + 1;
      continue;
    }
    now.read_at[port] = table.read_at(port);
    now.sent[port] = table.value(port, sent);
    now.received[port] = table.value(port, received);
    now.saturated[port] = saturated ? 1 : 0;
    std::uint64_t sum = 0;
    for (const SampleTable::Column column : counted)
      if (has_all || table.present(port, column)) sum += table.value(port, column);
    now.counted[port] = static_cast<std::uint32_t>(sum);
  }
  if (ethernet) forget_mirrored(*sweep.topology, now);
  ++taken_;
  next_ = (next_ + 1) % sweeps_;
  if (taken_ > 1) look_for_breaks(sweep, slot(1), now);
  topology_ = sweep.topology;
}

/// On Ethernet a port that nobody reads shows what the other end tells: such a cable never seems to lose anything. Two
/// collectors do not read in the same nanosecond.
void PacketHistory::forget_mirrored(const Topology& topology, Slot& now) {
  for (PortIndex port = 0; port < now.read_at.size(); ++port) {
    const PortIndex peer = topology.port(port).peer;
    if (peer == kNoIndex || peer < port || now.read_at[port] == kNever || now.read_at[port] != now.read_at[peer])
      continue;
    if (now.sent[port] != now.received[peer] || now.received[port] != now.sent[peer]) continue;
    now.read_at[port] = now.read_at[peer] = kNever;
  }
}

/// A counter that went back, or stands still while the other end sends: what it says begins anew.
void PacketHistory::look_for_breaks(const Sweep& sweep, const Slot& before, Slot& now) {
  const Topology& topology = *sweep.topology;
  for (PortIndex port = 0; port < before.read_at.size(); ++port) {
    const PortIndex peer = topology.port(port).peer;
    if (topology_ != sweep.topology && topology_->port(port).peer != peer) good_from_[port] = taken_ - 1;
    if (now.read_at[port] == kNever || before.read_at[port] == kNever) continue;
    if (now.sent[port] < before.sent[port] || now.received[port] < before.received[port]) good_from_[port] = taken_ - 1;
    if (peer >= before.read_at.size() || now.read_at[peer] == kNever || before.read_at[peer] == kNever) continue;
    const bool still = now.received[port] == before.received[port] || now.sent[peer] == before.sent[peer];
    const double most =
        std::max(difference(now.sent[peer], before.sent[peer]), difference(now.received[port], before.received[port]));
    if (still && most > kStandsStill) good_from_[port] = good_from_[peer] = taken_ - 1;
  }
}

PacketBalance PacketHistory::of_link(PortIndex sender, double lost, TimePoint since) const {
  PacketBalance balance;
  if (!topology_ || sender >= topology_->ports().size()) return balance;
  const PortIndex receiver = topology_->port(sender).peer;
  if (receiver == kNoIndex) return balance;
  Moments moments;
  const Slot* first = nullptr;
  const Slot* last = nullptr;
  double counted = 0;
  for (std::size_t age = std::min<std::size_t>(slots_.size(), taken_); age-- > 0;) {
    if (!good(sender, age) || !good(receiver, age)) continue;
    const Slot& now = slot(age);
    const Slot* const before = std::exchange(last, &now);
    if (now.taken < since) continue;
    if (!first) first = &now;
    if (before)
      counted +=
          grown(now.counted[sender], before->counted[sender]) + grown(now.counted[receiver], before->counted[receiver]);
    const double in = difference(now.sent[sender], first->sent[sender]);
    moments.in.push_back(in);
    moments.missing.push_back(in - difference(now.received[receiver], first->received[receiver]));
    moments.skew.push_back(seconds(now.read_at[receiver] - now.read_at[sender]));
  }
  balance = judge(moments, lost);
  balance.counted = counted;
  balance.counts_no_more = last && (last->saturated[sender] || last->saturated[receiver]);
  return balance;
}

std::optional<PacketHistory::Step> PacketHistory::last_step(PortIndex port) const {
  if (taken_ < 2 || slots_.size() < 2 || !good(port, 0) || !good(port, 1)) return std::nullopt;
  const Slot& now = slot(0);
  const Slot& before = slot(1);
  if (now.saturated[port] || now.read_at[port] <= before.read_at[port]) return std::nullopt;
  return Step{.from = before.read_at[port],
              .to = now.read_at[port],
              .sent_before = before.sent[port],
              .sent = now.sent[port],
              .received_before = before.received[port],
              .received = now.received[port],
              .counted = now.counted[port],
              .run = good_from_[port]};
}

std::optional<double> PacketHistory::sent(PortIndex port, TimePoint since) const {
  const Slot* first = nullptr;
  const Slot* last = nullptr;
  for (std::size_t age = std::min<std::size_t>(slots_.size(), taken_); age-- > 0;) {
    if (slot(age).taken < since || !good(port, age)) continue;
    last = &slot(age);
    if (!first) first = last;
  }
  if (first == last) return std::nullopt;
  return difference(last->sent[port], first->sent[port]);
}

PacketBalance PacketHistory::of_switch(NodeIndex index, double lost, TimePoint since) const {
  PacketBalance balance;
  if (!topology_ || index >= topology_->nodes().size()) return balance;
  const Node& node = topology_->node(index);
  if (node.type != NodeType::kSwitch) return balance;
  std::vector<PortIndex> ports;
  for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port)
    if (const Port& end = topology_->port(port); end.peer != kNoIndex) {
      // What passes a cable of an Ethernet fabric that nobody reads is missing from the sum.
      if (topology_->is_ethernet() && end.state == PortState::kUnknown) return balance;
      if (end.is_up()) ports.push_back(port);
    }
  Moments moments;
  const Slot* first = nullptr;
  const Slot* last = nullptr;
  std::vector<const Slot*> peers_last(ports.size());  // both ends of a cable are not always read in the same sweep
  double counted = 0;
  for (std::size_t age = std::min<std::size_t>(slots_.size(), taken_); age-- > 0;) {
    const Slot& now = slot(age);
    if (!std::ranges::all_of(ports, [&](PortIndex port) { return good(port, age); })) continue;
    const bool is_before = now.taken < since;
    if (!is_before && !first) first = &now;
    double in = 0;
    double out = 0;
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const PortIndex port = ports[i];
      // What was dropped on the way into it comes near to the same: flows that meet there meet before.
      const PortIndex peer = topology_->port(port).peer;
      const Slot* const before = good(peer, age) ? std::exchange(peers_last[i], &now) : nullptr;
      if (is_before) continue;
      in += difference(now.received[port], first->received[port]);
      out += difference(now.sent[port], first->sent[port]);
      if (last) counted += grown(now.counted[port], last->counted[port]);
      if (before) counted += grown(now.counted[peer], before->counted[peer]);
    }
    last = &now;
    if (is_before) continue;
    moments.in.push_back(in);
    moments.missing.push_back(in - out);
    moments.skew.push_back(0);
  }
  balance = judge(moments, lost);
  balance.counted = counted;
  return balance;
}

}  // namespace weft::analyzer
