// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the start of a weftd does where others may be in the way: a backup, or another start.

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "fabric/result.hpp"

namespace weft::store {

/// Takes a sentence about who is waited for.
using TellWait = std::function<void(const std::string&)>;

/// Calls `attempt` until it does not end with kTimeout, which it does soon: whoever waits for a table holds up all who
/// come later. It is called for a minute, once a second. The message of that kTimeout says who is in the way (see
/// PostgresConnection); `tell` hears it when it changes, and the kTimeout that is returned in the end has it.
template <typename Attempt>
auto wait_for_others(const TellWait& tell, const Attempt& attempt) -> decltype(attempt()) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::string told;
  while (true) {
    auto done = attempt();
    if (done || done.error().code != ErrorCode::kTimeout) return done;
    const std::string text = done.error().message;
    if (std::chrono::steady_clock::now() > until)
      return fail(ErrorCode::kTimeout, text + ". Start weftd again when that has ended");
    if (tell && told != text) tell(text + "; a start waits for that");
    told = text;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

}  // namespace weft::store
