// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which other weftd may act on an InfiniBand fabric, by the records that they keep at its subnet administrator.

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "fabric/ids.hpp"

namespace weft {

/// As what a weftd that may act is known to others.
struct ActsAs {
  std::string installation{};  ///< the random id of its store, 16 hexadecimal digits; empty: it only watches
  std::string run{};           ///< 8 random hexadecimal digits of the process: those of a copy of the store differ
  bool operator==(const ActsAs&) const = default;
};

/// Another weftd whose record is at the subnet administrator.
struct ActingWeftd {
  std::string installation{};  ///< the random id of its store, 16 hexadecimal digits; empty: the record has none
  PortGuid port{};             ///< the port that it watches the fabric through
  bool operator==(const ActingWeftd&) const = default;
};

/// What the questions to the subnet administrator tell of the subnet manager, which runs with it.
enum class ManagerSign : std::uint8_t {
  kNotAsked,  ///< this weftd may change nothing, and asks nothing
  kUnheard,   ///< it has not answered yet, or cannot be asked
  kHeard,     ///< it answered lately
  kSilent,    ///< it was asked and has not answered for a while: it routes round nothing, and activates nothing
};

/// What the subnet administrator answered when it was last asked.
struct ActingWeftds {
  static constexpr std::size_t kMostOthers = 16;  ///< that are told
  /// A record that is not renewed is forgotten after so long, and so is what was told of it.
  static constexpr std::chrono::seconds kLease{300};

  bool registered = false;  ///< our own record is there
  std::string trouble{};    ///< why it is not, or why others could not be read; empty: all went well
  bool answered = false;    ///< `others` are as of now; false: nobody told
  /// Other installations, and processes with a copy of our own store; at most kMostOthers.
  std::vector<ActingWeftd> others{};
  /// What somebody does to the records, so that others may be there and not be told, in words; empty: nothing.
  std::string interference{};
  ManagerSign manager = ManagerSign::kNotAsked;
  bool operator==(const ActingWeftds&) const = default;
};

}  // namespace weft
