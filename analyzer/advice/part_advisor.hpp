// SPDX-License-Identifier: Apache-2.0
#pragma once
// Puts together what sweeps and hosts tell of a link in trouble, and says in its findings which part to touch first.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/advice/link_case.hpp"
#include "analyzer/advice/module_memory.hpp"
#include "analyzer/advice/start_times.hpp"
#include "analyzer/ports/host_watch.hpp"

namespace weft::analyzer {

/// The host with a collector that has the node; null: none.
using HostAt = std::function<const HostWatch*(NodeGuid)>;

/// Advice for findings of single links, see is_of_a_part(). Not thread-safe.
class PartAdvisor {
 public:
  /// After a host's series or ports have changed.
  void follow(const HostWatch& host, std::vector<std::uint32_t>& followed) { starts_.follow(host, followed); }
  /// A reading that is no history.
  void take(const HostWatch& host, const HostMovement& movement, const std::shared_ptr<const FactTable>& facts) {
    starts_.take(host, movement);
    modules_.take(host, facts, movement.taken);
  }
  /// What is remembered of modules, to be saved and restored.
  ModuleMemory& modules() { return modules_; }
  const ModuleMemory& modules() const { return modules_; }
  /// What the last sweep of `fabric` told; it takes the place of what the sweep before did.
  void learn(std::string_view fabric, std::vector<LinkCase> cases);

  /// Adds advice to findings of links, and of ports that only their hosts' collectors see.
  void advise(const Hosts& hosts, const HostAt& host_at, std::vector<Finding>& findings, TimePoint now);

 private:
  void add_host(const HostAt& host_at, const LinkCase& link, TimePoint now, LinkEnd& end);
  const LinkCase* find_case(const Entity& link) const;
  LinkCase case_of(const HostWatch& host, const PortWatch& port, const Entity& cause, TimePoint now);

  StartTimes starts_;
  ModuleMemory modules_;
  std::map<std::string, std::vector<LinkCase>, std::less<>> cases_;  ///< by fabric, sorted by link
};

}  // namespace weft::analyzer
