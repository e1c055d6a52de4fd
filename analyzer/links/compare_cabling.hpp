// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is cabled, against what is expected.

#include "fabric/cabling_differences.hpp"
#include "fabric/topology.hpp"

namespace weft::analyzer {

/// Compares by node GUID and port number. A plan may cover a part of the fabric: a link of `seen` is compared where a
/// cable is planned at one of its ends, or both of its nodes are planned. Links of `seen` that are down are not misled,
/// and a planned one of them is not missing: its cable is there.
CablingDifferences compare_cabling(const Topology& expected, const Topology& seen);

}  // namespace weft::analyzer
