// SPDX-License-Identifier: Apache-2.0
#include "collectors/cabling/subnet_end.hpp"

#include <algorithm>
#include <cctype>
#include <string>

#include "fabric/ids.hpp"

namespace weft::cabling {
namespace {

char lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
}

bool take(std::string_view& text, std::string_view word) {
  if (text.size() < word.size() || !std::ranges::equal(text.substr(0, word.size()), word, {}, lower, lower))
    return false;
  text.remove_prefix(word.size());
  return true;
}

/// 1 to 254, without leading zeros in the result.
std::optional<std::string> take_number(std::string_view& text) {
  unsigned value = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    value = value * 10 + static_cast<unsigned>(text[digits] - '0');
    if (value > kMostSubnetPorts) return std::nullopt;
  }
  if (digits == 0 || value == 0) return std::nullopt;
  text.remove_prefix(digits);
  return std::to_string(value);
}

/// "26", "Port 26", "port26", "P26", and nothing behind it.
std::optional<std::string> port_number(std::string_view text) {
  if (!take(text, "port")) take(text, "p");
  skip_blanks(text);
  const auto number = take_number(text);
  return text.empty() ? number : std::nullopt;
}

/// "Blade 16_Port 2/20"
std::optional<WrittenEnd> director_end(const std::string& node, std::string_view text) {
  if (!take(text, "blade")) return std::nullopt;
  skip_blanks(text);
  const auto leaf = take_number(text);
  if (!leaf || !take(text, "_port")) return std::nullopt;
  skip_blanks(text);
  const auto unit = take_number(text);
  if (!unit || !take(text, "/")) return std::nullopt;
  const auto port = take_number(text);
  if (!port || !text.empty()) return std::nullopt;
  return WrittenEnd{node + "/L" + *leaf + "/U" + *unit, *port};
}

/// "mlx5_0", "HCA-1/1", "mlx5_0 port 1"
std::optional<WrittenEnd> adapter_end(const std::string& node, std::string_view text) {
  if (text.empty() || !std::isalpha(static_cast<unsigned char>(text.front()))) return std::nullopt;
  const std::size_t end = std::min(text.find_first_of("/ "), text.size());
  const std::string adapter = node + ' ' + std::string(text.substr(0, end));
  text.remove_prefix(end);
  if (text.empty()) return WrittenEnd{adapter, "1"};
  text.remove_prefix(1);
  const auto number = port_number(text);
  return number ? std::optional(WrittenEnd{adapter, *number}) : std::nullopt;
}

}  // namespace

std::optional<WrittenEnd> subnet_end(const WrittenEnd& written) {
  std::string_view port = written.port;
  if (port.starts_with('(') && port.find(')') != std::string_view::npos) port.remove_prefix(port.find(')') + 1);
  skip_blanks(port);
  if (std::string_view behind = port; take(behind, written.node + ' ')) port = behind;
  if (const auto number = port_number(port)) return WrittenEnd{written.node, *number};
  if (auto end = director_end(written.node, port)) return end;
  return adapter_end(written.node, port);
}

}  // namespace weft::cabling
