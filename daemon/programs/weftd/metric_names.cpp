// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/metric_names.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "fabric/counters.hpp"
#include "fabric/list_text.hpp"

namespace weft::daemon {
namespace {

constexpr std::uint8_t kPriorities = 8;
constexpr std::size_t kLongestText = 255;

/// What is wrong, and where.
struct Wrong {
  std::string what;
};

[[noreturn]] void refuse(const toml::node& node, const std::string& what) {
  throw Wrong{"line " + std::to_string(node.source().begin.line) + ": " + what};
}

std::string text_of(const toml::node& node, std::string_view key) {
  const auto text = node.value<std::string>();
  if (!node.is_string() || text->empty() || text->size() > kLongestText)
    refuse(node, std::string(key) + " must be a text of 1 to " + std::to_string(kLongestText) + " bytes");
  return *text;
}

double number_of(const toml::node& node, std::string_view key) {
  const auto number = node.is_number() ? node.value<double>() : std::nullopt;
  if (!number || !std::isfinite(*number)) refuse(node, std::string(key) + " must be a number");
  return *number;
}

std::vector<std::string> names_of(const toml::table& table, std::string_view key) {
  const toml::node* const node = table.get(key);
  if (node == nullptr) throw Wrong{std::string(key) + " is missing: the names of attributes, as a list"};
  const toml::array* const list = node->as_array();
  if (list == nullptr || list->empty() || list->size() > MetricNames::kMostNames)
    refuse(*node, std::string(key) + " must be a list of 1 to " + std::to_string(MetricNames::kMostNames) + " texts");
  std::vector<std::string> names;
  for (const toml::node& one : *list) names.push_back(text_of(one, key));
  return names;
}

void refuse_unknown(const toml::table& table, std::initializer_list<std::string_view> known) {
  for (const auto& [key, node] : table)
    if (std::ranges::find(known, key.str()) == known.end())
      refuse(node, "unknown key " + std::string(key.str()) + "; there are " +
                       name_list({known.begin(), known.end()}, known.size()));
}

std::string wanted(const toml::table& table, std::string_view key) {
  const toml::node* const node = table.get(key);
  if (node == nullptr) refuse(table, std::string(key) + " is missing");
  return text_of(*node, key);
}

std::string optional_text(const toml::table& table, std::string_view key) {
  const toml::node* const node = table.get(key);
  return node == nullptr ? std::string() : text_of(*node, key);
}

gnmi::Leaf counter_of(const toml::table& table) {
  const toml::node& node = *table.get("counter");
  const std::string name = text_of(node, "counter");
  const CounterInfo* const info = find_counter(name);
  if (info == nullptr || !info->on_hosts || info->is_gauge || info->by_lane)
    refuse(node, "there is no counter '" + name + "' of ports: weftd --counter-reference lists them");
  gnmi::Leaf leaf{.path = {}, .kind = gnmi::LeafKind::kCounter, .counter = info->name};
  const std::string direction = optional_text(table, "direction");
  if (direction == to_string(Direction::kTransmit)) leaf.direction = Direction::kTransmit;
  if (direction == to_string(Direction::kReceive)) leaf.direction = Direction::kReceive;
  if ((leaf.direction == Direction::kNone) == (info->by_direction || !direction.empty()))
    refuse(node, info->by_direction ? name + " needs direction = \"transmit\" or \"receive\""
                                    : "direction must be \"transmit\" or \"receive\"");
  if (leaf.direction != Direction::kNone && !info->by_direction) refuse(node, name + " has no direction");
  if (info->by_priority != (table.get("priority") != nullptr))
    refuse(node, name + (info->by_priority ? " needs priority: the attribute with it" : " has no priority"));
  return leaf;
}

gnmi::Leaf leaf_of(const toml::table& table) {
  const toml::node* const is = table.get("is");
  if ((is != nullptr) == (table.get("counter") != nullptr)) refuse(table, "either counter or is must be there");
  if (is == nullptr) return counter_of(table);
  for (const char* const key : {"direction", "priority", "part"})
    if (const toml::node* const node = table.get(key)) refuse(*node, std::string(key) + " belongs to counter");
  const std::string kind = text_of(*is, "is");
  if (kind == "state") return {.path = {}, .kind = gnmi::LeafKind::kOperStatus};
  if (kind == "speed") return {.path = {}, .kind = gnmi::LeafKind::kSpeed};
  refuse(*is, "is must be \"state\" or \"speed\"");
}

MetricRow row_of(const toml::table& table) {
  refuse_unknown(table, {"name", "where", "counter", "is", "direction", "priority", "part", "scale", "up"});
  MetricRow row;
  row.metric = wanted(table, "name");
  row.leaf = leaf_of(table);
  row.priority = optional_text(table, "priority");
  row.part = optional_text(table, "part");
  if (const toml::node* const node = table.get("scale"))
    if (row.scale = number_of(*node, "scale"); row.scale <= 0) refuse(*node, "scale must be above 0");
  if (const toml::node* const node = table.get("up")) {
    if (row.leaf.kind != gnmi::LeafKind::kOperStatus) refuse(*node, "up belongs to is = \"state\"");
    row.up = number_of(*node, "up");
  }
  if (const toml::node* const node = table.get("where")) {
    const toml::table* const where = node->as_table();
    if (where == nullptr || where->size() > MetricNames::kMostNames)
      refuse(*node, "where must be a table of at most " + std::to_string(MetricNames::kMostNames) + " texts");
    for (const auto& [key, value] : *where) row.where.emplace_back(key.str(), text_of(value, key.str()));
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
  try {
    const toml::table root = toml::parse(text);
    refuse_unknown(root, {"node", "port", "metrics"});
    MetricNames table;
    table.node_ = names_of(root, "node");
    table.port_ = names_of(root, "port");
    const toml::node* const metrics = root.get("metrics");
    const toml::array* const rows = metrics == nullptr ? nullptr : metrics->as_array();
    if (rows == nullptr || rows->empty()) throw Wrong{"there is no [[metrics]]"};
    if (rows->size() > kMostRows) refuse(*rows, "more than " + std::to_string(kMostRows) + " [[metrics]]");
    for (const toml::node& one : *rows) {
      if (!one.is_table()) refuse(one, "metrics must be tables: [[metrics]]");
      table.rows_.push_back(row_of(*one.as_table()));
    }
    for (std::size_t at = 0; at < table.rows_.size(); ++at) table.by_metric_[table.rows_[at].metric].push_back(at);
    return table;
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::kInvalidArgument,
                "line " + std::to_string(error.source().begin.line) + ": " + std::string(error.description()));
  } catch (const Wrong& wrong) {
    return fail(ErrorCode::kInvalidArgument, wrong.what);
  }
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
