// SPDX-License-Identifier: Apache-2.0
#include "collectors/cabling/cable_line.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

namespace weft::cabling {
namespace {

constexpr std::size_t kShown = 20;
/// More than are shown: they are found node by node and cable by cable, and shown in the order of the lines.
constexpr std::size_t kMostNoted = 200;
constexpr std::size_t kLongestQuoted = 255;

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_' || letter == '-' || letter == '/';
}

/// Is `word` in `line`, and not as a part of a longer one?
bool names(std::string_view line, std::string_view word) {
  if (word.empty()) return true;
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word(line[at - 1])) && (end == line.size() || !is_word(line[end]))) return true;
  }
  return false;
}

}  // namespace

bool Faults::enough(std::size_t line) const {
  return noted_.size() >= kMostNoted && line >= std::prev(noted_.end())->first;
}

void Faults::add(std::size_t line, std::string reason) {
  if (enough(line)) return;
  noted_.emplace(line, std::move(reason));
  if (noted_.size() > kMostNoted) noted_.erase(std::prev(noted_.end()));
}

void Faults::add(std::initializer_list<std::string_view> words, std::size_t which, std::string reason) {
  if (searches_++ >= kMostNoted) return;
  std::size_t found = 1, number = 0, met = 0;
  for (std::string_view rest = text_; !rest.empty() && met <= which;) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    ++number;
    if (!std::ranges::all_of(words, [line](std::string_view word) { return names(line, word); })) continue;
    found = number;
    ++met;
  }
  add(found, std::move(reason));
}

Error Faults::error() const {
  std::string message;
  for (std::size_t shown = 0; const auto& [line, reason] : noted_) {
    if (shown++ == kShown) break;
    message += (shown == 1 ? "line " : "\nline ") + std::to_string(line) + ": " + reason;
  }
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

std::size_t line_of(std::string_view text, std::size_t offset) {
  return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, offset), '\n'));
}

std::string in_quotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : text.substr(0, kLongestQuoted)) quoted += letter >= ' ' && letter <= '~' ? letter : '?';
  return quoted + '"';
}

}  // namespace weft::cabling
