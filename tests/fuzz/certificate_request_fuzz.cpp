// SPDX-License-Identifier: Apache-2.0
#include "api/access/issuer.hpp"
#include "fuzz.hpp"

// The input is a certificate request in DER, from whoever reaches weftd and has a token.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weft::fuzz::demand;
  const auto request = weft::api::access::read_request(weft::fuzz::text_of(data, size));
  if (request)
    demand(request->key != nullptr && request->hash.size() == 64, "a good one has a key");
  else
    demand(request.error().code == weft::ErrorCode::kInvalidArgument, "a wrong one is its sender's fault");
  return 0;
}
