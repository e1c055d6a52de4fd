// SPDX-License-Identifier: Apache-2.0
// The memory of a module: its parts one after the other, as many as there are.
#include "collectors/ethernet/module_memory.hpp"

#include "fabric/counters.hpp"
#include "fuzz.hpp"

namespace {

const std::string kPrintable = [] {
  std::string letters;
  for (char letter = ' '; letter <= '~'; ++letter) letters += letter;
  return letters;
}();

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weft;
  using ethernet::ModuleMemory;
  using ethernet::ModulePart;
  ModuleMemory memory;
  netlink::Bytes rest = std::as_bytes(std::span(data, size));
  for (int part = 0; part < static_cast<int>(ModulePart::kCount); ++part) {
    const netlink::Bytes bytes = rest.first(std::min(rest.size(), ModuleMemory::kPartSize));
    memory.set(static_cast<ModulePart>(part), bytes);
    rest = rest.subspan(bytes.size());
  }
  fuzz::demand(!ethernet::changing_parts(memory).empty(), "there is always something to read");
  for (const ModulePart part : ethernet::fixed_parts(memory)) ethernet::place_of(part);
  const ethernet::ModuleIdentity identity = ethernet::identity_of(memory);
  for (const std::string* text : {&identity.vendor, &identity.part_number, &identity.revision, &identity.serial_number})
    fuzz::demand(text->size() <= 16 && text->find_first_not_of(kPrintable) == std::string::npos, "printable ASCII");
  const ethernet::ModuleLimits limits = ethernet::limits_of(memory);
  for (const PartLimits& each : {limits.temperature, limits.bias, limits.transmit_power})
    fuzz::demand(parse_part_limits(to_text(each, 6), 6) == each, "limits come back as they were told");
  ethernet::Figures figures;
  ethernet::parse_module(memory, figures);
  fuzz::demand(figures.size() <= 2 + 3 * 8, "eight lanes at most");
  for (const ethernet::Figure& figure : figures) {
    const CounterInfo* info = find_counter(figure.name);
    fuzz::demand(info != nullptr && info->is_gauge, "what a module measures is a gauge of the catalogue");
    fuzz::demand(info->by_lane == (figure.lane != kNoLane), "lanes where the catalogue has them");
  }
  return 0;
}
