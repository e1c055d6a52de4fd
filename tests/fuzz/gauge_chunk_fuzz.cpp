// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <span>
#include <vector>

#include "daemon/adapters/store/gauge_codec.hpp"
#include "daemon/adapters/store/history_codec.hpp"
#include "fuzz.hpp"

namespace {

void check(std::span<const std::byte> packed, std::span<const weft::store::GaugeCodes> before) {
  const auto ports = weft::store::decode_gauges(packed, before);
  if (!ports) return;
  weft::fuzz::demand(!ports->empty() && ports->size() <= weft::store::kChunkPorts, "a chunk has 1 to 256 ports");
  for (const weft::store::GaugeCodes& port : *ports)
    for (std::size_t i = 0; i < weft::kPortGauges; ++i) {
      if (port.last[i] == 0) continue;
      const auto range = weft::store::range_of(port, static_cast<weft::PortGauge>(i));
      weft::fuzz::demand(range.low <= range.last && range.last <= range.high, "the last is between lowest and highest");
    }
  const auto whole = weft::store::decode_gauges(weft::store::encode_gauges(*ports));
  weft::fuzz::demand(whole && *whole == *ports, "what was read can be written and read again");
  if (before.size() > ports->size()) return;
  const auto again = weft::store::decode_gauges(weft::store::encode_gauges(*ports, before), before);
  weft::fuzz::demand(again && *again == *ports, "as differences, too");
}

void check(std::span<const std::byte> packed) {
  check(packed, {});
  std::vector<weft::store::GaugeCodes> before(3);
  before[0].last = {0x50, 0x60, 0x70, 0x80};
  before[2].last = {1, 0, 255, 2};
  check(packed, before);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(std::as_bytes(std::span(data, size)));
  // Behind zlib's checksum the fuzzer would hardly come: pack its input for it.
  uLongf length = compressBound(size);
  std::vector<std::byte> packed(length);
  compress2(reinterpret_cast<Bytef*>(packed.data()), &length, data, size, 1);
  check(std::span(packed).first(length));
  return 0;
}
