// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who really held up whom: kept from the simulator's own solution, never from what the analyzer saw.

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/scenarios/scenario.hpp"
#include "tests/scenarios/traffic.hpp"

namespace weft::scenarios {

/// Somebody must wait for this share of the time before it is harm (0..1), as the field has it: from 5 to 15 % is low.
inline constexpr double kHarm = Constants{}.harm;
/// Congestion is no mere burst when it is so in this many of so many sweeps …
inline constexpr unsigned kHarmSweeps = 4;
inline constexpr unsigned kHarmWindows = 5;
/// … or, with jobs that send in phases, on average over this many.
inline constexpr unsigned kLongHarmWindows = 16;

/// Congestion of one tree: what was full at the same time on account of the same who waited.
struct Episode {
  double from = 0, to = 0;  ///< seconds: ends of the first and the last sweep-to-sweep time of which it is said
  std::vector<ResourceIndex> resources{};  ///< ascending
  double wait = 0;  ///< share of the time that somebody waited for it, in the worst sixteen sweeps
};

/// For each time from one sweep to the next: what was full, and how long the one waited who waited longest for it.
class HarmLedger {
 public:
  /// `ports`: resources below that are ports, those from there on what endpoints' hosts take in.
  explicit HarmLedger(std::size_t ports, double harm = kHarm) : ports_(ports), harm_(harm) {}

  /// Time passes under these loads until `to` (seconds).
  void pass(const Loads& loads, double to);
  /// A sweep begins at `at`.
  void close(double at);

  /// Was one of `resources` the reason for real congestion, as of the sweeps that had begun by `at`?
  bool congested(std::span<const ResourceIndex> resources, double at) const;
  /// At any time between two moments.
  bool ever_congested(std::span<const ResourceIndex> resources, double from, double to) const;
  /// All congestion of ports that was `margin` times as bad as real congestion is at least, for `least` sweeps.
  std::vector<Episode> episodes(unsigned least, double margin = 1) const;

 private:
  struct Window {
    double end = 0;
    std::vector<std::pair<ResourceIndex, double>> waited{};  ///< by what was full, ascending: the longest wait, a share
    std::vector<std::pair<ResourceIndex, ResourceIndex>> together{};  ///< what was full on account of the same waiter
  };
  static double worst(const Window& window, std::span<const ResourceIndex> resources);
  bool congested_after(std::span<const ResourceIndex> resources, std::size_t windows, double margin = 1) const;
  double mean_wait(std::span<const ResourceIndex> resources, std::size_t windows) const;

  std::size_t ports_;
  double harm_;  ///< the share of the time from which on waiting is harm
  double passed_ = 0;
  double opened_ = 0;
  std::unordered_map<std::uint64_t, double> waited_;  ///< by resource and who waits: seconds
  std::vector<Window> windows_;
};

/// The resources at a place that congestion may be blamed on. `receiving`: what the hosts there take in, instead of
/// what links carry.
std::vector<ResourceIndex> resources_of(const Plan& plan, const Place& place, bool receiving);

}  // namespace weft::scenarios
