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
  switch (id) {
    case CounterId::kTransmitBytes:
    case CounterId::kReceiveBytes:
    case CounterId::kTransmitPackets:
    case CounterId::kReceivePackets:
    case CounterId::kTransmitWait:
    case CounterId::kUnicastTransmitPackets:
    case CounterId::kUnicastReceivePackets:
      return true;
    default:
      return false;
  }
}

std::uint64_t top_of(const CounterInfo& info, CounterWidths widths) {
  const bool wide = widths == CounterWidths::kWide || (widths == CounterWidths::kNarrowErrors && is_traffic(info.id));
  if (wide && info.wide_bits == 64) return ~0ULL;
  const std::uint64_t top = (1ULL << info.narrow_bits) - 1;
  return info.unit == CounterUnit::kBytes ? top * kWord : top;
}

}  // namespace

Registers::Registers(std::size_t ports)
    : moving_(ports), events_(ports * kCounters, 0), widths_(ports, CounterWidths::kWide), changes_(ports, 1) {
  for (const CounterWidths widths : {CounterWidths::kWide, CounterWidths::kNarrowErrors, CounterWidths::kClassic})
    for (const CounterInfo& info : counter_catalogue())
      if (const auto id = static_cast<std::size_t>(info.id);
          id < kCounters && !(info.narrow_bits == 0 && widths == CounterWidths::kClassic))
        tops_[static_cast<std::size_t>(widths)][id] = top_of(info, widths);
}

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
  read_moved(port, now, table);
  read_events(port, table);
}

void Registers::read_on(std::size_t port, double now, SampleTable& table, std::uint64_t& seen) const {
  if (seen == changes_[port]) return read_moved_again(port, now, table);
  read_moved(port, now, table);
  read_events(port, table);
  seen = changes_[port];
}

void Registers::show(std::size_t port, CounterId id, std::uint64_t value, SampleTable& table) const {
  const SampleTable::Column column = table.column(id);
  const std::uint64_t top = tops_[static_cast<std::size_t>(widths_[port])][static_cast<std::size_t>(id)];
  if (column != SampleTable::kNoColumn && top > 0) table.set(port, column, std::min(value, top), value >= top);
}

void Registers::read_moved(std::size_t port, double now, SampleTable& table) const {
  const Traffic moved = traffic(port, now);
  show(port, CounterId::kTransmitBytes, moved.sent_bytes, table);
  show(port, CounterId::kReceiveBytes, moved.received_bytes, table);
  show(port, CounterId::kTransmitPackets, moved.sent_packets, table);
  show(port, CounterId::kReceivePackets, moved.received_packets, table);
  show(port, CounterId::kTransmitWait, waited(port, now), table);
  show(port, CounterId::kUnicastTransmitPackets, moved.sent_packets, table);
  show(port, CounterId::kUnicastReceivePackets, moved.received_packets, table);
}

void Registers::read_moved_again(std::size_t port, double now, SampleTable& table) const {
  if (widths_[port] == CounterWidths::kClassic) return read_moved(port, now, table);
  const Traffic moved = traffic(port, now);
  std::uint64_t* const row = table.raw_values().data() + port * table.columns();
  row[table.column(CounterId::kTransmitBytes)] = moved.sent_bytes;
  row[table.column(CounterId::kReceiveBytes)] = moved.received_bytes;
  row[table.column(CounterId::kTransmitPackets)] = moved.sent_packets;
  row[table.column(CounterId::kReceivePackets)] = moved.received_packets;
  row[table.column(CounterId::kTransmitWait)] = waited(port, now);
  row[table.column(CounterId::kUnicastTransmitPackets)] = moved.sent_packets;
  row[table.column(CounterId::kUnicastReceivePackets)] = moved.received_packets;
}

void Registers::read_events(std::size_t port, SampleTable& table) const {
  for (const CounterId id : table.counters())
    if (!is_moved(id)) show(port, id, events_[index(port, id)], table);
}

void Registers::read_garbage(std::size_t port, Random& random, SampleTable& table) const {
  for (const CounterId id : table.counters()) {
    const std::uint64_t top = top_of(counter_info(id), widths_[port]);
    table.set(port, table.column(id), static_cast<std::uint64_t>(static_cast<double>(top >> 12) * random.uniform()),
              false);
  }
}

}  // namespace weft::scenarios
