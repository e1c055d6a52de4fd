// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/line_scanner.hpp"

#include <algorithm>
#include <utility>

#include "fabric/ids.hpp"

namespace weft::infiniband {

void LineScanner::skip_blanks() {
  rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
}

bool LineScanner::take(std::string_view literal) {
  if (!rest_.starts_with(literal)) return false;
  rest_.remove_prefix(literal.size());
  return true;
}

std::string_view LineScanner::take_word() {
  const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t"));
  rest_.remove_prefix(word.size());
  return word;
}

std::optional<std::uint32_t> LineScanner::take_number(std::uint32_t most) {
  std::uint64_t value = 0;
  std::size_t digits = 0;
  while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9') {
    value = value * 10 + static_cast<std::uint64_t>(rest_[digits] - '0');
    if (value > most) return std::nullopt;
    ++digits;
  }
  if (digits == 0) return std::nullopt;
  rest_.remove_prefix(digits);
  return static_cast<std::uint32_t>(value);
}

std::optional<std::string_view> LineScanner::take_quoted() {
  if (!rest_.starts_with('"')) return std::nullopt;
  const std::size_t end = rest_.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view inside = rest_.substr(1, end - 1);
  rest_.remove_prefix(end + 1);
  return inside;
}

std::optional<std::uint64_t> LineScanner::take_guid_in_parentheses() {
  if (!rest_.starts_with('(')) return std::nullopt;
  const std::size_t end = rest_.find(')');
  if (end == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint64_t> guid = parse_guid(rest_.substr(1, end - 1));
  if (guid) rest_.remove_prefix(end + 1);
  return guid;
}

void FileFaults::add(std::size_t line, std::string reason) {
  if (++count_ <= kShown) shown_.push_back({line, std::move(reason)});
}

Error FileFaults::error() const {
  std::vector<const Fault*> sorted;
  for (const Fault& fault : shown_) sorted.push_back(&fault);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Fault* a, const Fault* b) { return a->line < b->line; });
  std::string message;
  for (const Fault* fault : sorted) {
    if (!message.empty()) message += '\n';
    message += "line " + std::to_string(fault->line) + ": " + fault->reason;
  }
  if (count_ >= kShown) message += "\n(there may be more)";
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

}  // namespace weft::infiniband
