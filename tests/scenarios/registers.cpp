// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/registers.hpp"

#include <algorithm>

namespace weft::scenarios {
namespace {

/// The data counters count words of so many bytes (InfiniBand vol. 1, 16.1.3.5).
constexpr std::uint64_t kWord = 4;

bool is_traffic(CounterId id) {
  return id <= CounterId::kTransmitWait;
}

/// It follows from what the port sends and receives, and waits for.
bool is_moved(CounterId id) {
  return is_traffic(id) || id == CounterId::kUnicastTransmitPackets || id == CounterId::kUnicastReceivePackets;
}

std::uint64_t top_of(const CounterInfo& info, CounterWidths widths) {
  const bool wide = widths == CounterWidths::kWide || (widths == CounterWidths::kNarrowErrors && is_traffic(info.id));
  if (wide && info.wide_bits == 64) return ~0ULL;
  const std::uint64_t top = (1ULL << info.narrow_bits) - 1;
  return info.unit == CounterUnit::kBytes ? top * kWord : top;
}

}  // namespace

Registers::Registers(std::size_t ports)
    : moving_(ports), events_(ports * kCounters, 0), widths_(ports, CounterWidths::kWide), changes_(ports, 1) {}

void Registers::settle(double now) {
  const double passed = now - settled_;
  settled_ = now;
  for (Moving& moving : moving_) {
    moving.sent += moving.sent_rate * passed;
    moving.received += moving.received_rate * passed;
    moving.wait += moving.wait_rate * passed;
  }
}

void Registers::preset(std::size_t port, double sent, double received, double wait_ticks) {
  moving_[port].sent = sent;
  moving_[port].received = received;
  moving_[port].wait = wait_ticks;
}

void Registers::clear(std::size_t port) {
  ++changes_[port];
  preset(port, 0, 0, 0);
  std::fill_n(events_.begin() + static_cast<std::ptrdiff_t>(port * kCounters), kCounters, 0);
}

Registers::Traffic Registers::traffic(std::size_t port, double now) const {
  const Moving& moving = moving_[port];
  const double passed = now - settled_;
  const double sent = moving.sent + moving.sent_rate * passed;
  const double received = moving.received + moving.received_rate * passed;
  return {.sent_bytes = static_cast<std::uint64_t>(sent) / kWord * kWord,
          .received_bytes = static_cast<std::uint64_t>(received) / kWord * kWord,
          .sent_packets = static_cast<std::uint64_t>(sent / kBytesOfPacket),
          .received_packets = static_cast<std::uint64_t>(received / kBytesOfPacket)};
}

void Registers::read(std::size_t port, double now, SampleTable& table) const {
  read(port, now, table, true);
}

void Registers::read_on(std::size_t port, double now, SampleTable& table, std::uint64_t& seen) const {
  read(port, now, table, seen != changes_[port]);
  seen = changes_[port];
}

void Registers::read(std::size_t port, double now, SampleTable& table, bool events) const {
  const Moving& moving = moving_[port];
  const double passed = now - settled_;
  const CounterWidths widths = widths_[port];
  const Traffic moved = traffic(port, now);
  for (const CounterId id : table.counters()) {
    if (!events && !is_moved(id)) continue;
    const CounterInfo& info = counter_info(id);
    std::uint64_t value = 0;
    switch (id) {
      case CounterId::kTransmitBytes:
        value = moved.sent_bytes;
        break;
      case CounterId::kReceiveBytes:
        value = moved.received_bytes;
        break;
      case CounterId::kTransmitPackets:
      case CounterId::kUnicastTransmitPackets:
        value = moved.sent_packets;
        break;
      case CounterId::kReceivePackets:
      case CounterId::kUnicastReceivePackets:
        value = moved.received_packets;
        break;
      case CounterId::kTransmitWait:
        value = static_cast<std::uint64_t>(moving.wait + moving.wait_rate * passed);
        break;
      default:
        value = events_[index(port, id)];
    }
    if (info.narrow_bits == 0 && widths == CounterWidths::kClassic) continue;  // it has no such counter
    const std::uint64_t top = top_of(info, widths);
    table.set(port, table.column(id), std::min(value, top), value >= top);
  }
}

void Registers::read_garbage(std::size_t port, Random& random, SampleTable& table) const {
  for (const CounterId id : table.counters()) {
    const std::uint64_t top = top_of(counter_info(id), widths_[port]);
    table.set(port, table.column(id), static_cast<std::uint64_t>(static_cast<double>(top >> 12) * random.uniform()),
              false);
  }
}

}  // namespace weft::scenarios
