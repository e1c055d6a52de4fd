// SPDX-License-Identifier: Apache-2.0
#pragma once
// The moment of a scrape.

#include "fabric/clock.hpp"

namespace weft::api {

/// The moment of a scrape on both clocks: people set the one, and would end what is withheld on the other.
struct ScrapeTime {
  TimePoint wall;   ///< tells what is stale
  Duration steady;  ///< Clock::steady(): tells which first movements are withheld

  /// As of now.
  static ScrapeTime of(const Clock& clock) { return {clock.now(), clock.steady()}; }
};

}  // namespace weft::api
