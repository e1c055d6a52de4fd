// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/metric_names.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "daemon/programs/weftd/toml_table.hpp"
#include "fabric/counters.hpp"
#include "fabric/list_text.hpp"

namespace weft::daemon {
namespace {

constexpr std::uint8_t kPriorities = 8;

double number_of(const toml::node& node, std::string_view key) {
  const auto number = node.is_number() ? node.value<double>() : std::nullopt;
  if (!number || !std::isfinite(*number)) refuse_toml(node, std::string(key) + " must be a number");
  return *number;
}

std::vector<std::string> names_of(const toml::table& table, std::string_view key) {
  const toml::node* const node = table.get(key);
  if (node == nullptr) throw WrongToml{std::string(key) + " is missing: the names of attributes, as a list"};
  return toml_texts(*node, key, MetricNames::kMostNames);
}

gnmi::Leaf counter_of(const toml::table& table) {
  const toml::node& node = *table.get("counter");
  const std::string name = toml_text(node, "counter");
  const CounterInfo* const info = find_counter(name);
  if (info == nullptr || !info->on_hosts || info->is_gauge || info->by_lane)
    refuse_toml(node, "there is no counter '" + name + "' of ports: weftd --counter-reference lists them");
  gnmi::Leaf leaf{.path = {}, .kind = gnmi::LeafKind::kCounter, .counter = info->name};
  const std::string direction = optional_toml_text(table, "direction");
  if (direction == to_string(Direction::kTransmit)) leaf.direction = Direction::kTransmit;
  if (direction == to_string(Direction::kReceive)) leaf.direction = Direction::kReceive;
  if ((leaf.direction == Direction::kNone) == (info->by_direction || !direction.empty()))
    refuse_toml(node, info->by_direction ? name + " needs direction = \"transmit\" or \"receive\""
                                         : "direction must be \"transmit\" or \"receive\"");
  if (leaf.direction != Direction::kNone && !info->by_direction) refuse_toml(node, name + " has no direction");
  if (info->by_priority != (table.get("priority") != nullptr))
    refuse_toml(node, name + (info->by_priority ? " needs priority: the attribute with it" : " has no priority"));
  return leaf;
}

gnmi::Leaf leaf_of(const toml::table& table) {
  const toml::node* const is = table.get("is");
  if ((is != nullptr) == (table.get("counter") != nullptr)) refuse_toml(table, "either counter or is must be there");
  if (is == nullptr) return counter_of(table);
  for (const char* const key : {"direction", "priority", "part"})
    if (const toml::node* const node = table.get(key)) refuse_toml(*node, std::string(key) + " belongs to counter");
  const std::string kind = toml_text(*is, "is");
  if (kind == "state") return {.path = {}, .kind = gnmi::LeafKind::kOperStatus};
  if (kind == "speed") return {.path = {}, .kind = gnmi::LeafKind::kSpeed};
  refuse_toml(*is, "is must be \"state\" or \"speed\"");
}

MetricRow row_of(const toml::table& table) {
  constexpr std::array<std::string_view, 9> kKeys{"name",     "where", "counter", "is", "direction",
                                                  "priority", "part",  "scale",   "up"};
  refuse_unknown_toml(table, kKeys);
  MetricRow row;
  row.metric = wanted_toml_text(table, "name");
  row.leaf = leaf_of(table);
  row.priority = optional_toml_text(table, "priority");
  row.part = optional_toml_text(table, "part");
  if (const toml::node* const node = table.get("scale"))
    if (row.scale = number_of(*node, "scale"); row.scale <= 0) refuse_toml(*node, "scale must be above 0");
  if (const toml::node* const node = table.get("up")) {
    if (row.leaf.kind != gnmi::LeafKind::kOperStatus) refuse_toml(*node, "up belongs to is = \"state\"");
    row.up = number_of(*node, "up");
  }
  if (const toml::node* const node = table.get("where")) {
    const toml::table* const where = node->as_table();
    if (where == nullptr || where->size() > MetricNames::kMostNames)
      refuse_toml(*node, "where must be a table of at most " + std::to_string(MetricNames::kMostNames) + " texts");
    for (const auto& [key, value] : *where) row.where.emplace_back(key.str(), toml_text(value, key.str()));
  }
  return row;
}

const MetricAttribute* find(std::span<const MetricAttribute> attributes, std::string_view key) {
  const auto found = std::ranges::find(attributes, key, &MetricAttribute::key);
  return found == attributes.end() ? nullptr : &*found;
}

std::optional<std::string_view> first_of(const std::vector<std::string>& names,
                                         std::span<const MetricAttribute> attributes) {
  for (const std::string& name : names)
    if (const MetricAttribute* const found = find(attributes, name); found != nullptr && !found->value.empty())
      return found->value;
  return std::nullopt;
}

}  // namespace

Result<MetricNames> MetricNames::parse(std::string_view text) {
  return read_toml(text, [](const toml::table& root) {
    constexpr std::array<std::string_view, 3> kKeys{"node", "port", "metrics"};
    refuse_unknown_toml(root, kKeys);
    MetricNames table;
    table.node_ = names_of(root, "node");
    table.port_ = names_of(root, "port");
    for (const toml::table* const one : toml_tables(root, "metrics", kMostRows)) table.rows_.push_back(row_of(*one));
    for (std::size_t at = 0; at < table.rows_.size(); ++at) table.by_metric_[table.rows_[at].metric].push_back(at);
    return table;
  });
}

std::optional<std::string_view> MetricNames::node_of(std::span<const MetricAttribute> attributes) const {
  return first_of(node_, attributes);
}

std::string MetricNames::node_names() const {
  return name_list(node_, node_.size());
}

std::optional<MetricMatch> MetricNames::find(std::string_view metric,
                                             std::span<const MetricAttribute> attributes) const {
  const auto rows = by_metric_.find(metric);
  if (rows == by_metric_.end()) return std::nullopt;
  for (const std::size_t at : rows->second) {
    const MetricRow& row = rows_[at];
    const bool fits = std::ranges::all_of(row.where, [&](const auto& pair) {
      const MetricAttribute* const found = daemon::find(attributes, pair.first);
      return found != nullptr && found->value == pair.second;
    });
    if (!fits) continue;
    const auto port = first_of(port_, attributes);
    if (!port) return std::nullopt;
    MetricMatch match{.row = &row, .port = *port};
    if (!row.part.empty()) {
      const MetricAttribute* const part = daemon::find(attributes, row.part);
      if (part == nullptr) return std::nullopt;
      match.part = part->value;
    }
    if (!row.priority.empty()) {
      const MetricAttribute* const priority = daemon::find(attributes, row.priority);
      if (priority == nullptr || priority->value.size() != 1 || priority->value[0] < '0' ||
          priority->value[0] >= '0' + kPriorities)
        return std::nullopt;
      match.priority = static_cast<std::uint8_t>(priority->value[0] - '0');
    }
    return match;
  }
  return std::nullopt;
}

}  // namespace weft::daemon
