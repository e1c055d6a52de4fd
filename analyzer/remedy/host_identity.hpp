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
  /// Whether `host` is who has the adapters that bear its name, and those that `incident` (may be null) is about.
  HostIdentity identify(std::string_view host, const Incident* incident) const;
  /// Whether the GUID is that of an adapter, or of an adapter's port, that is reported by the host's collector or bears
  /// the host's name.
  bool has_guid(std::string_view host, std::uint64_t guid) const;

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

  void rebuild();
  bool owns(const Adapter& adapter, std::string_view host) const;
  HostIdentity of_collector(std::string_view host) const;

  std::vector<std::shared_ptr<const Topology>> subnets_;
  bool all_seen_ = false;  ///< no fabric is still without a sweep
  std::vector<Reporter> reporters_;
  std::vector<Adapter> adapters_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_guid_;
  std::unordered_multimap<std::string, std::uint32_t> by_host_;  ///< by short name, claimed or reporting
};

}  // namespace weft::analyzer
