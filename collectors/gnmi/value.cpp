// SPDX-License-Identifier: Apache-2.0
#include "collectors/gnmi/value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace weft::gnmi {
namespace {

template <typename Number>
std::optional<Number> whole_text(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The largest power of two whose neighbours a double still tells apart.
constexpr double kExactDoubles = 9'007'199'254'740'992.0;

}  // namespace

void Path::clear() {
  origin = {};
  elements.clear();
  keys.clear();
}

void Path::add(std::string_view name) {
  elements.push_back({name, keys.size(), 0});
}

void Path::add_key(std::string_view name, std::string_view value) {
  if (elements.empty()) return;
  keys.push_back({name, value});
  ++elements.back().key_count;
}

void Path::drop_last() {
  if (elements.empty()) return;
  keys.resize(elements.back().first_key);
  elements.pop_back();
}

std::optional<std::string_view> Path::key_of(const Element& element, std::string_view name) const {
  for (std::size_t i = 0; i < element.key_count; ++i)
    if (const Key& key = keys[element.first_key + i]; without_module(key.name) == name) return key.value;
  return std::nullopt;
}

std::optional<Path> parse_path(std::string_view text) {
  if (text.empty() || text.front() != '/' || text.size() > PathLimits::kTextLength ||
      text.find('\\') != std::string_view::npos)
    return std::nullopt;
  Path path;
  text.remove_prefix(1);
  while (!text.empty()) {
    const std::size_t name_end = std::min(text.find_first_of("/["), text.size());
    if (name_end == 0 || path.elements.size() >= PathLimits::kElements) return std::nullopt;
    path.add(text.substr(0, name_end));
    text.remove_prefix(name_end);
    while (!text.empty() && text.front() == '[') {
      const std::size_t equals = text.find('='), end = text.find(']');
      if (equals == std::string_view::npos || end == std::string_view::npos || equals > end || equals == 1 ||
          path.elements.back().key_count >= PathLimits::kKeys)
        return std::nullopt;
      path.add_key(text.substr(1, equals - 1), text.substr(equals + 1, end - equals - 1));
      text.remove_prefix(end + 1);
    }
    if (text.empty()) break;
    if (text.front() != '/' || text.size() == 1) return std::nullopt;
    text.remove_prefix(1);
  }
  return path;
}

std::string to_text(const Path& path) {
  std::string text;
  for (const Element& element : path.elements) {
    text.append("/").append(element.name);
    for (std::size_t i = 0; i < element.key_count; ++i) {
      const Key& key = path.keys[element.first_key + i];
      text.append("[").append(key.name).append("=").append(key.value).append("]");
    }
  }
  return text.empty() ? "/" : text;
}

Value decimal_value(std::int64_t digits, std::uint32_t precision) {
  constexpr std::uint32_t kMostPrecision = 18;  // RFC 7950, 9.3.4
  if (precision == 0) return digits;
  if (precision > kMostPrecision) return {};
  return static_cast<double>(digits) / std::pow(10.0, precision);
}

std::optional<std::uint64_t> as_count(const Value& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&value))
    return *number < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(*number));
  if (const auto* number = std::get_if<double>(&value)) {
    if (!(*number >= 0) || *number > kExactDoubles || std::floor(*number) != *number) return std::nullopt;
    return static_cast<std::uint64_t>(*number);
  }
  if (const auto* text = std::get_if<std::string_view>(&value)) return whole_text<std::uint64_t>(*text);
  return std::nullopt;
}

std::optional<double> as_number(const Value& value) {
  std::optional<double> number;
  if (const auto* whole = std::get_if<std::uint64_t>(&value)) number = static_cast<double>(*whole);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) number = static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) number = *real;
  if (const auto* text = std::get_if<std::string_view>(&value)) number = whole_text<double>(*text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<std::string_view> as_text(const Value& value) {
  const auto* text = std::get_if<std::string_view>(&value);
  return text ? std::optional(*text) : std::nullopt;
}

std::string_view without_module(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

}  // namespace weft::gnmi
