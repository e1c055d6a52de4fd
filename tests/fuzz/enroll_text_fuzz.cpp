// SPDX-License-Identifier: Apache-2.0
#include "api/access/identity.hpp"
#include "api/access/own_certificate.hpp"
#include "api/access/tls.hpp"
#include "fuzz.hpp"

// The input is what stands in a node's file of a token, and what it kept of a certificate.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weft::fuzz::demand;
  using namespace weft::api::access;
  const std::string_view text = weft::fuzz::text_of(data, size);
  if (const auto token = parse_enroll_text(text)) {
    demand(check_node_name(token->node).has_value() && token->secret.size() == 43, "it has a node and a secret");
    demand(has_certificates(token->authority), "and an authority");
    const auto again = parse_enroll_text(format_enroll_text(*token));
    demand(again && again->secret == token->secret && again->authority == token->authority, "it comes back as it was");
  } else {
    demand(token.error().code == weft::ErrorCode::kInvalidArgument, "a wrong text is its writer's fault");
  }
  if (const auto own = read_own_certificate(text); !own)
    demand(own.error().code == weft::ErrorCode::kInvalidArgument, "a wrong file is its writer's fault");
  static_cast<void>(has_certificates(text));
  return 0;
}
