// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bytes over a descriptor, all or nothing.

#include <cstddef>
#include <span>

namespace weft::runtime {

/// Writes all of `bytes`; false when the other side is gone. Never raises SIGPIPE on a socket.
bool write_all(int fd, std::span<const std::byte> bytes);

/// Fills `bytes`; false at the end of the stream or on an error.
bool read_all(int fd, std::span<std::byte> bytes);

}  // namespace weft::runtime
