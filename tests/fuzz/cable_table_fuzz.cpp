// SPDX-License-Identifier: Apache-2.0
#include "collectors/cabling/cable_table.hpp"

#include <charconv>
#include <set>
#include <string>
#include <utility>

#include "collectors/cabling/cabling_file.hpp"
#include "fuzz.hpp"

// Whatever a table holds: cables with two ends, none of them twice, at ports that a node can have; or faults with their
// lines. Graphs are the matter of cabling_fuzz.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weft::fuzz::demand;
  const auto text = weft::fuzz::text_of(data, size);
  weft::cabling::Faults faults(text);
  const auto cables = weft::cabling::read_cable_table(text, weft::cabling::CablingLimits::kMostCables, faults);
  std::size_t last = 0;
  for (const auto& cable : cables) demand(std::exchange(last, cable.line) < cable.line, "a cable stands in a line");
  if (!faults.empty()) demand(faults.error().message.starts_with("line "), "a fault names its line");
  if (!weft::cabling::is_cable_table(text)) return 0;
  const auto parsed = weft::cabling::parse_subnet_cabling(text);
  if (!parsed) {
    demand(parsed.error().code == weft::ErrorCode::kInvalidArgument, "a wrong file is the file's fault");
    demand(parsed.error().message.starts_with("line "), "a fault names its line");
    return 0;
  }
  demand(!parsed->cables.empty(), "a plan has cables");
  std::set<std::pair<std::uint32_t, std::string>> ends;
  std::set<std::string> names;
  for (const auto& node : parsed->nodes) demand(names.insert(node.name).second, "a name stands for one node");
  for (const auto& cable : parsed->cables) {
    demand(cable.a.node != cable.b.node, "a cable leads elsewhere");
    for (const weft::CableEnd* end : {&cable.a, &cable.b}) {
      demand(end->node < parsed->nodes.size(), "an end is at a node of the plan");
      demand(ends.emplace(end->node, end->port).second, "a port has one cable");
      int number = 0;
      const char* const behind = end->port.data() + end->port.size();
      demand(std::from_chars(end->port.data(), behind, number).ptr == behind, "a port of a subnet is a number");
      demand(number >= 1 && number <= 254, "and one that a node can have");
    }
  }
  return 0;
}
