// SPDX-License-Identifier: Apache-2.0
#include "api/publication/age.hpp"

namespace weft::api {

std::string age_text(Duration age) {
  using namespace std::chrono;
  const auto whole = duration_cast<std::chrono::seconds>(age).count();
  if (whole < 1) return "just now";
  if (whole < 60) return std::to_string(whole) + " s ago";
  if (whole < 3600) return std::to_string(whole / 60) + " min ago";
  if (whole < 48 * 3600) return std::to_string(whole / 3600) + " h ago";
  return std::to_string(whole / 86400) + " d ago";
}

}  // namespace weft::api
