// SPDX-License-Identifier: Apache-2.0
#pragma once
// The counters of all ports as the hardware holds them, and what a reading shows of them.

#include <array>
#include <cstdint>
#include <vector>

#include "fabric/samples.hpp"
#include "tests/scenarios/random.hpp"

namespace weft::scenarios {

/// Of every packet of the simulation.
inline constexpr double kBytesOfPacket = 2048;

/// How wide a node's counters are.
enum class CounterWidths : std::uint8_t {
  kWide,          ///< PortCountersExtended with 64-bit error counters
  kNarrowErrors,  ///< 64-bit traffic; errors of 4, 8 and 16 bits
  kClassic,       ///< PortCounters only: everything narrow, transmit wait and data stick within seconds
};

class Registers {
 public:
  explicit Registers(std::size_t ports);

  /// Rates from now on; bytes and ticks per second.
  void set_rates(std::size_t port, double sent, double received, double wait_ticks) {
    Moving& moving = moving_[port];
    moving.sent_rate = sent;
    moving.received_rate = received;
    moving.wait_rate = wait_ticks;
  }
  /// Lets the time since the last call pass at the present rates.
  void settle(double now);
  void set_widths(std::size_t port, CounterWidths widths) {
    widths_[port] = widths;
    ++changes_[port];
  }
  /// Traffic before the scenario began.
  void preset(std::size_t port, double sent, double received, double wait_ticks);

  /// A port sent, or received, so many bytes at once.
  void add_bytes(std::size_t port, double sent, double received) {
    moving_[port].sent += sent;
    moving_[port].received += received;
  }
  void add(std::size_t port, CounterId id, std::uint64_t events) {
    events_[index(port, id)] += events;
    ++changes_[port];
  }
  std::uint64_t events(std::size_t port, CounterId id) const { return events_[index(port, id)]; }
  /// Somebody clears them all.
  void clear(std::size_t port);

  /// Ticks that the port has waited, up to `now` ≥ the last settle().
  std::uint64_t waited(std::size_t port, double now) const {
    return static_cast<std::uint64_t>(moving_[port].wait + moving_[port].wait_rate * (now - settled_));
  }

  struct Traffic {
    std::uint64_t sent_bytes = 0, received_bytes = 0, sent_packets = 0, received_packets = 0;
  };
  /// What one port sent and received up to `now` ≥ the last settle().
  Traffic traffic(std::size_t port, double now) const;
  /// Reads one port into `row` of a table with CounterGroup::kEverySweep, at `now` ≥ the last settle().
  void read(std::size_t port, double now, SampleTable& table) const;
  /// The same into the same table again and again, which nobody else writes: what counts events is written only where
  /// it has changed since. `seen`: 0 at first, and again after anything else was written there.
  void read_on(std::size_t port, double now, SampleTable& table, std::uint64_t& seen) const;
  /// What a broken agent says: anything.
  void read_garbage(std::size_t port, Random& random, SampleTable& table) const;

 private:
  struct Moving {
    double sent = 0, received = 0, wait = 0;  ///< bytes, bytes, ticks
    double sent_rate = 0, received_rate = 0, wait_rate = 0;
  };
  void read_moved(std::size_t port, double now, SampleTable& table) const;
  /// The same where the table has all of it already and no counter is near its top: values alone are written.
  void read_moved_again(std::size_t port, double now, SampleTable& table) const;
  void read_events(std::size_t port, SampleTable& table) const;
  /// Stores what a counter that stands at `value` shows; nothing where the port has no such counter.
  void show(std::size_t port, CounterId id, std::uint64_t value, SampleTable& table) const;
  std::size_t index(std::size_t port, CounterId id) const { return port * kCounters + static_cast<std::size_t>(id); }

  static constexpr std::size_t kCounters = static_cast<std::size_t>(CounterId::kVl15Dropped) + 1;
  static constexpr std::size_t kWidths = 3;
  std::array<std::array<std::uint64_t, kCounters>, kWidths> tops_{};  ///< by widths: all ones; 0: no such counter
  std::vector<Moving> moving_;
  std::vector<std::uint64_t> events_;
  std::vector<CounterWidths> widths_;
  std::vector<std::uint64_t> changes_;  ///< by port: of its events or widths, from 1 on
  double settled_ = 0;
};

}  // namespace weft::scenarios
