// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names that more than one shard of a site knows.

#include <string>

#include "daemon/programs/weftctl/verbs.hpp"

namespace weft::ctl {

/// Says on standard error which other shards know a node of that name: a command was for `shard` alone. `what` is what
/// was typed, of a node, a port or a link. Nothing is said where `shard` is empty, or nobody answers who knows it.
void note_namesakes(const Session& session, const std::string& what, const std::string& shard);

/// How a command about `what` ends that weftd refused with `failure`. Says on standard error which other shards know a
/// node of that name, where the one that refused does. Unreachable where that one does not, and a shard that may know
/// it does not answer.
Failure refused_in_site(const Session& session, const std::string& what, const Failure& failure);

/// What `call` returns, a command about `what`; throws refused_in_site().
template <typename Call>
auto command_about(const std::string& what, const Session& session, Call call) {
  try {
    return call();
  } catch (const Failure& failure) {
    throw refused_in_site(session, what, failure);
  }
}

}  // namespace weft::ctl
