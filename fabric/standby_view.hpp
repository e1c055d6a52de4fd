// SPDX-License-Identifier: Apache-2.0
#pragma once
// The other weftd of a pair, as its leader sees it.

#include <chrono>
#include <string>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/sight.hpp"

namespace weft {

/// A weftd that last asked the database longer ago would not take over: it looks once a second.
inline constexpr Duration kStandbySilence = std::chrono::seconds(10);

/// The weftd that would take over.
struct StandbyView {
  std::string holder;                  ///< "host, process 123"; empty: none stands by
  Duration seen{};                     ///< since it last asked the database who leads
  std::vector<FabricSight> fabrics{};  ///< what it sees, as it says; empty: nothing, or it is not known
  /// It would take over. One that hangs, or lost the database, asks no more.
  bool is_there() const { return !holder.empty() && seen <= kStandbySilence; }
  bool operator==(const StandbyView&) const = default;
};

}  // namespace weft
