// SPDX-License-Identifier: Apache-2.0
#include "api/convert/pages.hpp"

#include <algorithm>
#include <charconv>

namespace weft::api {
namespace {

template <typename Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take_dot(std::string_view& text) {
  if (!text.starts_with('.')) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string to_token(const GraphCursor& cursor) {
  return std::to_string(cursor.fabric) + '.' + std::to_string(cursor.epoch) + '.' + std::to_string(cursor.index);
}

std::optional<GraphCursor> parse_token(std::string_view token) {
  GraphCursor cursor;
  if (take_number(token, cursor.fabric) && take_dot(token) && take_number(token, cursor.epoch) && take_dot(token) &&
      take_number(token, cursor.index) && token.empty())
    return cursor;
  return std::nullopt;
}

Result<std::string> walk_page(const Snapshot& snapshot, std::string_view fabric, std::int32_t page_size,
                              std::string_view token, CountEntries count_entries, const AddEntry& add) {
  if (page_size < 0) return fail(ErrorCode::kInvalidArgument, "the page size must not be negative");
  const auto& fabrics = snapshot.fabrics;
  if (!fabric.empty() &&
      std::none_of(fabrics.begin(), fabrics.end(), [&](const FabricView& view) { return view.name == fabric; }))
    return fail(ErrorCode::kNotFound, "no fabric named " + std::string(fabric));
  GraphCursor at;
  if (!token.empty()) {
    const auto parsed = parse_token(token);
    if (!parsed || parsed->fabric >= fabrics.size()) return fail(ErrorCode::kInvalidArgument, "invalid page token");
    at = *parsed;
    const auto& sweep = fabrics[at.fabric].sweep;
    if (!sweep || !sweep->topology || sweep->topology->epoch() != at.epoch)
      return fail(ErrorCode::kInvalidArgument,
                  "the fabric was rediscovered since that page: start again without a page token");
  }
  PageBudget budget(page_size);
  for (; at.fabric < fabrics.size(); ++at.fabric, at.index = 0) {
    const FabricView& view = fabrics[at.fabric];
    if (!view.sweep || !view.sweep->topology || (!fabric.empty() && view.name != fabric)) continue;
    at.epoch = view.sweep->topology->epoch();
    const std::uint32_t count = count_entries(view);
    for (; at.index < count; ++at.index) {
      if (budget.full()) return to_token(at);
      if (const std::size_t bytes = add(view, at.index); bytes > 0) budget.spend(bytes);
    }
  }
  return std::string();
}

}  // namespace weft::api
