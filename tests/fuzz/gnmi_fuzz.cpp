// SPDX-License-Identifier: Apache-2.0
// Lines of what a switch tells by gNMI: "+/path value" with a text, "#/path {JSON}", "-/path" for what is deleted.
// Nothing that it tells breaks the readings that are made of it.
#include <algorithm>
#include <chrono>

#include "collectors/gnmi/port_setting.hpp"
#include "collectors/gnmi/switch_state.hpp"
#include "fuzz.hpp"

using namespace weft;
using fuzz::demand;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = fuzz::text_of(data, size);
  gnmi::SwitchState state({.ports = 8, .values = 16});
  gnmi::PortTold told;  // of Ethernet1, as before and after it is set
  TimePoint now{std::chrono::hours(1)};
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    if (line.empty()) continue;
    const char kind = line.front();
    line.remove_prefix(1);
    const std::size_t end = kind == '-' ? line.size() : std::min(line.find(' '), line.size());
    auto path = gnmi::parse_path(line.substr(0, end));
    if (!path) continue;
    const std::string before = gnmi::to_text(*path);
    const std::string_view value = line.substr(std::min(end + 1, line.size()));
    if (kind == '-')
      state.remove(*path);
    else
      state.update(*path, kind == '#' ? gnmi::Value(gnmi::Json{value}) : gnmi::Value(value), now);
    gnmi::take_port(*path, kind == '#' ? gnmi::Value(gnmi::Json{value}) : gnmi::Value(value), "Ethernet1", told);
    demand(!(told.is_shut() && told.is_enabled()), "a port is shut or enabled, or neither");
    demand(told.systems.size() <= gnmi::PortTold::kMostSystems, "no more neighbours than are allowed");
    demand(gnmi::to_text(*path) == before, "the path is as before");
    now += std::chrono::seconds(1);
    const HostReading reading = state.reading(now, now, std::chrono::seconds(5));
    demand(reading.inventory != nullptr, "there is an inventory");
    demand(reading.inventory->ports.size() <= 8, "no more ports than are allowed");
    demand(reading.values.size() == reading.inventory->series.size(), "a value for each series");
    demand(reading.present.size() == reading.values.size(), "each is there or not");
    demand(std::ranges::is_sorted(reading.inventory->ports, {}, &HostPort::device), "ports are sorted");
    for (std::size_t i = 0; i < reading.values.size(); ++i)
      demand(reading.present[i] != 0 || reading.values[i] == 0, "what is absent is nothing");
  }
  return 0;
}
