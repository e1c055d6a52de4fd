// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cable as a file has it, before it is checked, and what is wrong with the file.

#include <cstddef>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "fabric/result.hpp"

namespace weft::cabling {

/// One end of a cable, in the words of the file.
struct WrittenEnd {
  std::string node, port;
  bool operator==(const WrittenEnd&) const = default;
};

/// A cable with two ends.
struct CableLine {
  std::size_t line = 0;  ///< where it stands, from 1; 0 where the reader of the format does not tell
  WrittenEnd a, b;
};

/// What is wrong with a file, with the lines that say so. Refers to the text.
class Faults {
 public:
  /// None yet of that text, which must outlive it.
  explicit Faults(std::string_view text) : text_(text) {}

  /// Nothing is wrong.
  bool empty() const { return noted_.empty(); }
  /// As many are noted as are kept, none of them behind that line: nothing more need be looked for there.
  bool enough(std::size_t line) const;

  /// In line `line`, from 1.
  void add(std::size_t line, std::string reason);
  /// At the `which`-th line, from 0, that has all of these words, none of them as a part of a longer one; the last one
  /// where there are fewer, else the first line of all. Lines are looked for so often only as faults are kept.
  void add(std::initializer_list<std::string_view> words, std::size_t which, std::string reason);

  /// kInvalidArgument with "line N: reason" on each line of the message, in the order of the file, twenty at most.
  Error error() const;

 private:
  std::string_view text_;
  std::multimap<std::size_t, std::string> noted_;  ///< the first lines of all, with what is wrong there
  std::size_t searches_ = 0;
};

/// Number of the line, from 1, in which the character at `offset` stands.
std::size_t line_of(std::string_view text, std::size_t offset);

/// For a message: in double quotes, 255 characters at most, what is not printable ASCII as '?'.
std::string in_quotes(std::string_view text);

}  // namespace weft::cabling
