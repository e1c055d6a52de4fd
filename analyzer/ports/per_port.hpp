// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a rule remembers of each port of a host, kept in the rule's own room.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace weft::analyzer {

/// A port's place in what rules remember. The place of a forgotten port is used again, its id never.
struct PortSlot {
  std::uint32_t place = 0;
  std::uint64_t id = 0;
};

/// Gives out the slots of all ports of all hosts.
class PortSlots {
 public:
  /// A slot that no other port has.
  PortSlot take() {
    PortSlot slot{used_, ++last_id_};
    if (free_.empty()) {
      ++used_;
    } else {
      slot.place = free_.back();
      free_.pop_back();
    }
    return slot;
  }
  /// Its port is forgotten.
  void give_back(const PortSlot& slot) { free_.push_back(slot.place); }

 private:
  std::vector<std::uint32_t> free_;
  std::uint32_t used_ = 0;
  std::uint64_t last_id_ = 0;
};

/// One Memory for each port; of a port that was forgotten nothing is left to the one that gets its place. References
/// stay good until then.
template <typename Memory>
class PerPort {
 public:
  /// The port's memory, a new one if it has none yet.
  Memory& operator[](const PortSlot& slot) {
    const std::size_t block = slot.place / kBlock;
    while (block >= all_.size()) all_.push_back(std::make_unique<Block>());
    Entry& entry = (*all_[block])[slot.place % kBlock];
    if (entry.id != slot.id) entry = {slot.id, Memory()};
    return entry.memory;
  }
  /// The port's memory; an empty one if it has none.
  const Memory& operator[](const PortSlot& slot) const {
    static const Memory kNone{};
    const std::size_t block = slot.place / kBlock;
    if (block >= all_.size()) return kNone;
    const Entry& entry = (*all_[block])[slot.place % kBlock];
    return entry.id == slot.id ? entry.memory : kNone;
  }

 private:
  static constexpr std::size_t kBlock = 16;  ///< entries that are made at once, and never move
  struct Entry {
    std::uint64_t id = 0;
    Memory memory;
  };
  using Block = std::array<Entry, kBlock>;
  std::vector<std::unique_ptr<Block>> all_;
};

}  // namespace weft::analyzer
