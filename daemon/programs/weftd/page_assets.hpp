// SPDX-License-Identifier: Apache-2.0
#pragma once
// The page of dashboards/web and the runbooks, as they were built into this program.

#include "api/http/assets.hpp"

namespace weft {

/// Their files; only the runbooks' where weftd was built without the page (WEFT_PAGE=OFF).
api::Assets page_assets();

}  // namespace weft
