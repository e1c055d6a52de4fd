// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <utility>

#include "collectors/cabling/cabling_file.hpp"
#include "fuzz.hpp"

// Whatever a file holds: cables with two ends, none of them twice, or faults with their lines. A text is read the same
// way each time, whatever was read before it: Graphviz' scanner is one for all.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weft::fuzz::demand;
  const auto text = weft::fuzz::text_of(data, size);
  const auto parsed = weft::cabling::parse_cabling(text, "^swp");
  const auto again = weft::cabling::parse_cabling(text, "^swp");
  demand(parsed.has_value() == again.has_value(), "the same text reads the same");
  if (!parsed) {
    demand(parsed.error().code == weft::ErrorCode::kInvalidArgument, "a wrong file is the file's fault");
    demand(parsed.error().message.starts_with("line "), "a fault names its line");
    demand(parsed.error().message == again.error().message, "and the same each time");
    return 0;
  }
  demand(*parsed == *again, "the same text gives the same plan");
  demand(!parsed->cables.empty(), "a plan has cables");
  std::set<std::pair<std::uint32_t, std::string>> ends;
  std::set<std::string> names;
  for (const auto& node : parsed->nodes) demand(names.insert(node.name).second, "a name stands for one node");
  for (const auto& cable : parsed->cables) {
    demand(cable.a.node != cable.b.node, "a cable leads elsewhere");
    for (const weft::CableEnd* end : {&cable.a, &cable.b}) {
      demand(end->node < parsed->nodes.size(), "an end is at a node of the plan");
      demand(ends.emplace(end->node, end->port).second, "a port has one cable");
    }
  }
  return 0;
}
