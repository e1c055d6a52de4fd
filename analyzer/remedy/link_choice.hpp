// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of several bad links to take out, when not all of them may go (CorrOpt, SIGCOMM'17, sections 5.1 and 5.2).

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "analyzer/remedy/live_tree.hpp"

namespace weft::analyzer {

/// A link that should be taken out.
struct BadLink {
  UplinkIndex uplink = kNoIndex;
  double harm = 0;  ///< that it does while it is in service; any unit, > 0
  bool operator==(const BadLink&) const = default;
};

/// A link that could go alone, and stays because others go.
struct KeptLink {
  std::vector<std::uint32_t> before;     ///< positions of those that go and compete with it, ascending
  std::optional<Shortfall> shortfall{};  ///< if it went with those chosen; nullopt: the search was cut short
};

/// Which links to take out.
struct LinkChoice {
  std::vector<std::uint32_t> out;          ///< positions in what was given, ascending
  double harm_left = 0;                    ///< of those that stay
  std::map<std::uint32_t, KeptLink> kept;  ///< by position
  /// No other set leaves less harm. False when the search was cut short: then it is the best one found.
  bool exact = true;
};

/// Chooses among the bad links of one fabric, and remembers what it found until the fabric changes.
class LinkChooser {
 public:
  /// `tree` must outlive it.
  explicit LinkChooser(LiveTree& tree) : tree_(tree) {}

  /// The set of links that can be out together by the rules of the tree and leaves the least harm. What may not even
  /// go alone stays; what does well even when all the others go is out without a search. The rest is searched in
  /// segments that share no leaf which would be short; those whose choices do not go together are searched as one. The
  /// tree is as before when it returns. `most_checks` bounds the search: each check costs what lies below one link.
  const LinkChoice& choose(std::span<const BadLink> bad, std::size_t most_checks = 1'500);

 private:
  struct Link {
    double harm = 0;
    UplinkIndex uplink = kNoIndex;
    auto operator<=>(const Link&) const = default;
  };
  using Segment = std::vector<Link>;  // the most harm first
  struct Found {
    std::vector<UplinkIndex> out;
    double gain = 0;  // harm of those
    bool exact = true;
  };
  class Search;

  LinkChoice search_all(std::span<const BadLink> bad, std::size_t checks_left);
  std::vector<Segment> split(const std::vector<Link>& links, std::vector<UplinkIndex>& safe);
  void search(const Segment& segment, std::size_t& checks_left);
  std::vector<std::size_t> conflict(const std::vector<Segment>& segments);
  bool serves(UplinkIndex uplink, const Shortfall& shortfall) const;
  KeptLink why_kept(UplinkIndex uplink, const LinkChoice& choice, std::span<const BadLink> bad);

  LiveTree& tree_;
  std::uint64_t changes_ = 0;
  std::vector<BadLink> chosen_among_;
  LinkChoice choice_;
  std::map<UplinkIndex, std::vector<std::uint32_t>> served_;  // with nothing supposed
  std::map<Segment, Found> found_;
  std::set<UplinkIndex> together_;                // known to go together
  std::map<UplinkIndex, UplinkIndex> joined_as_;  // links whose segments had to be joined: one of them
};

}  // namespace weft::analyzer
