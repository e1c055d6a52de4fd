// SPDX-License-Identifier: Apache-2.0
// The groups of scenarios by their names.
#include <algorithm>
#include <string>

#include "tests/scenarios/assumptions.hpp"
#include "tests/scenarios/generate.hpp"
#include "tests/scenarios/habits.hpp"
#include "tests/scenarios/hangs.hpp"
#include "tests/scenarios/parts.hpp"
#include "tests/scenarios/random.hpp"

namespace weft::scenarios {
namespace {

constexpr FaultKind kEthernetFaults[] = {FaultKind::kLinkDown,  FaultKind::kHostDown,     FaultKind::kIncast,
                                         FaultKind::kCollision, FaultKind::kSlowReceiver, FaultKind::kPcieStall,
                                         FaultKind::kPfcStorm,  FaultKind::kLossOnLink,   FaultKind::kLossInSwitch,
                                         FaultKind::kStraggler};

bool is_habit(std::string_view name) {
  return std::ranges::find(habits(), name) != habits().end();
}

}  // namespace

std::uint64_t number_of(std::string_view group) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : group) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return hash;
}

const std::vector<std::string>& groups() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> all{kQuiet, kQuietDay};
    // From kFailedTransfers on of files, and of groups with a name of their own: what an adapter itself says is too
    // easily found to be counted among what is to be judged.
    for (std::size_t i = 0; i < static_cast<std::size_t>(FaultKind::kFailedTransfers); ++i)
      all.emplace_back(to_string(static_cast<FaultKind>(i)));
    all.emplace_back(kTwo);
    all.emplace_back(kOnCongestion);
    for (const char* quiet : {kQuiet, kQuietDay}) all.emplace_back(std::string(kEthernet) + quiet);
    for (const FaultKind kind : kEthernetFaults) all.emplace_back(std::string(kEthernet) + to_string(kind));
    return all;
  }();
  return kAll;
}

const std::vector<std::string>& further_groups() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> all;
    for (const bool ethernet : {false, true})
      for (const std::string_view habit : habits())
        if (!ethernet || !habit.starts_with("manager_"))
          all.push_back((ethernet ? std::string(kEthernet) : std::string()) + std::string(habit));
    for (const bool ethernet : {false, true})
      for (const std::string_view group : part_groups())
        if (!ethernet || is_on_ethernet(group))
          all.push_back((ethernet ? std::string(kEthernet) : std::string()) + std::string(group));
    for (const bool ethernet : {false, true})
      for (const std::string_view group : hang_groups())
        all.push_back((ethernet ? std::string(kEthernet) : std::string()) + std::string(group));
    for (const Assumption& assumption : assumptions())
      for (const std::string_view group : assumption.groups)
        all.push_back(std::string(group) + "+" + std::string(assumption.name));
    return all;
  }();
  return kAll;
}

Case generate(std::string_view group, std::uint64_t seed, Scale scale) {
  const std::size_t plus = group.find('+');
  const std::string_view base = group.substr(0, plus);
  const bool ethernet = base.starts_with(kEthernet);
  const std::string_view habit = ethernet ? base.substr(kEthernet.size()) : base;
  // With an assumption or a habit it is the same fabric with the same jobs and the same fault as without.
  const bool is_part = std::ranges::find(part_groups(), habit) != part_groups().end();
  const bool is_hang = std::ranges::find(hang_groups(), habit) != hang_groups().end();
  Case made = write_case(!is_habit(habit) && !is_part && !is_hang ? base
                         : ethernet                               ? "ethernet_quiet"
                                                                  : "quiet",
                         seed, scale);
  if (is_part) {
    Random random(seed * 1'000'003 + number_of(base));
    break_part(habit, random, made);
  }
  if (is_hang) {
    Random random(seed * 1'000'003 + number_of(base));
    stand_still(habit, random, made);
  }
  if (is_habit(habit)) {
    Random random(seed * 1'000'003 + number_of(base));
    live(habit, random, made);
  }
  if (plus != std::string_view::npos) {
    Random random(seed * 1'000'003 + number_of(group));
    assume(group.substr(plus + 1), random, made);
  }
  made.scenario.group = group;
  made.scenario.name = std::string(group) + "/" + std::to_string(seed);
  return made;
}

}  // namespace weft::scenarios
