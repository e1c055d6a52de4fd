// SPDX-License-Identifier: Apache-2.0
#include "api/telemetry/neighbour_codec.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "api/telemetry/packed_table.hpp"

namespace weft::api {
namespace {

constexpr std::uint8_t kTableFormat = 1;
constexpr std::uint8_t kLastType = 7;

void write_neighbour(TableWriter& writer, const Neighbour& one) {
  writer.byte(static_cast<std::uint8_t>(one.chassis.type));
  writer.text(one.chassis.id);
  writer.byte(static_cast<std::uint8_t>(one.port.type));
  writer.text(one.port.id);
  writer.text(one.system_name);
  writer.text(one.port_description);
  writer.varint(one.addresses.size());
  for (const std::string& address : one.addresses) writer.text(address);
  writer.varint(one.capabilities);
  writer.varint(one.ttl_seconds);
  writer.varint(static_cast<std::uint64_t>(std::max<std::int64_t>(one.since, 0)));
}

template <typename Type>
Type read_type(TableReader& reader) {
  const std::uint8_t number = reader.byte();
  return number <= kLastType ? static_cast<Type>(number) : Type::kUnknown;
}

Neighbour read_neighbour(TableReader& reader) {
  using Limits = NeighbourLimits;
  Neighbour one;
  one.chassis.type = read_type<ChassisIdType>(reader);
  one.chassis.id = reader.text(Limits::kIdLength);
  one.port.type = read_type<PortIdType>(reader);
  one.port.id = reader.text(Limits::kIdLength);
  one.system_name = reader.text(Limits::kTextLength);
  one.port_description = reader.text(Limits::kTextLength);
  one.addresses.resize(reader.count(Limits::kAddresses, 1));
  for (std::string& address : one.addresses) address = reader.text(Limits::kTextLength);
  one.capabilities = static_cast<std::uint16_t>(reader.varint(0xFFFF));
  one.ttl_seconds = static_cast<std::uint16_t>(reader.varint(0xFFFF));
  constexpr std::uint64_t kLatest = 1ULL << 40;
  one.since = static_cast<std::int64_t>(reader.varint(kLatest));
  return one;
}

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
    for (const Neighbour& one : port.neighbours) write_neighbour(writer, one);
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
  table.chassis.type = read_type<ChassisIdType>(reader);
  table.chassis.id = reader.text(Limits::kIdLength);
  table.system_name = reader.text(Limits::kTextLength);
  table.ports.resize(reader.count(Limits::kPorts, kLeastOfPort));
  for (NeighbourPort& port : table.ports) {
    if (reader.failed()) break;
    port.interface = reader.text(Limits::kTextLength);
    port.own.type = read_type<PortIdType>(reader);
    port.own.id = reader.text(Limits::kIdLength);
    port.own_description = reader.text(Limits::kTextLength);
    port.left_out = static_cast<std::uint32_t>(reader.varint(0xFFFFFFFF));
    port.neighbours.resize(reader.count(Limits::kOfPort, kLeastOfNeighbour));
    for (Neighbour& one : port.neighbours) one = read_neighbour(reader);
  }
  if (!reader.failed() && !reader.at_end()) reader.fail(ErrorCode::kProtocol, "there is data after its end");
  if (reader.failed()) return fail(reader.code(), "neighbours: " + reader.wrong());
  return tidy(std::move(table));
}

}  // namespace weft::api
