// SPDX-License-Identifier: Apache-2.0
#include "fabric/drift_report.hpp"

#include <array>

#include "fabric/names.hpp"

namespace weft {
namespace {

constexpr std::array<const char*, 6> kDriftStates{"DIFFERS",     "ROLLING_OUT", "TOO_FEW",
                                                  "NO_MAJORITY", "ENDS_DIFFER", "NOT_AS_EXPECTED"};

}  // namespace

const char* to_string(ConfigDriftState state) {
  return name_of(kDriftStates, state);
}

bool is_incident(ConfigDriftState state) {
  return state == ConfigDriftState::kDiffers || state == ConfigDriftState::kEndsDiffer ||
         state == ConfigDriftState::kNotAsExpected;
}

}  // namespace weft
