// SPDX-License-Identifier: Apache-2.0
#pragma once
// LINK_FLAP: penalties that grow with each time a link goes down and decay with time, on two time scales.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analyzer/links/flap_record.hpp"
#include "analyzer/links/planned_links.hpp"
#include "analyzer/ports/describe.hpp"
#include "analyzer/ports/link_table.hpp"
#include "analyzer/ports/rates.hpp"
#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/analyzer_state.hpp"

namespace weft::analyzer {

/// One flap is one going down of the link, however often it is noticed: by the state of either end, or by the
/// LinkDowned counter of either end (which also sees flaps shorter than a sweep). The four counts of one busy spell are
/// compared and the greatest holds; after a few quiet sweeps they start again.
class FlapTracker {
 public:
  explicit FlapTracker(const Thresholds& thresholds) : thresholds_(thresholds) {}

  /// Takes over saved penalties; those of links that `table` does not know are dropped.
  void restore(std::span<const FlapState> states, const LinkTable& table);
  /// The penalties of all links, to be saved and handed to restore() by the next process.
  std::vector<FlapState> state(const LinkTable& table) const;
  /// Grows when a flap was counted or a link changed sides.
  std::uint64_t revision() const { return revision_; }

  /// Counts what this sweep shows. `settling`: first sweep of an epoch, or a blind one; states are noted, nothing
  /// counts. Nor does what a link does while somebody works on it, or while it is being brought up (LinkState).
  void update(const LinkTable& table, const CounterPass& pass, const PlannedLinks& planned, bool settling,
              TimePoint now);

  /// Does LINK_FLAP say enough of the link, which has been down since then? See FlapRecord.
  bool hides_down(LinkId link, TimePoint since, TimePoint now) const;
  /// Links that went down, and were counted, since then; ascending.
  std::vector<LinkId> flapped_since(TimePoint since) const;
  /// Adds a LINK_FLAP for each flapping link.
  void report(const Describe& describe, const LinkTable& table, TimePoint now, std::vector<Finding>& findings) const;
  /// Adds an INFO for each adapter's link that went down once and came back, for some minutes. Whether that is worth a
  /// word JobFlaps decides.
  void report_single(const Describe& describe, TimePoint now, std::vector<Finding>& findings) const;

 private:
  Finding finding(const Describe& describe, LinkId id, const FlapRecord& record, TimePoint now) const;
  void note(LinkId link, unsigned source, std::uint64_t count, const LinkTable& table, TimePoint now);

  const Thresholds& thresholds_;
  std::map<LinkId, FlapRecord> records_;
  std::vector<std::uint8_t> ends_up_;  ///< by link: bit 0 the low end was up, bit 1 the high end
  std::uint64_t revision_ = 0;
};

}  // namespace weft::analyzer
