// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <span>
#include <vector>

#include "daemon/adapters/store/gauge_codec.hpp"
#include "daemon/adapters/store/history_codec.hpp"
#include "fuzz.hpp"

namespace {

void check(std::span<const std::byte> packed) {
  const auto ports = weft::store::decode_gauges(packed);
  if (!ports) return;
  weft::fuzz::demand(!ports->empty() && ports->size() <= weft::store::kChunkPorts, "a chunk has 1 to 256 ports");
  for (const weft::store::GaugePort& port : *ports)
    for (const weft::store::GaugeRange& range : port.ranges)
      weft::fuzz::demand(range.low <= range.last && range.last <= range.high, "the last is between lowest and highest");
  const auto again = weft::store::decode_gauges(weft::store::encode_gauges(*ports));
  weft::fuzz::demand(again && *again == *ports, "what was read can be written and read again");
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
