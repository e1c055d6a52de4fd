// SPDX-License-Identifier: Apache-2.0
#pragma once
// The askers of one sweep: who is there, how are its ports, what do their counters say.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "collectors/infiniband/mad_engine.hpp"
#include "collectors/infiniband/subnet.hpp"
#include "fabric/samples.hpp"

namespace weft::infiniband {

/// How agents are addressed.
struct GeneralServices {
  std::uint16_t pkey_index = 0;          ///< of the default partition in our port's table
  std::uint32_t queue_key = 0x80010000;  ///< the well-known one of queue pair 1 (10.2.5)
  std::vector<std::uint16_t> pkeys;      ///< our port's table
  std::uint64_t management_key = 0;      ///< that requests to subnet management carry; 0: none
};

/// Where in our port's table stands what talks to a member of partition `pkey`: the full membership, else the limited
/// one if theirs is full (vol. 1, 10.9.3). nullopt when we are no member, or when `pkey` is invalid (its low 15 bits
/// are zero).
std::optional<std::uint16_t> find_pkey(std::span<const std::uint16_t> pkeys, std::uint16_t pkey);

/// Where the subnet administrator is asked: beside the master subnet manager (vol. 1, 15.1).
MadAddress administrator_address(const Subnet& subnet, const GeneralServices& services);

/// Optional attributes, in the order of PerformanceAgent::unsupported_details.
inline constexpr std::array<std::uint16_t, 5> kDetailAttributes{
    attribute::kPortRcvErrorDetails, attribute::kPortXmitDiscardDetails, attribute::kPortFlowCtlCounters,
    attribute::kPortVlXmitWaitCounters, attribute::kPortExtendedSpeedsCounters};

/// Asks each node for its NodeInfo: is it there, and is it the one we think has that LID?
class IdentityCheck final : public MadAsker {
 public:
  /// `directed`: by directed route for all; else by LID where that works.
  IdentityCheck(Subnet& subnet, std::vector<NodeIndex> nodes, bool directed, std::uint8_t further_tries);
  bool next(MadRequest& request) override;
  void encode(const MadRequest& request, MadBytes mad) override;
  void answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint now) override;

  /// Nodes that answered as the node that was expected.
  const std::vector<NodeIndex>& present() const { return present_; }
  /// Nodes that did not answer, or that another node answered for.
  const std::vector<NodeIndex>& missing() const { return missing_; }
  /// Asked by directed route: those of missing() in whose place another node answered. Who has its cable now?
  const std::vector<NodeIndex>& replaced() const { return replaced_; }
  /// The graph no longer fits: discover from nothing.
  bool needs_new_epoch() const { return needs_new_epoch_; }

 private:
  Subnet& subnet_;
  std::vector<NodeIndex> nodes_;
  std::size_t next_ = 0;
  bool directed_;
  std::uint8_t further_tries_;
  bool needs_new_epoch_ = false;
  std::vector<NodeIndex> present_;
  std::vector<NodeIndex> missing_;
  std::vector<NodeIndex> replaced_;
};

/// Reads the state and the counters of every port of the given nodes.
class PortReadings final : public MadAsker {
 public:
  /// Readings go to `subnet`, `counters` and `state_read_at`, which must outlive the object.
  PortReadings(Subnet& subnet, const GeneralServices& services, std::span<const NodeIndex> nodes, SampleTable& counters,
               std::vector<TimePoint>& state_read_at);
  bool next(MadRequest& request) override;
  void encode(const MadRequest& request, MadBytes mad) override;
  void answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint now) override;

  /// Ports whose link came up, or that are up with nobody known behind them: worth a look.
  const std::vector<PortIndex>& to_look_behind() const { return to_look_behind_; }
  /// Some port's link went down or came up: routes may have changed.
  bool links_changed() const { return links_changed_; }
  /// Ports whose receive errors or discards moved: their details are worth reading now.
  const std::vector<PortIndex>& moved() const { return moved_; }
  /// Ports whose link went down, recovered, or had errors of its own: their details are worth reading for a while.
  const std::vector<PortIndex>& troubled() const { return troubled_; }

 private:
  enum Step : std::uint8_t { kState, kNarrow, kWide, kSteps };

  bool prepare(MadRequest& request, NodeIndex node, PortIndex port, Step step);
  /// Sums of a port's errors; all 0 while it was never read.
  struct Errors {
    std::uint64_t of_link = 0, of_packets = 0;
  };
  Errors errors_of(PortIndex port) const;
  void state(PortIndex port, ConstMadBytes mad, TimePoint now);

  // Neighbouring requests go to different nodes, so that none gets a burst; the group keeps their rows in the cache.
  static constexpr std::size_t kGroup = 32;

  Subnet& subnet_;
  const GeneralServices& services_;
  std::span<const NodeIndex> nodes_;
  SampleTable& counters_;
  std::vector<TimePoint>& state_read_at_;
  std::size_t group_ = 0;    // first of the group in nodes_
  std::size_t member_ = 0;   // within the group
  std::uint32_t entry_ = 0;  // port entry of all members
  std::uint8_t step_ = kState;
  bool group_has_more_ = false;
  std::array<SampleTable::Column, 3> packet_errors_;
  std::array<SampleTable::Column, 4> link_errors_;
  std::vector<PortIndex> to_look_behind_;
  std::vector<PortIndex> moved_;
  std::vector<PortIndex> troubled_;
  bool links_changed_ = false;
};

/// Learns what performance agents can do: ClassPortInfo (redirection included), then PortSamplesControl.
class AgentQuestions final : public MadAsker {
 public:
  /// What the agents say goes to `subnet`.
  AgentQuestions(Subnet& subnet, const GeneralServices& services, std::vector<NodeIndex> nodes);
  bool next(MadRequest& request) override;
  void encode(const MadRequest& request, MadBytes mad) override;
  void answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint now) override;

 private:
  Subnet& subnet_;
  const GeneralServices& services_;
  std::vector<std::pair<NodeIndex, std::uint16_t>> questions_;
  std::size_t next_ = 0;
};

/// Reads the optional attributes of the given ports into the detail table. An attribute that a node leaves unanswered
/// is not asked for again at its other ports, and counts once: a moment of silence is no lack of the attribute.
class DetailReadings final : public MadAsker {
 public:
  /// Readings go to `details`, which must outlive the object.
  DetailReadings(Subnet& subnet, const GeneralServices& services, std::vector<PortIndex> ports, SampleTable& details);
  bool next(MadRequest& request) override;
  void encode(const MadRequest& request, MadBytes mad) override;
  void answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint now) override;

 private:
  bool is_left_alone(NodeIndex node, std::size_t which) const;

  Subnet& subnet_;
  const GeneralServices& services_;
  std::vector<PortIndex> ports_;
  SampleTable& details_;
  std::size_t port_ = 0;
  std::size_t attribute_ = 0;
  // The layout of the extended speeds counters depends on the FEC mode, which EDR ports are asked for first.
  std::vector<std::pair<PortIndex, bool>> mode_known_;  // and whether Reed-Solomon is active
  std::size_t next_known_ = 0;
  std::unordered_map<NodeIndex, std::uint8_t> silent_;  // bits of the attributes that a node left unanswered
};

/// Asks nodes of Mellanox for ExtendedPortInfo of ports that run at QDR, as PortInfo says: they may run at FDR10. A
/// node that does not know the attribute is not asked about its other ports.
class VendorSpeedQuestions final : public MadAsker {
 public:
  /// `sweep`: number of this one. What is learnt goes to `subnet`.
  VendorSpeedQuestions(Subnet& subnet, std::vector<PortIndex> ports, std::uint64_t sweep);
  bool next(MadRequest& request) override;
  void encode(const MadRequest& request, MadBytes mad) override;
  void answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint now) override;

 private:
  Subnet& subnet_;
  std::vector<PortIndex> ports_;
  std::uint64_t sweep_;
  std::size_t next_ = 0;
};

/// Whether ExtendedPortInfo of the port is worth asking for in that sweep.
bool is_due_for_vendor_speeds(Subnet& subnet, PortIndex port, std::uint64_t sweep);

/// Clears counters: PortCounters CounterSelect bits (16.1.3.5) for each port. Only ever used when an operator turned it
/// on.
class CounterClears final : public MadAsker {
 public:
  /// A port, and the CounterSelect bits of the counters to clear there.
  using Selection = std::pair<PortIndex, std::uint16_t>;
  CounterClears(Subnet& subnet, const GeneralServices& services, std::vector<Selection> what);
  bool next(MadRequest& request) override;
  void encode(const MadRequest& request, MadBytes mad) override;
  void answered(const MadRequest&, MadResult, ConstMadBytes, TimePoint) override {}

 private:
  Subnet& subnet_;
  const GeneralServices& services_;
  std::vector<Selection> what_;
  std::size_t next_ = 0;
};

/// The port of a node that its performance agent is asked through; kNoIndex when none is up here.
PortIndex speaking_port(const Subnet& subnet, NodeIndex node);

/// Where subnet management of `node` is asked: `by_lid` where it has one, else by directed route.
MadAddress subnet_address(const Subnet& subnet, NodeIndex node, bool by_lid);

/// Works the length of the port's wait tick out again, after its width, its speed or what its agent can do changed.
void refresh_wait_tick(Subnet& subnet, PortIndex port);

/// Where performance management of `port` is asked; nullopt when it has no LID yet, or was redirected into a partition
/// that is not ours.
std::optional<MadAddress> performance_address(Subnet& subnet, const GeneralServices& services, PortIndex port);

}  // namespace weft::infiniband
