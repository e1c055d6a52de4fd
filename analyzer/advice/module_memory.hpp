// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which module was in which port of a host, where its cable led, and whether the link was in trouble meanwhile: so that
// after a swap it is known whether the trouble moved with the module or stayed with the port.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/advice/link_case.hpp"
#include "analyzer/ports/host_watch.hpp"
#include "fabric/analyzer_state.hpp"

namespace weft::analyzer {

/// The module as PortStay::module has it; empty where vendors tell no serial number, or one that is none: "N/A", zeros.
std::string module_name(std::string_view vendor, std::string_view part, std::string_view serial);

/// Is the module one piece with a cable? By the part numbers of one vendor: MCP and MCA are copper cables, MFA and MFS
/// active optical ones (NVIDIA LinkX, "Part number guide"); of others it is not known. `name`: as module_name().
bool has_fixed_cable(std::string_view name);

/// Remembers kMostStays for each port of each host. Not thread-safe.
class ModuleMemory {
 public:
  static constexpr std::size_t kMostStays = 4;

  /// Takes over what stays() said in the process before.
  void restore(const std::string& host, std::span<const PortStay> stays);
  /// What is known of the host, to be saved.
  std::vector<PortStay> stays(const std::string& host) const;
  /// Another number whenever stays() has changed so that it should be saved; 0: never.
  std::uint64_t revision(const std::string& host) const;
  /// Removes the host.
  void forget(const std::string& host);

  /// What the host's ports have now. `facts` may be null: then only its cables are known.
  void take(const HostWatch& host, const std::shared_ptr<const FactTable>& facts, TimePoint now);
  /// The link of that port was in trouble at `at`. What happens while somebody changes modules or cables is none.
  void note_trouble(const HostWatch& host, const PortWatch& port, TimePoint at);
  /// What a swap has shown of the port, of its module and of its cable.
  PortPast past(const HostWatch& host, const PortWatch& port, TimePoint now) const;

 private:
  struct PortRef {
    std::string host;
    std::string device;
    std::uint16_t port = 0;
    auto operator<=>(const PortRef&) const = default;
  };
  struct Known {
    std::vector<PortStay> stays;             ///< oldest first
    std::shared_ptr<const FactTable> facts;  ///< that were looked at last
    TimePoint looked = kNever;
    std::uint64_t revision = 0;
  };

  void take_port(const std::string& host, Known& known, const PortWatch& port, std::string module, TimePoint now);
  void index(const std::string& host, const PortStay& stay);
  const PortStay* present(const PortRef& at) const;
  bool is_one_module(const PortStay& stay, const PortRef& at) const;
  void find_moved(const PortStay& stay, const PortRef& at, TimePoint now, PortPast& past) const;

  std::map<std::string, Known, std::less<>> hosts_;
  std::map<std::string, std::set<PortRef>, std::less<>> by_module_;  ///< ports that have or had it
  std::map<PortKey, std::set<PortRef>> by_far_;                      ///< ports whose cable leads or led there
};

}  // namespace weft::analyzer
