// SPDX-License-Identifier: Apache-2.0
#include "api/telemetry/fact_codec.hpp"
#include "fuzz.hpp"

// The input is a packed table of facts, whoever made it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weft;
  const auto table = api::decode_facts(std::as_bytes(std::span(data, size)));
  if (!table) return 0;
  fuzz::demand(tidy(*table) == *table, "what is read is tidy");
  const auto again = api::decode_facts(api::encode_facts(*table));
  fuzz::demand(again && *again == *table, "and can be told again");
  return 0;
}
