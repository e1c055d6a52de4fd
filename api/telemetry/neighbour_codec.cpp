// SPDX-License-Identifier: Apache-2.0
#include "api/telemetry/neighbour_codec.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace weft::api {
namespace {

constexpr std::uint8_t kTableFormat = 1;
constexpr std::uint8_t kLastType = 7;

class TableWriter {
 public:
  std::vector<std::byte> take() { return std::move(packed_); }

  void byte(std::uint8_t value) { packed_.push_back(static_cast<std::byte>(value)); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80));
    byte(static_cast<std::uint8_t>(value));
  }
  void text(std::string_view value) {
    varint(value.size());
    for (const char letter : value) packed_.push_back(static_cast<std::byte>(letter));
  }
  void neighbour(const Neighbour& one) {
    byte(static_cast<std::uint8_t>(one.chassis.type));
    text(one.chassis.id);
    byte(static_cast<std::uint8_t>(one.port.type));
    text(one.port.id);
    text(one.system_name);
    text(one.port_description);
    varint(one.addresses.size());
    for (const std::string& address : one.addresses) text(address);
    varint(one.capabilities);
    varint(one.ttl_seconds);
    varint(static_cast<std::uint64_t>(std::max<std::int64_t>(one.since, 0)));
  }

 private:
  std::vector<std::byte> packed_;
};

/// After the first thing that is wrong everything reads as 0.
class TableReader {
 public:
  explicit TableReader(std::span<const std::byte> packed) : rest_(packed) {}

  const std::string& wrong() const { return wrong_; }
  ErrorCode code() const { return code_; }
  bool failed() const { return !wrong_.empty(); }
  bool at_end() const { return rest_.empty(); }
  void fail(ErrorCode code, std::string why) {
    if (!failed()) {
      wrong_ = std::move(why);
      code_ = code;
    }
    rest_ = {};
  }

  std::uint8_t byte() {
    if (rest_.empty()) {
      fail(ErrorCode::kProtocol, "it is truncated");
      return 0;
    }
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return value;
  }
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
  /// Each element takes `least` bytes.
  std::size_t count(std::size_t most, std::size_t least) {
    const std::uint64_t number = varint(most);
    if (number * least > rest_.size()) fail(ErrorCode::kProtocol, "it is truncated");
    return failed() ? 0 : static_cast<std::size_t>(number);
  }
  std::string text(std::size_t most) {
    const std::size_t length = count(most, 1);
    std::string value(reinterpret_cast<const char*>(rest_.data()), length);
    rest_ = rest_.subspan(length);
    return value;
  }
  template <typename Type>
  Type type() {
    const std::uint8_t number = byte();
    return number <= kLastType ? static_cast<Type>(number) : Type::kUnknown;
  }
  Neighbour neighbour() {
    using Limits = NeighbourLimits;
    Neighbour one;
    one.chassis.type = type<ChassisIdType>();
    one.chassis.id = text(Limits::kIdLength);
    one.port.type = type<PortIdType>();
    one.port.id = text(Limits::kIdLength);
    one.system_name = text(Limits::kTextLength);
    one.port_description = text(Limits::kTextLength);
    one.addresses.resize(count(Limits::kAddresses, 1));
    for (std::string& address : one.addresses) address = text(Limits::kTextLength);
    one.capabilities = static_cast<std::uint16_t>(varint(0xFFFF));
    one.ttl_seconds = static_cast<std::uint16_t>(varint(0xFFFF));
    constexpr std::uint64_t kLatest = 1ULL << 40;
    one.since = static_cast<std::int64_t>(varint(kLatest));
    return one;
  }

 private:
  std::span<const std::byte> rest_;
  std::string wrong_;
  ErrorCode code_ = ErrorCode::kProtocol;
};

}  // namespace

std::vector<std::byte> encode_neighbours(const NeighbourTable& table) {
  TableWriter writer;
  writer.byte(kTableFormat);
  writer.byte(static_cast<std::uint8_t>(table.chassis.type));
  writer.text(table.chassis.id);
  writer.text(table.system_name);
  writer.varint(table.ports.size());
  for (const NeighbourPort& port : table.ports) {
    writer.text(port.interface);
    writer.byte(static_cast<std::uint8_t>(port.own.type));
    writer.text(port.own.id);
    writer.text(port.own_description);
    writer.varint(port.left_out);
    writer.varint(port.neighbours.size());
    for (const Neighbour& one : port.neighbours) writer.neighbour(one);
  }
  return writer.take();
}

Result<NeighbourTable> decode_neighbours(std::span<const std::byte> packed) {
  using Limits = NeighbourLimits;
  constexpr std::size_t kLeastOfPort = 6, kLeastOfNeighbour = 10;
  if (packed.size() > kMostNeighbourBytes)
    return fail(ErrorCode::kInvalidArgument, "neighbours: " + std::to_string(packed.size()) +
                                                 " bytes exceed the limit of " + std::to_string(kMostNeighbourBytes));
  TableReader reader(packed);
  NeighbourTable table;
  if (reader.byte() != kTableFormat) reader.fail(ErrorCode::kProtocol, "the format is unknown");
  table.chassis.type = reader.type<ChassisIdType>();
  table.chassis.id = reader.text(Limits::kIdLength);
  table.system_name = reader.text(Limits::kTextLength);
  table.ports.resize(reader.count(Limits::kPorts, kLeastOfPort));
  for (NeighbourPort& port : table.ports) {
    if (reader.failed()) break;
    port.interface = reader.text(Limits::kTextLength);
    port.own.type = reader.type<PortIdType>();
    port.own.id = reader.text(Limits::kIdLength);
    port.own_description = reader.text(Limits::kTextLength);
    port.left_out = static_cast<std::uint32_t>(reader.varint(0xFFFFFFFF));
    port.neighbours.resize(reader.count(Limits::kOfPort, kLeastOfNeighbour));
    for (Neighbour& one : port.neighbours) one = reader.neighbour();
  }
  if (!reader.failed() && !reader.at_end()) reader.fail(ErrorCode::kProtocol, "there is data after its end");
  if (reader.failed()) return fail(reader.code(), "neighbours: " + reader.wrong());
  return tidy(std::move(table));
}

}  // namespace weft::api
