// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/link_choice.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

namespace weft::analyzer {
namespace {

// Segments that are remembered: those of present trouble, and not of all that was.
constexpr std::size_t kMostRemembered = 4'096;

}  // namespace

// Depth first over the links, in their order. What cannot go together with those chosen cannot go with more of them
// either, so that every superset of a bad set is left out by itself.
class LinkChooser::Search {
 public:
  Search(LiveTree& tree, const Segment& links, std::size_t& checks_left)
      : tree_(tree), links_(links), checks_left_(checks_left), left_from_(links.size() + 1, 0) {
    for (std::size_t i = links.size(); i-- > 0;) left_from_[i] = left_from_[i + 1] + links[i].harm;
  }

  Found run() {
    step(0, 0);
    best_.gain = best_gain_;
    return std::move(best_);
  }

 private:
  void step(std::size_t at, double gained) {
    if (gained > best_gain_) {
      best_gain_ = gained;
      best_.out = chosen_;
    }
    if (at == links_.size() || gained + left_from_[at] <= best_gain_) return;
    // What is met for the first time is always tried, so that something is found even without any checks left.
    if (checks_left_ == 0 && at < met_) {
      best_.exact = false;
      return;
    }
    met_ = std::max(met_, at + 1);
    checks_left_ -= std::min<std::size_t>(1, checks_left_);
    const auto [harm, uplink] = links_[at];
    tree_.take_out(uplink);
    if (!tree_.is_short(uplink)) {
      chosen_.push_back(uplink);
      step(at + 1, gained + harm);
      chosen_.pop_back();
    }
    tree_.put_back(uplink);
    step(at + 1, gained);
  }

  LiveTree& tree_;
  const Segment& links_;
  std::size_t& checks_left_;
  std::size_t met_ = 0;
  std::vector<double> left_from_;  // harm of all from here on
  std::vector<UplinkIndex> chosen_;
  Found best_;
  double best_gain_ = 0;
};

void LinkChooser::search(const Segment& segment, std::size_t& checks_left) {
  const auto [at, is_new] = found_.try_emplace(segment);
  if (!is_new) return;
  // Most harm first finds the best set where some links are much worse than others. Where they are alike, and that
  // takes too long, those that take the fewest ways from a leaf leave room for the most others.
  std::size_t most = checks_left - checks_left / 4;
  checks_left -= most;
  at->second = Search(tree_, segment, most).run();
  checks_left += most;
  if (at->second.exact) return;
  const auto worth = [this](const Link& link) {
    const NodeIndex parent = tree_.tree().uplinks()[link.uplink].parent;
    return link.harm / static_cast<double>(std::max<std::uint64_t>(1, tree_.ways(parent)));
  };
  Segment by_worth = segment;
  std::ranges::stable_sort(by_worth, std::greater{}, worth);
  Found other = Search(tree_, by_worth, checks_left).run();
  if (other.exact || other.gain > at->second.gain) at->second = std::move(other);
}

// Those that are out whatever is chosen, and the others in segments: two links of one segment serve a leaf that would
// be short if all went.
std::vector<LinkChooser::Segment> LinkChooser::split(const std::vector<Link>& links, std::vector<UplinkIndex>& safe) {
  std::vector<std::uint32_t> judged, cut_off;
  for (const Link& link : links) {
    const auto [at, is_new] = served_.try_emplace(link.uplink);
    if (is_new) at->second = tree_.leaves_served(link.uplink);
    judged.insert(judged.end(), at->second.begin(), at->second.end());
  }
  std::ranges::sort(judged);
  judged.erase(std::unique(judged.begin(), judged.end()), judged.end());
  for (const std::uint32_t leaf : judged)
    if (!tree_.is_alive(leaf)) cut_off.push_back(leaf);
  for (const Link& link : links) tree_.take_out(link.uplink);
  const std::vector<std::uint8_t> is_short = tree_.short_leaves(judged, cut_off);
  for (const Link& link : links) tree_.put_back(link.uplink);

  std::vector<std::size_t> joined(links.size());
  std::iota(joined.begin(), joined.end(), std::size_t{0});
  const auto root = [&joined](std::size_t i) {
    while (joined[i] != i) i = joined[i] = joined[joined[i]];
    return i;
  };
  std::map<std::uint32_t, std::size_t> first_of;  // by short leaf
  std::map<UplinkIndex, std::size_t> first_in;    // by what segments were joined as
  std::vector<std::size_t> doubtful;
  for (std::size_t i = 0; i < links.size(); ++i) {
    bool is_safe = true;
    for (const std::uint32_t leaf : served_[links[i].uplink]) {
      if (is_short[leaf] == 0) continue;
      is_safe = false;
      joined[root(i)] = root(first_of.try_emplace(leaf, i).first->second);
    }
    if (is_safe) {
      safe.push_back(links[i].uplink);
      continue;
    }
    doubtful.push_back(i);
    if (const auto as = joined_as_.find(links[i].uplink); as != joined_as_.end())
      joined[root(i)] = root(first_in.try_emplace(as->second, i).first->second);
  }
  std::map<std::size_t, Segment> segments;
  for (const std::size_t i : doubtful) segments[root(i)].push_back(links[i]);
  std::vector<Segment> all;
  for (auto& [of, segment] : segments) all.push_back(std::move(segment));
  return all;
}

bool LinkChooser::serves(UplinkIndex uplink, const Shortfall& shortfall) const {
  const FabricTree& tree = tree_.tree();
  const std::vector<std::uint32_t>& served = served_.at(uplink);
  if (shortfall.rail != kNoIndex)
    return std::ranges::any_of(served, [&](std::uint32_t leaf) { return tree.rail_of(leaf) == shortfall.rail; });
  return std::ranges::any_of(std::array{shortfall.leaf, shortfall.other}, [&](NodeIndex node) {
    return node != kNoIndex && std::ranges::binary_search(served, tree.leaf_of(node));
  });
}

// Takes out what each segment chose, one link after the other, until something is too little. Returns the segments,
// ascending, of which that is; empty when all go together. Then what they chose is out. A part of what went together
// before does so now, and needs no look.
std::vector<std::size_t> LinkChooser::conflict(const std::vector<Segment>& segments) {
  std::vector<std::pair<UplinkIndex, std::size_t>> taken, unproven;
  for (std::size_t i = 0; i < segments.size(); ++i)
    for (const UplinkIndex uplink : found_.at(segments[i]).out)
      (together_.contains(uplink) ? taken : unproven).emplace_back(uplink, i);
  for (const auto& [uplink, segment] : taken) tree_.take_out(uplink);
  for (const auto& [uplink, segment] : unproven) {
    tree_.take_out(uplink);
    taken.emplace_back(uplink, segment);
    if (!tree_.is_short(uplink)) continue;
    const Shortfall shortfall = tree_.shortfall(uplink).value_or(Shortfall{});
    std::vector<std::size_t> of;
    for (const auto& [other, its] : taken)
      if (its == segment || serves(other, shortfall)) of.push_back(its);
    std::ranges::sort(of);
    of.erase(std::unique(of.begin(), of.end()), of.end());
    if (of.size() == 1) {
      of.resize(segments.size());
      std::iota(of.begin(), of.end(), std::size_t{0});
    }
    for (const auto& [other, its] : taken) tree_.put_back(other);
    taken.pop_back();
    together_.clear();
    for (const auto& [other, its] : taken) together_.insert(other);
    return of;
  }
  together_.clear();
  for (const auto& [other, its] : taken) together_.insert(other);
  return {};
}

const LinkChoice& LinkChooser::choose(std::span<const BadLink> bad, std::size_t most_checks) {
  const bool is_changed = changes_ != tree_.changes();
  if (!is_changed && std::ranges::equal(chosen_among_, bad)) return choice_;
  if (is_changed || found_.size() > kMostRemembered || served_.size() > kMostRemembered) {
    changes_ = tree_.changes();
    served_.clear();
    found_.clear();
    together_.clear();
    joined_as_.clear();
  }
  chosen_among_.assign(bad.begin(), bad.end());
  return choice_ = search_all(bad, most_checks);
}

LinkChoice LinkChooser::search_all(std::span<const BadLink> bad, std::size_t checks_left) {
  LinkChoice choice;
  std::map<UplinkIndex, std::uint32_t> position;  // the same link twice is out once
  std::vector<Link> links;
  for (std::uint32_t i = 0; i < bad.size(); ++i) {
    choice.harm_left += bad[i].harm;
    if (!tree_.is_up(bad[i].uplink) || !position.emplace(bad[i].uplink, i).second) continue;
    if (!tree_.shortfall_without(bad[i].uplink)) links.push_back({bad[i].harm, bad[i].uplink});
  }
  std::ranges::sort(links, std::greater{});

  std::vector<UplinkIndex> out;
  // What is safe changes nothing for a leaf that would be short, and need not be out while others are tried.
  std::vector<Segment> segments = split(links, out);
  for (const Segment& segment : segments) search(segment, checks_left);
  for (auto of = conflict(segments); !of.empty(); of = conflict(segments)) {
    if (of.size() == 1) {  // never so by the rules as they are: its links then stay in service
      found_[segments[of.front()]] = {.out = {}, .gain = 0, .exact = false};
      continue;
    }
    Segment joined;
    for (std::size_t i = of.size(); i-- > 0;) {
      joined.insert(joined.end(), segments[of[i]].begin(), segments[of[i]].end());
      segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(of[i]));
    }
    std::ranges::sort(joined, std::greater{});
    for (const Link& link : joined) joined_as_[link.uplink] = joined.front().uplink;
    search(joined, checks_left);
    segments.push_back(std::move(joined));
  }
  for (const Segment& segment : segments) {
    const Found& found = found_.at(segment);
    choice.exact = choice.exact && found.exact;
    out.insert(out.end(), found.out.begin(), found.out.end());
  }
  for (const UplinkIndex uplink : out) {
    tree_.take_out(uplink);
    choice.out.push_back(position[uplink]);
    choice.harm_left -= bad[position[uplink]].harm;
  }
  std::ranges::sort(choice.out);
  for (const Link& link : links)
    if (const std::uint32_t at = position[link.uplink]; !std::ranges::binary_search(choice.out, at))
      choice.kept[at] = why_kept(link.uplink, choice, bad);
  for (const UplinkIndex uplink : out) tree_.put_back(uplink);
  return choice;
}

// What was chosen is out.
KeptLink LinkChooser::why_kept(UplinkIndex uplink, const LinkChoice& choice, std::span<const BadLink> bad) {
  KeptLink kept;
  tree_.take_out(uplink);
  kept.shortfall = tree_.shortfall(uplink);
  tree_.put_back(uplink);
  for (const std::uint32_t at : choice.out)
    if (!kept.shortfall || serves(bad[at].uplink, *kept.shortfall)) kept.before.push_back(at);
  return kept;
}

}  // namespace weft::analyzer
