// SPDX-License-Identifier: Apache-2.0
#pragma once
// MISCABLED: what is cabled differs from the expected topology; and DUPLICATE_GUID: one identity at two places.

#include <memory>
#include <utility>
#include <vector>

#include "analyzer/ports/describe.hpp"
#include "analyzer/ports/link_table.hpp"
#include "fabric/cabling_differences.hpp"

namespace weft::analyzer {

/// Compares links that are up with the expected ones, by node GUID and port number. An expected link that is merely
/// down is LINK_DOWN and no business of this rule. A plan may cover a part of the fabric: a link is compared where a
/// cable is planned at one of its ends, or both of its nodes are planned. Planned nodes of which nothing is seen are
/// one finding.
class Cabling {
 public:
  /// Nothing is expected. `thresholds` must outlive it.
  explicit Cabling(const Thresholds& thresholds) : thresholds_(thresholds) {}

  /// What the next update() compares with; null: with nothing. `ignored`: what the plan has besides.
  void expect(std::shared_ptr<const Topology> expected, std::vector<IgnoredCable> ignored) {
    expected_ = std::move(expected);
    ignored_ = std::move(ignored);
  }
  /// What update() compares with; null: with nothing.
  const std::shared_ptr<const Topology>& expected() const { return expected_; }
  /// Compares again; needed only when the topology changed, or what is expected.
  void update(const Topology& topology, const LinkTable& table, const Describe& describe, TimePoint now);
  /// What the last update() found; null where nothing is expected.
  const std::shared_ptr<const CablingDifferences>& differences() const { return differences_; }
  /// The same as incidents.
  const std::vector<Finding>& findings() const { return findings_; }

 private:
  void add_unseen(const Topology& topology, const LinkTable& table, const Describe& describe, TimePoint now);

  const Thresholds& thresholds_;
  std::shared_ptr<const Topology> expected_;
  std::vector<IgnoredCable> ignored_;
  std::vector<Finding> findings_;
  std::shared_ptr<const CablingDifferences> differences_;
};

/// One finding for each GUID that answers at two places.
void report_duplicates(const Topology& topology, const LinkTable& table, const Describe& describe, TimePoint now,
                       std::vector<Finding>& findings);

}  // namespace weft::analyzer
