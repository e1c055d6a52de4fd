// SPDX-License-Identifier: Apache-2.0
#pragma once
// What persons do at the ports of links while a plan is on probation, is being undone, or waits to be.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fabric/plan.hpp"
#include "tests/remedies/tally.hpp"
#include "tests/remedies/world.hpp"

namespace weft::remedies {

/// Follows one sequence.
class HandRules {
 public:
  using Journal = std::map<std::uint64_t, Plan>;
  /// It must outlive this.
  explicit HandRules(World& world) : world_(world) {}

  /// The order is on the lane of its actuator.
  void given_out(const RemedyOrder& order) { on_lane_.insert(order.plan); }
  /// It was not sent.
  void held(const RemedyOrder& order) { on_lane_.erase(order.plan); }
  /// It was sent. `is_known`: its answer came, and it took effect; `is_refused`: it did not.
  void sent(const Act& act, bool is_known, bool is_refused);
  /// The process was killed: nobody knows whether what the journal says was sent.
  void restarted(const Journal& journal);

  /// Somebody disables a link that weftd has read to be back, at the end that weft sets, also when the order that takes
  /// it out again waits. Only where nothing of weft's may land there, so that it can be known who did it. In words;
  /// empty: there is no such link.
  std::string disable(Dice& dice, const Journal& journal, Tally& tally);
  /// The promise that the act for the plan breaks, as it is sent; null: none.
  const char* breach_of(const Plan& plan, const Act& act) const;
  /// Nothing was sent that takes its link out again, and a sweep sees the link up: a person may leave it in service.
  bool may_be_left(const Plan& plan) const;

  /// Somebody gives back some of what waits to be undone. In words.
  std::string give_back(const std::vector<std::shared_ptr<const Plan>>& plans, Dice& dice, Tally& tally);
  /// The promise that is broken when the plans are so though they had time to see what was given back; null: none.
  const char* breach_of_waiting(const std::vector<std::shared_ptr<const Plan>>& plans) const;

 private:
  void lose_sight_of(unsigned link, bool is_refused);

  World& world_;
  std::set<std::uint64_t> on_lane_;  // plans with an order that changes something
  std::set<std::uint64_t> undone_;   // plans of which what undoes them was sent, or may have been
  std::set<unsigned> uncertain_;     // links: what takes them out was sent, and nobody knows whether it landed
};

}  // namespace weft::remedies
