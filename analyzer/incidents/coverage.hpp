// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a sweep really saw. An incident resolves only when its entity was observed and the finding was absent: a gap in
// monitoring is neither down time nor recovery.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "fabric/incident.hpp"
#include "fabric/topology.hpp"

namespace weft::analyzer {

/// Which entities one update of findings could judge.
class Coverage {
 public:
  /// What was known of one port in this sweep: bits.
  enum PortBit : std::uint8_t {
    kStateFresh = 1,     ///< its PortInfo is not stale
    kActive = 2,         ///< and said Active
    kCountersFresh = 4,  ///< its counters are not stale
    kErrorsJudged = 8,   ///< an error window has closed since this process started, or errors were never seen
  };

  /// No link of that node is up, as far as is known, or may be: nobody waits for its answer. Called in
  /// IncidentManager::update() only.
  using IsCutOff = std::function<bool(NodeGuid)>;
  /// The rules expect nothing of it here any more, and an end of that link, or that node, is in another subnet. Called
  /// in the same way.
  using HasLeft = std::function<bool(const Entity&)>;

  /// Nothing was seen: nothing may resolve.
  static Coverage blind() { return Coverage{}; }
  Coverage() = default;
  /// `ports` has one entry of PortBits for each port of `topology`. `counters_warm`: the process has watched long
  /// enough for the rules that need several sweeps of counters.
  Coverage(std::shared_ptr<const Topology> topology, std::vector<std::uint8_t> ports, bool counters_warm,
           IsCutOff is_cut_off = {}, HasLeft has_left = {})
      : topology_(std::move(topology)),
        ports_(std::move(ports)),
        counters_warm_(counters_warm),
        is_cut_off_(std::move(is_cut_off)),
        has_left_(std::move(has_left)) {}

  /// Of what hosts tell: `observed` answers as the member of that name does. Hosts tell of ports in any subnet.
  using Observed = std::function<bool(IncidentKind kind, const Entity& cause)>;
  /// The coverage of a judgement that rests on hosts' collectors.
  static Coverage of_hosts(Observed observed);

  /// Nothing was observed.
  bool is_blind() const { return topology_ == nullptr && !of_hosts_; }
  /// Does it judge what is blamed on entities of `fabric`, being that of an update of `updated`?
  bool reaches(std::string_view fabric, std::string_view updated) const { return of_hosts_ || fabric == updated; }
  /// Would a finding of this kind against `cause` have been made in this sweep, had there been a reason?
  bool observed(IncidentKind kind, const Entity& cause) const;
  /// Of a finding about counters that cannot be read: those of each of its nodes were, or the node `is_told` of in a
  /// finding of its own. True of any other finding.
  bool counters_observed(const Finding& finding, const std::function<bool(const Entity&)>& is_told) const;

 private:
  std::uint8_t bits(PortKey key) const;
  bool has_left(const Entity& cause) const { return has_left_ && has_left_(cause); }
  bool link_observed(IncidentKind kind, const Entity& cause) const;
  bool node_observed(NodeGuid guid, bool from_outside) const;
  bool counters_observed(NodeGuid guid) const;
  bool is_cut_off(NodeGuid guid) const { return is_cut_off_ && is_cut_off_(guid); }

  std::shared_ptr<const Topology> topology_;
  std::vector<std::uint8_t> ports_;
  bool counters_warm_ = false;
  IsCutOff is_cut_off_;
  HasLeft has_left_;
  Observed of_hosts_;
};

}  // namespace weft::analyzer
