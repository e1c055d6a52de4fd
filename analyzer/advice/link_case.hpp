// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is known of a link in trouble, from which its faulty part is judged: plain values, whoever read them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

/// A link that went down, or whose trouble was seen, so lately is in trouble.
inline constexpr Duration kInTrouble = std::chrono::minutes(15);

/// Links that go another way than the one that is judged, and how they fare.
struct OtherLinks {
  std::uint32_t all = 0;     ///< that are up or in trouble
  std::uint32_t bad = 0;     ///< of those, in trouble at the same time
  std::uint32_t shared = 0;  ///< of those in trouble, the ones that lead to the node at the other end
};

/// Something was changed at a port that was in trouble.
struct Swap {
  std::string before{};  ///< what was there until then, for people
  TimePoint at = kNever;
  Duration since{};      ///< time since then
  bool goes_on = false;  ///< the link was in trouble since, too
};
/// The module came from another port that was in trouble.
struct MovedModule {
  std::string from{};  ///< that port, for people
  TimePoint at = kNever;
  bool left_well = false;  ///< that port has another module now, and no trouble
};
/// What is remembered of a port, of its module and of its cable.
struct PortPast {
  std::string module{};                        ///< as PortStay::module; empty: not told
  bool has_fixed_cable = false;                ///< by its part number: module and cable are one piece
  std::optional<Swap> replaced{}, recabled{};  ///< its module; where its cable leads
  std::optional<MovedModule> moved{};
};

/// One end of a link, and what is around it.
struct LinkEnd {
  Entity port{};                       ///< with its label
  Entity whole{};                      ///< the switch, or the host
  std::string name{};                  ///< of the switch or host, for people
  bool is_switch = false;              ///< false: a host
  bool is_read = false;                ///< somebody reads its error counters
  std::uint64_t errors = 0;            ///< physical errors received while the link was up, not while it trained
  std::uint32_t errored_readings = 0;  ///< readings with such errors
  std::uint64_t times_down = 0;        ///< that its LinkDowned counter grew by
  OtherLinks others{};                 ///< of the switch or host, without those in `same_cage`
  OtherLinks same_cage{};              ///< through the same cage or module
  PortPast past{};
  bool tells_starts = false;  ///< a collector on the host would tell of starts
  std::uint32_t starts = 0;   ///< times it went down while the host, or its adapter, was started anew
};

/// A link in trouble.
struct LinkCase {
  LinkKey key{};
  Entity link{};
  LinkEnd a{}, b{};                       ///< low end, high end
  std::vector<TimePoint> downs{};         ///< when it went down, oldest first, at most kMostDowns
  TimePoint troubled = kNever;            ///< when it went down last and came back; kNever: it did not
  Duration window{};                      ///< that errors are counted over, up to now
  bool is_slow_by_configuration = false;  ///< a LINK_DEGRADED of it is no part's fault
};
inline constexpr std::size_t kMostDowns = 16;

}  // namespace weft::analyzer
