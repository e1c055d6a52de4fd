// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads tables that a site writes in files of their own. Each helper refuses by throwing WrongToml, which read_toml()
// makes an Error of.

#include <toml++/toml.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/result.hpp"

namespace weft::daemon {

/// What is wrong, and where: "line 3: ...".
struct WrongToml {
  std::string what;
};

/// Refuses `node`.
[[noreturn]] void refuse_toml(const toml::node& node, const std::string& what);
/// A text of 1 to 255 bytes; `key` is its name, for the message.
std::string toml_text(const toml::node& node, std::string_view key);
/// The text of that key, or an empty one where it is missing.
std::string optional_toml_text(const toml::table& table, std::string_view key);
/// The text of that key, which must be there.
std::string wanted_toml_text(const toml::table& table, std::string_view key);
/// A list of 1 to `most` texts.
std::vector<std::string> toml_texts(const toml::node& node, std::string_view key, std::size_t most);
/// Refuses what is none of the keys that are known.
void refuse_unknown_toml(const toml::table& table, std::span<const std::string_view> known);
/// The tables of [[key]], of which there are 1 to `most`.
std::vector<const toml::table*> toml_tables(const toml::table& root, std::string_view key, std::size_t most);

/// What `read` makes of the text; kInvalidArgument with the line when it is no TOML, or when `read` refuses it.
template <typename Read>
auto read_toml(std::string_view text, const Read& read) -> Result<decltype(read(toml::table{}))> {
  try {
    return read(toml::parse(text));
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::kInvalidArgument,
                "line " + std::to_string(error.source().begin.line) + ": " + std::string(error.description()));
  } catch (const WrongToml& wrong) {
    return fail(ErrorCode::kInvalidArgument, wrong.what);
  }
}

}  // namespace weft::daemon
