// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/node_name_map.hpp"

#include <optional>
#include <utility>

#include "collectors/infiniband/line_scanner.hpp"
#include "collectors/infiniband/node_description.hpp"

namespace weft::infiniband {
namespace {

constexpr std::size_t kMostEntries = 1'000'000;
constexpr std::size_t kLongestLine = 4096;

struct Entry {
  NodeGuid guid;
  std::string name;
};

Result<Entry> parse_entry(LineScanner scan) {
  const std::string_view word = scan.take_word();
  const std::optional<std::uint64_t> guid = parse_guid(word);
  if (!guid || *guid == 0)
    return fail(ErrorCode::kInvalidArgument, "'" + to_valid_utf8(word.substr(0, 40)) + "' is no GUID");
  scan.skip_blanks();
  const std::optional<std::string_view> name = scan.take_quoted();
  if (!name) return fail(ErrorCode::kInvalidArgument, "after the GUID there must be a name in double quotes");
  Entry entry{NodeGuid{*guid}, to_valid_utf8(*name)};
  if (entry.name.empty()) return fail(ErrorCode::kInvalidArgument, "the name is empty");
  scan.skip_blanks();
  if (!scan.rest().empty() && !scan.rest().starts_with('#'))
    return fail(ErrorCode::kInvalidArgument, "unexpected text after the name");
  return entry;
}

}  // namespace

Result<NodeNameMap> parse_node_name_map(std::string_view text) {
  NodeNameMap names;
  FileFaults faults;
  for_each_line(text, [&](std::size_t number, std::string_view line) {
    LineScanner scan(line);
    scan.skip_blanks();
    if (scan.rest().empty() || scan.rest().starts_with('#')) return true;
    if (line.size() > kLongestLine) {
      faults.add(number, "longer than " + std::to_string(kLongestLine) + " characters");
    } else if (Result<Entry> entry = parse_entry(scan); !entry) {
      faults.add(number, entry.error().message);
    } else if (names.size() >= kMostEntries) {
      faults.add(number, "more than " + std::to_string(kMostEntries) + " names");
      return false;
    } else {
      const auto [known, is_new] = names.try_emplace(entry->guid, entry->name);
      if (!is_new && known->second != entry->name)
        faults.add(number, to_string(entry->guid) + " is already named '" + known->second + "'");
    }
    return !faults.enough();
  });
  if (!faults.empty()) return tl::unexpected<Error>(faults.error());
  return names;
}

}  // namespace weft::infiniband
