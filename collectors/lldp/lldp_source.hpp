// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who is heard at this host's interfaces by LLDP, as its lldpd knows. lldpd may hang, be restarted or be absent: a
// reading waits a few milliseconds for it and no longer, and goes on with the next one.

#include <memory>
#include <string>

#include "fabric/clock.hpp"
#include "fabric/host.hpp"
#include "fabric/neighbours.hpp"

namespace weft::lldp {

/// Where lldpd is, and how often it is asked.
struct LldpOptions {
  std::string socket;  ///< empty: where its library looks
  Duration interval = std::chrono::seconds(5);
};

/// Asks lldpd for everything, interface by interface, once in an interval.
class LldpSource {
 public:
  explicit LldpSource(LldpOptions options);
  ~LldpSource();
  LldpSource(LldpSource&&) noexcept;
  LldpSource& operator=(LldpSource&&) noexcept;

  /// Begins to ask when it is time to, or goes on with it; at most some 20 ms of that.
  void read(TimePoint now);
  /// As they were last read as a whole, and the same object until something changes; null: never.
  const std::shared_ptr<const NeighbourTable>& table() const { return table_; }
  /// When that was.
  TimePoint read_at() const { return read_at_; }
  /// Not ok: what was read before is not kept up to date.
  SourceStatus status() const;

 private:
  class Round;
  void fail(std::string trouble);

  LldpOptions options_;
  std::unique_ptr<Round> round_;  ///< null: not asking
  TimePoint began_ = kNever;      ///< the last time
  TimePoint read_at_ = kNever;
  std::shared_ptr<const NeighbourTable> table_;
  std::string trouble_;
  bool has_failed_ = false;  ///< the last time
};

}  // namespace weft::lldp
