// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an Ethernet interface says of the link of the port that it belongs to.

#include "collectors/ethernet/link_source.hpp"
#include "fabric/host.hpp"

namespace weft::host {

/// Adds it to `port`, whose RDMA state, if it has one, was read before. `state` is one that is known.
void add_interface_state(HostPort& port, const ethernet::LinkSource::State& state);

}  // namespace weft::host
