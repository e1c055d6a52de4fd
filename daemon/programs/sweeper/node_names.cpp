// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/sweeper/node_names.hpp"

#include "daemon/platform/runtime/regular_file.hpp"

namespace weft::sweeper {

Result<infiniband::NodeNameMap> read_node_names(const std::filesystem::path& path) {
  constexpr std::size_t kMostBytes = 256UL << 20;
  if (path.empty()) return infiniband::NodeNameMap();
  const auto text = runtime::read_regular(path, kMostBytes);
  if (!text) return tl::unexpected<Error>(text.error());
  auto names = infiniband::parse_node_name_map(*text);
  if (!names) return fail(names.error().code, path.string() + ": " + names.error().message);
  return names;
}

}  // namespace weft::sweeper
