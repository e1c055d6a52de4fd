// SPDX-License-Identifier: Apache-2.0
#pragma once
// A netlink socket. The kernel answers before the send returns, so that nothing here ever waits.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "collectors/netlink/attributes.hpp"
#include "collectors/netlink/request.hpp"
#include "fabric/result.hpp"

struct mnl_socket;

namespace weft::netlink {

/// One message of the kernel.
struct Message {
  std::uint16_t type = 0;
  Bytes payload;  ///< behind the netlink header: the family's header and attributes
};

/// The payload behind a family header of `size` bytes; empty when it is shorter.
inline Bytes attributes_of(Bytes payload, std::size_t size) {
  const std::size_t aligned = (size + 3) & ~std::size_t{3};
  return payload.size() > aligned ? payload.subspan(aligned) : Bytes();
}

/// One netlink socket. Not thread-safe.
class Socket {
 public:
  /// `bus` is NETLINK_ROUTE, NETLINK_GENERIC, NETLINK_RDMA. Fails with kUnavailable when the kernel has no such bus.
  static Result<Socket> open(int bus);

  /// The file descriptor, for poll.
  int fd() const;
  /// Hears what is told to a group (RTNLGRP_LINK).
  Result<void> join(unsigned group);

  /// How one request was answered: `error` is 0 and the message is there, or it is an errno.
  using AnswerHandler = std::function<void(std::size_t request, int error, const Message& answer)>;
  /// Sends requests that have one answer each, some at a time. Every request gets its handler called once, with
  /// ETIMEDOUT when the answer was lost. Fails when the socket itself is of no use.
  Result<void> ask(std::span<Request> requests, const AnswerHandler& handler);

  /// Called once for each message.
  using MessageHandler = std::function<void(const Message&)>;
  /// Sends one request with NLM_F_DUMP and hands on each entry. Fails with the kernel's errno as kUnavailable.
  Result<void> dump(Request request, const MessageHandler& handler);

  /// Hands on what groups told since the last call. False when the kernel had to drop some of it (ENOBUFS).
  bool take(const MessageHandler& handler);

 private:
  struct Closer {
    void operator()(mnl_socket* socket) const;
  };
  explicit Socket(mnl_socket* socket);

  /// One datagram that is there already; empty when there is none. errno tells why.
  std::span<std::byte> receive();
  Result<void> ask_some(std::span<Request> requests, std::size_t first, const AnswerHandler& handler);

  std::unique_ptr<mnl_socket, Closer> socket_;
  std::vector<std::byte> buffer_;
  std::vector<std::byte> outgoing_;
  std::uint32_t sequence_ = 0;
};

}  // namespace weft::netlink
