// SPDX-License-Identifier: Apache-2.0
#include "fabric/switch_target.hpp"

namespace weft {

const char* to_string(SwitchTargetState state) {
  switch (state) {
    case SwitchTargetState::kConnecting:
      return "connecting";
    case SwitchTargetState::kReading:
      return "reading";
    case SwitchTargetState::kRefused:
      return "refused";
    case SwitchTargetState::kSilent:
      return "silent";
    case SwitchTargetState::kCount:
      break;
  }
  return "unknown";
}

}  // namespace weft
