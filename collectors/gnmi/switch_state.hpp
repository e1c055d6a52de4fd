// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one switch has told by gNMI, kept up to date value by value, and readings of it as a collector on it would make.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collectors/gnmi/leaf_table.hpp"
#include "collectors/gnmi/value.hpp"
#include "fabric/clock.hpp"
#include "fabric/host.hpp"
#include "fabric/neighbours.hpp"

namespace weft::gnmi {

/// What is kept of one switch. What goes beyond is left out, and counted.
struct SwitchLimits {
  std::size_t ports = 1'024;
  std::size_t values = 65'536;  ///< counters of all ports
};

/// What became of the values that were told, ever.
struct SwitchFigures {
  std::uint64_t taken = 0;     ///< leaves of the table, with a value that can be
  std::uint64_t unknown = 0;   ///< leaves that are in no table
  std::uint64_t bad = 0;       ///< values that cannot be: out of range, of another type, no JSON
  std::uint64_t left_out = 0;  ///< beyond SwitchLimits
  std::uint64_t late = 0;      ///< pushed, and no newer than the one before
  bool operator==(const SwitchFigures&) const = default;
};

/// What is told with a value that is pushed.
struct Stamp {
  std::uint64_t told = 0;     ///< by the clock of who tells, compared with itself alone; 0: nobody says
  bool is_increment = false;  ///< the value is what came since the one before
};

/// Times are those of the caller, never those that the switch tells. Not thread-safe.
class SwitchState {
 public:
  /// Of a switch that has told nothing yet. `driver`: of its ports, as HostPort has it.
  explicit SwitchState(const SwitchLimits& limits = {}, std::string driver = "gnmi")
      : limits_(limits), driver_(std::move(driver)) {}

  /// Takes one value at `path`, or all that a JSON value holds. `path` is as before afterwards.
  void update(Path& path, const Value& value, TimePoint now);
  /// Takes one value that somebody pushes, at a port's place whose leaf outlives this object: of another table than
  /// leaves(). Nothing becomes of one that is as old as the one before there, or older.
  void push(const Place& place, const Value& value, const Stamp& stamp, TimePoint now);
  /// What is at `path` is no longer there, with everything below it.
  void remove(const Path& path);

  /// Forgets neighbours that were not told since `before`: where they are told again and again, and not when they go.
  void forget_neighbours(TimePoint before);

  /// Everything that is told now. A counter that was not told within `fresh` is absent. Interfaces that are no Ethernet
  /// ports are left out, and so is one of which neither a state nor a counter was told. The inventory is the same
  /// object until something in it changes.
  HostReading reading(TimePoint taken, TimePoint now, Duration fresh);
  /// How often a port's state has changed, ever: what is told at once.
  std::uint64_t state_changes() const { return state_changes_; }
  /// A port's state was told.
  bool has_states() const { return has_states_; }
  /// The figures so far.
  const SwitchFigures& figures() const { return figures_; }
  /// Counters that are kept, of all ports.
  std::size_t size() const { return cell_count_; }

 private:
  struct Cell {
    const Leaf* leaf = nullptr;
    std::uint8_t priority = kNoPriority;
    std::string part{};
    std::uint64_t value = 0;
    TimePoint told = kNever;
    std::uint64_t stamp = 0;   ///< Stamp::told of the last value
    std::uint32_t series = 0;  ///< its place in the inventory
  };
  struct Heard {
    Neighbour neighbour{};
    TimePoint told = kNever;
  };
  struct Port {
    PortState state = PortState::kUnknown;
    bool has_state = false;
    bool administratively_down = false;
    bool is_no_port = false;  ///< it has another type
    std::uint64_t rate = 0;
    std::string description{}, mac{};
    std::vector<Cell> cells{};
    // Losses of the carrier: half of the transitions that the switch counts, or those that were seen here.
    std::optional<std::uint64_t> transitions{};
    std::uint64_t losses = 0;
    TimePoint transitions_told = kNever;
    std::uint64_t state_stamp = 0, rate_stamp = 0;  ///< Stamp::told of the last one
    std::map<std::string, Heard, std::less<>> neighbours{};
    std::uint32_t left_out = 0;
  };
  using Ports = std::map<std::string, Port, std::less<>>;

  void take(const Path& path, const Value& value, TimePoint now);
  void take_leaf(const Place& place, const Value& value, const Stamp& stamp, TimePoint now);
  void take_text(const Place& place, std::string_view text, TimePoint now);
  bool take_state(Port& port, LeafKind kind, std::string_view text);
  bool take_neighbour(Port& port, const Place& place, std::string_view text, TimePoint now);
  void take_counter(Port& port, const Place& place, std::uint64_t value, const Stamp& stamp, TimePoint now);
  void take_transitions(Port& port, std::uint64_t value, TimePoint now);
  Port* port_of(std::string_view name);
  void describe();
  std::shared_ptr<const NeighbourTable> neighbours();

  bool is_late(const Place& place, std::uint64_t told);

  SwitchLimits limits_;
  std::string driver_;
  Ports ports_;
  std::size_t cell_count_ = 0;
  ChassisId chassis_;
  std::string system_name_;
  std::uint64_t state_changes_ = 0;
  bool has_states_ = false;
  bool inventory_changed_ = true, neighbours_changed_ = true;
  std::shared_ptr<const HostInventory> inventory_;
  std::shared_ptr<const NeighbourTable> table_;
  SwitchFigures figures_;
};

/// "SPEED_400GB" of openconfig-if-ethernet.yang, "100G", or bit/s in digits, as bit/s; 0 for anything else.
std::uint64_t parse_speed(std::string_view text);
/// "02:00:00:00:00:01" of twelve hexadecimal digits, whatever is between them; nullopt for anything else.
std::optional<std::string> parse_mac(std::string_view text);

}  // namespace weft::gnmi
