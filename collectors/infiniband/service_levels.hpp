// SPDX-License-Identifier: Apache-2.0
#pragma once
// At which service level performance management is asked. The subnet administrator says it for each path; it has other
// work, so it is asked for few paths where all have one level, and slowly where they differ.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectors/infiniband/port_sweep.hpp"
#include "collectors/infiniband/subnet.hpp"
#include "fabric/sweep.hpp"

namespace weft::infiniband {

/// Decides whom to ask about, and when. First about a sample: where all its paths have one level, that is taken for the
/// level of all, and one further node is tried now and then. Where they differ, every node is asked about. A node whose
/// path has no record is left out until the manager or the routes are others, or nobody else is left.
class ServiceLevels {
 public:
  static constexpr std::size_t kSample = 16;  ///< nodes, spread over the fabric
  /// Questions in one sweep: at first, and at most once all were answered.
  static constexpr std::size_t kFewestAtOnce = 16, kMostAtOnce = 256;
  /// Questions outstanding at the administrator.
  static constexpr std::size_t kOutstanding = 8;
  /// Sweeps from one set of questions to the next; doubled with each set that was not answered in full, up to
  /// kLongestPause.
  static constexpr std::uint64_t kPause = 4, kLongestPause = 256;
  /// Sweeps for which routes must be the same before levels are asked for again: a manager at work is left alone.
  static constexpr std::uint64_t kSettled = 4;
  /// Sweeps until another node is tried where all have one level.
  static constexpr std::uint64_t kTryEvery = 64;

  /// Forgets everything: a new epoch.
  void restart() { *this = {}; }
  /// The nodes to ask about in sweep `sweep`; empty most of the time. Begins anew when another manager says the levels,
  /// or when it laid other routes and levels matter; until it is done, agents keep the levels they have. Gives agents
  /// the level of all, where there is one.
  std::vector<NodeIndex> next(Subnet& subnet, Lid manager, std::uint64_t routes_revision, std::uint64_t sweep);
  /// The administrator answered all of the questions of that sweep, and at least one with a level, or not.
  void note(bool all_answered, std::uint64_t sweep);

 private:
  void begin(Subnet& subnet, const std::vector<NodeIndex>& candidates);
  bool matters(Subnet& subnet) const;
  bool routes_changed(std::uint64_t revision, std::uint64_t sweep);

  Lid manager_;                        // that said the levels
  std::uint64_t revision_ = 0;         // of the routes then; 0: they have not settled yet
  std::uint64_t newest_revision_ = 0;  // of the routes now
  std::uint64_t newest_since_ = 0;     // the sweep that showed it first
  std::vector<NodeIndex> sample_;
  std::optional<std::uint8_t> level_of_all_;
  bool differ_ = false;
  std::size_t turn_ = 0;  // whose turn is next, of those that are not in the sample
  std::size_t at_once_ = kFewestAtOnce;
  std::uint64_t pause_ = kPause;
  std::uint64_t ask_at_ = 0;
  std::uint64_t try_at_ = 0;
};

/// Asks the subnet administrator for the service level of the path to each node.
class ServiceLevelQuestions final : public MadAsker {
 public:
  ServiceLevelQuestions(Subnet& subnet, const GeneralServices& services, Lid own, std::span<const NodeIndex> nodes);
  bool next(MadRequest& request) override;
  void encode(const MadRequest& request, MadBytes mad) override;
  void answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint now) override;
  /// How the questions ended, by MadResult.
  const std::array<std::uint64_t, kMadResultCount>& results() const { return results_; }
  /// Each question was answered: with a service level, or by saying that there is no record.
  bool all_answered() const { return asked_ == levels() + refused_; }
  /// Questions that were answered with a service level.
  std::uint64_t levels() const { return results_[static_cast<std::size_t>(MadResult::kOk)]; }

 private:
  Subnet& subnet_;
  const GeneralServices& services_;
  Lid own_;
  std::span<const NodeIndex> nodes_;
  std::size_t next_ = 0;
  std::uint64_t asked_ = 0;
  std::uint64_t refused_ = 0;
  std::array<std::uint64_t, kMadResultCount> results_{};
};

}  // namespace weft::infiniband
