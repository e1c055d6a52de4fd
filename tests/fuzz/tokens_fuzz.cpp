// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "api/access/identity.hpp"
#include "fuzz.hpp"

namespace {

using weft::fuzz::demand;
using namespace weft::api::access;

void check_tokens(std::string_view text) {
  const auto tokens = parse_tokens(text);
  if (!tokens) {
    demand(tokens.error().code == weft::ErrorCode::kInvalidArgument, "a wrong file is its writer's fault");
    demand(tokens.error().message.starts_with("line "), "and says where");
    return;
  }
  std::set<std::string> names;
  for (const Token& token : *tokens) {
    demand(names.insert(token.name).second && !token.name.empty(), "each token has a name of its own");
    demand((token.role == Role::kCollector) == !token.node.empty(), "a collector has a node, and nobody else");
  }
}

}  // namespace

// The input is a file of tokens; its lines are rules for certificates too, names in certificates, and what callers
// show.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = weft::fuzz::text_of(data, size);
  check_tokens(text);
  Rules rules;
  rules.tokens.push_back({"ann", Role::kAdmin, "", sha256("open-sesame"), std::nullopt});
  const auto shown = identify(rules, {text, {}, ""}, weft::TimePoint());
  if (shown && *shown)
    demand(text.size() == 18 && text.ends_with(" open-sesame"), "nobody is let in but with the token");
  const std::size_t line = text.find('\n');
  if (const auto rule = parse_certificate_rule(text.substr(0, line)); rule && line != std::string_view::npos) {
    const std::vector<std::string> names{std::string(text.substr(line + 1))};
    rules = {.tokens = {}, .certificates = {*rule}, .requests_per_second = 0};
    const auto principal = identify(rules, {{}, names, ""}, weft::TimePoint());
    demand(principal.has_value(), "a certificate alone is never an error");
    // A name that does not fit a line of a log is nobody's.
    const bool plain = std::ranges::all_of(names[0], [](char c) { return c >= 0x20 && c < 0x7F; });
    demand(principal->has_value() == (plain && matches(*rule, names[0]) && !names[0].empty()),
           "it is somebody's or nobody's");
    if (*principal && (*principal)->role != Role::kCollector)
      demand((*principal)->nodes.empty(), "only collectors have nodes");
  }
  return 0;
}
