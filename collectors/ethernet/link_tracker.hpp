// SPDX-License-Identifier: Apache-2.0
#pragma once
// From what the kernel says of a link, again and again, to what happened to it. Pure.

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "collectors/ethernet/link_message.hpp"

namespace weft::ethernet {

/// A carrier that came or went.
struct LinkChange {
  std::uint32_t index = 0;
  bool up = false;
  bool administrative = false;
  std::optional<std::uint32_t> carrier_up_count;
  std::optional<std::uint32_t> carrier_down_count;
  bool removed = false;  ///< the interface is gone, and its link with it

  bool operator==(const LinkChange&) const = default;
};

/// The kernel tells of the last state only, and may tell it late (net/core/link_watch.c): the counts say whether the
/// carrier went and came back in between.
class LinkTracker {
 public:
  /// Takes what is said of a link and adds what that means to `changes`, oldest first. The first message of a link
  /// means nothing: it is where we begin.
  void take(const LinkMessage& message, std::vector<LinkChange>& changes);
  /// The interface is gone: whatever comes with its index is another one. A removal closes the interface first, which
  /// looks as if somebody had set it down: when that was lately, or the link was up, the removal is told too.
  void remove(std::uint32_t index, std::vector<LinkChange>& changes);
  /// The same without a word: it is of no interest any more, or lives on elsewhere.
  void forget(std::uint32_t index) { states_.erase(index); }
  /// Called with each reading: whoever was set down before the last one was set down by somebody.
  void settle();

 private:
  struct State {
    bool up;
    bool administratively_up;
    std::uint8_t closed_lately;  ///< how many settle() it still is
    std::optional<std::uint32_t> carrier_up_count;
    std::optional<std::uint32_t> carrier_down_count;
  };
  std::unordered_map<std::uint32_t, State> states_;
};

}  // namespace weft::ethernet
