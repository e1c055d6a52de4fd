// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "daemon/platform/runtime/child_options.hpp"

#include "daemon/programs/sweeper/options.hpp"
#include "daemon/programs/uplink/options.hpp"
#include "fuzz.hpp"

namespace {

using namespace weft;
using weft::fuzz::demand;

template <typename Options>
void unpack(std::span<const std::byte> bytes) {
  const auto options = runtime::unpack_options<Options>(bytes);
  if (!options) {
    demand(options.error().code == ErrorCode::kCorrupt || options.error().code == ErrorCode::kInvalidArgument,
           "options are damaged or out of bounds");
    return;
  }
  demand(options->check().has_value(), "options are within their bounds");
  const std::vector<std::byte> packed = runtime::pack_options(*options);
  demand(std::ranges::equal(packed, bytes), "options are packed as they were");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  unpack<sweeper::Options>(bytes);
  unpack<uplink::Options>(bytes);
  return 0;
}
