// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cables that were put into another subnet, of which the rules of that one tell.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fabric/snapshot.hpp"

namespace weft::analyzer {

class LinkTable;

/// A cable that is not up where it was.
struct LostCable {
  LinkKey key;
  TimePoint last_up = kNever;  ///< of the last reading that said it was up; kNever: of before this process
  TimePoint since = kNever;    ///< of the sweep that found it lost
};

/// Where a lost cable is, as another subnet has it. Of two answers the greater one holds.
enum class Whereabouts : std::uint8_t {
  kUnknown,  ///< that subnet knows nothing of it, or it is dead there as well
  kLeft,     ///< it is in that subnet now
  kDeadEnd,  ///< its switch was moved into that subnet, and has no cable at that port: what it led to lost its link
  /// An end was up in both subnets at once, so two have one GUID: what the one does says nothing of the other.
  kDouble,
};

/// Asked of a link that counts and is not up.
using Elsewhere = std::function<Whereabouts(const LostCable&)>;

/// What the links of `there`, another subnet than `here`, say. A cable has left when one of its ends is up with another
/// port there, and was not yet while the cable was up here. A switch has when it got a cable to a switch there that
/// `here` does not know: its cables to other switches left with it, and those to hosts that are up there as they were
/// here. What is only reached through another port than before is not moved: its subnet fell into two.
Whereabouts whereabouts(const LinkTable& there, const LostCable& cable, const LinkTable& here);

/// Ends of cables that left, as LinkTable::left() has them, by the name of the subnet that they left.
using LeftEnds = std::map<std::string, std::shared_ptr<const std::vector<PortKey>>>;

/// Adapters that have a place in two subnets that are shown, and are in the later one.
class MovedAdapters {
 public:
  /// Both must outlive it.
  MovedAdapters(std::span<const FabricView> views, const LeftEnds& left) : views_(views), left_(left) {}
  /// A cable of that adapter has left `here`, and another subnet, that is read, has that port up.
  bool has_left(const FabricView& here, NodeIndex adapter) const;

 private:
  std::span<const FabricView> views_;
  const LeftEnds& left_;
};

}  // namespace weft::analyzer
