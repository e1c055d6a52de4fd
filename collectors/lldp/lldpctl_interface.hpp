// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part of lldpd's library that we use, in our own words, so that building needs no lldpd: Debian has the header in
// a package that brings the daemon along. Source: lldpctl.h of lldpd 1.0.16 (ISC licence). The ABI is that of the
// soname liblldpctl.so.4, symbol versions LIBLLDPCTL_4.6 and LIBLLDPCTL_4.7; a change of what is written here would be
// another soname. tests/unit/collectors/lldp compares it with the header where that is installed.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace weft::lldp {

/// The library's soname, for dlopen(3).
inline constexpr const char* kLibrary = "liblldpctl.so.4";

/// lldpctl_conn_t: a connection with lldpd.
struct LldpConnection;
/// lldpctl_atom_t: one thing that lldpd knows, or a list of them; it counts its owners.
struct LldpAtom;
/// lldpctl_atom_iter_t: a place in such a list.
struct LldpIterator;

/// lldpctl_key_t: what is asked of an atom. The type of the answer is in the comment.
enum class LldpKey : unsigned {
  kInterfaceName = 1000,      ///< text
  kPortNeighbors = 1200,      ///< list of ports
  kPortProtocol = 1201,       ///< number: 1 is LLDP
  kPortAge = 1202,            ///< number: seconds since 1970 when it was first heard
  kPortIdSubtype = 1203,      ///< number of IEEE 802.1AB, table 8-3
  kPortId = 1204,             ///< text
  kPortDescription = 1205,    ///< text
  kPortChassis = 1208,        ///< the chassis that the port belongs to
  kPortTtl = 1209,            ///< number: seconds
  kChassisIdSubtype = 1801,   ///< number of IEEE 802.1AB, table 8-2
  kChassisId = 1802,          ///< text
  kChassisName = 1803,        ///< text
  kChassisCapEnabled = 1806,  ///< number: bits of IEEE 802.1AB, table 8-4
  kChassisManagement = 1807,  ///< list of addresses
  kManagementAddress = 3000,  ///< text
};

/// lldpctl_error_t: why a function gave nothing, and what our callbacks return.
enum class LldpError : int {
  kWouldBlock = -501,       ///< the answer is not here yet
  kEndOfFile = -502,        ///< lldpd ended the connection
  kCallbackFailure = -902,  ///< reading or writing failed
};

/// lldpctl_send_callback and lldpctl_recv_callback: the number of bytes, or an LldpError. The latter fills the buffer,
/// though the library says const.
using LldpTransfer = ssize_t (*)(LldpConnection*, const std::uint8_t* data, std::size_t length, void* user_data);

/// The functions, under their names without "lldpctl_". A pointer that is null is an error, which last_error() tells.
struct LldpFunctions {
  LldpConnection* (*new_name)(const char* socket, LldpTransfer send, LldpTransfer receive, void* user_data) = nullptr;
  int (*release)(LldpConnection*) = nullptr;
  const char* (*get_default_transport)() = nullptr;  ///< path of lldpd's socket
  LldpAtom* (*get_interfaces)(LldpConnection*) = nullptr;
  LldpAtom* (*get_port)(LldpAtom* interface) = nullptr;
  LldpAtom* (*get_local_chassis)(LldpConnection*) = nullptr;
  LldpError (*last_error)(LldpConnection*) = nullptr;
  const char* (*strerror)(LldpError) = nullptr;
  void (*log_callback)(void (*callback)(int severity, const char* message)) = nullptr;
  LldpAtom* (*atom_get)(LldpAtom*, LldpKey) = nullptr;
  const char* (*atom_get_str)(LldpAtom*, LldpKey) = nullptr;  ///< valid as long as the atom
  long (*atom_get_int)(LldpAtom*, LldpKey) = nullptr;
  void (*atom_dec_ref)(LldpAtom*) = nullptr;
  LldpIterator* (*atom_iter)(LldpAtom*) = nullptr;
  LldpIterator* (*atom_iter_next)(LldpAtom*, LldpIterator*) = nullptr;
  LldpAtom* (*atom_iter_value)(LldpAtom*, LldpIterator*) = nullptr;
};

}  // namespace weft::lldp
