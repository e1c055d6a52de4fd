// SPDX-License-Identifier: Apache-2.0
#include "api/evidence/port_tables.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "api/evidence/charts.hpp"
#include "api/evidence/html_parts.hpp"
#include "api/publication/html_text.hpp"
#include "fabric/config_facts.hpp"
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

std::string fact_of(const v1::EvidencePort& port, ConfigFact fact) {
  const auto found = std::ranges::find(port.device().facts(), row_of(fact).name, &v1::ConfigurationFact::name);
  return found == port.device().facts().end() ? std::string() : found->value();
}

/// "Mellanox MCP1600-C003 rev. A2, serial number MT1913VS01234", of what its memory tells.
std::string module_of(const v1::EvidencePort& port) {
  std::string text;
  const auto add = [&](const char* before, const std::string& value) {
    if (!value.empty()) text += (text.empty() ? "" : before[0] == ',' ? "" : " ") + std::string(before) + value;
  };
  add("", fact_of(port, ConfigFact::kModuleVendor));
  add("", fact_of(port, ConfigFact::kModulePart));
  add("rev. ", fact_of(port, ConfigFact::kModuleRevision));
  const std::string serial = fact_of(port, ConfigFact::kModuleSerial);
  if (!serial.empty()) text += (text.empty() ? "" : ", ") + std::string("serial number ") + serial;
  return text;
}

using Field = std::pair<const char*, std::function<std::string(const v1::EvidencePort&)>>;

/// The first of the fields that a collector tells; all after it are told by it, too.
constexpr std::string_view kFirstOfCollector = "Host";

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
      {"Module", [](const v1::EvidencePort& each) { return known(module_of(each)); }},
      {"What it measured",
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

/// Names behind commas; of those whose numbers follow each other, "virtual_lane_transmit_wait [0] to [15]", the first
/// and the last.
std::string in_short(const std::vector<std::string>& names) {
  const auto stem = [](const std::string& name) { return name.substr(0, name.find(" [")); };
  const auto number = [&stem](const std::string& name) {
    return name == stem(name) ? -1 : std::atoi(name.c_str() + stem(name).size() + 2);
  };
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (text.empty() ? "" : ", ") + names[i];
    std::size_t last = i;
    while (last + 1 < names.size() && stem(names[last + 1]) == stem(names[i]) &&
           number(names[last + 1]) == number(names[last]) + 1)
      ++last;
    if (last <= i + 1) continue;
    text += " to" + names[last].substr(stem(names[last]).size());
    i = last;
  }
  return text;
}

}  // namespace

std::string ends_of(const v1::EvidencePack& pack) {
  if (pack.ports().empty()) return section("ends", "Ports", "<p>None is known.</p>\n");
  const std::vector<Field> fields = fields_of(pack);
  if (pack.ports_size() > kMostBeside) {
    std::string rows = head({"Port", "Other end", "State", "Width and speed", "Port GUID", "Firmware", "Module"});
    const auto of = [&](const char* name, const v1::EvidencePort& port) {
      return std::ranges::find(fields, std::string_view(name),
                               [](const Field& each) { return std::string_view(each.first); })
          ->second(port);
    };
    for (const v1::EvidencePort& port : pack.ports())
      rows += cells({html_text(port.label()), of("Other end", port), of("State", port), of("Width and speed", port),
                     of("Port GUID", port), of("Firmware", port), of("Module", port)});
    std::string nodes = head({"Node", "GUID", "Description", "Vendor, device"});
    for (const v1::Node& node : pack.nodes())
      nodes += cells({html_text(node.name()), html_text(node.guid()), html_text(node.description()),
                      hexadecimal(node.vendor_id()) + ", " + hexadecimal(node.device_id())});
    return section("ends", "Node and ports", (pack.nodes().empty() ? "" : table(nodes)) + table(rows));
  }
  std::vector<std::string> names{""};
  for (const v1::EvidencePort& port : pack.ports()) names.push_back(port.label());
  std::string rows = head(names);
  const bool is_any_told = std::ranges::any_of(pack.ports(), &v1::EvidencePort::has_device);
  for (const auto& [name, of] : fields) {
    if (!is_any_told && name == kFirstOfCollector) {
      rows += "<tr><th scope=\"row\">Host, device, driver, firmware and module";
      for (int i = 0; i < pack.ports_size(); ++i) rows += std::string("<td>") + kNotKnown;
      rows += "</tr>\n";
      break;
    }
    rows += "<tr><th scope=\"row\">" + html_text(name);
    for (const v1::EvidencePort& port : pack.ports()) rows += "<td>" + of(port);
    rows += "</tr>\n";
  }
  return section("ends", pack.ports_size() == 2 ? "Both ends" : "Port", table(rows));
}

std::string settings_of(const v1::EvidencePack& pack) {
  std::set<std::string> names;
  for (const v1::EvidencePort& port : pack.ports())
    for (const v1::ConfigurationFact& fact : port.device().facts()) names.insert(fact.name());
  if (names.empty() || pack.ports_size() > kMostBeside) return {};
  std::vector<std::string> columns{"Setting"};
  for (const v1::EvidencePort& port : pack.ports()) columns.push_back(port.label());
  columns.emplace_back("Read from");
  std::string rows = head(columns);
  for (std::size_t i = 0; i < kConfigFacts; ++i) {
    const ConfigFactRow& row = row_of(static_cast<ConfigFact>(i));
    if (!names.contains(row.name)) continue;
    std::vector<std::string> values{html_text(row.words)};
    for (const v1::EvidencePort& port : pack.ports()) {
      const std::string value = fact_of(port, static_cast<ConfigFact>(i));
      values.push_back(value.empty() ? kNotKnown
                                     : html_text(value + (*row.unit == '\0' ? "" : ' ' + std::string(row.unit))));
    }
    values.push_back("<span class=\"muted\">" + html_text(row.read_from) + "</span>");
    rows += cells(values);
  }
  std::string read;
  for (const v1::EvidencePort& port : pack.ports())
    if (port.device().has_facts_read())
      read +=
          "<p class=\"muted\">" + html_text(port.label()) + ": read " + when(port.device().facts_read()) + ".</p>\n";
  return section("settings", "How they are set up", table(rows) + read);
}

std::string differences_of(const v1::EvidencePack& pack) {
  if (pack.incident().kind() != v1::Incident::CONFIG_DRIFT) return {};
  if (pack.differences().empty())
    return section("differences", "What differs", "<p>When this was made nothing of it differed any more.</p>\n");
  std::string html;
  for (const v1::DriftDifference& each : pack.differences()) {
    const std::string unit = each.unit().empty() ? "" : ' ' + each.unit();
    html += "<h3>" + html_text(each.fact() + " of " + each.group()) + "</h3>\n<p>" +
            html_text(count_text(each.members()) + " ports or adapters of " + count_text(each.hosts()) + " hosts: ");
    for (const v1::DriftValue& value : each.values())
      html += (&value == &each.values(0) ? "" : ", ") + html_text(count_text(value.count()) + " have ") + "<b>" +
              html_text(value.value() + unit) + "</b>";
    if (each.values_left_out() > 0) html += ", " + count_text(each.values_left_out()) + " have other values";
    html += ".</p>\n";
    if (each.holders().empty()) continue;
    std::string rows = head({"Differs", "Value", "Since, at the latest"});
    for (const v1::DriftHolder& holder : each.holders())
      rows += cells({html_text(holder.where().label()), html_text(holder.value() + unit),
                     (holder.has_since() ? when(holder.since()) : kNotKnown) +
                         (holder.young() ? " (it may be a rollout)" : std::string())});
    html += table(rows);
    if (each.differing() > static_cast<std::uint32_t>(each.holders_size()))
      html += "<p>" + count_text(each.differing() - static_cast<std::uint32_t>(each.holders_size())) +
              " more are not listed.</p>\n";
  }
  return section("differences", "What differs", html);
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
  std::vector<std::string> zero;
  for (const std::string& name : order) {
    std::string unit, values;
    if (std::ranges::all_of(pack.ports(), [&name](const v1::EvidencePort& port) {
          const auto found = std::ranges::find(port.port().counters(), name, counter_name);
          return found != port.port().counters().end() && found->value() == 0;
        })) {
      zero.push_back(name);
      continue;
    }
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
                     table(rows) + (zero.empty() ? "" : "<p>Read, and zero: " + html_text(in_short(zero)) + ".</p>\n"));
}

}  // namespace weft::api
