// SPDX-License-Identifier: Apache-2.0
#pragma once
// The page of dashboards/web as it was built into this program.

#include "api/http/assets.hpp"

namespace weft {

/// Its files; none where weftd was built without it (WEFT_PAGE=OFF).
api::Assets page_assets();

}  // namespace weft
