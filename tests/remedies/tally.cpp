// SPDX-License-Identifier: Apache-2.0
#include "tests/remedies/tally.hpp"

#include <cstdio>

namespace weft::remedies {

void Tally::add(const Tally& other) {
  sequences += other.sequences;
  steps += other.steps;
  crashes += other.crashes;
  aborts += other.aborts;
  acts += other.acts;
  held += other.held;
  lost_replies += other.lost_replies;
  refused_requests += other.refused_requests;
  unjournalled += other.unjournalled;
  tripped += other.tripped;
  forgotten += other.forgotten;
  renamed += other.renamed;
  wrong_readings += other.wrong_readings;
  clock_steps += other.clock_steps;
  other_weftds += other.other_weftds;
  claimed_twice += other.claimed_twice;
  files += other.files;
  silent_partners += other.silent_partners;
  lists_told += other.lists_told;
  told_of_others += other.told_of_others;
  others_avoid += other.others_avoid;
  silent_nodes += other.silent_nodes;
  silent_managers += other.silent_managers;
  forgotten_hosts += other.forgotten_hosts;
  failed_returns += other.failed_returns;
  left += other.left;
  begun_anew += other.begun_anew;
  disabled_by_hand += other.disabled_by_hand;
  enabled_by_hand += other.enabled_by_hand;
  held_then_left += other.held_then_left;
  already += other.already;
  out_beside_others += other.out_beside_others;
  out_beside_missing += other.out_beside_missing;
  out_beside_gone += other.out_beside_gone;
  waited_for_lists += other.waited_for_lists;
  for (std::size_t i = 0; i < ended.size(); ++i) ended[i] += other.ended[i];
  for (std::size_t i = 0; i < refused.size(); ++i) refused[i] += other.refused[i];
  for (std::size_t i = 0; i < by_action.size(); ++i) by_action[i] += other.by_action[i];
}

void print(const Tally& tally, double seconds) {
  const auto n = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf(
      "%llu sequences, %llu steps, %llu actions, %llu held on the lane, %llu replies lost, %llu crashes, "
      "%llu plans aborted, %llu plans forgotten, %llu adapters renamed, %llu readings wrong for a moment, "
      "%llu writes refused, breaker tripped %llu times, %llu steps of the clock, %llu marks of another weftd, "
      "%llu adapters reported by two, the file came or went %llu times, %llu wishes refused, %.0f s\n",
      n(tally.sequences), n(tally.steps), n(tally.acts), n(tally.held), n(tally.lost_replies), n(tally.crashes),
      n(tally.aborts), n(tally.forgotten), n(tally.renamed), n(tally.wrong_readings), n(tally.unjournalled),
      n(tally.tripped), n(tally.clock_steps), n(tally.other_weftds), n(tally.claimed_twice), n(tally.files),
      n(tally.refused_requests), seconds);
  std::printf(
      "%llu lists told, %llu of them with what others took out, partners silent %llu times, plans seen to wait for a "
      "list "
      "%llu times, others let avoid %llu links, nodes silent %llu times, hosts unknown to the scheduler %llu times, "
      "returns that failed or had no effect %llu, left in service %llu (%llu that failed), ports disabled by hand "
      "%llu, found disabled by an order %llu, enabled by hand %llu, probations begun anew %llu; taken out beside "
      "what others took out %llu, "
      "beside missing nodes %llu, beside nodes gone for long %llu\n",
      n(tally.lists_told), n(tally.told_of_others), n(tally.silent_partners), n(tally.waited_for_lists),
      n(tally.others_avoid), n(tally.silent_nodes), n(tally.forgotten_hosts), n(tally.failed_returns), n(tally.left),
      n(tally.held_then_left), n(tally.disabled_by_hand), n(tally.already), n(tally.enabled_by_hand),
      n(tally.begun_anew), n(tally.out_beside_others), n(tally.out_beside_missing), n(tally.out_beside_gone));
  std::printf("plans ended:");
  for (std::size_t i = 0; i < tally.ended.size(); ++i)
    if (is_over(static_cast<PlanState>(i)))
      std::printf(" %s %llu", to_string(static_cast<PlanState>(i)), n(tally.ended[i]));
  std::printf("\nby action:");
  for (std::size_t i = 1; i < tally.by_action.size(); ++i)
    std::printf(" %s %llu", to_string(static_cast<RemedyAction>(i)), n(tally.by_action[i]));
  std::printf("\nrefusals seen:");
  for (std::size_t i = 0; i < tally.refused.size(); ++i)
    std::printf(" %s %llu", to_string(static_cast<Guard>(i)), n(tally.refused[i]));
  std::printf("\n");
}

}  // namespace weft::remedies
