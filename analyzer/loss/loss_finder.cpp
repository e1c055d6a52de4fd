// SPDX-License-Identifier: Apache-2.0
#include "analyzer/loss/loss_finder.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "analyzer/loss/loss_paths.hpp"

namespace weft::analyzer {
namespace {

/// Ends that are not hurt and are asked why, of each side, and peers of each that are considered.
constexpr std::size_t kMostUnhurt = 64;
constexpr std::size_t kMostPeers = 32;
constexpr std::size_t kScatter = 7919;
/// Suspects on all ways that are looked at, between voters and of each side of the unhurt: where one way is thousands
/// of equal cables, fewer of both are asked, but never less than so many. More would take seconds.
constexpr std::size_t kMostCrossings = 300'000;
constexpr std::size_t kFewestVoters = 8;
constexpr std::size_t kFewestWalks = 64;
/// Suspects whose witness is heard, the likeliest ones.
constexpr std::size_t kMostHeard = 64;
constexpr std::size_t kMostCauses = 8;
constexpr std::size_t kMostRivals = 8;
/// ln 1000: one healthy end in a thousand looks hurt in a window for a reason of its own.
constexpr double kVote = 6.9;
/// Of an end's ways, those that cross a suspect are taken for no less than this share: it may use only them.
constexpr double kLeastShare = 0.02;
/// An end that is not hurt has not crossed the suspect; never surer than this, for nobody knows what it sent where.
constexpr double kMostShare = 0.95;
/// What senders had to send again and what receivers missed is the same: how much a factor of e between them costs.
constexpr double kMismatch = 3;
/// An end has another cause when more than this share of its losses is not explained: both sides are sampled at moments
/// of their own.
constexpr double kUnexplained = 0.4;
/// What is left after a first cause may be that one's, wrongly shared out: one more must be this much likelier.
constexpr double kAnother = 5;
/// How much each end's losses count that are out of proportion; little, for nobody knows who sends to whom.
constexpr double kShape = 3;
/// Beyond this they only say that nobody spreads evenly what he sends: one flow of many is the greatest.
constexpr double kMostDivergence = 0.3;
/// What ends say by the shares of their ways is said over and over, for they are the same ways: no more than so many
/// count, by the share itself, and by its proportion to what they lost.
constexpr double kShareVoters = 6;
constexpr double kShapeVoters = 24;
/// On which of its equal-cost ways a flow is, is one chance, and both of its ends tell of it: each counts for half.
constexpr double kBothEnds = 0.5;
/// Of a way, what is no matter of chance.
constexpr double kSurely = 0.999;
/// Devices lose packets less often than cables do, adapters least.
constexpr double kSwitchPrior = -1;
constexpr double kAdapterPrior = -2;
/// A suspect whose own counters tell of errors is likelier than one without.
constexpr double kOwnedUp = 3;
/// One whose counters tell of as many as were lost, hundreds of them, or that is condemned for its errors, is hardly a
/// bystander: healthy cables make some packets' errors an hour.
constexpr double kSurelyOwnedUp = 12;

/// Lost at the rate of a bad path, and not of a good one, by more than `least` (natural logarithm of the odds)?
bool is_hurt(double lost, double passed, double least, const LossThresholds& thresholds) {
  if (lost < thresholds.minimum_packets) return false;
  if (lost >= passed) return false;  // more than went out: that is no loss on the way
  const double bad = thresholds.bad_ratio;
  const double good = thresholds.good_ratio;
  return lost * std::log(bad / good) + (passed - lost) * (std::log1p(-bad) - std::log1p(-good)) > least;
}

struct Way {
  std::uint32_t from = 0, to = 0;  ///< ends
  std::vector<Crossing> suspects;  ///< ascending
};

/// Of an end's ways, those that cross a suspect.
struct Crossed {
  double ways = 0;
  double shares = 0;  ///< Σ of the share with which each does

  void add(double share) {
    ways += 1;
    shares += share;
  }
  bool is_certain() const { return shares > kSurely * ways; }
  /// Natural logarithm of the chance that a hash put a flow there, as one of its ends says it.
  double chance() const { return is_certain() ? 0 : kBothEnds * std::log(shares / ways); }
};

bool crosses(const Way& way, SuspectId id) {
  const auto found = std::ranges::lower_bound(way.suspects, id, {}, &Crossing::first);
  return found != way.suspects.end() && found->first == id;
}

class Search {
 public:
  Search(const LossInput& input, const LossThresholds& thresholds, const LossWitness& witness)
      : input_(input), thresholds_(thresholds), witness_(witness), ways_between_(input) {
    for (std::uint32_t end = 0; end < input.ends.size(); ++end)
      for (const std::uint32_t job : input.ends[end].jobs) job_members_[job].push_back(end);
    for (const LossEnd& end : input.ends) {
      sent_again_.push_back(end.sent_again);
      out_of_sequence_.push_back(end.out_of_sequence);
    }
    collect_ways();
    if (!ways_.empty()) hear_the_unhurt();
  }

  std::vector<LossHypothesis> run(std::vector<LossHypothesis>* rivals) {
    std::vector<LossHypothesis> causes;
    while (!ways_.empty() && causes.size() < kMostCauses) {
      std::vector<LossHypothesis> candidates = round();
      if (candidates.empty() || candidates.front().score <= (causes.empty() ? 0 : kAnother)) break;
      if (causes.empty() && rivals) {
        const std::size_t most = std::min(candidates.size(), kMostRivals);
        rivals->assign(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(most));
      }
      LossHypothesis& best = candidates.front();
      settle(best);
      causes.push_back(std::move(best));
    }
    return causes;
  }

 private:
  /// What the ends of one side say of a suspect.
  struct Side {
    double shares = 0;  ///< Σ ln of the share of its ways that cross it
    double lost = 0;    ///< packets
    double passed = 0;  ///< packets that they exchanged by ways that cross it, if evenly spread
    double shape = 0;   ///< Σ lost · ln(lost / passed)
    unsigned ends = 0;

    /// How far the ends' losses are from being in proportion to what would cross it: Kullback and Leibler's divergence.
    double divergence() const { return ends > 1 ? std::max(0.0, shape / lost - std::log(lost / passed)) : 0; }
    double score() const {
      const auto count = static_cast<double>(ends);
      return kVote * count + shares * std::min(1.0, kShareVoters / count) -
             kShape * std::min(kShapeVoters, count) * std::min(kMostDivergence, divergence());
    }
  };
  struct Tally {
    Side senders, receivers;
  };

  void collect_ways();
  void hear_the_unhurt();
  void ask_unhurt(bool senders);
  void tally(bool senders, std::unordered_map<SuspectId, Tally>& tallies) const;
  double prior(SuspectId id) const;
  void explain(LossHypothesis& hypothesis, SuspectId id) const;
  std::vector<LossHypothesis> round() const;
  void settle(const LossHypothesis& cause);
  bool share_a_way(SuspectId one, SuspectId other) const;

  const LossInput& input_;
  const LossThresholds& thresholds_;
  const LossWitness& witness_;
  LossPaths ways_between_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> job_members_;
  std::vector<double> sent_again_, out_of_sequence_;  ///< by end: what is not explained yet
  std::vector<Way> ways_;                             ///< between hurt ends
  std::size_t crossings_ = 1;                         ///< suspects on one way
  std::unordered_map<SuspectId, double> against_;
  std::vector<LossSuspect> settled_;  ///< causes that were found
};

void Search::collect_ways() {
  const auto voters = [&](bool senders, std::size_t most) {
    std::vector<std::uint32_t> found;
    const auto lost = [&](std::uint32_t end) {
      return senders ? input_.ends[end].sent_again : input_.ends[end].out_of_sequence;
    };
    for (std::uint32_t end = 0; end < input_.ends.size(); ++end)
      if (senders ? has_sent_again(input_.ends[end], thresholds_) : has_missed(input_.ends[end], thresholds_))
        found.push_back(end);
    if (found.size() > most) {
      std::ranges::nth_element(found, found.begin() + static_cast<std::ptrdiff_t>(most),
                               [&](std::uint32_t a, std::uint32_t b) { return lost(a) > lost(b); });
      found.resize(most);
      std::ranges::sort(found);
    }
    return found;
  };
  Way way;
  const auto walk = [&](std::uint32_t from, std::uint32_t to) {
    way.from = from;
    way.to = to;
    return may_talk(input_.ends[from], input_.ends[to]) &&
           ways_between_.walk(input_.ends[from].port, input_.ends[to].port, way.suspects);
  };
  std::vector<std::uint32_t> senders = voters(true, input_.voters), receivers = voters(false, input_.voters);
  // The ways of one sender show how long ways are.
  for (auto from = senders.begin(); from != senders.end() && crossings_ == 1; ++from)
    for (const std::uint32_t to : receivers)
      if (walk(*from, to)) crossings_ = std::max(crossings_, way.suspects.size());
  const auto affordable = static_cast<std::size_t>(std::sqrt(static_cast<double>(kMostCrossings / crossings_)));
  if (const std::size_t most = std::max(kFewestVoters, affordable); most < input_.voters) {
    senders = voters(true, most);
    receivers = voters(false, most);
  }
  for (const std::uint32_t from : senders)
    for (const std::uint32_t to : receivers)
      if (walk(from, to)) ways_.push_back(way);
}

void Search::hear_the_unhurt() {
  for (const Way& way : ways_)
    for (const auto& [id, share] : way.suspects) against_.emplace(id, 0);
  ask_unhurt(true);
  ask_unhurt(false);
}

/// Ends that are not hurt, of the jobs that are: each speaks against what its ways would have crossed.
void Search::ask_unhurt(bool senders) {
  std::vector<std::uint32_t> jobs;
  for (const Way& way : ways_)
    for (const std::uint32_t job : input_.ends[senders ? way.to : way.from].jobs) jobs.push_back(job);
  std::ranges::sort(jobs);
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  const std::size_t walks = std::clamp(kMostCrossings / crossings_, kFewestWalks, kMostUnhurt * kMostPeers);
  const auto most = std::min(kMostUnhurt, static_cast<std::size_t>(std::sqrt(2 * static_cast<double>(walks))));
  const std::size_t most_peers = std::min(kMostPeers, walks / most);
  std::vector<Crossing> suspects;
  std::unordered_map<SuspectId, Crossed> crossed;
  std::size_t asked = 0;
  for (const std::uint32_t job : jobs) {
    const std::vector<std::uint32_t>& members = job_members_[job];
    const std::size_t step = std::max<std::size_t>(1, members.size() / most);
    for (std::size_t i = 0; i < members.size() && asked < most; i += step) {
      const LossEnd& end = input_.ends[members[i]];
      const double passed = senders ? end.sent : end.received;
      const double lost = senders ? end.sent_again : end.out_of_sequence;
      // Had it crossed something bad, it would show.
      if (passed * thresholds_.bad_ratio < thresholds_.minimum_packets || lost >= thresholds_.minimum_packets) continue;
      ++asked;
      crossed.clear();
      unsigned ways = 0;
      const std::size_t peers = std::min(members.size(), most_peers);
      for (std::size_t n = 0; n < peers; ++n) {
        // Scattered: peers at equal distances share their routes.
        const std::size_t other = peers == members.size() ? n : (n * kScatter + i) % members.size();
        const LossEnd& peer = input_.ends[members[other]];
        if (other == i || peer.rail != end.rail) continue;
        if (!ways_between_.walk(senders ? end.port : peer.port, senders ? peer.port : end.port, suspects)) continue;
        ++ways;
        for (const auto& [id, share] : suspects)
          if (against_.contains(id)) crossed[id].add(share);
      }
      // With equal-cost ways this is the chance that one flow of it crosses the suspect: the little that is certain.
      for (const auto& [id, sum] : crossed) {
        const double share = sum.shares / static_cast<double>(ways);
        if (!input_.spread)
          against_[id] += std::log1p(-std::min(kMostShare, share)) * (sum.is_certain() ? 1 : kBothEnds);
        else if (passed * share * thresholds_.bad_ratio >= thresholds_.minimum_packets)
          against_[id] += std::log1p(-std::min(kMostShare, sum.ways / static_cast<double>(ways)));
      }
    }
  }
}

/// Adds the votes of one side.
void Search::tally(bool senders, std::unordered_map<SuspectId, Tally>& tallies) const {
  std::vector<std::pair<std::uint32_t, const Way*>> by_end;
  by_end.reserve(ways_.size());
  for (const Way& way : ways_) by_end.emplace_back(senders ? way.from : way.to, &way);
  std::ranges::sort(by_end);
  std::unordered_map<SuspectId, Crossed> crossed;
  for (std::size_t first = 0; first < by_end.size();) {
    const std::uint32_t end = by_end[first].first;
    crossed.clear();
    std::size_t last = first;
    for (; last < by_end.size() && by_end[last].first == end; ++last)
      for (const auto& [id, part] : by_end[last].second->suspects) crossed[id].add(part);
    for (const auto& [id, sum] : crossed) {
      const double share = sum.shares / static_cast<double>(last - first);
      Side& side = senders ? tallies[id].senders : tallies[id].receivers;
      const LossEnd& counts = input_.ends[end];
      const double lost = senders ? sent_again_[end] : out_of_sequence_[end];
      const double passed = share * (senders ? counts.sent : counts.received);
      side.shares += std::log(std::max(kLeastShare, sum.ways / static_cast<double>(last - first))) +
                     (input_.spread ? 0 : sum.chance());
      side.lost += lost;
      side.passed += passed;
      side.shape += lost * std::log(lost / passed);
      ++side.ends;
    }
    first = last;
  }
}

double Search::prior(SuspectId id) const {
  double odds = std::log(thresholds_.prior);
  if (!ways_between_.is_cable(id))
    odds +=
        input_.topology.node(ways_between_.suspect(id).node).type == NodeType::kSwitch ? kSwitchPrior : kAdapterPrior;
  return odds;
}

void Search::explain(LossHypothesis& hypothesis, SuspectId id) const {
  for (const Way& way : ways_)
    if (crosses(way, id)) {
      hypothesis.senders.push_back(way.from);
      hypothesis.receivers.push_back(way.to);
    }
  sort_out(hypothesis);
}

/// Takes away what a cause explains. It lost as many packets as the side that saw fewer says; who on the other side saw
/// more has lost the rest elsewhere.
void Search::settle(const LossHypothesis& cause) {
  settled_.push_back(cause.suspect);
  const auto explain_side = [&](const std::vector<std::uint32_t>& ends, std::vector<double>& unexplained) {
    double sum = 0;
    for (const std::uint32_t end : ends) sum += unexplained[end];
    for (const std::uint32_t end : ends) unexplained[end] *= std::max(0.0, 1 - cause.lost / sum);
  };
  explain_side(cause.senders, sent_again_);
  explain_side(cause.receivers, out_of_sequence_);
  std::erase_if(ways_, [&](const Way& way) {
    return sent_again_[way.from] < kUnexplained * input_.ends[way.from].sent_again ||
           out_of_sequence_[way.to] < kUnexplained * input_.ends[way.to].out_of_sequence;
  });
}

bool Search::share_a_way(SuspectId one, SuspectId other) const {
  return std::ranges::any_of(ways_, [&](const Way& way) { return crosses(way, one) && crosses(way, other); });
}

/// Everything that could explain what is unexplained, likeliest first.
std::vector<LossHypothesis> Search::round() const {
  std::unordered_map<SuspectId, Tally> tallies;
  tally(true, tallies);
  tally(false, tallies);
  std::vector<std::pair<double, SuspectId>> ranked;
  for (const auto& [id, tally] : tallies) {
    const auto against = against_.find(id);
    const double mismatch = std::abs(std::log(tally.senders.lost / tally.receivers.lost));
    ranked.emplace_back(prior(id) + tally.senders.score() + tally.receivers.score() +
                            (against == against_.end() ? 0 : against->second) - kMismatch * mismatch,
                        id);
  }
  std::ranges::sort(ranked, std::greater{});
  if (ranked.size() > kMostHeard) ranked.resize(kMostHeard);
  std::vector<LossHypothesis> found;
  std::vector<std::pair<SuspectId, double>> tell;  // cables, and what each owns up to
  for (const auto& [score, id] : ranked) {
    const Tally& tally = tallies[id];
    LossHypothesis& hypothesis = found.emplace_back();
    hypothesis.suspect = ways_between_.suspect(id);
    hypothesis.lost = std::min(tally.senders.lost, tally.receivers.lost);
    if (witness_) hypothesis.testimony = witness_(hypothesis.suspect, hypothesis.lost);
    const LossTestimony& heard = hypothesis.testimony;
    hypothesis.score = score + heard.support + (!heard.owned_up ? 0 : heard.surely ? kSurelyOwnedUp : kOwnedUp);
    explain(hypothesis, id);
    const bool is_new = std::ranges::find(settled_, hypothesis.suspect) == settled_.end();
    if (heard.counted > 0 && is_new && ways_between_.is_cable(id)) tell.emplace_back(id, heard.counted);
  }
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const auto& [other, counted] : tell)
      if (other != ranked[i].second && share_a_way(ranked[i].second, other)) found[i].told_on_way += counted;
  std::ranges::stable_sort(found, std::greater{}, &LossHypothesis::score);
  if (found.empty()) return found;
  double odds = 0;
  const auto share = [&](const LossHypothesis& one) { return std::exp(one.score - found.front().score); };
  for (const LossHypothesis& one : found) odds += share(one);
  for (LossHypothesis& one : found) one.confidence = share(one) / odds;
  if (input_.multipath) gather_around(input_.topology, thresholds_.certainty, found);
  return found;
}

}  // namespace

bool has_sent_again(const LossEnd& end, const LossThresholds& thresholds) {
  // As much likelier as its vote counts: a healthy end gets there in at most one case of exp(kVote) (Markov's
  // inequality of the likelihood ratio).
  return is_hurt(end.sent_again, end.sent, kVote, thresholds);
}

bool has_missed(const LossEnd& end, const LossThresholds& thresholds) {
  return is_hurt(end.out_of_sequence, end.received, kVote, thresholds);
}

bool may_have_sent_again(const LossEnd& end, const LossThresholds& thresholds) {
  return is_hurt(end.sent_again, end.sent, 0, thresholds);
}

bool may_have_missed(const LossEnd& end, const LossThresholds& thresholds) {
  return is_hurt(end.out_of_sequence, end.received, 0, thresholds);
}

bool may_talk(const LossEnd& from, const LossEnd& to) {
  if (from.port == to.port || from.rail != to.rail) return false;
  if (from.jobs.empty() || to.jobs.empty()) return true;
  return std::ranges::any_of(from.jobs,
                             [&](std::uint32_t job) { return std::ranges::find(to.jobs, job) != to.jobs.end(); });
}

std::vector<LossHypothesis> find_losses(const LossInput& input, const LossThresholds& thresholds,
                                        const LossWitness& witness, std::vector<LossHypothesis>* rivals) {
  return Search(input, thresholds, witness).run(rivals);
}

}  // namespace weft::analyzer
