// SPDX-License-Identifier: Apache-2.0
#include "fabric/drift_report.hpp"

#include <array>

#include "fabric/names.hpp"

namespace weft {
namespace {

constexpr std::array<const char*, 5> kDriftStates{"DIFFERS", "ROLLING_OUT", "TOO_FEW", "NO_MAJORITY", "ENDS_DIFFER"};

}  // namespace

const char* to_string(ConfigDriftState state) {
  return name_of(kDriftStates, state);
}

}  // namespace weft
