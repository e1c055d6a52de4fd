// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writing and reading the bytes of a table that goes beside a batch. varint and count as in batch_codec.hpp; a text is
// a varint length and its bytes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/result.hpp"

namespace weft::api {

/// Appends to a table.
class TableWriter {
 public:
  /// The table so far.
  std::vector<std::byte> take() { return std::move(packed_); }

  /// One byte.
  void byte(std::uint8_t value) { packed_.push_back(static_cast<std::byte>(value)); }
  /// A number.
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80));
    byte(static_cast<std::uint8_t>(value));
  }
  /// A text.
  void text(std::string_view value) {
    varint(value.size());
    for (const char letter : value) packed_.push_back(static_cast<std::byte>(letter));
  }

 private:
  std::vector<std::byte> packed_;
};

/// Reads a table, whoever made it. After the first thing that is wrong everything reads as 0.
class TableReader {
 public:
  /// Reads from the beginning of `packed`, which must outlive it.
  explicit TableReader(std::span<const std::byte> packed) : rest_(packed) {}

  /// What is wrong; empty: nothing so far.
  const std::string& wrong() const { return wrong_; }
  /// The code of that: kProtocol for what is no such table, kInvalidArgument for what is above a limit.
  ErrorCode code() const { return code_; }
  /// Whether something is wrong.
  bool failed() const { return !wrong_.empty(); }
  /// Whether all was read.
  bool at_end() const { return rest_.empty(); }
  /// Something is wrong; the first one is kept.
  void fail(ErrorCode code, std::string why) {
    if (!failed()) {
      wrong_ = std::move(why);
      code_ = code;
    }
    rest_ = {};
  }

  /// One byte.
  std::uint8_t byte() {
    if (rest_.empty()) {
      fail(ErrorCode::kProtocol, "it is truncated");
      return 0;
    }
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return value;
  }
  /// A number of at most `most`.
  std::uint64_t varint(std::uint64_t most) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
      const std::uint8_t next = byte();
      value |= static_cast<std::uint64_t>(next & 0x7F) << shift;
      if ((next & 0x80) != 0) continue;
      if (value > most) fail(ErrorCode::kInvalidArgument, std::to_string(value) + " exceeds " + std::to_string(most));
      return failed() ? 0 : value;
    }
    fail(ErrorCode::kProtocol, "a number is too long");
    return 0;
  }
  /// How many elements follow, at most `most`; each takes `least` bytes.
  std::size_t count(std::size_t most, std::size_t least) {
    const std::uint64_t number = varint(most);
    if (number * least > rest_.size()) fail(ErrorCode::kProtocol, "it is truncated");
    return failed() ? 0 : static_cast<std::size_t>(number);
  }
  /// A text of at most `most` bytes.
  std::string text(std::size_t most) {
    const std::size_t length = count(most, 1);
    std::string value(reinterpret_cast<const char*>(rest_.data()), length);
    rest_ = rest_.subspan(length);
    return value;
  }

 private:
  std::span<const std::byte> rest_;
  std::string wrong_;
  ErrorCode code_ = ErrorCode::kProtocol;
};

}  // namespace weft::api
