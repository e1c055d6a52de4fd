// SPDX-License-Identifier: Apache-2.0
#include "api/request/target.hpp"

#include <charconv>

#include "api/publication/utf8.hpp"

namespace weft::api {
namespace {

int hexadecimal_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// `plus_is_space` in a query only (as HTML forms write it).
std::optional<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus_is_space) c = ' ';
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hexadecimal_digit(text[i + 1]);
      const int low = hexadecimal_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c == '\0') return std::nullopt;
    result += c;
  }
  return result;
}

std::string_view take(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

// The messages of gRPC, which other shards are asked by, carry nothing else.
bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace

std::string HttpTarget::parameter(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? std::string() : found->second;
}

Result<std::int32_t> HttpTarget::number(const std::string& name) const {
  const std::string text = parameter(name);
  if (text.empty()) return 0;
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0)
    return fail(ErrorCode::kInvalidArgument, name + " must be a whole number");
  return value;
}

Result<HttpTarget> parse_target(std::string_view target) {
  if (!target.starts_with('/')) return fail(ErrorCode::kInvalidArgument, "the request's target is not a path");
  HttpTarget result;
  std::string_view rest = target.substr(0, target.find('#'));
  std::string_view path = take(rest, '?');
  while (!path.empty()) {
    const auto segment = decode(take(path, '/'), false);
    if (!segment)
      return fail(ErrorCode::kInvalidArgument,
                  "a percent sign in the path is not followed by two digits, or names the character 0");
    if (!is_utf8(*segment)) return fail(ErrorCode::kInvalidArgument, "the path is not UTF-8");
    if (!segment->empty()) result.path.push_back(*segment);
  }
  while (!rest.empty()) {
    std::string_view pair = take(rest, '&');
    if (pair.empty()) continue;
    const auto name = decode(take(pair, '='), true);
    const auto value = decode(pair, true);
    if (!name || !value)
      return fail(ErrorCode::kInvalidArgument,
                  "a percent sign in the query is not followed by two digits, or names the character 0");
    if (!is_utf8(*name) || !is_utf8(*value)) return fail(ErrorCode::kInvalidArgument, "the query is not UTF-8");
    const bool is_node = *name == "node";
    const bool is_group = *name == "collect[]";
    if (is_node) result.nodes.push_back(*value);
    if (is_group) result.collect.push_back(*value);
    if (!result.query.emplace(*name, *value).second && !is_node && !is_group)
      return fail(ErrorCode::kInvalidArgument, "a parameter of the query is given twice");
  }
  return result;
}

}  // namespace weft::api
