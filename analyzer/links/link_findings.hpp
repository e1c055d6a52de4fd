// SPDX-License-Identifier: Apache-2.0
#pragma once
// LINK_DOWN, LINK_FLAP and LINK_DEGRADED in words: the same for sweeps and for hosts.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/links/flap_record.hpp"
#include "analyzer/links/ways_left.hpp"
#include "analyzer/ports/describe.hpp"
#include "analyzer/ports/host_watch.hpp"

namespace weft::analyzer {

/// A link as its findings show it.
struct ReportedLink {
  Entity cause;
  std::string name;  ///< begins a summary: "Link leaf-1 port 3 - spine-0 port 1", "Link at gpu-0001 mlx5_0 port 1"
  std::vector<Entity> affected{};
  std::vector<std::string> jobs{};
};
/// A link of a fabric; its adapter, if it has one, is affected.
ReportedLink reported_link(const Describe& describe, LinkId link);
/// The link at a host's port, as `cause`, which names both ends where the cable is known; the host's jobs are hurt.
ReportedLink reported_link(const HostWatch& host, const PortWatch& port, Entity cause);

/// A finding about the link, with nothing in it yet but whom it hurts.
Finding link_finding(IncidentKind kind, Severity severity, const ReportedLink& link);

/// How it is known that a link is down.
struct LinkDown {
  /// Who says it, or why.
  enum class Sight : std::uint8_t {
    kDisabled,      ///< somebody switched it off at `where`
    kTraining,      ///< it is trained, and not yet active; `where`, unless empty, does not respond
    kDisagreement,  ///< one end says so, the other is active
    kOneEnd,        ///< `where` says so, the other end is read by nobody
    kNoResponse,    ///< one end says so, `where` does not respond
    kNotRead,       ///< one end says so, `where` has not been read since
    kBothEnds,
    kHost,        ///< the host of the port says so
    kDeviceGone,  ///< and its device has gone
  };
  Sight sight = Sight::kBothEnds;
  std::string where{};         ///< label of an end
  std::size_t behind = 0;      ///< kNoResponse: nodes out of reach behind it
  bool has_waited = false;     ///< kTraining: longer than the subnet manager is given
  WaysLeft ways{};             ///< to whom it served
  double critical_ways = 0.5;  ///< Thresholds::critical_ways_left
};
/// LINK_DOWN: how bad, how sure and in which words follow from `down`.
Finding link_down(const ReportedLink& link, const LinkDown& down);

/// LINK_DOWN, LINKS_NOT_ACTIVATED and what has_dead_links() become CRITICAL with jobs, and say whom they hurt. Call it
/// once, when the jobs of the finding are known.
void weigh_jobs(Finding& finding);

/// Who noticed that a link flaps.
enum class FlapWitness : std::uint8_t { kOneEnd, kBothEnds, kHost };
/// LINK_FLAP, with the penalties as evidence: a WARNING; INFO of a single flap.
Finding link_flap(const ReportedLink& link, const FlapRecord& record, FlapWitness witness, const Thresholds& thresholds,
                  TimePoint now);

/// LINK_DEGRADED, which `how` says of it: "runs at 1X of 4X". The evidence is for the caller to add.
Finding link_degraded(const ReportedLink& link, Severity severity, double confidence, std::string_view how);
/// Adds a LINK_DEGRADED to `findings`. If they have one of the same link, its evidence becomes part of that, and the
/// severity is the greater one.
void add_degraded(Finding degraded, std::vector<Finding>& findings);

}  // namespace weft::analyzer
