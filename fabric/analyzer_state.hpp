// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an analyzer must remember across a restart, as plain values: it gives them, the store keeps them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/ids.hpp"
#include "fabric/topology.hpp"

namespace weft {

/// What is remembered of one end of a known link: enough to name a node that is gone.
struct KnownEnd {
  std::string node_name;  ///< empty: named by its GUID
  NodeType type = NodeType::kUnknown;
  std::string port_name{};  ///< on Ethernet: "swp3"; empty where ports have numbers only
};

/// A link that was seen up. If it is not up later, that is LINK_DOWN, even if it died while nobody watched.
struct KnownLink {
  LinkKey key;
  KnownEnd low;   ///< of key.low
  KnownEnd high;  ///< of key.high
};

/// Flap penalties of one link; they decay with time, so the time belongs to them.
struct FlapState {
  LinkKey link;
  double fast = 0;                  ///< penalty of the fast layer at `updated` (points)
  double slow = 0;                  ///< penalty of the slow layer at `updated` (points)
  TimePoint updated = kNever;       ///< when the penalties had these values
  TimePoint slow_counted = kNever;  ///< the flap that last counted in the slow layer
  TimePoint last_flap = kNever;
  std::uint32_t flaps = 0;  ///< flaps since the link was last quiet
  bool both_ends = false;   ///< both ends saw them
  bool suppressed = false;  ///< LINK_FLAP is open

  bool operator==(const FlapState&) const = default;
};

/// The same of a host's port, told by its collector.
struct HostFlapState {
  std::string device;      ///< as HostPort
  std::uint16_t port = 0;  ///<
  FlapState state;         ///< of no link, and with one end

  bool operator==(const HostFlapState&) const = default;
};

/// Ports of one host that are remembered over a restart. The greatest switch has fewer.
inline constexpr std::size_t kMostPortsSeen = 1'024;

/// A port of a host that was up at some time: it is missed when it is down.
struct HostPortSeen {
  std::string device;      ///< as HostPort
  std::uint16_t port = 0;  ///<
  std::string netdev;      ///<
  PortGuid guid;           ///<
  std::uint64_t rate = 0;  ///< bit/s, the best that was read; 0: none
  NodeGuid node{};         ///< of its adapter on InfiniBand; 0: it has none, or is on Ethernet

  bool operator==(const HostPortSeen&) const = default;
};

/// What stood in a host's port and where its cable led, for as long as neither changed.
struct PortStay {
  std::string device;      ///< as HostPort
  std::uint16_t port = 0;  ///<
  std::string module;      ///< vendor, part and serial number of the module, "ACME OSFP-1 serial X7"; empty: not told
  PortKey far;             ///< the port at the other end; its node is 0 while that is not known
  std::string far_label;   ///< of that, for people
  TimePoint from = kNever;
  TimePoint to = kNever;             ///< when something else was there; kNever: it is still so
  TimePoint trouble_first = kNever;  ///< kNever: the link had no trouble meanwhile
  TimePoint trouble_last = kNever;   ///<

  bool operator==(const PortStay&) const = default;
};

/// A port condemned by the error-rate rule.
struct ErrorState {
  PortKey port;
  double rate = 0;  ///< errors per bit in the window that condemned it
};

/// What a figure that is watched for slow change used to be, and how far it has moved: see analyzer/ports/drift.hpp.
struct DriftState {
  float mean = 0;     ///< the level that was learned
  float squares = 0;  ///< Σ (value − mean)² of the readings that were learned from
  float sum = 0;      ///< of what was above the level
  float last = 0;
  float recent = 0;
  std::uint16_t readings = 0;  ///< that were learned from
  bool drifting = false;

  bool operator==(const DriftState&) const = default;
};

/// How much error correction usually repairs at a receiving port.
struct FecBaseline {
  PortKey port;
  double rate = 0;           ///< of the link that it was learned at, bits per second
  TimePoint taken = kNever;  ///< of the last reading in it
  DriftState drift;          ///< log10 of symbols repaired per bit

  bool operator==(const FecBaseline&) const = default;
};

/// Everything that one fabric's analyzer keeps across a restart.
struct AnalyzerState {
  std::vector<KnownLink> links{};
  std::vector<FlapState> flaps{};
  std::vector<ErrorState> errors{};
  std::vector<FecBaseline> fec_baselines{};
};

}  // namespace weft
