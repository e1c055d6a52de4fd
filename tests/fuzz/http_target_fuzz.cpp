// SPDX-License-Identifier: Apache-2.0
#include "api/request/target.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weft::fuzz::demand;
  const auto target = weft::api::parse_target(weft::fuzz::text_of(data, size));
  if (!target) {
    demand(target.error().code == weft::ErrorCode::kInvalidArgument, "a wrong target is its sender's fault");
    return 0;
  }
  for (const std::string& segment : target->path) {
    demand(segment.find('\0') == std::string::npos, "no NUL in a path");
    demand(segment.size() <= size, "decoding never grows");
  }
  for (const auto& [name, value] : target->query) {
    demand(name.find('\0') == std::string::npos && value.find('\0') == std::string::npos, "no NUL in a parameter");
    demand(target->parameter(name) == value, "a parameter is found by its name");
    (void)target->number(name);
  }
  return 0;
}
