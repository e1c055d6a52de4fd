// SPDX-License-Identifier: Apache-2.0
#pragma once
// Optical modules through ethtool netlink. Their memory hangs on a slow bus (some 10 ms a page), so that one module is
// read at a time, and each only once in an interval. Needs CAP_NET_ADMIN.

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collectors/ethernet/ethtool_source.hpp"
#include "collectors/ethernet/module_memory.hpp"
#include "fabric/clock.hpp"
#include "fabric/config_facts.hpp"

namespace weft::ethernet {

/// Reads the monitors of optical modules, one module at a time.
class ModuleSource {
 public:
  /// `interval`: each module is read once in this time.
  explicit ModuleSource(Duration interval) : interval_(interval) {}

  /// From now on the modules of these interfaces are read; each new one is looked at here.
  void watch(std::span<const Interface> interfaces, EthtoolSource& ethtool, TimePoint now);
  /// Enters the series of the modules.
  void enter(SeriesRegistry& book);
  /// Reads the module that waited longest, if one is due; of the others the last values stand.
  void read(ValueSink& sink, EthtoolSource& ethtool, TimePoint now);
  /// True when a module measures something that is not entered yet.
  bool has_new() const;
  /// Adds what the module at that interface says of who made it, and its limits.
  void read_facts(const std::string& interface, std::vector<FactValue>& facts) const;
  /// True once after another module was seen at a port, or none any more.
  bool take_changes() { return std::exchange(is_changed_, false); }
  /// Always ok; the message says what kept modules from being read.
  SourceStatus status() const { return {"module", true, trouble_}; }

 private:
  struct Module {
    Interface interface;
    ModuleMemory memory;
    ModuleIdentity identity;
    ModuleLimits limits;
    Figures figures;
    AnswerSlots slots;
    TimePoint read_at = kNever;
    bool is_supported = true;
  };

  void look_at(Module& module, EthtoolSource& ethtool, TimePoint now);
  /// Reads a part anew; one that does not answer is absent then.
  void read_part(Module& module, EthtoolSource& ethtool, ModulePart part);
  static void forget_fixed_parts(Module& module);

  Duration interval_;
  std::vector<Module> modules_;
  bool is_changed_ = false;
  std::string trouble_;
};

}  // namespace weft::ethernet
