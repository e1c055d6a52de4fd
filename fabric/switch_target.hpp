// SPDX-License-Identifier: Apache-2.0
#pragma once
// A switch that is read by gNMI, and how that goes.

#include <cstdint>
#include <string>

#include "fabric/clock.hpp"

namespace weft {

/// How reading a target goes.
enum class SwitchTargetState : std::uint8_t {
  kConnecting,  ///< it is not reached, or has not told everything yet
  kReading,     ///< it tells its ports' states
  kRefused,     ///< it does not let us in, or what it tells cannot be taken
  kSilent,      ///< it was reading, and then said nothing
  kCount,
};
/// "connecting", "reading", "refused", "silent"; "unknown" for what is none of them.
const char* to_string(SwitchTargetState state);

/// One target, as weft-switches last told.
struct SwitchTarget {
  std::string name{};     ///< of the switch
  std::string address{};  ///< HOST:PORT
  SwitchTargetState state = SwitchTargetState::kConnecting;
  TimePoint since = kNever;  ///< of `state`
  TimePoint told = kNever;   ///< when it last told anything; kNever: not since weft-switches was started
  std::string reason{};      ///< why it is not reading, for people; empty while it is, and before the first try
  std::string refused{};     ///< needed groups of paths that it does not tell, and why; empty: none
  /// How its ports are set by gNMI: a row of collectors/gnmi/port_setting.hpp; "none": it sets none, or its line says
  /// that none is to be set; empty: not known yet.
  std::string port_setting{};
  std::uint64_t messages = 0;   ///< received, since weft-switches was started; so are all that follow
  std::uint64_t values = 0;     ///< taken
  std::uint64_t unknown = 0;    ///< at paths that are in no table
  std::uint64_t bad = 0;        ///< dropped: out of range, or of another type
  std::uint64_t left_out = 0;   ///< dropped: beyond the limits of ports and values
  std::uint64_t connects = 0;   ///< times it was connected to
  Duration clock_difference{};  ///< its clock minus ours when it last told; only shown, never used
  /// Ports of it can be set by gNMI, by what it told.
  bool sets_ports() const { return !port_setting.empty() && port_setting != kSetsNone; }
  static constexpr const char* kSetsNone = "none";
  bool operator==(const SwitchTarget&) const = default;
};

}  // namespace weft
