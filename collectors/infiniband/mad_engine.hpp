// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keeps a window of requests outstanding: sends, matches answers, times out, retries and backs off, by node.

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include "collectors/infiniband/mad_port.hpp"
#include "fabric/clock.hpp"
#include "fabric/sweep.hpp"

namespace weft::infiniband {

/// How hard to press. See the configuration reference for reasons.
struct MadEngineOptions {
  std::uint32_t window = 256;              ///< most requests outstanding, 1..4096
  std::uint32_t per_node_outstanding = 8;  ///< most requests outstanding at one node
  std::chrono::milliseconds timeout{500};  ///< for one try
  std::uint32_t retries = 2;               ///< further tries after the first
  std::uint64_t management_key = 0;        ///< M_Key of requests to subnet management; 0: none
};

/// One thing to ask. `tag` and `port` are the asker's.
struct MadRequest {
  MadAddress address;
  std::uint16_t attribute = 0;
  std::uint32_t modifier = 0;  ///< AttributeModifier, of subnet management
  NodeIndex node = kNoIndex;   ///< whom the limits and the back-off count for; kNoIndex: nobody
  PortIndex port = kNoIndex;
  std::uint32_t tag = 0;
  std::uint8_t tries_left = 0xFF;  ///< 0xFF: as configured
  bool optional = false;           ///< silence means that the agent does not have it: one try, and no sign of trouble
};

/// Whoever has questions. Called by MadEngine::run only, on its thread.
class MadAsker {
 public:
  virtual ~MadAsker() = default;
  /// Fills in the next request; false when there is none now (an answer may bring more).
  virtual bool next(MadRequest& request) = 0;
  /// Writes the datagram of `request`; called again for each retry.
  virtual void encode(const MadRequest& request, MadBytes mad) = 0;
  /// The outcome. `mad` is the reply for kOk, kUnsupported and kBadStatus, otherwise meaningless.
  virtual void answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint now) = 0;
};

/// Sends the requests of a MadAsker and gives it the replies.
class MadEngine {
 public:
  MadEngine(MadPort& port, MadEngineOptions options);

  /// Asks until `asker` has no more questions and all are answered. kUnavailable when the port is gone; then every
  /// question still open has been answered with kTimeout.
  Result<void> run(MadAsker& asker);

  /// Stops waiting for a node: what is outstanding there, and asked of it later in this run, ends with kTimeout at
  /// once.
  void abandon(NodeIndex node);
  /// A new run: nodes that were given up get their chance again.
  void forget_abandoned();
  /// The same for one node.
  void forget_abandoned(NodeIndex node);
  /// Did the node exhaust its tries, or was it abandoned, since forget_abandoned()?
  bool gave_up(NodeIndex node) const { return node < nodes_.size() && nodes_[node].gave_up; }

  /// By MadResult, since construction.
  const std::array<std::uint64_t, kMadResultCount>& results() const { return results_; }
  /// Requests sent, retries included.
  std::uint64_t sent() const { return sent_; }
  /// The present window: shrinks when nodes that used to answer time out, grows again when they answer.
  std::uint32_t window() const { return window_; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::uint32_t kSlotBits = 12;
  static constexpr std::uint32_t kMostParked = 4096;

  struct Slot {
    MadRequest request;
    std::uint32_t transaction = 0;
    std::int64_t deadline = 0;                   // steady clock, ns
    std::uint32_t older = kNone, newer = kNone;  // by time sent: the oldest times out first
    bool used = false;
  };
  struct NodeLoad {
    std::uint8_t outstanding = 0;
    std::uint8_t exhausted = 0;  // requests in a row that ran out of tries
    bool gave_up = false;
    bool answered = false;  // ever: its silence then means congestion or death, not absence
    std::uint32_t parked_first = kNone, parked_last = kNone;
  };
  struct Parked {
    MadRequest request;
    std::uint32_t next = kNone;
  };

  bool fill(MadAsker& asker);
  bool start(MadAsker& asker, const MadRequest& request);
  bool transmit(MadAsker& asker, std::uint32_t slot);
  Result<bool> take_arrivals(MadAsker& asker);
  void take(MadAsker& asker, const MadPort::Arrival& arrival);
  void expire(MadAsker& asker);
  void unanswered(MadAsker& asker, std::uint32_t slot);
  void finish(MadAsker& asker, std::uint32_t slot, MadResult result, ConstMadBytes mad);
  void unlink(std::uint32_t slot);
  void link_newest(std::uint32_t slot);
  NodeLoad* load_of(NodeIndex node) {
    if (node < nodes_.size()) return &nodes_[node];
    return node == kNoIndex ? nullptr : grown_load_of(node);
  }
  NodeLoad* grown_load_of(NodeIndex node);
  bool park(NodeLoad& load, const MadRequest& request);
  void unpark(MadAsker& asker, NodeIndex node);
  void shrink_window();
  void read_clock();

  MadPort& port_;
  MadEngineOptions options_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<NodeLoad> nodes_;
  std::vector<Parked> parked_;
  std::vector<std::uint32_t> parked_free_;
  std::vector<NodeIndex> to_abandon_;
  std::uint32_t oldest_ = kNone, newest_ = kNone;
  std::uint32_t outstanding_ = 0;
  std::uint32_t window_;
  std::uint32_t answers_since_growth_ = 0;
  std::uint32_t generation_ = 0;
  std::uint32_t failed_sends_ = 0;
  std::int64_t steady_now_ = 0;
  std::int64_t last_shrink_ = 0;
  TimePoint wall_now_ = kNever;
  bool port_lost_ = false;
  MadRequest held_;  // taken from the asker while the parking place was full
  bool holding_ = false;
  std::uint64_t sent_ = 0;
  std::array<std::uint64_t, kMadResultCount> results_{};
  std::array<std::uint8_t, kMadSize> buffer_{};
};

}  // namespace weft::infiniband
