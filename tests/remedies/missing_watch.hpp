// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long nodes are missing in sweeps, by the time in which somebody swept.

#include <array>
#include <cstdint>
#include <optional>

#include "fabric/clock.hpp"

namespace weft::remedies {

/// All times are World::steady().
class MissingWatch {
 public:
  /// A sweep did not reach the nodes of `missing`, a bit for each.
  void swept(std::uint32_t missing, Duration at);
  /// weftd starts, and may take the last sweep for one of up to a minute before the next.
  void restarted() { restarted_ = true; }
  /// Nodes that the last sweep did not reach, and that were missing for at most `span` of the time that sweeps watched,
  /// or that passed since the last one.
  unsigned lately(Duration span, Duration now) const;
  /// Nodes that the last sweep did not reach, a bit for each.
  std::uint32_t missing() const { return missing_; }

 private:
  std::uint32_t missing_ = 0;
  std::array<Duration, 32> watched_{};  ///< of those that are missing: for how long
  std::optional<Duration> last_;
  bool restarted_ = false;  ///< since the last sweep
};

}  // namespace weft::remedies
