// SPDX-License-Identifier: Apache-2.0
#include <endian.h>
#include <infiniband/umad.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "collectors/infiniband/mad_port.hpp"

namespace weft::infiniband {
namespace {

std::string reason(int error) {
  return std::generic_category().message(error < 0 ? -error : error);
}

LocalPort to_local_port(const umad_port_t& port, NodeGuid node) {
  LocalPort local;
  local.adapter = port.ca_name;
  local.number = {static_cast<std::uint16_t>(port.portnum)};
  local.node = node;
  local.guid = {be64toh(port.port_guid)};
  local.lid = {static_cast<std::uint16_t>(port.base_lid)};
  local.subnet_manager_lid = {static_cast<std::uint16_t>(port.sm_lid)};
  local.subnet_manager_sl = static_cast<std::uint8_t>(port.sm_sl);
  local.state = port.state <= 4 ? static_cast<PortState>(port.state) : PortState::kUnknown;
  local.subnet_prefix = be64toh(port.gid_prefix);
  local.pkeys.assign(port.pkeys, port.pkeys + port.pkeys_size);
  return local;
}

struct Agent {
  MadClass mad_class;
  int class_version;
  int id = -1;
};

class UmadPort final : public MadPort {
 public:
  UmadPort(std::string adapter, PortNum number, int fd) : adapter_(std::move(adapter)), number_(number), fd_(fd) {
    std::memset(outgoing_.data(), 0, outgoing_.size());
    std::memset(incoming_.data(), 0, incoming_.size());
  }
  UmadPort(const UmadPort&) = delete;
  UmadPort& operator=(const UmadPort&) = delete;
  ~UmadPort() override {
    for (const Agent& agent : agents_)
      if (agent.id >= 0) umad_unregister(fd_, agent.id);
    umad_close_port(fd_);
  }

  Result<void> register_agents() {
    for (Agent& agent : agents_) {
      // No method mask: a client, which coexists with the subnet manager and other tools on the port.
      agent.id = umad_register(fd_, static_cast<int>(agent.mad_class), agent.class_version, 0, nullptr);
      if (agent.id < 0)
        return fail(ErrorCode::kUnavailable, "the kernel refused to register management class " +
                                                 std::to_string(static_cast<int>(agent.mad_class)) + " on " + adapter_);
    }
    return {};
  }

  Result<LocalPort> describe() const override {
    umad_ca_t adapter;
    if (umad_get_ca(adapter_.c_str(), &adapter) < 0) return fail(ErrorCode::kUnavailable, adapter_ + " is missing");
    const NodeGuid node{be64toh(adapter.node_guid)};
    Result<LocalPort> local = fail(ErrorCode::kUnavailable, adapter_ + " has no port " + std::to_string(number_.value));
    if (number_.value < UMAD_CA_MAX_PORTS && adapter.ports[number_.value])
      local = to_local_port(*adapter.ports[number_.value], node);
    umad_release_ca(&adapter);
    return local;
  }

  Result<void> send(const MadAddress& to, ConstMadBytes mad, std::chrono::milliseconds timeout) override {
    auto* packet = outgoing_.data();
    umad_set_addr(packet, to.lid.value, static_cast<int>(to.queue_pair), to.service_level,
                  static_cast<int>(to.queue_key));
    umad_set_pkey(packet, to.pkey_index);
    std::memcpy(umad_get_mad(packet), mad.data(), mad.size());
    const int sent = umad_send(fd_, agent_of(to.mad_class), packet, static_cast<int>(mad.size()),
                               static_cast<int>(timeout.count()), 0);
    if (sent < 0) return fail(ErrorCode::kUnavailable, "cannot send through " + adapter_ + ": " + reason(errno));
    return {};
  }

  Result<std::optional<Arrival>> receive(MadBytes mad) override {
    int length = static_cast<int>(kMadSize);
    const int agent = umad_recv(fd_, incoming_.data(), &length, 0);
    if (agent < 0) {
      if (errno == EAGAIN || errno == EINTR || agent == -EWOULDBLOCK) return std::optional<Arrival>{};
      return fail(ErrorCode::kUnavailable, "cannot receive from " + adapter_ + ": " + reason(errno));
    }
    Arrival arrival;
    arrival.timed_out = umad_status(incoming_.data()) != 0;
    arrival.length = static_cast<std::size_t>(length);
    std::memcpy(mad.data(), umad_get_mad(incoming_.data()), kMadSize);
    return std::optional<Arrival>{arrival};
  }

  void wait(std::chrono::milliseconds timeout) override { umad_poll(fd_, static_cast<int>(timeout.count())); }

 private:
  int agent_of(MadClass mad_class) const {
    for (const Agent& agent : agents_)
      if (agent.mad_class == mad_class) return agent.id;
    return -1;
  }

  std::string adapter_;
  PortNum number_;
  int fd_;
  std::array<Agent, 4> agents_{{{MadClass::kPerformance, 1},
                                {MadClass::kSubnetLidRouted, 1},
                                {MadClass::kSubnetDirectedRoute, 1},
                                {MadClass::kSubnetAdministration, 2}}};
  // ib_user_mad and the datagram behind it, as read() and write() want them; a little more than any reply.
  alignas(8) std::array<std::uint8_t, sizeof(ib_user_mad) + 2 * kMadSize> outgoing_;
  alignas(8) std::array<std::uint8_t, sizeof(ib_user_mad) + 2 * kMadSize> incoming_;
};

}  // namespace

Result<std::vector<LocalPort>> list_local_ports() {
  if (umad_init() < 0) return fail(ErrorCode::kUnavailable, "the ib_umad kernel module is not loaded");
  std::array<char[UMAD_CA_NAME_LEN], UMAD_MAX_DEVICES> names;
  const int count = umad_get_cas_names(names.data(), UMAD_MAX_DEVICES);
  std::vector<LocalPort> ports;
  for (int i = 0; i < count; ++i) {
    umad_ca_t adapter;
    if (umad_get_ca(names[static_cast<std::size_t>(i)], &adapter) < 0) continue;
    for (int p = 1; p <= adapter.numports && p < UMAD_CA_MAX_PORTS; ++p) {
      const umad_port_t* port = adapter.ports[p];
      // A kernel or simulator too old to say what the link layer is has InfiniBand only.
      if (!port || std::strcmp(port->link_layer, "Ethernet") == 0) continue;
      ports.push_back(to_local_port(*port, {be64toh(adapter.node_guid)}));
    }
    umad_release_ca(&adapter);
  }
  return ports;
}

Result<std::unique_ptr<MadPort>> open_umad_port(const std::string& adapter, PortNum port) {
  if (umad_init() < 0) return fail(ErrorCode::kUnavailable, "the ib_umad kernel module is not loaded");
  const int fd = umad_open_port(adapter.c_str(), port.value);
  if (fd < 0)
    return fail(ErrorCode::kUnavailable,
                "cannot open " + adapter + " port " + std::to_string(port.value) + ": " +
                    (fd == -EIO ? "no permission, or no /dev/infiniband/umad device" : reason(fd)));
  auto opened = std::make_unique<UmadPort>(adapter, port, fd);
  if (auto registered = opened->register_agents(); !registered) return tl::unexpected(registered.error());
  return opened;
}

}  // namespace weft::infiniband
