#pragma once
// Octets over a descriptor, all or nothing.

#include <cstddef>
#include <span>

namespace weft::sweeper {

/// Writes all of `octets`; false when the other side is gone. Never raises SIGPIPE on a socket.
bool write_all(int fd, std::span<const std::byte> octets);

/// Fills `octets`; false at the end of the stream or on an error.
bool read_all(int fd, std::span<std::byte> octets);

}  // namespace weft::sweeper
