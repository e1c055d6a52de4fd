// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keeps a copy of the switches' linear forwarding tables, read a share at a time so that the counters do not wait.

#include <cstdint>
#include <memory>
#include <vector>

#include "collectors/infiniband/mad_engine.hpp"
#include "collectors/infiniband/subnet.hpp"
#include "fabric/routes.hpp"

namespace weft::infiniband {

/// What is known of the tables of one epoch. In each sweep begin() chooses what is asked and MadEngine::run asks it:
/// each switch's SwitchInfo, which tells how far its table reaches and whether one of its ports has changed, and some
/// blocks, going round all tables again and again.
///
/// Quickly, while something is expected to change: until a whole round has found nothing new, twice, some sweeps after
/// the last sign (a subnet manager needs its time). Slowly else: nothing in the subnet tells of a table that was
/// written.
class ForwardingTables final : public MadAsker {
 public:
  /// The tables of the nodes of `subnet`, whose node indices belong to `epoch`.
  ForwardingTables(Subnet& subnet, std::uint64_t epoch) : subnet_(subnet), book_(epoch) {}

  /// Something happened that a subnet manager answers with other tables: links, LIDs or nodes changed.
  void expect_changes();
  /// `requests`: how many the rest of the sweep has sent; a share of them may be sent here.
  void begin(std::uint64_t requests);
  /// Null before anything was read, the same pointer while nothing changes.
  std::shared_ptr<const Routes> publish() { return book_.publish(); }

  bool next(MadRequest& request) override;
  void encode(const MadRequest& request, MadBytes mad) override;
  void answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint now) override;

 private:
  struct Switch {
    NodeIndex node = kNoIndex;
    bool port_state_change = false;
  };

  bool is_asked(NodeIndex node) const;
  void find_switches();
  void step();
  void finish_round();

  Subnet& subnet_;
  RouteTables book_;
  std::vector<Switch> switches_;
  std::vector<std::uint32_t> position_;  ///< by node: in switches_, or kNoIndex
  std::size_t nodes_seen_ = 0;
  std::size_t next_info_ = 0;
  // The round goes through block 0 of all switches, then block 1, …: neighbouring requests go to different switches.
  std::size_t next_switch_ = 0;
  std::uint16_t next_block_ = 0;
  std::uint16_t most_blocks_ = 0;  ///< of any table, as far as known
  std::uint64_t budget_ = 0;
  std::uint64_t skipped_ = 0;  ///< positions of the round that held nothing to ask, in a row
  bool news_in_round_ = false;
  std::uint32_t quiet_rounds_wanted_ = 2;
  std::uint32_t hurry_sweeps_ = 0;
};

}  // namespace weft::infiniband
