// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which host an adapter belongs to. Its NodeDescription is a claim: any root can write one, and cloned images repeat
// it. The GUIDs that a host's collector reads in sysfs, and the node name map that an operator wrote, say who it is.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/remedy/settings.hpp"
#include "fabric/result.hpp"

namespace weft::analyzer {

/// What others than the host itself say of its adapters.
struct HostIdentity {
  /// How sure it is.
  enum class State : std::uint8_t {
    kConfirmed,     ///< all its adapters are known to be its own
    kUnconfirmed,   ///< nobody says so of one of them, or its name is shared: a person must look
    kContradicted,  ///< somebody says otherwise
  };
  State state = State::kConfirmed;
  std::string explanation;  ///< one sentence with the names and GUIDs in it
};

/// The adapters of all subnets, with the hosts that they claim and those that report them. Of Ethernet fabrics, where
/// GUIDs are made from names, nothing is in it: there a host is known by its collector.
class HostIdentities {
 public:
  /// Takes the view's subnets and inventories over. Cheap where neither changed.
  void update(const RemedyView& view);

  /// The host that the adapter is in: the one whose collector alone reports it, else the one of its name. Empty for an
  /// adapter that nobody named or that is not known here.
  std::string host_of(NodeGuid adapter) const;
  /// The host that the adapter, or the adapter of the port, is in by the word of others: the one collector that reports
  /// it, or the node name map. kNotFound: no such adapter; kFailedPrecondition: nobody says so, or they contradict each
  /// other.
  Result<std::string> confirmed_host_of(std::uint64_t guid) const;
  /// Whether `host` is who has the adapters that bear its name, and those that `incident` (may be null) is about.
  HostIdentity identify(std::string_view host, const Incident* incident) const;
  /// Whether the GUID is that of an adapter, or of an adapter's port, that is reported by the host's collector or bears
  /// the host's name.
  bool has_guid(std::string_view host, std::uint64_t guid) const;
  /// Whether an adapter of that name, which need not be a true one, is the host's as of has_guid().
  bool has_adapter(std::string_view host, std::string_view name) const;
  /// Names with the short name of `host` that adapters or collectors are known by, each once but for case.
  std::span<const std::string> names_like(std::string_view host) const;
  /// Those of `names`, all of one short name, that are names of another host than `host`. A short name and a full one
  /// are names of one host unless are_two(). Of a short `host`, which is nobody's for sure where several full names fit
  /// it, all full names.
  std::vector<std::string> other_hosts(std::span<const std::string> names, std::string_view host) const;
  /// other_hosts() of names_like(): a scheduler that knows hosts by short names may take them for `host`.
  std::vector<std::string> namesakes(std::string_view host) const { return other_hosts(names_like(host), host); }

 private:
  struct Adapter {
    NodeGuid guid;
    std::string name;
    std::string claimed;                  ///< host of its name; empty: nobody named it
    bool is_given = false;                ///< that name stands in the node name map
    std::vector<std::uint64_t> ports{};   ///< their GUIDs
    std::vector<std::uint32_t> owners{};  ///< hosts whose collectors report it; the connected ones where there are any
  };
  struct Reporter {
    std::string host;
    CollectorState state = CollectorState::kDisconnected;
    std::shared_ptr<const HostInventory> inventory;
    bool operator==(const Reporter&) const = default;
  };
  /// What is known of exactly one name.
  struct Traces {
    bool is_connected = false;            ///< its collector is
    bool is_read = false;                 ///< its collector told adapters
    std::vector<std::uint32_t> adapters;  ///< that bear the name or that its collector told
  };

  void rebuild();
  bool owns(const Adapter& adapter, std::string_view host) const;
  std::string both_report(const Adapter& adapter) const;
  std::string is_reported_by_other(const Adapter& adapter) const;
  HostIdentity of_collector(std::string_view host) const;
  HostIdentity of_adapters(std::string_view host, const Incident* incident) const;
  void add_name(const std::string& host);
  void add_names(const Adapter& adapter);
  bool bears_its_name(const Adapter& adapter) const;
  Traces traces(std::string_view name) const;
  /// Two hosts were seen under a short name and a full one: two collectors are connected, or a collector of one did not
  /// tell the other's adapters, or both have a device of one name.
  bool are_two(std::string_view a, std::string_view b) const;

  std::vector<std::shared_ptr<const Topology>> subnets_;
  bool all_seen_ = false;  ///< no fabric is still without a sweep
  std::vector<Reporter> reporters_;
  std::vector<Adapter> adapters_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_guid_;
  std::unordered_multimap<std::string, std::uint32_t> by_host_;      ///< by short name, claimed or reporting
  std::unordered_multimap<std::string, std::uint32_t> reporting_;    ///< reporters by short name
  std::unordered_map<std::string, std::vector<std::string>> names_;  ///< of hosts, by short name
};

}  // namespace weft::analyzer
