// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is left to those that a link served, while it is down: how much is lost decides how bad it is.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {

/// The links of a host, or the uplinks of a switch, one of which is down.
struct WaysLeft {
  std::string of{};      ///< name of the host or switch; empty: not known
  bool is_host = false;  ///< `of` is a host, and all its links are counted
  unsigned up = 0;       ///< of them are up
  unsigned all = 0;      ///< are known, those that are down too
};

/// Of both ends of `link` the one that has lost more. `ranks` are those of node_ranks() for the present topology: of a
/// switch only links to switches of a higher rank count, between switches of one rank those to other switches.
WaysLeft ways_left(const LinkTable& table, std::span<const std::uint8_t> ranks, LinkId link);

/// CRITICAL when at most the share `critical` (0..1) is left, else WARNING. CRITICAL when nothing is known.
Severity severity_of(const WaysLeft& ways, double critical);

/// "15 of 16 uplinks of leaf-3 are up", "it is the only link of gpu-1"; empty when nothing is known. With `others`, so
/// many that have lost as much: "15 of 16 uplinks are up at leaf-3 and 2 others", "gpu-1 and 2 others have lost their
/// only link".
std::string in_words(const WaysLeft& ways, std::size_t others = 0);

}  // namespace weft::analyzer
