// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reading of line-oriented text files: what this room's file parsers share.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/result.hpp"

namespace weft::infiniband {

/// Walks over one line from left to right. Every take_… either consumes what it names or consumes nothing.
class LineScanner {
 public:
  /// The scanner refers to the text of `line`.
  explicit LineScanner(std::string_view line) : rest_(line) {}

  /// What was not consumed yet.
  std::string_view rest() const { return rest_; }
  /// Skips blanks, if any come next.
  void skip_blanks();
  /// Consumes `literal` if it comes next. Returns whether it did.
  bool take(std::string_view literal);
  /// Everything up to the next blank; may be empty.
  std::string_view take_word();
  /// Decimal digits with a value of at most `most`.
  std::optional<std::uint32_t> take_number(std::uint32_t most);
  /// What stands between two double quotes, the first of them next.
  std::optional<std::string_view> take_quoted();
  /// "(2c5eab0300b87b40)": a GUID in parentheses.
  std::optional<std::uint64_t> take_guid_in_parentheses();

 private:
  std::string_view rest_;
};

/// Calls `visit(number, line)` for each line of `text`, numbered from 1, without its line end; stops when it returns
/// false.
template <typename Visit>
void for_each_line(std::string_view text, Visit visit) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!visit(number, line)) return;
  }
}

/// What is wrong with a file: everything, so that a person mends it once, but not more than anybody reads.
class FileFaults {
 public:
  static constexpr std::size_t kShown = 20;

  /// Notes a fault of line `line`, counted from 1.
  void add(std::size_t line, std::string reason);
  /// No fault was noted.
  bool empty() const { return count_ == 0; }
  /// Twenty are enough to stop reading.
  bool enough() const { return count_ >= kShown; }
  /// kInvalidArgument with "line 7: …", one on each line of the message, in the order of the file.
  Error error() const;

 private:
  struct Fault {
    std::size_t line;
    std::string reason;
  };
  std::size_t count_ = 0;
  std::vector<Fault> shown_;
};

}  // namespace weft::infiniband
