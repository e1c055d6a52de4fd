// SPDX-License-Identifier: Apache-2.0
#include "collectors/netlink/socket.hpp"

#include <libmnl/libmnl.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

namespace weft::netlink {
namespace {

// Answers queue up while the kernel works through a batch; they must fit into the smallest usual receive buffer.
constexpr std::size_t kRequestsAtOnce = 8;
constexpr std::size_t kLargestDatagram = 32'768;

tl::unexpected<Error> failure(const char* what, int error) {
  return fail(ErrorCode::kUnavailable, std::string(what) + ": " + errno_message(error));
}

/// Every message of one datagram.
template <typename Handler>
void for_each_message(std::span<std::byte> datagram, const Handler& handler) {
  int left = static_cast<int>(datagram.size());
  const auto* header = reinterpret_cast<const nlmsghdr*>(datagram.data());
  for (; mnl_nlmsg_ok(header, left); header = mnl_nlmsg_next(header, &left))
    handler(*header,
            Message{header->nlmsg_type,
                    {static_cast<const std::byte*>(mnl_nlmsg_get_payload(header)), mnl_nlmsg_get_payload_len(header)}});
}

/// The errno of an NLMSG_ERROR; 0 is an acknowledgement.
int error_of(const Message& message) {
  int code = -EBADMSG;
  if (message.payload.size() >= sizeof(code)) std::memcpy(&code, message.payload.data(), sizeof(code));
  return -code;
}

}  // namespace

void Socket::Closer::operator()(mnl_socket* socket) const {
  mnl_socket_close(socket);
}

Socket::Socket(mnl_socket* socket) : socket_(socket), buffer_(kLargestDatagram) {}

Result<Socket> Socket::open(int bus) {
  mnl_socket* opened = mnl_socket_open2(bus, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (opened == nullptr) return failure("the kernel does not support this netlink family", errno);
  Socket socket(opened);
  if (mnl_socket_bind(opened, 0, MNL_SOCKET_AUTOPID) < 0) return failure("cannot bind netlink", errno);
  return socket;
}

int Socket::fd() const {
  return mnl_socket_get_fd(socket_.get());
}

Result<void> Socket::join(unsigned group) {
  if (mnl_socket_setsockopt(socket_.get(), NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) < 0)
    return failure("cannot join the netlink group", errno);
  return {};
}

std::span<std::byte> Socket::receive() {
  const ssize_t got = ::recv(fd(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
  return {buffer_.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

Result<void> Socket::ask(std::span<Request> requests, const AnswerHandler& handler) {
  for (std::size_t first = 0; first < requests.size(); first += kRequestsAtOnce) {
    const std::size_t count = std::min(kRequestsAtOnce, requests.size() - first);
    if (Result<void> asked = ask_some(requests.subspan(first, count), first, handler); !asked) return asked;
  }
  return {};
}

Result<void> Socket::ask_some(std::span<Request> requests, std::size_t first, const AnswerHandler& handler) {
  const std::uint32_t base = sequence_;
  sequence_ += static_cast<std::uint32_t>(requests.size());
  outgoing_.clear();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    auto* header = reinterpret_cast<nlmsghdr*>(requests[i].data());
    header->nlmsg_seq = base + static_cast<std::uint32_t>(i);
    outgoing_.insert(outgoing_.end(), requests[i].begin(), requests[i].end());
  }
  if (mnl_socket_sendto(socket_.get(), outgoing_.data(), outgoing_.size()) < 0)
    return failure("cannot send a request", errno);
  std::array<bool, kRequestsAtOnce> answered{};
  std::size_t missing = requests.size();
  while (missing > 0) {
    const std::span<std::byte> datagram = receive();
    if (datagram.empty()) break;
    for_each_message(datagram, [&](const nlmsghdr& header, const Message& message) {
      const std::uint32_t index = header.nlmsg_seq - base;
      if (index >= requests.size() || answered[index]) return;
      answered[index] = true;
      --missing;
      handler(first + index, header.nlmsg_type == NLMSG_ERROR ? error_of(message) : 0, message);
    });
  }
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (!answered[i]) handler(first + i, ETIMEDOUT, Message{});
  return {};
}

Result<void> Socket::dump(Request request, const MessageHandler& handler) {
  auto* asked = reinterpret_cast<nlmsghdr*>(request.data());
  asked->nlmsg_flags |= NLM_F_DUMP;
  asked->nlmsg_seq = sequence_++;
  const std::uint32_t sequence = asked->nlmsg_seq;
  if (mnl_socket_sendto(socket_.get(), request.data(), request.size()) < 0)
    return failure("cannot send a request", errno);
  int error = ETIMEDOUT;
  bool done = false;
  while (!done) {
    const std::span<std::byte> datagram = receive();
    if (datagram.empty()) break;
    for_each_message(datagram, [&](const nlmsghdr& header, const Message& message) {
      if (header.nlmsg_seq != sequence || done) return;
      if (header.nlmsg_type == NLMSG_ERROR || header.nlmsg_type == NLMSG_DONE) {
        done = true;
        error = header.nlmsg_type == NLMSG_ERROR ? error_of(message) : 0;
      } else {
        handler(message);
      }
    });
  }
  if (error != 0) return failure("the kernel refused", error);
  return {};
}

bool Socket::take(const MessageHandler& handler) {
  bool complete = true;
  for (;;) {
    errno = 0;
    const std::span<std::byte> datagram = receive();
    if (datagram.empty()) {
      if (errno != ENOBUFS) return complete;
      complete = false;
      continue;
    }
    for_each_message(datagram, [&](const nlmsghdr&, const Message& message) { handler(message); });
  }
}

}  // namespace weft::netlink
