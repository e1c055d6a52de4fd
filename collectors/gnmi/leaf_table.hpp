// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a switch tells what by gNMI, and what that is in the catalogue: one table for all models, and which of its rows
// are asked for, and how.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/gnmi/value.hpp"
#include "fabric/host.hpp"

namespace weft::gnmi {

/// What a leaf says.
enum class LeafKind : std::uint8_t {
  kCounter,             ///< a row of fabric/counters.hpp
  kOperStatus,          ///< "UP", "DOWN", …
  kAdminStatus,         ///< "UP", "DOWN"
  kType,                ///< "ethernetCsmacd": a port; anything else is none
  kDescription,         ///< of the port, as somebody wrote it; LLDP tells it as the interface's alias
  kSpeed,               ///< "SPEED_100GB", or bit/s
  kMac,                 ///< of the port
  kCarrierTransitions,  ///< times the carrier came or went
  kChassisId,           ///< of the switch itself, as LLDP tells it
  kChassisIdType,       ///< the same
  kSystemName,          ///< the same
  kNeighbourChassisId,
  kNeighbourChassisIdType,
  kNeighbourPortId,
  kNeighbourPortIdType,
  kNeighbourPortDescription,
  kNeighbourSystemName,
  kNeighbourAddress,
};

/// One row: where a value is told, and what it is.
///
/// A path has names, "*" for any one element, {PORT} for an element that is a port's name, and keys: [k=PORT] is the
/// port, [k=NEIGHBOUR] one of several neighbours there, [k=PRIORITY] 0 to 7, [k=PART] one of several parts that are
/// added up.
struct Leaf {
  std::string_view path;
  LeafKind kind = LeafKind::kCounter;
  std::string_view counter{};  ///< of kCounter: name of the catalogue
  Direction direction = Direction::kNone;
  std::uint8_t priority = kNoPriority;  ///< where the path itself says which
};

/// All rows. Of two that are the same counter of a port the first one counts where both are told.
std::span<const Leaf> leaves();

/// How fast a part of the tree is told.
enum class Pace : std::uint8_t {
  kChange,  ///< at once, when it changes
  kSample,  ///< each interval
};

/// A model, or a vendor's part of one.
enum class Model : std::uint8_t { kOpenConfig, kSonicCounters, kEosPfc, kSrLinux, kNvidia };
/// "openconfig", "sonic", "eos", "srlinux", "nvidia": as people choose it.
const char* to_string(Model model);

/// What is subscribed to in one stream of its own: a target that refuses it loses nothing else.
struct Group {
  std::string_view name;  ///< "state", "counters", "lldp": for people
  Model model = Model::kOpenConfig;
  Pace pace = Pace::kSample;
  std::string_view target{};  ///< of the prefix; empty: none
  std::string_view origin{};  ///< of the prefix; empty: the model's own
  bool is_needed = false;     ///< what a fabric is watched by; without the others a switch is read all the same
  std::vector<std::string_view> paths;
};

/// All groups in the order in which they are asked for.
const std::vector<Group>& groups();
/// Whether a target with these models (Capabilities) is asked for the group. OpenConfig is asked for of every target:
/// some tell models that they lack, and lack models that they have.
bool is_asked_for(const Group& group, std::span<const std::string> models);

/// Where a value belongs.
struct Place {
  const Leaf* leaf = nullptr;  ///< of leaves(); null: of find_part() alone
  std::string_view port{};
  std::string_view neighbour{};
  std::string_view part{};
  std::uint8_t priority = kNoPriority;
};

/// Looks paths up in leaves(). Made once; may be used from any thread.
class LeafIndex {
 public:
  LeafIndex();
  /// The row that `path` belongs to; nullopt when there is none, or a key of it cannot be.
  std::optional<Place> find(const Path& path) const;
  /// The part of the tree at `path`, which may end above a leaf: of a port's or a neighbour's entry, which it is.
  /// nullopt when nothing below it is in leaves().
  std::optional<Place> find_part(const Path& path) const;

 private:
  enum class Role : std::uint8_t { kNone, kPort, kNeighbour, kPriority, kPart };
  struct Node {
    std::string_view name;
    bool is_any = false;  ///< "*" or {PORT}
    Role element = Role::kNone;
    std::string_view key{};
    Role key_role = Role::kNone;
    const Leaf* leaf = nullptr;
    std::vector<std::uint32_t> children{};
  };

  void enter(const Leaf& leaf);
  std::uint32_t child_of(std::uint32_t parent, const Node& node);
  bool follow(const Path& path, std::size_t depth, std::uint32_t node, bool to_leaf, Place& place) const;
  static bool take(Role role, std::string_view text, Place& place);

  std::vector<Node> nodes_;
};

}  // namespace weft::gnmi
