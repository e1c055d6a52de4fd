// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/node_name_map.hpp"

#include "collectors/infiniband/node_description.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weft::fuzz::demand;
  const auto names = weft::infiniband::parse_node_name_map(weft::fuzz::text_of(data, size));
  if (!names) {
    demand(names.error().message.starts_with("line "), "a fault names its line");
    return 0;
  }
  for (const auto& [guid, name] : *names) {
    demand(static_cast<bool>(guid), "no name for no node");
    demand(!name.empty() && weft::infiniband::to_valid_utf8(name) == name, "a name is fit for people");
  }
  return 0;
}
