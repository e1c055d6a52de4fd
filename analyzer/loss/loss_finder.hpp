// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which links and devices lose packets without a counter of their own that says so: hosts that had to send again, and
// hosts that received out of order, vote for what lies on the ways between them.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analyzer/thresholds/loss.hpp"
#include "fabric/graph/multipath.hpp"
#include "fabric/routes.hpp"
#include "fabric/topology.hpp"

namespace weft::analyzer {

/// A host's port on the subnet, and what it counted. Packets.
struct LossEnd {
  PortIndex port = kNoIndex;
  std::uint32_t rail = 0;  ///< ports of different rails do not talk to each other
  double sent = 0;
  double received = 0;
  double sent_again = 0;            ///< the peers missed them: sequence NAKs, timeouts
  double out_of_sequence = 0;       ///< arrived, and something before them had not
  std::vector<std::uint32_t> jobs;  ///< ends of a common job talk; one without any serves everybody
};

/// What loses packets: a cable in one direction, or a device.
struct LossSuspect {
  PortIndex sender = kNoIndex;  ///< of a cable: the port that sends into it
  NodeIndex node = kNoIndex;    ///< of a device
  bool operator==(const LossSuspect&) const = default;
};

/// What else is known of a suspect.
struct LossTestimony {
  double support = 0;     ///< natural logarithm of how much likelier it makes the suspect
  double passed = 0;      ///< packets; 0 not known
  double counted = 0;     ///< packets that its own counters tell of
  bool owned_up = false;  ///< its own counters tell of errors or discards enough: it is not silent
  bool surely = false;    ///< and of so many that it is no chance, or another rule blames it for them
};
/// Asked with the packets that it would have to have lost.
using LossWitness = std::function<LossTestimony(const LossSuspect& suspect, double lost)>;

/// One explanation of the losses that hosts counted.
struct LossHypothesis {
  LossSuspect suspect;
  double score = 0;       ///< natural logarithm of its odds against nothing being wrong there
  double confidence = 0;  ///< 0..1: its share of the odds of all that explain the same
  double lost = 0;        ///< packets that it explains
  LossTestimony testimony;
  double told_on_way = 0;  ///< packets that other cables on its ways own up to, and that no cause before it explains
  /// It is the device, or one of the cables between it and other switches: equal-cost ways of which none can be told
  /// from the others, though together they are sure. What passed is then that of the one that most passed.
  bool around = false;
  std::vector<std::uint32_t> senders, receivers;  ///< of the ends, those whose losses it explains
};

/// What find_losses() works on. It refers to the caller's data.
struct LossInput {
  const Topology& topology;
  const Routes* routes = nullptr;        ///< null: not known, or Ethernet
  const Multipath* multipath = nullptr;  ///< equal-cost ways, followed instead of the tables; null: none
  std::span<const LossEnd> ends{};
  /// Each flow takes all of its equal-cost ways at once (adaptive routing), and not one of them (a hash, ECMP).
  bool spread = false;
  /// Hurt ends that vote, of each side: with more, the worst do. Scores of different numbers do not compare.
  std::size_t voters = 128;
};

/// Has the end lost more of what it sent than a healthy path loses?
bool has_sent_again(const LossEnd& end, const LossThresholds& thresholds);
/// Has it received more out of order?
bool has_missed(const LossEnd& end, const LossThresholds& thresholds);
/// Likelier so than not, in one of several windows: what they say together counts.
bool may_have_sent_again(const LossEnd& end, const LossThresholds& thresholds);
/// The same of what it received.
bool may_have_missed(const LossEnd& end, const LossThresholds& thresholds);
/// May the one send to the other, as far as jobs and rails tell?
bool may_talk(const LossEnd& from, const LossEnd& to);

/// Causes, the first the one that explains most, each of what those before it leave unexplained; greedy maximum
/// likelihood after Flock (SIGCOMM 2023). Which flows there are is not known: a sender is taken to spread what it sends
/// evenly over those it may talk to, and when little of that would cross a suspect, its not being hurt says little for
/// the suspect. With equal-cost ways a suspect counts by the share of flows that cross it: a flow stays on one of them,
/// and nobody knows on which; a flow that is spread crosses them all. `rivals`: those that were considered for the
/// first cause, likeliest first, it included. Empty when the hosts have lost nothing worth mention, or the ways between
/// those that have are not known.
std::vector<LossHypothesis> find_losses(const LossInput& input, const LossThresholds& thresholds,
                                        const LossWitness& witness, std::vector<LossHypothesis>* rivals = nullptr);

}  // namespace weft::analyzer
