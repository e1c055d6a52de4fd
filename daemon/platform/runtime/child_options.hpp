// SPDX-License-Identifier: Apache-2.0
#pragma once
// The options of a child, as one message over the socket between it and its parent. Parent and child are of one
// package, so the message carries no version; what arrives is bounded and checked all the same.
//
// A struct of options has two members: `fields(self, visit)`, which calls visit with all of its fields in the order of
// the message, and `check()`, which says which value is out of its bounds.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::runtime {

/// Longest message, without its length. It fits into the buffer of a new socket: sending it never waits.
inline constexpr std::uint32_t kMostOptionBytes = 32'768;

/// Writes fields one after another: numbers as they are in memory, texts behind their length.
class OptionsWriter {
 public:
  /// Appends the fields.
  template <typename... Fields>
  void operator()(const Fields&... fields) {
    (put(fields), ...);
  }
  /// The fields so far.
  std::vector<std::byte> take_bytes() { return std::move(bytes_); }

 private:
  template <typename T>
  requires std::is_arithmetic_v<T>
  void put(T value) { append(std::as_bytes(std::span(&value, 1))); }
  template <typename Count, typename Unit>
  void put(std::chrono::duration<Count, Unit> value) {
    put(std::int64_t{value.count()});
  }
  void put(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    append(std::as_bytes(std::span(text)));
  }
  void put(const std::filesystem::path& path) { put(path.native()); }
  template <typename T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  void append(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

  std::vector<std::byte> bytes_;
};

/// Reads what OptionsWriter wrote.
class OptionsReader {
 public:
  /// Reads from `bytes`, which outlives it.
  explicit OptionsReader(std::span<const std::byte> bytes) : rest_(bytes) {}
  /// Fills the fields.
  template <typename... Fields>
  void operator()(Fields&... fields) {
    (get(fields), ...);
  }
  /// All bytes were used, and each field was there and valid.
  bool complete() const { return ok_ && rest_.empty(); }

 private:
  template <typename T>
  requires std::is_arithmetic_v<T>
  void get(T& value) {
    if (const auto bytes = next(sizeof value); ok_) std::memcpy(&value, bytes.data(), sizeof value);
  }
  void get(bool& value) {
    std::uint8_t byte = 0;
    get(byte);
    ok_ = ok_ && byte <= 1;
    value = byte == 1;
  }
  template <typename Count, typename Unit>
  void get(std::chrono::duration<Count, Unit>& value) {
    std::int64_t count = 0;
    get(count);
    // Bounds are compared as Duration, which holds less than a coarser unit.
    using Read = std::chrono::duration<Count, Unit>;
    value = Read(count);
    ok_ = ok_ && value <= std::chrono::duration_cast<Read>(Duration::max()) &&
          value >= std::chrono::duration_cast<Read>(Duration::min());
  }
  void get(std::string& text) {
    std::uint32_t size = 0;
    get(size);
    const auto bytes = next(size);
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void get(std::filesystem::path& path) {
    std::string text;
    get(text);
    path = text;
  }
  template <typename T>
  void get(std::optional<T>& value) {
    bool there = false;
    get(there);
    value.reset();
    if (there) get(value.emplace());
  }
  /// The next `size` bytes; none when there are fewer.
  std::span<const std::byte> next(std::size_t size) {
    ok_ = ok_ && size <= rest_.size();
    if (!ok_) return {};
    const auto bytes = rest_.first(size);
    rest_ = rest_.subspan(size);
    return bytes;
  }

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

/// Fails with kInvalidArgument when `value` is not within the bounds: "window is 0; it must be 1 to 4096".
Result<void> check_bounds(std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most);
/// The same for a time, in milliseconds.
Result<void> check_milliseconds(std::string_view name, Duration value, std::int64_t least, std::int64_t most);

/// Sends one message; never waits. kInvalidArgument when it is too long, kUnavailable when the child is gone.
Result<void> send_options_message(int socket, std::span<const std::byte> bytes);
/// Waits for one message. kUnavailable when there is no parent, kCorrupt when what came is no message of options.
Result<std::vector<std::byte>> receive_options_message(int socket);

/// The options as the content of a message.
template <typename Options>
std::vector<std::byte> pack_options(const Options& options) {
  OptionsWriter writer;
  Options::fields(options, writer);
  return writer.take_bytes();
}

/// The content of a message as options. kCorrupt when it is not what pack_options() gives, else what check() says.
template <typename Options>
Result<Options> unpack_options(std::span<const std::byte> bytes) {
  Options options;
  OptionsReader reader(bytes);
  Options::fields(options, reader);
  if (!reader.complete()) return fail(ErrorCode::kCorrupt, "the message with the options is damaged");
  if (auto checked = options.check(); !checked) return tl::unexpected(checked.error());
  return options;
}

/// Sends the options to a child that was just started; see send_options_message().
template <typename Options>
Result<void> send_options(int socket, const Options& options) {
  return send_options_message(socket, pack_options(options));
}

/// Waits for the options that the parent sends; see receive_options_message() and unpack_options().
template <typename Options>
Result<Options> receive_options(int socket) {
  const auto bytes = receive_options_message(socket);
  if (!bytes) return tl::unexpected(bytes.error());
  return unpack_options<Options>(*bytes);
}

}  // namespace weft::runtime
