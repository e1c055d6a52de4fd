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

  bool operator==(const LinkChange&) const = default;
};

/// The kernel tells of the last state only, and may tell it late (net/core/link_watch.c): the counts say whether the
/// carrier went and came back in between.
class LinkTracker {
 public:
  /// Takes what is said of a link and adds what that means to `changes`, oldest first. The first message of a link
  /// means nothing: it is where we begin.
  void take(const LinkMessage& message, std::vector<LinkChange>& changes);
  /// The link is gone: whatever comes with its index is another one.
  void forget(std::uint32_t index) { states_.erase(index); }

 private:
  struct State {
    bool up;
    bool administratively_up;
    std::optional<std::uint32_t> carrier_up_count;
    std::optional<std::uint32_t> carrier_down_count;
  };
  std::unordered_map<std::uint32_t, State> states_;
};

}  // namespace weft::ethernet
