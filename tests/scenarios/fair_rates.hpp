// SPDX-License-Identifier: Apache-2.0
#pragma once
// What each flow gets on a lossless fabric, and which ports are kept waiting.

#include <cstdint>
#include <span>
#include <vector>

namespace weft::scenarios {

/// A thing that flows pass through and that has a capacity: a port's sending side, or a host's taking in.
using ResourceIndex = std::uint32_t;

struct Flow {
  std::vector<ResourceIndex> path;  ///< in the order of passing
  double demand = 0;                ///< what the source offers, bits per second
};

/// A full resource and who is held back on its account. Each waits for one bottleneck only, or for several that
/// fill up at once, which all have an entry.
struct Bottleneck {
  ResourceIndex resource = 0;
  std::vector<ResourceIndex> held;
};

struct Rates {
  std::vector<double> flows;        ///< by flow, bits per second
  std::vector<double> loads;        ///< by resource, bits per second
  std::vector<std::uint8_t> waits;  ///< by resource: it has something to send all the time, and is held back from it
  std::vector<Bottleneck> bottlenecks;  ///< in the order in which they filled up; those that hold up somebody
};

/// Max-min fair rates by progressive filling, with the back-pressure of one virtual lane: all flows grow evenly; when a
/// resource is full, the flows through it stay at their rate and what they queue fills the buffers before it, so that
/// everything upstream of it runs out of credits; whatever else wants to pass there is held back at the same rate
/// (head-of-line blocking), and holds up what is upstream of it in turn. A resource that waits has data all the time,
/// so that the share of time it waits is 1 − load / capacity. `capacities` in bits per second; 0 lets nothing pass.
/// Without back-pressure only the flows through what is full stop growing, and only their sources wait.
Rates fair_rates(std::span<const Flow> flows, std::span<const double> capacities, bool back_pressure = true);

}  // namespace weft::scenarios
