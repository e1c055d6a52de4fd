// SPDX-License-Identifier: Apache-2.0
#pragma once
// The end of a program that uses libibumad.

namespace weft::runtime {

/// `code`, for main to return. Leaves with it a second later even when a library's exit handler hangs, as libumad2sim's
/// does when a datagram arrives at the wrong moment.
int leave(int code);

}  // namespace weft::runtime
