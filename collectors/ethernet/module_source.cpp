// SPDX-License-Identifier: Apache-2.0
#include "collectors/ethernet/module_source.hpp"

#include <linux/ethtool_netlink.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace weft::ethernet {

void ModuleSource::watch(std::span<const Interface> interfaces, EthtoolSource& ethtool, TimePoint now) {
  std::vector<Module> before = std::exchange(modules_, {});
  trouble_.clear();
  for (const Interface& interface : interfaces) {
    if (interface.driver.empty()) continue;  // no hardware, no module
    Module module;
    module.interface = interface;
    if (const auto known = std::ranges::find(before, interface, &Module::interface); known != before.end()) {
      module = std::move(*known);
      forget_fixed_parts(module);  // a link came up: behind it may be another module of the same kind
    } else {
      look_at(module, ethtool, now);
    }
    if (!trouble_.empty()) break;
    if (module.is_supported) modules_.push_back(std::move(module));
  }
}

void ModuleSource::enter(SeriesRegistry& book) {
  book.begin_source(CounterSource::kNetdev);
  for (Module& module : modules_) module.slots.enter(book);
}

void ModuleSource::read(ValueSink& sink, EthtoolSource& ethtool, TimePoint now) {
  const auto oldest = std::ranges::min_element(modules_, {}, &Module::read_at);
  if (oldest != modules_.end() && (now < oldest->read_at || now - oldest->read_at >= interval_))
    look_at(*oldest, ethtool, now);
  for (Module& module : modules_) put_figures(module.slots, module.figures, module.interface, &sink);
}

void ModuleSource::look_at(Module& module, EthtoolSource& ethtool, TimePoint now) {
  module.read_at = now;
  const ModuleKind before = module.memory.kind();
  read_part(module, ethtool, ModulePart::kLower);
  const ModuleKind kind = module.memory.kind();
  if (kind != before) forget_fixed_parts(module);
  for (const ModulePart part : changing_parts(module.memory))
    if (part != ModulePart::kLower) read_part(module, ethtool, part);
  // A module that is still waking up may not answer for all of them at first.
  for (const ModulePart part : fixed_parts(module.memory))
    if (module.memory.get(part) == nullptr) read_part(module, ethtool, part);
  ModuleIdentity identity = identity_of(module.memory);
  const ModuleLimits limits = limits_of(module.memory);
  if (identity != module.identity || limits != module.limits) is_changed_ = true;
  module.identity = std::move(identity);
  module.limits = limits;
  module.figures.clear();
  parse_module(module.memory, module.figures);
  put_figures(module.slots, module.figures, module.interface, nullptr);
}

void ModuleSource::read_facts(const std::string& interface, std::vector<FactValue>& facts) const {
  const auto found = std::ranges::find(modules_, interface, [](const Module& module) { return module.interface.name; });
  if (found == modules_.end()) return;
  const auto add = [&facts](ConfigFact fact, const std::string& value) {
    if (!value.empty()) facts.push_back({fact, FactSource::kEthtool, value});
  };
  add(ConfigFact::kModuleVendor, found->identity.vendor);
  add(ConfigFact::kModulePart, found->identity.part_number);
  add(ConfigFact::kModuleRevision, found->identity.revision);
  add(ConfigFact::kModuleSerial, found->identity.serial_number);
  // From thousandths of a degree, microamperes and nanowatts.
  add(ConfigFact::kModuleTemperatureLimits, to_text(found->limits.temperature, 3));
  add(ConfigFact::kModuleBiasLimits, to_text(found->limits.bias, 3));
  add(ConfigFact::kModuleTransmitPowerLimits, to_text(found->limits.transmit_power, 6));
}

void ModuleSource::forget_fixed_parts(Module& module) {
  module.memory.clear(ModulePart::kUpper);
  module.memory.clear(ModulePart::kAdvertisement);
  module.memory.clear(ModulePart::kQsfpLimits);
  module.memory.clear(ModulePart::kCmisLimits);
}

void ModuleSource::read_part(Module& module, EthtoolSource& ethtool, ModulePart part) {
  module.memory.clear(part);
  const int error = ethtool.read_module(module.interface, place_of(part),
                                        [&](netlink::Bytes bytes) { module.memory.set(part, bytes); });
  if (error == EOPNOTSUPP) module.is_supported = false;
  if (error == EPERM) trouble_ = "optical modules are not read: CAP_NET_ADMIN is missing";
}

bool ModuleSource::has_new() const {
  return std::ranges::any_of(modules_, [](const Module& module) { return module.slots.has_new(); });
}

}  // namespace weft::ethernet
