// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names that more than one shard of a site knows.

#include <string>

#include "daemon/programs/weftctl/verbs.hpp"

namespace weft::ctl {

/// Says on standard error which other shards know a node of that name: a command was for `shard` alone. `what` is what
/// was typed, of a node, a port or a link. Nothing is said where `shard` is empty, or nobody answers who knows it.
void note_namesakes(const Session& session, const std::string& what, const std::string& shard);

}  // namespace weft::ctl
