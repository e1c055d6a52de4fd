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

/// A host that shared its short name with another one, and left, counts for so long: a scheduler still knows it.
inline constexpr Duration kNamesakesRememberedFor = std::chrono::hours(7 * 24);
/// So many of them are remembered, over all; those that only their adapters claimed give way first.
inline constexpr std::size_t kMostNamesakesRemembered = 4096;

/// The adapters of all subnets, with the hosts that they claim and those that report them. Of Ethernet fabrics, where
/// GUIDs are made from names, only the names of hosts are in it: they stand in the cable plan.
///
/// A name is confirmed when a collector, the node name map or a cable plan bears it. Any root can make an adapter claim
/// another name. So where a confirmed name is asked for, names that adapters only claim do not count: else a forged one
/// would keep people from draining the true host. They do count where no confirmed name is asked for: then nobody knows
/// which one is true.
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
  /// the host's name. A name that is only claimed does not count for a confirmed host.
  bool has_guid(std::string_view host, std::uint64_t guid) const;
  /// The adapters of subnets that are the host's as of has_guid().
  std::vector<NodeGuid> adapters_of(std::string_view host) const;
  /// Whether an adapter of that name, which need not be a true one, is the host's as of has_guid().
  bool has_adapter(std::string_view host, std::string_view name) const;
  /// Names with the short name of `host` that hosts are known by, each once but for case: all, or only confirmed ones
  /// where claims do not count for it.
  std::span<const std::string> names_like(std::string_view host) const;
  /// "n1.beta", or "n1.beta (not seen now)" of a host that left and is remembered.
  std::string with_absence(const std::string& name) const;
  /// A collector, the node name map or a cable plan bears exactly that name, in any case.
  bool is_confirmed_name(std::string_view host) const;
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

  /// A name that left while others of its short name were other hosts.
  struct Gone {
    std::string name;
    bool is_confirmed = false;
    std::vector<std::string> others;
    Duration since{};  ///< steady time of the first view without it
  };

  void rebuild();
  /// Names of now that are to be remembered when they leave.
  std::vector<Gone> with_namesakes() const;
  void remember(std::vector<Gone> before, Duration now);
  bool is_gone(std::string_view name) const;
  bool owns(const Adapter& adapter, std::string_view host) const;
  std::string both_report(const Adapter& adapter) const;
  std::string is_reported_by_other(const Adapter& adapter) const;
  std::string is_claimed_only(const Adapter& adapter) const;
  HostIdentity of_collector(std::string_view host) const;
  HostIdentity of_adapters(std::string_view host, const Incident* incident) const;
  /// It has a domain.
  static bool is_full(std::string_view host);
  using Names = std::unordered_map<std::string, std::vector<std::string>>;  ///< of hosts, by short name
  static void add_name(Names& names, const std::string& host);
  /// One of the names is the `same` as the host's.
  static bool is_in(const Names& names, std::string_view host, bool (*same)(std::string_view, std::string_view));
  void add_names(const Adapter& adapter);
  bool bears_its_name(const Adapter& adapter) const;
  /// `host` is not a confirmed name, nor a full one that adds its domain to a confirmed short one and that nobody
  /// claims.
  bool do_claims_count(std::string_view host) const;
  /// Somebody else than the adapter says so: the collector that reports it, or the node name map.
  bool is_confirmed(const Adapter& adapter) const { return !adapter.owners.empty() || adapter.is_given; }
  /// One sentence on the first adapter that claims the short name of a confirmed host and is not the host's. Of those
  /// whose claim nobody confirms, or of those that a collector contradicts. Empty: there is none.
  std::string claim_on(std::string_view host, bool contradicted) const;
  Traces traces(std::string_view name, bool with_claims) const;
  /// Two hosts were seen under a short name and a full one: two collectors are connected, or a collector of one did not
  /// tell the other's adapters, or both have a device of one name. `with_claims`: adapters whose name nobody confirms
  /// count too.
  bool are_two(std::string_view a, std::string_view b, bool with_claims) const;

  std::vector<std::shared_ptr<const Topology>> subnets_, ethernets_;
  bool all_seen_ = false;  ///< no fabric is still without a sweep
  std::vector<Reporter> reporters_;
  std::vector<Adapter> adapters_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_guid_;
  std::unordered_multimap<std::string, std::uint32_t> by_host_;    ///< by short name, claimed or reporting
  std::unordered_multimap<std::string, std::uint32_t> reporting_;  ///< reporters by short name
  Names names_, confirmed_;                                        ///< with those that are gone
  std::vector<Gone> gone_;                                         ///< by `since`
};

}  // namespace weft::analyzer
