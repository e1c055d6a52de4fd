// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/node_description.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weft::fuzz::demand;
  const std::string once = weft::infiniband::to_valid_utf8(weft::fuzz::text_of(data, size));
  demand(once.size() <= 3 * size, "bounded");
  demand(weft::infiniband::to_valid_utf8(once) == once, "what is clean stays as it is");
  for (const char c : once) demand(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F, "no control characters");
  return 0;
}
