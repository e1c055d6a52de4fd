// SPDX-License-Identifier: Apache-2.0
#include "fabric/sweep.hpp"

namespace weft {

const char* to_string(MadResult result) {
  switch (result) {
    case MadResult::kOk:
      return "ok";
    case MadResult::kTimeout:
      return "timeout";
    case MadResult::kRetried:
      return "retried";
    case MadResult::kBadStatus:
      return "bad_status";
    case MadResult::kUnsupported:
      return "unsupported";
    case MadResult::kMalformed:
      return "malformed";
    case MadResult::kUnexpected:
      return "unexpected";
    case MadResult::kSendFailed:
      return "send_failed";
    case MadResult::kCount:
      break;
  }
  return "unknown";
}

}  // namespace weft
