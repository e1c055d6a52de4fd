// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/port_report/report_line.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weft::port;
  using weft::fuzz::demand;
  const std::string text(weft::fuzz::text_of(data, size));
  const auto report = parse_line(text);
  const auto again = parse_line(to_line(report));
  demand(again.has_value() == report.has_value(), "what was read is written and read again");
  if (report) demand(again->outcome == report->outcome && again->behind == report->behind, "the same comes back");
  if (const auto key = parse_management_key(text))
    demand(parse_management_key(std::to_string(*key)) == *key, "a number");
  return 0;
}
