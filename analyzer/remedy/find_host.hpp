// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which host a person means.

#include <string_view>

#include "analyzer/remedy/host_identity.hpp"
#include "analyzer/remedy/settings.hpp"
#include "fabric/result.hpp"

namespace weft::analyzer {

/// The host of that name, short or qualified, as a target; or the one that the adapter is in, by the adapter's GUID or
/// name ("n2 mlx5_0"). Its name is the person's word for it; what a GUID means must be confirmed by others than the
/// adapter. kNotFound; kInvalidArgument: several hosts bear the name, or a switch does; kFailedPrecondition: nobody
/// confirms whose the GUID is, or a collector contradicts the adapter's name.
Result<Entity> find_host(std::string_view text, const RemedyView& view, const HostIdentities& hosts);

}  // namespace weft::analyzer
