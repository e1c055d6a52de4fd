// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/link_choice.hpp"

#include <algorithm>
#include <numeric>

namespace weft::analyzer {
namespace {

// Depth first over the links, those of most harm first. What cannot go together with those chosen cannot go with more
// of them either, so that every superset of a bad set is left out by itself.
class Search {
 public:
  Search(LiveTree& tree, std::span<const BadLink> bad, std::vector<std::uint32_t> order, std::size_t most_out,
         std::size_t most_checks)
      : tree_(tree), bad_(bad), order_(std::move(order)), room_(most_out), checks_left_(most_checks) {
    left_from_.resize(order_.size() + 1, 0);
    for (std::size_t i = order_.size(); i-- > 0;) left_from_[i] = left_from_[i + 1] + bad_[order_[i]].harm;
  }

  void run() { step(0, 0); }
  const std::vector<std::uint32_t>& best() const { return best_; }
  bool exact() const { return exact_; }

 private:
  void step(std::size_t at, double gained) {
    if (gained > best_gain_) {
      best_gain_ = gained;
      best_ = chosen_;
    }
    if (at == order_.size() || chosen_.size() == room_) return;
    if (gained + left_from_[at] <= best_gain_) return;
    if (checks_left_ == 0) {
      exact_ = false;
      return;
    }
    --checks_left_;
    const UplinkIndex uplink = bad_[order_[at]].uplink;
    tree_.take_out(uplink);
    if (!tree_.shortfall(uplink)) {
      chosen_.push_back(order_[at]);
      step(at + 1, gained + bad_[order_[at]].harm);
      chosen_.pop_back();
    }
    tree_.put_back(uplink);
    step(at + 1, gained);
  }

  LiveTree& tree_;
  std::span<const BadLink> bad_;
  std::vector<std::uint32_t> order_;
  std::size_t room_;
  std::size_t checks_left_;
  std::vector<double> left_from_;  // harm of all from here on
  std::vector<std::uint32_t> chosen_, best_;
  double best_gain_ = 0;
  bool exact_ = true;
};

}  // namespace

LinkChoice choose_links(LiveTree& tree, std::span<const BadLink> bad, std::size_t most_out, std::size_t most_checks) {
  LinkChoice choice;
  std::vector<std::uint32_t> all, doubtful;
  for (std::uint32_t i = 0; i < bad.size(); ++i) {
    choice.harm_left += bad[i].harm;
    if (tree.is_up(bad[i].uplink)) all.push_back(i);
  }
  // The same link twice is out once: the second one finds it gone.
  std::ranges::sort(all, {}, [&](std::uint32_t i) { return bad[i].uplink; });
  const auto twice = [&](std::uint32_t a, std::uint32_t b) { return bad[a].uplink == bad[b].uplink; };
  all.erase(std::unique(all.begin(), all.end(), twice), all.end());

  std::vector<std::vector<std::uint32_t>> below(bad.size());
  std::vector<std::uint32_t> judged;  // what is below none of them loses nothing
  for (const std::uint32_t i : all) {
    tree.take_out(bad[i].uplink);
    below[i] = tree.leaves_below(bad[i].uplink);
    judged.insert(judged.end(), below[i].begin(), below[i].end());
  }
  std::ranges::sort(judged);
  judged.erase(std::unique(judged.begin(), judged.end()), judged.end());
  const std::vector<std::uint8_t> is_short = tree.short_leaves(judged);
  for (const std::uint32_t i : all) {
    const bool safe = std::ranges::none_of(below[i], [&](std::uint32_t leaf) { return is_short[leaf] != 0; }) &&
                      all.size() <= most_out;
    (safe ? choice.out : doubtful).push_back(i);
  }
  for (const std::uint32_t i : doubtful) tree.put_back(bad[i].uplink);
  std::ranges::stable_sort(doubtful, std::greater{}, [&](std::uint32_t i) { return bad[i].harm; });
  Search search(tree, bad, doubtful, most_out - std::min(most_out, choice.out.size()), most_checks);
  search.run();
  for (const std::uint32_t i : choice.out) tree.put_back(bad[i].uplink);

  choice.out.insert(choice.out.end(), search.best().begin(), search.best().end());
  std::ranges::sort(choice.out);
  choice.exact = search.exact();
  for (const std::uint32_t i : choice.out) choice.harm_left -= bad[i].harm;
  return choice;
}

}  // namespace weft::analyzer
