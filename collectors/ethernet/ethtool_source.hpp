// SPDX-License-Identifier: Apache-2.0
#pragma once
// ethtool netlink: why a link is down, FEC, pause and standard statistics.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectors/ethernet/kernel_answers.hpp"
#include "collectors/ethernet/module_memory.hpp"
#include "fabric/config_facts.hpp"

namespace weft::ethernet {

/// Asks the kernel through ethtool netlink.
class EthtoolSource {
 public:
  /// Opens its socket and looks up the family; when that fails the source stays silent and status() says why.
  EthtoolSource();

  /// From now on these interfaces are asked.
  void watch(std::span<const Interface> interfaces);
  /// Enters the series of FEC alone.
  void enter_fec(SeriesRegistry& book);
  void enter(SeriesRegistry& book);  ///< all but FEC
  /// Asks the kernel and writes the values.
  void read(ValueSink& sink);
  /// True when answers had values that are not entered yet.
  bool has_new() const { return fec_.has_new() || answers_.has_new(); }

  /// Why the link of an interface is down, in ethtool(8)'s words; empty when it is up or nobody knows.
  std::string down_reason(const Interface& interface);

  /// Adds pause and FEC settings of an interface to `facts`; nothing where the driver has none.
  void read_facts(const Interface& interface, std::vector<FactValue>& facts);

  /// Reads 128 bytes of an interface's module and hands them to `take`. 0 or the kernel's errno: EPERM without
  /// CAP_NET_ADMIN, EOPNOTSUPP where the driver cannot, EIO and others where there is no module.
  int read_module(const Interface& interface, ModulePlace place, const std::function<void(netlink::Bytes)>& take);

  /// What went wrong last; ok when nothing did.
  SourceStatus status() const { return {"ethtool", trouble_.empty(), trouble_}; }

 private:
  std::optional<netlink::Socket> socket_;
  std::uint16_t family_ = 0;
  std::string trouble_;
  KernelAnswers fec_;
  KernelAnswers answers_;
};

}  // namespace weft::ethernet
