// SPDX-License-Identifier: Apache-2.0
#pragma once
// What partners tell of what is out of service: subnet managers of links, a scheduler of hosts. They fall silent, and
// what they tell may be under way for long.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/remedy/plan_manager.hpp"
#include "tests/remedies/tally.hpp"
#include "tests/remedies/world.hpp"

namespace weft::remedies {

/// Follows one sequence. All times are World::steady().
class Partners {
 public:
  /// Which of them there are is up to the dice.
  explicit Partners(Dice& dice);

  /// weftd starts: nobody told this process anything, and what was under way is lost.
  void restart(analyzer::PlanManager& book);
  /// One that there is falls silent, or answers again. In words; empty when there is none.
  std::string toggle(Dice& dice, Tally& tally);
  /// None is silent from now on.
  void answer();
  /// Those that are due are asked, and what they say reaches the book. `may_linger`: it may take its time.
  void tell(const World& world, Dice& dice, bool may_linger, Tally& tally, analyzer::PlanManager& book);

  // The judge's own memory of what reached the book that runs now.
  /// Some list of links, or that of hosts, was never told, or is older than three minutes.
  bool is_untold(bool of_links, Duration now) const;
  /// Links that others let a manager avoid by what was told last, a bit for each.
  std::uint32_t links_of_others() const { return told_[kCosts].others | told_[kPorts].others; }
  /// Hosts that others had drained by what was told last: a bit for each of the fabric.
  std::uint32_t hosts_of_others() const { return told_[kDrains].others; }
  /// How many hosts that are not of the fabric others had drained by what was told last.
  unsigned strangers() const { return told_[kDrains].strangers; }

 private:
  static constexpr std::size_t kCosts = 0, kPorts = 1, kDrains = 2, kLists = 3;
  struct List {
    std::optional<Duration> asked;  ///< when it was read; nullopt: never
    std::uint32_t others = 0;       ///< links or hosts in it that others took out, a bit for each
    std::uint32_t ours = 0;         ///< those that weft did
    unsigned strangers = 0;
  };
  static List read(const World& world, std::size_t list);
  void give(std::size_t list, const World* world, const List& told, analyzer::PlanManager& book) const;

  std::array<bool, kLists> exists_{}, silent_{};
  std::array<List, kLists> told_{};
  std::array<std::optional<List>, kLists> under_way_{};
  std::array<std::optional<Duration>, kLists> last_asked_{};
};

}  // namespace weft::remedies
