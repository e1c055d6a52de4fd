// SPDX-License-Identifier: Apache-2.0
#include "collectors/gnmi/json_leaves.hpp"

#include <algorithm>
#include <charconv>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft::gnmi {
namespace {

/// Reads one JSON value from left to right. Anything wrong: the walk ends, and ok() is false.
class Walker {
 public:
  Walker(std::string_view text, Path& path, const std::function<void(const Path&, const Value&)>& visit)
      : rest_(text), path_(path), visit_(visit) {}

  bool walk() {
    value(0);
    blanks();
    return ok_ && rest_.empty();
  }

 private:
  void blanks() {
    const std::size_t first = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
  }
  bool take(char letter) {
    blanks();
    if (rest_.empty() || rest_.front() != letter) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void demand(bool holds) { ok_ = ok_ && holds; }

  void value(std::size_t depth) {
    blanks();
    demand(depth <= JsonLimits::kDepth && !rest_.empty());
    if (!ok_) return;
    if (rest_.front() == '{') return object(depth, false);
    if (rest_.front() == '[') return array(depth);
    if (const auto found = scalar()) tell(*found);
  }

  void tell(const Value& value) {
    if (std::holds_alternative<std::monostate>(value)) return;
    demand(++leaves_ <= JsonLimits::kLeaves);
    if (ok_) visit_(path_, value);
  }

  void object(std::size_t depth, bool is_entry) {
    if (is_entry) keys_ahead();
    demand(take('{'));
    if (take('}')) return;
    while (ok_) {
      blanks();
      const auto name = string();
      demand(name.has_value() && take(':') && path_.elements.size() < PathLimits::kElements);
      if (!ok_) return;
      path_.add(without_module(*name));
      value(depth + 1);
      path_.drop_last();
      if (take('}')) return;
      demand(take(','));
    }
  }

  /// The leaves at the beginning of the object that follows become keys of the last element of the path.
  void keys_ahead() {
    const std::string_view before = rest_;
    const bool was_ok = ok_;
    take('{');
    while (ok_ && path_.elements.back().key_count < PathLimits::kKeys) {
      blanks();
      const auto name = string();
      if (!name || !take(':')) break;
      blanks();
      if (rest_.empty() || rest_.front() == '{' || rest_.front() == '[') break;
      const std::string_view start = rest_;
      const auto found = scalar();
      if (!found) break;
      if (const auto text = as_text(*found))
        path_.add_key(without_module(*name), *text);
      else if (!std::holds_alternative<std::monostate>(*found))
        path_.add_key(without_module(*name), start.substr(0, start.size() - rest_.size()));
      if (!take(',')) break;
    }
    rest_ = before;
    ok_ = was_ok;
  }

  void array(std::size_t depth) {
    demand(take('['));
    if (take(']')) return;
    blanks();
    if (!rest_.empty() && rest_.front() != '{' && rest_.front() != '[') return leaf_list(depth);
    if (path_.elements.empty()) return list(depth, {});
    // Each entry has keys of its own, in place of what the path said of all of them.
    const Element whole = path_.elements.back();
    const std::vector<Key> keys(path_.keys.begin() + static_cast<std::ptrdiff_t>(whole.first_key), path_.keys.end());
    list(depth, whole.name);
    path_.drop_last();
    path_.add(whole.name);
    for (const Key& key : keys) path_.add_key(key.name, key.value);
  }

  /// The entries of a list called `name`; empty: it has no name, and its entries have no keys.
  void list(std::size_t depth, std::string_view name) {
    while (ok_) {
      blanks();
      demand(!rest_.empty() && depth < JsonLimits::kDepth);
      if (!ok_) return;
      if (rest_.front() == '{' && !name.empty()) {
        path_.drop_last();
        path_.add(name);
        object(depth + 1, true);
      } else {
        value(depth + 1);
      }
      if (take(']')) return;
      demand(take(','));
    }
  }

  void leaf_list(std::size_t depth) {
    std::size_t count = 0;
    Value only;
    while (ok_) {
      blanks();
      demand(depth < JsonLimits::kDepth);
      const auto found = scalar();
      demand(found.has_value());
      if (!ok_) return;
      only = *found;
      ++count;
      if (take(']')) break;
      demand(take(','));
    }
    if (ok_ && count == 1) tell(only);
  }

  /// nullopt, and not ok, when it is none.
  std::optional<Value> scalar() {
    if (!rest_.empty() && rest_.front() == '"') {
      const auto text = string();
      if (!text) return std::nullopt;
      return is_told_ ? Value(*text) : Value();
    }
    for (const auto& [word, value] : {std::pair<std::string_view, Value>{"true", true}, {"false", false}, {"null", {}}})
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return value;
      }
    return number();
  }

  std::optional<Value> number() {
    const std::size_t length = std::min(rest_.find_first_not_of("+-0123456789.eE"), rest_.size());
    const std::string_view text = rest_.substr(0, length);
    rest_.remove_prefix(length);
    const auto read = [&]<typename Number>(Number found) -> std::optional<Value> {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
      if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
      return Value(found);
    };
    if (const auto found = read(std::uint64_t{})) return found;
    if (const auto found = read(std::int64_t{})) return found;
    if (const auto found = read(double{})) return found;
    ok_ = false;
    return std::nullopt;
  }

  /// The text behind the quotation mark that follows; `is_told_` is false for what cannot be told.
  std::optional<std::string_view> string() {
    is_told_ = true;
    if (!take('"')) {
      ok_ = false;
      return std::nullopt;
    }
    const std::size_t end = rest_.find_first_of("\"\\");
    if (end == std::string_view::npos) {
      ok_ = false;
      return std::nullopt;
    }
    if (rest_[end] == '"') {
      const std::string_view text = rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      return text;
    }
    return escaped();
  }

  std::optional<std::string_view> escaped() {
    constexpr std::string_view kPlain = "\"\\/";
    std::string text;
    while (!rest_.empty() && rest_.front() != '"') {
      if (rest_.front() != '\\') {
        text.push_back(rest_.front());
        rest_.remove_prefix(1);
        continue;
      }
      if (rest_.size() < 2) break;
      const char letter = rest_[1];
      rest_.remove_prefix(2);
      if (kPlain.find(letter) != std::string_view::npos)
        text.push_back(letter);
      else
        is_told_ = false;
    }
    if (!take('"') || kept_.size() >= JsonLimits::kLeaves) {
      ok_ = false;
      return std::nullopt;
    }
    return std::string_view(kept_.emplace_back(std::move(text)));
  }

  std::string_view rest_;
  Path& path_;
  const std::function<void(const Path&, const Value&)>& visit_;
  std::deque<std::string> kept_;  ///< texts that are not in what was received; views of them stay
  std::size_t leaves_ = 0;
  bool ok_ = true;
  bool is_told_ = true;
};

}  // namespace

bool for_each_leaf(std::string_view text, Path& path, const std::function<void(const Path&, const Value&)>& visit) {
  return Walker(text, path, visit).walk();
}

}  // namespace weft::gnmi
