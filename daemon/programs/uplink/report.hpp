// SPDX-License-Identifier: Apache-2.0
#pragma once
// What weft-uplink tells weft-collector through the socket between them: this struct, whenever something of it changed.
// The other way goes one byte, of any value, for each time that the spool has something new. Both are of one build.

#include <cstdint>
#include <type_traits>

namespace weft::uplink {

/// Counts since the uplink was started.
struct UplinkReport {
  std::uint64_t connected = 0;             ///< 1 from the analyzer's welcome to the end of its stream
  std::uint64_t analyzer = 0;              ///< place in the list of the address that is used or tried, from 0
  std::uint64_t acknowledged = 0;          ///< sequence number of the last batch that is safe
  std::uint64_t sent = 0;                  ///< batches, those that were sent again included
  std::uint64_t resent = 0;                ///< of them, again
  std::uint64_t late = 0;                  ///< of them, late
  std::uint64_t refused = 0;               ///< that the analyzer called wrong: they are not sent again
  std::uint64_t unreadable = 0;            ///< that the spool gave and the codec did not understand
  std::uint64_t corrupt = 0;               ///< segments of the spool that were left before their end
  std::uint64_t welcomes = 0;              ///< streams that the analyzer took
  std::uint64_t failures = 0;              ///< streams that ended, welcome or not
  std::uint64_t probes = 0;                ///< questions for our clock that were answered
  std::uint64_t sync_failures = 0;         ///< times the spool could not be put on disk before it was sent
  std::uint64_t certificate_end = 0;       ///< of an enrolled one: seconds since 1970 UTC; 0: there is none
  std::uint64_t certificate_trouble = 0;   ///< 1 while it is due and the last attempt to renew it failed
  std::uint64_t certificate_failures = 0;  ///< attempts to get one that failed

  bool operator==(const UplinkReport&) const = default;
};
static_assert(std::is_trivially_copyable_v<UplinkReport>);

}  // namespace weft::uplink
