// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lists in pages: so many entries, and so many bytes that no message comes near gRPC's limit of 4 MB.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"

namespace weft::api {

/// A page ends after the entry with which it passes this.
inline constexpr std::size_t kPageBytes = 1024 * 1024;

/// Whether a request's repeated field of enumeration values asks for `value`: an empty one asks for all.
template <typename Wanted, typename Value>
bool wanted(const Wanted& list, Value value) {
  return list.empty() || std::find(list.begin(), list.end(), static_cast<int>(value)) != list.end();
}

/// Fills a page: counts entries and bytes.
class PageBudget {
 public:
  /// `page_size` 0 means: as many as fit.
  explicit PageBudget(std::int32_t page_size) : entries_(page_size > 0 ? page_size : 0) {}
  /// Counts one entry of `bytes` bytes.
  void spend(std::size_t bytes) {
    bytes_ += bytes;
    ++used_;
  }
  /// The page takes no further entry.
  bool full() const { return bytes_ >= kPageBytes || (entries_ > 0 && used_ >= entries_); }

 private:
  std::int64_t entries_;
  std::int64_t used_ = 0;
  std::size_t bytes_ = 0;
};

/// Where a list of things of a topology goes on: which fabric, in which epoch, from which index.
struct GraphCursor {
  std::size_t fabric = 0;
  std::uint64_t epoch = 0;
  std::uint32_t index = 0;
};
/// The cursor as a page token: "0.3.1200".
std::string to_token(const GraphCursor& cursor);
/// The cursor of a page token; nullopt when the text is none.
std::optional<GraphCursor> parse_token(std::string_view token);

/// What to do with entry `index` of the fabric: bytes that it added to the page, 0 when it was left out.
using AddEntry = std::function<std::size_t(const FabricView& fabric, std::uint32_t index)>;
/// How many entries of the wanted kind a fabric has that was swept.
using CountEntries = std::uint32_t (*)(const FabricView& fabric);

/// Walks the entries of all fabrics (or of the one named) from `token` on until the page is full; the token of the next
/// page, empty at the end. kInvalidArgument for a bad size, a token that is none or one of an earlier epoch; kNotFound
/// for an unknown fabric.
Result<std::string> walk_page(const Snapshot& snapshot, std::string_view fabric, std::int32_t page_size,
                              std::string_view token, CountEntries count_entries, const AddEntry& add);

}  // namespace weft::api
