// SPDX-License-Identifier: Apache-2.0
#pragma once
// The node name map as a file: weft-sweeper uses it, weftd says beforehand what is wrong with it.

#include <filesystem>

#include "collectors/infiniband/node_name_map.hpp"
#include "fabric/result.hpp"

namespace weft::sweeper {

/// Names by GUID; none for an empty path. Fails as infiniband::parse_node_name_map(), and where there is no regular
/// file of at most 256 MiB that can be read; the path is in the message.
Result<infiniband::NodeNameMap> read_node_names(const std::filesystem::path& path);

}  // namespace weft::sweeper
