// SPDX-License-Identifier: Apache-2.0
#pragma once
// One InfiniBand port of this machine through which management datagrams go out and come in.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectors/infiniband/mad_codec.hpp"
#include "fabric/result.hpp"

namespace weft::infiniband {

/// Where a datagram goes. Directed-route packets go to the permissive LID 0xFFFF, queue pair 0.
struct MadAddress {
  MadClass mad_class = MadClass::kSubnetDirectedRoute;
  Lid lid{0xFFFF};
  std::uint32_t queue_pair = 0;  ///< 0 for subnet management, 1 for all other classes
  std::uint32_t queue_key = 0;   ///< 0x80010000 for queue pair 1 (10.2.5)
  std::uint8_t service_level = 0;
  std::uint16_t pkey_index = 0;
};

/// What the kernel knows of a local port (/sys/class/infiniband).
struct LocalPort {
  std::string adapter;  ///< "mlx5_0"
  PortNum number;
  NodeGuid node;
  PortGuid guid;
  Lid lid;
  Lid subnet_manager_lid;
  std::uint8_t subnet_manager_sl = 0;
  PortState state = PortState::kUnknown;
  std::uint64_t subnet_prefix = 0;
  std::vector<std::uint16_t> pkeys;
};

/// All InfiniBand ports of this machine; Ethernet (RoCE) ports are left out.
/// kUnavailable when the kernel's umad module is not there.
Result<std::vector<LocalPort>> list_local_ports();

/// The one interface of this room to the outside: a test puts a hostile fabric behind it.
class MadPort {
 public:
  /// What receive() took.
  struct Arrival {
    bool timed_out = false;  ///< the kernel gave a request back unanswered; `mad` holds the request
    std::size_t length = 0;  ///< bytes that arrived; at most kMadSize are in `mad`
  };

  virtual ~MadPort() = default;
  /// Facts of the port as of now. kUnavailable when it is gone.
  virtual Result<LocalPort> describe() const = 0;
  /// Sends `mad`; the kernel gives up waiting for the answer after `timeout`. kUnavailable when it was not taken.
  virtual Result<void> send(const MadAddress& to, ConstMadBytes mad, std::chrono::milliseconds timeout) = 0;
  /// Takes the next arrival, never waits. nullopt when there is none; kUnavailable when the port is gone.
  virtual Result<std::optional<Arrival>> receive(MadBytes mad) = 0;
  /// Waits until something arrived or `timeout` passed.
  virtual void wait(std::chrono::milliseconds timeout) = 0;
};

/// The real one, by libibumad. kUnavailable with the reason when the port does not exist or may not be opened.
Result<std::unique_ptr<MadPort>> open_umad_port(const std::string& adapter, PortNum port);

}  // namespace weft::infiniband
