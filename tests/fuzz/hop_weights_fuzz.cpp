// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/hop_weights.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weft;
  using namespace weft::actuate;
  using weft::fuzz::demand;
  const std::string text(fuzz::text_of(data, size));
  const MarkOwner we{"1c9e0b7a5d3f2468", {7}};
  const LinkKey link = make_link_key({{0x200}, {9}}, {{0x300}, {1}});
  const std::string without = without_hop_weight(text, link, we);
  demand(without_hop_weight(without, link, we) == without, "taken out once is taken out");
  const std::string with = with_hop_weight(text, link, 64, "weft PLAN-7.1c9e0b7a5d3f2468: fuzz", we);
  demand(hop_weight_of(with, link.low, we).ours && hop_weight_of(with, link.high, we).weight == 64, "our lines count");
  const std::string back = without_hop_weight(with, link, we);
  demand(back == without || back == without + '\n', "lines of others stay as they are");
  demand(unreadable_hop_weight_line(with).has_value() == unreadable_hop_weight_line(text).has_value(),
         "ours spoil nothing");
  return 0;
}
