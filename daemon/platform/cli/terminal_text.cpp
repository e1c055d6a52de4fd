// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/cli/terminal_text.hpp"

#include <locale.h>
#include <sys/ioctl.h>
#include <wchar.h>

#include <algorithm>
#include <cwchar>

namespace weft::usage {
namespace {

struct Character {
  std::size_t bytes = 1;
  std::size_t columns = 1;
};

/// The first character of a text that is not empty. Widths are the C library's, whatever the process's locale is.
Character next_character(std::string_view text) {
  if (static_cast<unsigned char>(text.front()) < 0x80) return {};
  static const locale_t kUtf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (kUtf8 == nullptr) return {.bytes = 1, .columns = (static_cast<unsigned char>(text.front()) & 0xC0) != 0x80};
  const locale_t before = uselocale(kUtf8);
  std::mbstate_t state{};
  wchar_t wide = 0;
  const std::size_t bytes = std::mbrtowc(&wide, text.data(), text.size(), &state);
  const bool good = bytes > 0 && bytes <= text.size();
  const int columns = good ? wcwidth(wide) : 1;
  uselocale(before);
  return {.bytes = good ? bytes : 1, .columns = columns < 0 ? 1 : static_cast<std::size_t>(columns)};
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  // The C1 control characters, U+0080 to U+009F, are C2 80 to C2 9F; U+061C turns text, too.
  for (std::size_t i = 0; i + 1 < result.size(); ++i)
    if ((result[i] == '\xC2' && static_cast<unsigned char>(result[i + 1]) <= 0x9F) ||
        (result[i] == '\xD8' && result[i + 1] == '\x9C'))
      result.replace(i, 2, "?");
  // U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069 (Unicode 15, annex 9): with them text looks like another one.
  for (std::size_t i = 0; i + 2 < result.size(); ++i) {
    const auto second = static_cast<unsigned char>(result[i + 1]), third = static_cast<unsigned char>(result[i + 2]);
    if (result[i] == '\xE2' &&
        ((second == 0x80 && (third == 0x8E || third == 0x8F || (third >= 0xAA && third <= 0xAE))) ||
         (second == 0x81 && third >= 0xA6 && third <= 0xA9)))
      result.replace(i, 3, "?");
  }
  return result;
}

std::size_t width(std::string_view text) {
  std::size_t columns = 0;
  for (; !text.empty(); text.remove_prefix(next_character(text).bytes)) columns += next_character(text).columns;
  return columns;
}

std::string shortened(const std::string& text, std::size_t columns, bool plain) {
  if (width(text) <= columns) return text;
  const std::string_view gap = plain ? ".." : "…";
  const std::size_t room = columns > width(gap) ? columns - width(gap) : 0;
  std::string begin;
  std::string_view rest = text;
  for (std::size_t used = 0; !rest.empty();) {
    const Character next = next_character(rest);
    if ((used += next.columns) > (room + 1) / 2) break;
    begin += rest.substr(0, next.bytes);
    rest.remove_prefix(next.bytes);
  }
  while (!rest.empty() && width(begin) + width(rest) > room) rest.remove_prefix(next_character(rest).bytes);
  return begin + std::string(gap) + std::string(rest);
}

std::vector<std::string> wrapped(const std::string& text, std::size_t columns) {
  std::vector<std::string> lines;
  std::string_view rest = text;
  do {
    std::size_t used = 0, end = 0, space = std::string_view::npos;
    while (end < rest.size()) {
      const Character next = next_character(rest.substr(end));
      if (end > 0 && used + next.columns > columns) break;
      if (rest[end] == ' ') space = end;
      used += next.columns;
      end += next.bytes;
    }
    if (end < rest.size() && rest[end] != ' ' && space != std::string_view::npos) end = space;
    lines.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  } while (!rest.empty());
  return lines;
}

std::size_t terminal_columns(int file) {
  winsize size{};
  return ::ioctl(file, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace weft::usage
