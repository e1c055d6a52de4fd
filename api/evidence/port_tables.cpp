// SPDX-License-Identifier: Apache-2.0
#include "api/evidence/port_tables.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "api/evidence/charts.hpp"
#include "api/evidence/html_parts.hpp"
#include "api/publication/html_text.hpp"
#include "fabric/counters.hpp"
#include "fabric/number_text.hpp"

namespace weft::api {

using namespace html_parts;

namespace {

const v1::Node* node_of(const v1::EvidencePack& pack, const v1::EvidencePort& port) {
  const auto found = std::ranges::find(pack.nodes(), port.port().node_guid(), &v1::Node::guid);
  return found == pack.nodes().end() ? nullptr : &*found;
}

std::string hexadecimal(std::uint64_t number) {
  std::string text;
  for (; number != 0 || text.empty(); number >>= 4) text.insert(text.begin(), "0123456789abcdef"[number & 15]);
  return "0x" + text;
}

/// A GUID of zero is none.
std::string of_guid(const std::string& guid) {
  return guid.find_first_not_of("0x") == std::string::npos ? std::string() : guid;
}

/// "4X NDR", of what was read.
std::string width_and_speed(const std::string& width, const std::string& speed) {
  return width + (width.empty() || speed.empty() ? "" : " ") + speed;
}

std::string module_value(const v1::CollectorValue& value) {
  const CounterInfo* info = find_counter(value.name());
  const std::string lane = value.has_instance() ? " (lane " + std::to_string(value.instance()) + ")" : "";
  const double number = info != nullptr ? base_value(info->unit, value.value()) : static_cast<double>(value.value());
  std::string unit = value.unit();
  if (unit == "thousandths of a degree Celsius") unit = "°C";
  if (unit == "nanowatts") unit = "W";
  if (unit == "microamperes") unit = "A";
  if (unit == "microvolts") unit = "V";
  return html_text(counter_title(value.name()) + lane + ": " + short_number(number) + ' ' + unit);
}

using Field = std::pair<const char*, std::function<std::string(const v1::EvidencePort&)>>;

/// What identifies a port, and how it is. Each gives HTML, and nothing where it does not apply.
std::vector<Field> fields_of(const v1::EvidencePack& pack) {
  const auto node = [&pack](std::string (*of)(const v1::Node&)) {
    return [&pack, of](const v1::EvidencePort& port) {
      const v1::Node* found = node_of(pack, port);
      return found == nullptr ? std::string(kNotKnown) : known(of(*found));
    };
  };
  const auto port = [](std::string (*of)(const v1::Port&)) {
    return [of](const v1::EvidencePort& each) { return each.has_port() ? known(of(each.port())) : kNotKnown; };
  };
  const auto device = [](std::string (*of)(const v1::HostDevice&)) {
    return [of](const v1::EvidencePort& each) { return each.has_device() ? known(of(each.device())) : kNotKnown; };
  };
  return {
      {"Node", node([](const v1::Node& each) { return each.name(); })},
      {"Its description", node([](const v1::Node& each) { return each.description(); })},
      {"Type", node([](const v1::Node& each) { return v1::Node::Type_Name(each.type()); })},
      {"Node GUID", node([](const v1::Node& each) { return each.guid(); })},
      {"System image GUID", node([](const v1::Node& each) { return of_guid(each.system_image_guid()); })},
      {"Vendor (IEEE OUI), device", node([](const v1::Node& each) {
         return each.vendor_id() == 0 ? "" : hexadecimal(each.vendor_id()) + ", " + hexadecimal(each.device_id());
       })},
      {"Port", port([](const v1::Port& each) {
         return std::to_string(each.port()) + (each.name().empty() ? "" : " (" + each.name() + ")");
       })},
      {"Port GUID", port([](const v1::Port& each) { return of_guid(each.guid()); })},
      {"LID", port([](const v1::Port& each) { return each.lid() == 0 ? "" : std::to_string(each.lid()); })},
      {"Other end", port([](const v1::Port& each) {
         if (!each.has_peer()) return std::string();
         return each.peer().node() +
                (each.peer().name().empty() ? " port " + std::to_string(each.peer().port()) : ' ' + each.peer().name());
       })},
      {"State", port([](const v1::Port& each) {
         return v1::Port::State_Name(each.state()) + ", physical " +
                v1::Port::PhysicalState_Name(each.physical_state());
       })},
      {"Width and speed", port([](const v1::Port& each) { return width_and_speed(each.width(), each.speed()); })},
      {"Enabled",
       port([](const v1::Port& each) { return width_and_speed(each.width_enabled(), each.speed_enabled()); })},
      {"Supported",
       port([](const v1::Port& each) { return width_and_speed(each.width_supported(), each.speed_supported()); })},
      {"Data rate", port([](const v1::Port& each) {
         return each.rate_bits_per_second() > 0 ? rate_text(each.rate_bits_per_second()) : std::string();
       })},
      {"Errors per bit now", port([](const v1::Port& each) {
         return each.rates().has_error_rate() ? short_number(each.rates().error_rate()) : std::string();
       })},
      {"Counters read at", port([](const v1::Port& each) {
         return each.has_counters_read_at() ? when(each.counters_read_at()) : std::string();
       })},
      {"Host", device([](const v1::HostDevice& each) { return each.host(); })},
      {"Device", device([](const v1::HostDevice& each) {
         return each.device() + (each.port() == 0 ? "" : " port " + std::to_string(each.port()));
       })},
      {"Interface", device([](const v1::HostDevice& each) { return each.interface(); })},
      {"Driver", device([](const v1::HostDevice& each) { return each.driver(); })},
      {"Firmware", device([](const v1::HostDevice& each) { return each.firmware(); })},
      {"Board (PSID)", device([](const v1::HostDevice& each) { return each.board_id(); })},
      {"Device type", device([](const v1::HostDevice& each) { return each.device_type(); })},
      {"PCI address", device([](const v1::HostDevice& each) { return each.pci_address(); })},
      {"Module, as read",
       [](const v1::EvidencePort& each) {
         std::string html;
         for (const v1::CollectorValue& value : each.device().module())
           html += (html.empty() ? "" : "<br>") + module_value(value);
         return html.empty() ? kNotKnown : html;
       }},
  };
}

std::string counter_name(const v1::Counter& counter) {
  return counter.name() + (counter.has_instance() ? " [" + std::to_string(counter.instance()) + "]" : "");
}

}  // namespace

std::string ends_of(const v1::EvidencePack& pack) {
  if (pack.ports().empty()) return section("ends", "Ports", "<p>None is known.</p>\n");
  const std::vector<Field> fields = fields_of(pack);
  if (pack.ports_size() > kMostBeside) {
    std::string rows = head({"Port", "Other end", "State", "Width and speed", "Port GUID", "Firmware"});
    const auto of = [&](const char* name, const v1::EvidencePort& port) {
      return std::ranges::find(fields, std::string_view(name),
                               [](const Field& each) { return std::string_view(each.first); })
          ->second(port);
    };
    for (const v1::EvidencePort& port : pack.ports())
      rows += cells({html_text(port.label()), of("Other end", port), of("State", port), of("Width and speed", port),
                     of("Port GUID", port), of("Firmware", port)});
    std::string nodes = head({"Node", "GUID", "Description", "Vendor, device"});
    for (const v1::Node& node : pack.nodes())
      nodes += cells({html_text(node.name()), html_text(node.guid()), html_text(node.description()),
                      hexadecimal(node.vendor_id()) + ", " + hexadecimal(node.device_id())});
    return section("ends", "Node and ports", table(nodes) + table(rows));
  }
  std::vector<std::string> names{""};
  for (const v1::EvidencePort& port : pack.ports()) names.push_back(port.label());
  std::string rows = head(names);
  for (const auto& [name, of] : fields) {
    rows += "<tr><th scope=\"row\">" + html_text(name);
    for (const v1::EvidencePort& port : pack.ports()) rows += "<td>" + of(port);
    rows += "</tr>\n";
  }
  return section("ends", pack.ports_size() == 2 ? "Both ends" : "Port", table(rows));
}

std::string counters_of(const v1::EvidencePack& pack) {
  const bool beside = pack.ports_size() <= kMostBeside;
  std::string rows;
  if (!beside) {
    rows = head({"Port", "Counter", "Value"});
    bool is_any = false;
    for (const v1::EvidencePort& port : pack.ports())
      for (const v1::Counter& counter : port.port().counters()) {
        const CounterInfo* info = find_counter(counter.name());
        if (info == nullptr || !info->is_error || counter.value() == 0) continue;
        is_any = true;
        rows += cells({html_text(port.label()), html_text(counter_name(counter)),
                       (counter.saturated() ? "at least " : "") + count_text(counter.value())});
      }
    if (!is_any) return section("counters", "Counters", "<p>No error counter that was read is above zero.</p>\n");
    return section("counters", "Error counters that are not zero", table(rows));
  }
  std::vector<std::string> names{"Counter", "Unit"};
  std::vector<std::string> order;
  std::set<std::string> seen;
  for (const v1::EvidencePort& port : pack.ports()) {
    names.push_back(port.label());
    for (const v1::Counter& counter : port.port().counters())
      if (seen.insert(counter_name(counter)).second) order.push_back(counter_name(counter));
  }
  if (order.empty()) return section("counters", "Counters", "<p>None was read.</p>\n");
  rows = head(names);
  for (const std::string& name : order) {
    std::string unit, values;
    for (const v1::EvidencePort& port : pack.ports()) {
      const auto found = std::ranges::find(port.port().counters(), name, counter_name);
      const bool is_there = found != port.port().counters().end();
      if (is_there) unit = found->unit();
      values +=
          "<td class=\"number\">" + (is_there ? (found->saturated() ? "at least " : "") + count_text(found->value())
                                              : std::string("<span class=\"muted\">not read</span>"));
    }
    rows += "<tr><th scope=\"row\">" + html_text(name) + "<td>" + html_text(unit) + values + "</tr>\n";
  }
  return section("counters", "Counters as last read",
                 "<p>They count since they were cleared last, which nobody tells. A value of \"at least\" stuck at its "
                 "top.</p>\n" +
                     table(rows));
}

}  // namespace weft::api
