// SPDX-License-Identifier: Apache-2.0
#include "collectors/gnmi/port_setting.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "collectors/gnmi/json_leaves.hpp"

namespace weft::gnmi {
namespace {

constexpr std::string_view kPort = "{PORT}";
constexpr std::size_t kLongestSystem = 255;  // IEEE 802.1AB, 8.5.6

constexpr auto kRows = std::to_array<PortSetting>({
    // NVIDIA Cumulus Linux has neither Get nor Set ("gNMI Streaming", RPC Methods, of its user guide), and the chapter
    // of that name of NVOS's manual knows subscriptions alone. They tell OpenConfig models, and NVIDIA's own beside
    // them.
    {.name = "nvidia", .mark = "nvidia"},
    // Nokia SR Linux: srl_nokia-interfaces.yang; Get and Set as in its System Management Guide, "gNMI".
    {.name = "srlinux",
     .mark = "srl_nokia",
     .kind = SettingKind::kText,
     .origin = "srl_nokia",
     .leaf = "/interface[name={PORT}]/admin-state",
     .state = "/interface[name={PORT}]/admin-state",
     .oper = "/interface[name={PORT}]/oper-state",
     .neighbours = "/system/lldp/interface[name={PORT}]/neighbor[id=*]/system-name"},
    // SONiC with its management framework: target OC-YANG, the module before the first name, and a leaf's value as a
    // member of an object (doc/gNMI_usage_examples.md of sonic-net/sonic-telemetry).
    {.name = "sonic",
     .mark = "sonic",
     .kind = SettingKind::kMember,
     .target = "OC-YANG",
     .leaf = "/openconfig-interfaces:interfaces/interface[name={PORT}]/config/enabled",
     .state = "/openconfig-interfaces:interfaces/interface[name={PORT}]/state/admin-status",
     .oper = "/openconfig-interfaces:interfaces/interface[name={PORT}]/state/oper-status",
     .neighbours = "/openconfig-lldp:lldp/interfaces/interface[name={PORT}]/neighbors"},
    // openconfig-interfaces.yang: Arista EOS (examples/gnmi-clients of aristanetworks/openmgmt), and whoever has it.
    {.name = "openconfig",
     .mark = "openconfig-interfaces",
     .kind = SettingKind::kBoolean,
     .leaf = "/interfaces/interface[name={PORT}]/config/enabled",
     .state = "/interfaces/interface[name={PORT}]/state/admin-status",
     .oper = "/interfaces/interface[name={PORT}]/state/oper-status",
     .neighbours = "/lldp/interfaces/interface[name={PORT}]/neighbors/neighbor[id=*]/state/system-name"},
});

/// "UP", "up", "enable", "enabled" and true; "DOWN", "down", "disable" and false. Others, as TESTING, are neither.
std::optional<bool> as_up(const Value& value) {
  if (const bool* const is = std::get_if<bool>(&value)) return *is;
  const auto text = as_text(value);
  if (!text) return std::nullopt;
  const std::string_view word = without_module(*text);
  const auto is = [word](std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
  };
  if (is({"UP", "up", "enable", "true"})) return true;
  if (is({"DOWN", "down", "disable", "false", "LOWER_LAYER_DOWN", "DORMANT", "NOT_PRESENT", "not-present"}))
    return false;
  return std::nullopt;
}

/// The entry of a list that the leaf belongs to is the port's, or none of its lists is told.
bool is_of_port(const Path& path, std::string_view port) {
  for (const Element& element : path.elements)
    if (without_module(element.name) == "interface")
      if (const auto name = path.key_of(element, "name"); name && *name != port) return false;
  return true;
}

void take_leaf(const Path& path, const Value& value, std::string_view port, PortTold& told) {
  if (path.elements.empty() || !is_of_port(path, port)) return;
  const std::string_view leaf = without_module(path.elements.back().name);
  const auto has = [&path](std::string_view name) {
    return std::ranges::any_of(path.elements, [name](const Element& one) { return without_module(one.name) == name; });
  };
  if (has("neighbors") || has("neighbor")) {
    const auto text = as_text(value);
    if (leaf != "system-name" || !text || text->empty() || told.systems.size() >= PortTold::kMostSystems) return;
    std::string name(text->substr(0, kLongestSystem));
    if (std::ranges::find(told.systems, name) == told.systems.end()) told.systems.push_back(std::move(name));
    return;
  }
  const auto put = [&value](std::optional<bool>& to) {
    if (const auto is = as_up(value)) to = is;
  };
  if (leaf == "enabled" && has("config")) put(told.is_set);
  if (leaf == "admin-state") put(told.is_set);
  if (leaf == "admin-status" && has("state")) put(told.admin_up);
  if (leaf == "oper-status" || leaf == "oper-state") put(told.oper_up);
}

}  // namespace

std::span<const PortSetting> port_settings() {
  return kRows;
}

const PortSetting* find_port_setting(std::string_view name) {
  const auto row = std::ranges::find(kRows, name, &PortSetting::name);
  return row == kRows.end() ? nullptr : &*row;
}

const PortSetting* choose_port_setting(std::span<const std::string> models) {
  for (const PortSetting& row : kRows)
    if (std::ranges::any_of(models, [&row](const std::string& model) { return model.find(row.mark) != model.npos; }))
      return &row;
  return nullptr;
}

std::optional<std::string> path_of_port(std::string_view path, std::string_view port) {
  if (port.empty() || port.find_first_of("[]\\") != std::string_view::npos) return std::nullopt;
  std::string text(path);
  if (const std::size_t at = text.find(kPort); at != std::string::npos) text.replace(at, kPort.size(), port);
  return text;
}

std::string setting_json(const PortSetting& row, bool is_enabled) {
  switch (row.kind) {
    case SettingKind::kBoolean:
      return is_enabled ? "true" : "false";
    case SettingKind::kText:
      return is_enabled ? "\"enable\"" : "\"disable\"";
    case SettingKind::kMember:
      return is_enabled ? R"({"enabled": true})" : R"({"enabled": false})";
    case SettingKind::kNone:
      break;
  }
  return "";
}

void take_port(Path& path, const Value& value, std::string_view port, PortTold& told) {
  const auto visit = [&](const Path& at, const Value& leaf) { take_leaf(at, leaf, port, told); };
  if (const Json* const json = std::get_if<Json>(&value))
    for_each_leaf(json->text, path, visit);
  else
    visit(path, value);
}

std::string to_text(const PortTold& told) {
  std::string text;
  const auto add = [&text](const std::optional<bool>& is, const char* yes, const char* no) {
    if (is) text.append(text.empty() ? "" : ", ").append(*is ? yes : no);
  };
  add(told.is_set, "enabled", "shut");
  add(told.admin_up, "admin UP", "admin DOWN");
  add(told.oper_up, "oper UP", "oper DOWN");
  return text.empty() ? "nothing was told" : text;
}

}  // namespace weft::gnmi
