// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/toml_table.hpp"

#include <algorithm>

#include "fabric/list_text.hpp"

namespace weft::daemon {
namespace {

constexpr std::size_t kLongestText = 255;

}  // namespace

void refuse_toml(const toml::node& node, const std::string& what) {
  throw WrongToml{"line " + std::to_string(node.source().begin.line) + ": " + what};
}

std::string toml_text(const toml::node& node, std::string_view key) {
  const auto text = node.value<std::string>();
  if (!node.is_string() || text->empty() || text->size() > kLongestText)
    refuse_toml(node, std::string(key) + " must be a text of 1 to " + std::to_string(kLongestText) + " bytes");
  return *text;
}

std::string optional_toml_text(const toml::table& table, std::string_view key) {
  const toml::node* const node = table.get(key);
  return node == nullptr ? std::string() : toml_text(*node, key);
}

std::string wanted_toml_text(const toml::table& table, std::string_view key) {
  const toml::node* const node = table.get(key);
  if (node == nullptr) refuse_toml(table, std::string(key) + " is missing");
  return toml_text(*node, key);
}

std::vector<std::string> toml_texts(const toml::node& node, std::string_view key, std::size_t most) {
  const toml::array* const list = node.as_array();
  if (list == nullptr || list->empty() || list->size() > most)
    refuse_toml(node, std::string(key) + " must be a list of 1 to " + std::to_string(most) + " texts");
  std::vector<std::string> texts;
  for (const toml::node& one : *list) texts.push_back(toml_text(one, key));
  return texts;
}

void refuse_unknown_toml(const toml::table& table, std::span<const std::string_view> known) {
  for (const auto& [key, node] : table)
    if (std::ranges::find(known, key.str()) == known.end())
      refuse_toml(node, "unknown key " + std::string(key.str()) + "; there are " +
                            name_list({known.begin(), known.end()}, known.size()));
}

std::vector<const toml::table*> toml_tables(const toml::table& root, std::string_view key, std::size_t most) {
  const toml::node* const node = root.get(key);
  const toml::array* const rows = node == nullptr ? nullptr : node->as_array();
  const std::string heading = "[[" + std::string(key) + "]]";
  if (rows == nullptr || rows->empty()) throw WrongToml{"there is no " + heading};
  if (rows->size() > most) refuse_toml(*rows, "more than " + std::to_string(most) + ' ' + heading);
  std::vector<const toml::table*> tables;
  for (const toml::node& one : *rows) {
    if (!one.is_table()) refuse_toml(one, std::string(key) + " must be tables: " + heading);
    tables.push_back(one.as_table());
  }
  return tables;
}

}  // namespace weft::daemon
