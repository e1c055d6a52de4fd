// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers that both sides of batch_codec.hpp share.

#include <cstdint>

namespace weft::api::batch {

inline constexpr std::uint8_t kFormat = 1;

// What follows in a body.
inline constexpr std::uint8_t kRefersToNothing = 1U << 0;
inline constexpr std::uint8_t kHasPorts = 1U << 1;
inline constexpr std::uint8_t kHasSeries = 1U << 2;
inline constexpr std::uint8_t kHasReading = 1U << 3;
inline constexpr std::uint8_t kHasSources = 1U << 4;
inline constexpr std::uint8_t kHasJobs = 1U << 5;
inline constexpr std::uint8_t kHasEvents = 1U << 6;
inline constexpr std::uint8_t kHasNeighbours = 1U << 7;

// Of the neighbours and facts. A body of the spool without facts has at most the first.
inline constexpr std::uint8_t kAnotherTable = 1U << 0;
inline constexpr std::uint8_t kNoNeighbours = 1U << 1;
inline constexpr std::uint8_t kHasFacts = 1U << 2;
inline constexpr std::uint8_t kOtherFacts = 1U << 3;
inline constexpr std::uint8_t kKnownTableFlags = 0x0F;

// Of a port: bits 0-1 are the link layer.
inline constexpr std::uint8_t kVirtualFunction = 1U << 2;
inline constexpr std::uint8_t kSetDown = 1U << 3;
inline constexpr std::uint8_t kHasBoard = 1U << 4;
inline constexpr std::uint8_t kKnownPortFlags = 0x1F;

// Of a series.
inline constexpr std::uint8_t kRaw = 1U << 0;
inline constexpr unsigned kDirectionShift = 1;
inline constexpr unsigned kBehaviourShift = 3;
inline constexpr std::uint8_t kHasPriority = 1U << 5;
inline constexpr std::uint8_t kHasLane = 1U << 6;
inline constexpr std::uint8_t kHasSource = 1U << 7;

// Of an event.
inline constexpr std::uint8_t kUp = 1U << 0;
inline constexpr std::uint8_t kAdministrative = 1U << 1;
inline constexpr std::uint8_t kHasUpCount = 1U << 2;
inline constexpr std::uint8_t kHasDownCount = 1U << 3;

/// Kind of a run of values: as in the last reading, absent, or present.
enum class Run : std::uint8_t { kSame = 0, kAbsent = 1, kPresent = 2 };

/// A difference as a number that is small when the difference is, whatever its sign.
constexpr std::uint64_t zigzag(std::uint64_t difference) {
  return (difference << 1) ^ (0 - (difference >> 63));
}
/// The reverse of zigzag().
constexpr std::uint64_t unzigzag(std::uint64_t number) {
  return (number >> 1) ^ (0 - (number & 1));
}

}  // namespace weft::api::batch
