// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is known of a fabric where two processes have watched it, each at times on its own.

#include <optional>

#include "analyzer/ports/link_table.hpp"
#include "fabric/analyzer_state.hpp"

namespace weft::analyzer {

/// `own`, the state of the rules that `table` is of, with what another process stored of the same fabric until now.
/// Null: that adds nothing. What our rules never saw is as it was stored; what they saw themselves is as they have it:
/// a cable that they found moved stays where it is now. Where each knows another cable at one port, and ours is not up,
/// the stored one is newer. Flaps and errors that are told as trouble are so until our rules have judged them.
std::optional<AnalyzerState> joined_state(const LinkTable& table, AnalyzerState own, const AnalyzerState& stored);

}  // namespace weft::analyzer
