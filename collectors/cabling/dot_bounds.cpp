// SPDX-License-Identifier: Apache-2.0
#include "collectors/cabling/dot_bounds.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <unordered_set>

#include "collectors/cabling/cable_line.hpp"
#include "collectors/cabling/cabling_file.hpp"

namespace weft::cabling {
namespace {

constexpr std::size_t kMostAttributes = 128;
constexpr std::size_t kMostSubgraphs = CablingLimits::kMostNodes;
constexpr std::size_t kDeepestSubgraph = 16;
/// Names of subgraphs and of the graph's attributes are counted with those of nodes.
constexpr std::size_t kMostNames = 2 * CablingLimits::kMostNodes;

enum class DotTokenKind { kEnd, kName, kQuoted, kEdge, kSign };

struct DotToken {
  DotTokenKind kind = DotTokenKind::kEnd;
  std::string_view text;  ///< of kQuoted without the quotes
  bool is(char sign) const { return kind == DotTokenKind::kSign && text.front() == sign; }
};

bool is_dot_letter(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return std::isalpha(byte) || letter == '_' || byte >= 0x80;
}

bool is_dot_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

/// The words of a text, as libcgraph's scanner finds them (graphviz, lib/cgraph/scan.l).
class DotScanner {
 public:
  explicit DotScanner(std::string_view text) : rest_(text) {}

  DotToken next() {
    skip_blanks_and_comments();
    if (rest_.empty()) return {};
    if (rest_.starts_with("--") || rest_.starts_with("->")) return {DotTokenKind::kEdge, take(2)};
    if (rest_.front() == '"') return {DotTokenKind::kQuoted, quoted()};
    if (rest_.front() == '<') return {DotTokenKind::kQuoted, html()};
    const std::size_t length = name_length();
    return length > 0 ? DotToken{DotTokenKind::kName, take(length)} : DotToken{DotTokenKind::kSign, take(1)};
  }

 private:
  std::string_view take(std::size_t length) {
    const std::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  void skip_blanks_and_comments() {
    while (true) {
      rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
      if (rest_.starts_with("//") || rest_.starts_with('#')) {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else if (rest_.starts_with("/*")) {
        const std::size_t end = rest_.find("*/", 2);
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 2);
      } else {
        return;
      }
    }
  }

  std::string_view quoted() {
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"') {
      const std::string_view pair = rest_.substr(end, 2);
      end += pair == "\\\"" || pair == "\\\\" ? 2 : 1;
    }
    const std::string_view taken = take(end + 1);
    return taken.substr(1, end - 1);
  }

  std::string_view html() {
    std::size_t end = 1;
    for (std::size_t depth = 1; end < rest_.size(); ++end) {
      if (rest_[end] == '<') ++depth;
      if (rest_[end] == '>' && --depth == 0) break;
    }
    const std::string_view taken = take(end + 1);
    return taken.substr(1, end - 1);
  }

  /// Of a name or a number; 0 where none begins.
  std::size_t name_length() const {
    const auto end_of = [this](std::size_t from, const auto& belongs) {
      while (from < rest_.size() && belongs(rest_[from])) ++from;
      return from;
    };
    if (is_dot_letter(rest_.front()))
      return end_of(1, [](char letter) { return is_dot_letter(letter) || is_dot_digit(letter); });
    const std::size_t begin = rest_.front() == '-' ? 1 : 0;
    const std::size_t whole = end_of(begin, is_dot_digit);
    if (whole == rest_.size() || rest_[whole] != '.') return whole > begin ? whole : 0;
    const std::size_t end = end_of(whole + 1, is_dot_digit);
    return end - begin > 1 ? end : 0;
  }

  std::string_view rest_;
};

/// The keyword "subgraph".
bool begins_subgraph(const DotToken& token) {
  return token.kind == DotTokenKind::kName &&
         std::ranges::equal(token.text, std::string_view("subgraph"), {},
                            [](char letter) { return static_cast<char>(letter | 0x20); });
}

/// Counts what the text has.
class DotCounts {
 public:
  /// What is wrong with `token` behind `before`; empty: nothing.
  std::string add(const DotToken& before, const DotToken& token) {
    if ((token.kind == DotTokenKind::kEdge && before.is('}')) ||
        (before.kind == DotTokenKind::kEdge && (token.is('{') || begins_subgraph(token))))
      return "an edge from or to a subgraph: write one edge for each cable";
    switch (token.kind) {
      case DotTokenKind::kEdge:
        return ++edges_ > CablingLimits::kMostCables ? too_many("cables", edges_) : "";
      case DotTokenKind::kSign:
        return add_sign(before, token.text.front());
      default:
        return add_name(before, token);
    }
  }

 private:
  static std::string too_many(const char* what, std::size_t count) {
    return "more than " + std::to_string(count - 1) + ' ' + what;
  }

  std::string add_name(const DotToken& before, const DotToken& token) {
    in_value_ = before.is('=') || before.is('+');
    if (in_value_ || in_brackets_ || before.is(':')) return {};
    std::string_view name = token.text;
    while (name.starts_with("\\\n")) name.remove_prefix(2);  // libcgraph leaves out such a pair
    if (depth_ > 0 && name.starts_with('%') && !begins_subgraph(before)) return "a node's name must not begin with %";
    names_.insert(name);
    return names_.size() > kMostNames ? too_many("names", names_.size()) : "";
  }

  std::string add_sign(const DotToken& before, char sign) {
    switch (sign) {
      case '[':
        in_brackets_ = true;
        break;
      case ']':
        in_brackets_ = false;
        break;
      case '=':
        attributes_.insert(before.text);
        if (attributes_.size() > kMostAttributes) return too_many("attributes", attributes_.size());
        break;
      case '+':
        if (depth_ > 0 && !in_value_) return "a name in pieces: write it as one";
        break;
      case ',':
        if (depth_ > 0 && !in_brackets_) return "a list of nodes: write one statement for each of them";
        break;
      case '{':
        if (++depth_ > kDeepestSubgraph + 1)
          return "more than " + std::to_string(kDeepestSubgraph) + " subgraphs in one another";
        if (++subgraphs_ > kMostSubgraphs) return too_many("subgraphs", subgraphs_);
        break;
      case '}':
        depth_ -= std::min<std::size_t>(depth_, 1);
        break;
      default:
        break;
    }
    return {};
  }

  std::size_t edges_ = 0, subgraphs_ = 0, depth_ = 0;
  std::unordered_set<std::string_view> names_, attributes_;
  bool in_brackets_ = false, in_value_ = false;
};

}  // namespace

Result<void> check_dot_bounds(std::string_view text) {
  DotScanner scanner(text);
  DotCounts counts;
  DotToken before;
  for (DotToken token = scanner.next(); token.kind != DotTokenKind::kEnd; token = scanner.next()) {
    if (const std::string fault = counts.add(before, token); !fault.empty())
      return fail(ErrorCode::kInvalidArgument,
                  "line " + std::to_string(line_of(text, static_cast<std::size_t>(token.text.data() - text.data()))) +
                      ": " + fault);
    before = token;
  }
  return {};
}

}  // namespace weft::cabling
