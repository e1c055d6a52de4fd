// SPDX-License-Identifier: Apache-2.0
#include "api/telemetry/fact_codec.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "api/telemetry/packed_table.hpp"

namespace weft::api {
namespace {

constexpr std::uint8_t kFactFormat = 1;
/// Facts of one port, of kinds to come too.
constexpr std::size_t kMostFactsOfPort = 64;

/// No less than the port takes.
std::size_t packed_size(const PortFacts& port) {
  constexpr std::size_t kNumbers = 8;  // a length and a number, or a kind, a source and a length
  std::size_t size = kNumbers + port.device.size();
  for (const FactValue& fact : port.facts) size += kNumbers + fact.value.size();
  return size;
}

}  // namespace

std::vector<std::byte> encode_facts(const FactTable& table) {
  constexpr std::size_t kHead = 8;
  std::size_t count = 0;
  for (std::size_t size = kHead; count < table.ports.size(); ++count) {
    size += packed_size(table.ports[count]);
    if (size > kMostFactBytes) break;
  }
  TableWriter writer;
  writer.byte(kFactFormat);
  writer.varint(count);
  for (std::size_t i = 0; i < count; ++i) {
    const PortFacts& port = table.ports[i];
    writer.text(port.device);
    writer.byte(port.number);
    writer.varint(port.facts.size());
    for (const FactValue& fact : port.facts) {
      writer.byte(static_cast<std::uint8_t>(fact.fact));
      writer.byte(static_cast<std::uint8_t>(fact.source));
      writer.text(fact.value);
    }
  }
  return writer.take();
}

Result<FactTable> decode_facts(std::span<const std::byte> packed) {
  constexpr std::size_t kLeastOfPort = 3;
  constexpr std::size_t kLeastOfFact = 3;
  if (packed.size() > kMostFactBytes)
    return fail(ErrorCode::kInvalidArgument, "facts: " + std::to_string(packed.size()) + " bytes exceed the limit of " +
                                                 std::to_string(kMostFactBytes));
  TableReader reader(packed);
  FactTable table;
  if (reader.byte() != kFactFormat) reader.fail(ErrorCode::kProtocol, "the format is unknown");
  table.ports.resize(reader.count(FactLimits::kPorts, kLeastOfPort));
  for (PortFacts& port : table.ports) {
    if (reader.failed()) break;
    port.device = reader.text(FactLimits::kDeviceLength);
    port.number = reader.byte();
    port.facts.resize(reader.count(kMostFactsOfPort, kLeastOfFact));
    for (FactValue& fact : port.facts) {
      // What is no kind that is known stays one that tidy() leaves out.
      fact.fact = static_cast<ConfigFact>(std::min(reader.byte(), static_cast<std::uint8_t>(ConfigFact::kCount)));
      fact.source = static_cast<FactSource>(std::min(reader.byte(), static_cast<std::uint8_t>(FactSource::kCount)));
      fact.value = reader.text(FactLimits::kValueLength);
    }
  }
  if (!reader.failed() && !reader.at_end()) reader.fail(ErrorCode::kProtocol, "there is data after its end");
  if (reader.failed()) return fail(reader.code(), "facts: " + reader.wrong());
  return tidy(std::move(table));
}

}  // namespace weft::api
