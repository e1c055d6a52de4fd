// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <vector>

#include "api/telemetry/batch_codec.hpp"
#include "fuzz.hpp"

namespace {

using namespace weft;
using weft::fuzz::demand;

void check(const HostReading& reading) {
  demand(reading.inventory != nullptr, "a reading has an inventory");
  demand(reading.values.size() == reading.inventory->series.size(), "a value for each series");
  demand(reading.present.size() == reading.values.size(), "and whether it was read");
  demand(std::ranges::all_of(reading.present, [](std::uint8_t p) { return p <= 1; }), "which is yes or no");
  for (std::size_t i = 0; i < reading.values.size(); ++i)
    demand(reading.present[i] == 1 || reading.values[i] == 0, "what is absent has no value");
  for (const HostPort& port : reading.inventory->ports) demand(to_string(port.state) != nullptr, "states have names");
}

/// What was read can be told again, and is the same then.
void tell_again(api::BatchEncoder& encoder, api::BatchDecoder& decoder, const HostBatch& batch) {
  const auto body = encoder.encode(batch);
  demand(body.has_value(), "what was read can be written");
  const auto again = decoder.decode(*body);
  demand(again.has_value() && again->events == batch.events, "and read again");
  demand(again->reading.has_value() == batch.reading.has_value(), "reading for reading");
  if (!batch.reading) return;
  const HostReading& a = *batch.reading;
  const HostReading& b = *again->reading;
  demand(a.taken == b.taken && a.values == b.values && a.present == b.present, "the same values");
  demand(a.inventory->ports == b.inventory->ports && a.inventory->series == b.inventory->series, "the same names");
  demand(a.sources == b.sources && a.jobs == b.jobs, "the same states");
}

}  // namespace

// The input is a row of bodies, each behind its length in two bytes, the lower first: what an encoder sends.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const std::byte> rest = std::as_bytes(std::span(data, size));
  api::BatchDecoder decoder;
  api::BatchEncoder second_encoder;
  api::BatchDecoder second_decoder;
  while (rest.size() >= 2) {
    const std::size_t length = std::min<std::size_t>(
        std::to_integer<std::size_t>(rest[0]) | std::to_integer<std::size_t>(rest[1]) << 8, rest.size() - 2);
    const auto batch = decoder.decode(rest.subspan(2, length));
    rest = rest.subspan(2 + length);
    if (!batch) {
      demand(batch.error().code == ErrorCode::kProtocol || batch.error().code == ErrorCode::kInvalidArgument,
             "it is the sender's fault");
      continue;
    }
    if (batch->reading) check(*batch->reading);
    tell_again(second_encoder, second_decoder, *batch);
  }
  return 0;
}
