// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names that complete a word: asked of the server, and quickly.

#include <string>
#include <vector>

#include "daemon/programs/weftctl/client.hpp"
#include "daemon/programs/weftctl/completion.hpp"

namespace weft::ctl {

/// At most this long for all pages together: somebody's hand is on the keyboard.
inline constexpr std::chrono::milliseconds kCompletionTime{1000};

/// The names that the server knows, of one fabric or (empty) of all; `begun`: what of the name was typed. Throws
/// Failure when it cannot say them in time.
std::vector<Candidate> ask_names(Client& client, Names names, const std::string& fabric, const std::string& begun);

}  // namespace weft::ctl
