#include "daemon/adapters/actuate/actuator.hpp"

namespace weft::actuate {
namespace {

constexpr std::string_view kMark = "weft PLAN-";

}  // namespace

const char* to_string(WorldState state) {
  switch (state) {
    case WorldState::kClear:
      return "clear";
    case WorldState::kOurs:
      return "ours";
    case WorldState::kForeign:
      return "foreign";
  }
  return "unknown";
}

std::string Order::marked_reason() const {
  std::string text = "weft " + plan_name(plan);
  if (incident != 0) text += ' ' + incident_name(incident);
  return text + ": " + reason;
}

bool is_our_mark(std::string_view text) {
  return text.starts_with(kMark);
}

}  // namespace weft::actuate
