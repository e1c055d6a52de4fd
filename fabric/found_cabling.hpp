// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is not clear, or not new, of cables that were found from what neighbours say.

#include <cstddef>
#include <string>
#include <vector>

#include "fabric/clock.hpp"

namespace weft {

/// Something that neighbours say, and that was not made into a cable: a person has to look.
struct UnclearNeighbour {
  std::string where;  ///< "gpu-01 eth2"; a system alone: "leaf01"
  std::string told;   ///< the neighbour there: "leaf01 (mac 02:…:01), port mac 02:…:07"; may be empty
  std::string why;    ///< one sentence without a full stop
  bool operator==(const UnclearNeighbour&) const = default;
};

/// A cable that no end tells of any longer, and none contradicts.
struct OldCable {
  std::string a, b;         ///< "leaf01 swp1"
  TimePoint told = kNever;  ///< when it last was; kNever: not since weftd was started
  bool operator==(const OldCable&) const = default;
};

/// Of one fabric.
struct FoundCabling {
  std::size_t cables = 0;
  std::vector<UnclearNeighbour> unclear;  ///< sorted
  std::vector<OldCable> old;              ///< sorted
};

}  // namespace weft
