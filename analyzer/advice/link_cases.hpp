// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the sweeps of one fabric tell of its links in trouble: errors of both ends, when each went down, and how the
// links beside it fare.

#include <cstdint>
#include <map>
#include <span>
#include <unordered_set>
#include <vector>

#include "analyzer/advice/link_case.hpp"
#include "analyzer/ports/describe.hpp"
#include "analyzer/ports/link_table.hpp"
#include "analyzer/ports/rates.hpp"

namespace weft::analyzer {

/// Trouble of a link, of which a part of it is the cause.
constexpr bool is_of_a_part(IncidentKind kind) {
  return kind == IncidentKind::kLinkFlap || kind == IncidentKind::kLinkDegraded || kind == IncidentKind::kLinkErrors;
}

/// Remembers for an hour or two what the ends of links counted. Not thread-safe.
class LinkCases {
 public:
  /// Takes what a sweep moved. After LinkTable::observe().
  void update(const Sweep& sweep, const LinkTable& table, const CounterPass& pass, TimePoint now);
  /// The links that received errors again and again, went down or are in trouble by `findings`. `flapped`: links that
  /// went down lately count as in trouble, too. At most kMostLinks.
  std::vector<LinkCase> cases(const Sweep& sweep, const LinkTable& table, const Describe& describe,
                              std::span<const Finding> findings, std::span<const LinkId> flapped, TimePoint now) const;

  static constexpr std::size_t kMostLinks = 4096;

 private:
  /// What one end counted in some time.
  struct Counts {
    std::uint64_t errors = 0;
    std::uint32_t errored_readings = 0;
    std::uint64_t times_down = 0;
  };
  struct Known {
    Counts low, high, low_before, high_before;  ///< since `since`; in the period before
    TimePoint since = kNever;
    TimePoint before = kNever;  ///< where the period before began; kNever: there is none
    TimePoint touched = kNever;
    std::vector<TimePoint> downs;
  };
  using Bad = std::unordered_set<LinkId>;

  Known& known(LinkId link, TimePoint now);
  void note_down(LinkId link, TimePoint now, Duration apart);
  void expire(TimePoint now);
  LinkEnd end_of(const Sweep& sweep, const LinkTable& table, const Describe& describe, LinkId id, bool high,
                 const Bad& bad) const;

  std::map<LinkId, Known> known_;
  TimePoint updated_ = kNever;
};

}  // namespace weft::analyzer
