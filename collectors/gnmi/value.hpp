// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a gNMI target tells, without its wire format: places in a tree and values. Texts are views of what was received.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace weft::gnmi {

/// A key of an entry of a list: [name=Ethernet1].
struct Key {
  std::string_view name;
  std::string_view value;
  bool operator==(const Key&) const = default;
};

/// One element of a path; its keys are those of Path::keys from `first_key` on.
struct Element {
  std::string_view name;
  std::size_t first_key = 0;
  std::size_t key_count = 0;
};

/// A place in the target's tree. May be used again after clear(), and allocates nothing then.
struct Path {
  std::string_view origin{};
  std::vector<Element> elements{};
  std::vector<Key> keys{};

  /// Nothing is left of it.
  void clear();
  /// Adds an element; add_key() gives it keys.
  void add(std::string_view name);
  /// Adds a key to the last element; nothing without one.
  void add_key(std::string_view name, std::string_view value);
  /// The last element is no longer there.
  void drop_last();
  /// The value of a key of an element; nullopt when it has none of that name.
  std::optional<std::string_view> key_of(const Element& element, std::string_view name) const;
};

/// Longest path and most keys of one element that are looked at. OpenConfig's deepest leaf has some 15 elements.
struct PathLimits {
  static constexpr std::size_t kElements = 32;
  static constexpr std::size_t kKeys = 8;
  static constexpr std::size_t kTextLength = 8'192;
};

/// `text` as a path: "/interfaces/interface[name=Ethernet1]/state". In a value a backslash takes the next letter as it
/// is (gNMI path conventions, 2.2). nullopt when it is none or passes a limit. The path has views of `text`: a value
/// with a backslash in it is refused.
std::optional<Path> parse_path(std::string_view text);
/// The same the other way round, for people; "/" for the root.
std::string to_text(const Path& path);

/// What a JSON value holds; see for_each_leaf().
struct Json {
  std::string_view text;
  bool operator==(const Json&) const = default;
};

/// A value. monostate: of a kind that has no meaning here (bytes, protobuf, a list of several).
using Value = std::variant<std::monostate, std::int64_t, std::uint64_t, double, bool, std::string_view, Json>;

/// digits * 10^-precision (Decimal64 of gnmi.proto): whole where precision is 0, else a double.
Value decimal_value(std::int64_t digits, std::uint32_t precision);

/// A count: a whole number from 0 on, also as a text of digits (RFC 7951, 6.1). nullopt for anything else: what is out
/// of range counts as not told.
std::optional<std::uint64_t> as_count(const Value& value);
/// A number, finite; also as a text.
std::optional<double> as_number(const Value& value);
/// A text; nullopt for anything else.
std::optional<std::string_view> as_text(const Value& value);

/// "ETHERNET" of "openconfig-x:ETHERNET": a name without the module before it (RFC 7951, 4 and 6.8).
std::string_view without_module(std::string_view name);

}  // namespace weft::gnmi
