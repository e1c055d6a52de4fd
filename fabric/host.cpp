// SPDX-License-Identifier: Apache-2.0
#include "fabric/host.hpp"

namespace weft {

const char* to_string(Direction direction) {
  switch (direction) {
    case Direction::kTransmit:
      return "transmit";
    case Direction::kReceive:
      return "receive";
    case Direction::kNone:
      break;
  }
  return "";
}

const char* to_string(CollectorState state) {
  switch (state) {
    case CollectorState::kConnected:
      return "connected";
    case CollectorState::kSilent:
      return "silent";
    case CollectorState::kDisconnected:
      break;
  }
  return "disconnected";
}

}  // namespace weft
