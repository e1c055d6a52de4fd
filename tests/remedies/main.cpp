// SPDX-License-Identifier: Apache-2.0
// weft_remedies: random sequences against the book of plans. See README.md.

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>

#include "tests/remedies/sequence.hpp"

namespace weft::remedies {
namespace {

constexpr std::uint64_t kEnoughToTryAll = 100'000;

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const auto& [spines, leaves, hosts] :
       {std::array{2U, 2U, 1U}, {3U, 2U, 1U}, {4U, 2U, 2U}, {3U, 3U, 1U}, {4U, 3U, 1U}, {5U, 3U, 2U}})
    all.emplace_back(spines, leaves, hosts);
  return all;
}

int run(std::uint64_t sequences, std::uint64_t first, unsigned threads) {
  const auto started = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  };
  std::atomic<std::uint64_t> next{first};
  std::mutex mutex;
  std::optional<Breach> breach;
  Tally total;
  std::vector<std::jthread> workers;
  for (unsigned worker = 0; worker < threads; ++worker)
    workers.emplace_back([&] {
      const std::vector<Shape> own = shapes();  // they remember pictures, so that each thread needs its own
      Tally tally;
      constexpr std::uint64_t kBlock = 1000;
      for (;;) {
        const std::uint64_t begin = next.fetch_add(kBlock);
        if (begin >= first + sequences) break;
        for (std::uint64_t seed = begin; seed < std::min(begin + kBlock, first + sequences); ++seed) {
          if (auto found = run_sequence(own, seed, tally)) {
            const std::lock_guard lock(mutex);
            if (!breach || found->seed < breach->seed) breach = std::move(found);
            next = first + sequences;
            break;
          }
        }
      }
      const std::lock_guard lock(mutex);
      total.add(tally);
    });
  workers.clear();
  if (breach) {
    Tally ignored;
    const auto story = run_sequence(shapes(), breach->seed, ignored, true);
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(breach->seed), breach->promise.c_str());
    if (story)
      for (const std::string& line : story->story) std::printf("  %s\n", line.c_str());
    return 1;
  }
  print(total, elapsed());
  if (total.sequences < kEnoughToTryAll) return 0;
  // Promises that nothing tried are not kept, they are unknown.
  bool all = true;
  const auto tried = [&all](std::uint64_t count, const char* what) {
    if (count > 0) return;
    std::printf("never tried: %s\n", what);
    all = false;
  };
  for (std::size_t i = 0; i < total.ended.size(); ++i)
    if (is_over(static_cast<PlanState>(i))) tried(total.ended[i], to_string(static_cast<PlanState>(i)));
  for (const Guard guard :
       {Guard::kHandsOff, Guard::kLists, Guard::kFreshData, Guard::kTwoSignals, Guard::kOneActor, Guard::kBreaker,
        Guard::kBudget, Guard::kCoolDown, Guard::kReinstatement, Guard::kReachability, Guard::kLeafCapacity,
        Guard::kJobCapacity, Guard::kRailCapacity, Guard::kBenefit})
    tried(total.refused[static_cast<std::size_t>(guard)], to_string(guard));
  tried(total.held, "an order held on the lane");
  tried(total.forgotten, "a plan that is forgotten");
  tried(total.renamed, "an adapter with another name");
  tried(total.wrong_readings, "a reading that is wrong for a moment");
  tried(total.clock_steps, "a clock that is set");
  tried(total.other_weftds, "a mark of another weftd");
  tried(total.claimed_twice, "an adapter that two hosts report");
  tried(total.files, "the file of hands-off");
  tried(total.silent_partners, "a list that cannot be read");
  tried(total.silent_managers, "a subnet manager that does not answer");
  tried(total.waited_for_lists, "a plan under way that waits for a list");
  tried(total.forgotten_hosts, "a host that the scheduler does not know");
  tried(total.failed_returns, "a return that failed or had no effect");
  tried(total.left, "a plan that a person leaves in service");
  tried(total.held_then_left, "a return that failed and that a person leaves in service");
  tried(total.disabled_by_hand, "a port that somebody disables after it was read to be back");
  tried(total.already, "an order to disable what is disabled already");
  tried(total.enabled_by_hand, "a port that somebody enables while its plan waits to be undone");
  tried(total.begun_anew, "a probation that begins anew");
  tried(total.out_beside_others, "something taken out beside what others took out");
  tried(total.out_beside_missing, "a link taken out beside nodes that are missing");
  tried(total.out_beside_gone, "a link taken out beside nodes that are gone for long");
  for (const RemedyAction action :
       {RemedyAction::kIsolateLink, RemedyAction::kRestoreLink, RemedyAction::kDrainNode, RemedyAction::kUndrainNode})
    tried(total.by_action[static_cast<std::size_t>(action)], to_string(action));
  return all ? 0 : 1;
}

}  // namespace
}  // namespace weft::remedies

int main(int argc, char** argv) {
  CLI::App app{
      "Random sequences of faults, repairs, lost replies, crashes and approvals: no promise of a guard may break"};
  std::uint64_t sequences = 100'000, first = 1;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  app.add_option("--sequences", sequences, "How many")
      ->check(CLI::PositiveNumber)
      ->envname("WEFT_SEQUENCES")
      ->capture_default_str();
  app.add_option("--first", first, "Seed of the first one; to see one again: --first SEED --sequences 1")
      ->capture_default_str();
  app.add_option("--threads", threads, "Threads")->check(CLI::Range(1, 256))->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return weft::remedies::run(sequences, first, threads);
}
