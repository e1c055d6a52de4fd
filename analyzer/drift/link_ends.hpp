// SPDX-License-Identifier: Apache-2.0
#pragma once
// Settings that differ between the two ends of a link, where collectors tell of both.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analyzer/drift/cohorts.hpp"
#include "analyzer/ports/host_watch.hpp"

namespace weft::analyzer {

/// One setting of one link.
struct EndsDiffer {
  Entity link;
  ConfigFact fact = ConfigFact::kMtu;
  Entity low, high;                ///< the ends, in the order of the link's keys; `host` is set
  FactHolder low_port, high_port;  ///< the same as their hosts call them
  std::string low_value, high_value;
  TimePoint since = kNever;  ///< when it was first seen
};

/// Whether the host's port is one of a switch.
using IsSwitch = std::function<bool(const SubnetPlace& place)>;

/// Looks at links of Ethernet fabrics. FEC and PFC should be the same at both ends. So should the MTU, but a switch may
/// take larger frames than its hosts send.
class LinkEnds {
 public:
  /// Looks at all links.
  void look(const Hosts& hosts, const Cohorts& cohorts, const IsSwitch& is_switch, TimePoint now);
  /// What differs, by link and then by fact.
  const std::vector<EndsDiffer>& differing() const { return differing_; }
  /// Whether collectors told of both ends of that link when it was last looked at, or of one that is elsewhere now.
  bool is_known(const Entity& link) const;

 private:
  std::vector<EndsDiffer> differing_;
  std::map<PortKey, PortKey> known_;  ///< an end whose facts are known → the other one; itself: it is not known
};

}  // namespace weft::analyzer
