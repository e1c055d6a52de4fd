// SPDX-License-Identifier: Apache-2.0
#pragma once
// A small InfiniBand subnet behind MadPort, in memory: it answers what real agents answer, unless a test makes it lie.

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collectors/infiniband/mad_port.hpp"

namespace weft::fakes {

struct FakePort {
  std::size_t peer_node = SIZE_MAX;
  std::uint8_t peer_port = 0;
  std::uint8_t state = 4, physical = 5;  ///< as PortInfo has them; used where there is a peer
  std::uint16_t lid = 0;
  std::map<int, std::uint64_t> counters;           ///< by MAD_FIELDS of PortCounters
  std::map<int, std::uint64_t> extended_counters;  ///< by MAD_FIELDS of PortCountersExtended
};

struct FakeNode {
  std::uint64_t guid = 0;
  std::uint8_t type = 1;  ///< 1 adapter, 2 switch
  std::string description;
  std::vector<FakePort> ports;  ///< from port 0
  bool silent = false;
  std::uint16_t performance_capabilities = 0x0200 | 0x1000;
  std::uint16_t redirect_lid = 0;
  std::uint16_t redirect_pkey = 0xFFFF;
  std::vector<std::uint8_t> forwarding;  ///< of a switch: its linear forwarding table, by LID
  bool port_state_change = false;        ///< of a switch: SwitchInfo.PortStateChange
  bool details = false;                  ///< its agent has PortRcvErrorDetails, the only optional attribute here
  std::uint64_t management_key = 0;      ///< M_Key; without it a Set is not answered
  std::uint8_t key_protection = 0;       ///< 1: the key is not shown to those without it; 2: nothing is
  std::uint16_t set_status = 0;          ///< that a Set of PortInfo is answered with; but 0: it is not done
  bool hears_sets = true;                ///< false: a Set is answered and changes nothing
  std::uint16_t partition = 0;           ///< its agent answers in this partition alone; 0: in any
  std::uint32_t vendor_id = 0;
  std::uint16_t device_id = 0;
  bool runs_at_fdr10 = false;  ///< its ports say QDR, and in ExtendedPortInfo FDR10; else it has no such attribute
};

/// Node 0 is the adapter we sit on, by its port 1.
class FakeMadPort final : public infiniband::MadPort {
 public:
  using Reply = std::array<std::uint8_t, 256>;
  /// Sees every reply before it goes out and may change it; the returned length is what arrives (256: all of it). A
  /// returned 0 loses the reply.
  using Tamper = std::function<std::size_t(const infiniband::MadAddress&, Reply&)>;

  std::size_t add_adapter(std::uint64_t guid, std::string description, std::uint8_t ports = 1);
  std::size_t add_switch(std::uint64_t guid, std::string description, std::uint8_t ports);
  void connect(std::size_t a, std::uint8_t a_port, std::size_t b, std::uint8_t b_port);
  void set_link(std::size_t node, std::uint8_t port, bool up);
  FakeNode& node(std::size_t index) { return nodes_[index]; }
  FakePort& port(std::size_t node, std::uint8_t number) { return nodes_[node].ports[number]; }

  Tamper tamper;
  bool gone = false;                    ///< sends fail
  bool answers_time_outs = true;        ///< false: a lost request is never given back, as over UDP
  std::uint64_t requests = 0;           ///< asked so far
  std::uint64_t forwarding_blocks = 0;  ///< of these: for LinearForwardingTable
  std::uint64_t vendor_questions = 0;   ///< of these: for ExtendedPortInfo
  std::uint32_t most_outstanding = 0;
  std::map<std::uint16_t, std::uint32_t> outstanding_by_lid, most_by_lid;
  std::uint64_t sets = 0;  ///< anything but a Get
  Reply last_set{};        ///< the newest of these, as it came
  /// Asked before each request is answered; true: it is lost on its way there.
  std::function<bool(const Reply&)> loses;
  std::vector<std::uint16_t> pkeys{0xFFFF};                   ///< the table of our own port
  std::uint16_t subnet_manager_lid = 0;                       ///< 0: there is none
  std::uint8_t path_service_level = 0;                        ///< what the subnet administrator says for every path
  std::map<std::uint16_t, std::uint8_t> path_service_levels;  ///< and for paths to these LIDs instead
  bool administrator_hangs = false;
  std::uint64_t path_records = 0;         ///< that it was asked for
  std::set<std::uint8_t> service_levels;  ///< that performance management came with

  Result<infiniband::LocalPort> describe() const override;
  Result<void> send(const infiniband::MadAddress& to, infiniband::ConstMadBytes mad,
                    std::chrono::milliseconds timeout) override;
  Result<std::optional<Arrival>> receive(infiniband::MadBytes mad) override;
  void wait(std::chrono::milliseconds timeout) override;

 private:
  struct Waiting {
    Reply reply;
    std::size_t length;
    bool timed_out;
    std::uint16_t lid;
  };
  std::size_t by_lid(std::uint16_t lid, std::uint8_t& port) const;
  std::size_t by_route(const Reply& mad, std::uint8_t& entered) const;
  bool is_reachable(std::size_t wanted) const;
  bool is_up(std::size_t node, std::uint8_t port) const;
  bool answer(const infiniband::MadAddress& to, std::size_t node, std::uint8_t entered, Reply& mad);
  void answer_port_info(const FakeNode& node, std::size_t index, std::uint8_t number, Reply& mad) const;
  bool may_ask(const FakeNode& node, const Reply& mad) const;
  void set_port_info(FakeNode& node, std::uint8_t number, Reply& mad);
  void answer_performance(FakeNode& node, std::uint8_t entered, Reply& mad);

  std::vector<FakeNode> nodes_;
  std::deque<Waiting> arrivals_;
  std::uint16_t next_lid_ = 1;
};

}  // namespace weft::fakes
