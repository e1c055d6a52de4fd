// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/rates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace weft::analyzer {
namespace {

using Column = SampleTable::Column;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr PortRates kNoRates{kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};
constexpr float kNoCount = -1;
/// A link can not have carried more than this many times what its rate allows in the time between two readings …
constexpr double kRateTolerance = 1.5;
/// … and this much longer (seconds), for answers that were under way or waited for.
constexpr double kReadingSlack = 2;

bool has(const SampleTable& table, std::size_t row, Column column) {
  return column != SampleTable::kNoColumn && table.present(row, column);
}

/// Movement of one counter; negative when it is not known.
double moved(const SampleTable& now, const SampleTable& before, std::size_t row, Column column) {
  if (!has(now, row, column) || !has(before, row, column) || before.saturated(row, column)) return kNoCount;
  const std::uint64_t a = before.value(row, column);
  const std::uint64_t b = now.value(row, column);
  return b < a ? kNoCount : static_cast<double>(b - a);
}

std::uint64_t error_moved(const SampleTable& now, const SampleTable& before, std::size_t row, Column column) {
  const double delta = moved(now, before, row, column);
  return delta > 0 ? static_cast<std::uint64_t>(delta) : 0;
}

bool same_shape(const SampleTable& a, const SampleTable& b) {
  return std::ranges::equal(a.counters(), b.counters());
}

}  // namespace

/// Where in the table the counters stand that this pass reads.
struct CounterTracker::Columns {
  explicit Columns(const SampleTable& table)
      : transmit_bytes(table.column(CounterId::kTransmitBytes)),
        receive_bytes(table.column(CounterId::kReceiveBytes)),
        transmit_packets(table.column(CounterId::kTransmitPackets)),
        receive_packets(table.column(CounterId::kReceivePackets)),
        transmit_wait(table.column(CounterId::kTransmitWait)),
        symbol_errors(table.column(CounterId::kSymbolErrors)),
        link_error_recovery(table.column(CounterId::kLinkErrorRecovery)),
        link_downed(table.column(CounterId::kLinkDowned)),
        receive_errors(table.column(CounterId::kReceiveErrors)),
        remote_errors(table.column(CounterId::kReceiveRemotePhysicalErrors)),
        integrity(table.column(CounterId::kLocalLinkIntegrityErrors)),
        count(table.columns()) {
    for (const Column column :
         {symbol_errors, link_error_recovery, link_downed, receive_errors, remote_errors, integrity})
      if (column != SampleTable::kNoColumn) link_errors[link_error_count++] = column;
    error_words.resize(table.words_per_row());
    traffic_words.resize(table.words_per_row());
    for (const Column column : {transmit_bytes, receive_bytes, transmit_packets, receive_packets, transmit_wait})
      if (column != SampleTable::kNoColumn)
        traffic_words[column / 64] |= 1ULL << (column % 64);
      else
        has_all_traffic = false;
    for (const CounterId id : table.counters())
      if (!counter_info(id).is_error)
        after_traffic = std::max<std::size_t>(after_traffic, table.column(id) + counter_info(id).instances);
    for (const CounterId id : table.counters())
      if (counter_info(id).is_error)
        for (unsigned i = 0; i < counter_info(id).instances; ++i) {
          const Column column = table.column(id, i);
          error_words[column / 64] |= 1ULL << (column % 64);
        }
  }

  /// Are all counters of traffic there in both readings, none of them at its top before? Mostly they are.
  bool are_plain(const SampleTable& now, const SampleTable& before, std::size_t row) const {
    bool plain = has_all_traffic;
    for (std::size_t word = 0; word < traffic_words.size(); ++word) {
      const std::size_t at = row * traffic_words.size() + word;
      const std::uint64_t good = now.raw_present()[at] & before.raw_present()[at] & ~before.raw_saturated()[at];
      plain = plain && (good & traffic_words[word]) == traffic_words[word];
    }
    return plain;
  }

  Column transmit_bytes, receive_bytes, transmit_packets, receive_packets, transmit_wait;
  Column symbol_errors, link_error_recovery, link_downed, receive_errors, remote_errors, integrity;
  std::size_t count;
  std::array<Column, 6> link_errors{};
  std::size_t link_error_count = 0;
  bool has_all_traffic = true;
  std::size_t after_traffic = 0;             ///< from this column on there are errors alone
  std::vector<std::uint64_t> traffic_words;  ///< the same of what counts traffic and waiting
  std::vector<std::uint64_t> error_words;  ///< a bit for each error counter, as the table's saturation words have them
};

void CounterTracker::restart(const Sweep& sweep) {
  const std::size_t ports = sweep.topology->ports().size();
  before_.reset();
  details_before_.reset();
  reset_counts_.assign(ports, 0);
  uncorrectable_.assign(ports, 0);
  uncounted_.clear();
  details_read_at_.assign(ports, kNever);
  pass_.rates.reset();
}

void CounterTracker::update_line_rates(const Topology& topology) {
  line_rates_.resize(topology.ports().size());
  most_rates_.resize(topology.ports().size());
  for (std::size_t i = 0; i < line_rates_.size(); ++i) {
    const Port& port = topology.ports()[i];
    line_rates_[i] = port.is_up() ? static_cast<float>(port.bits_per_second()) : 0.0F;
    most_rates_[i] =
        static_cast<float>(widest_lanes(port.width_supported) * lane_bits_per_second(fastest(port.speed_supported)));
  }
}

const CounterPass& CounterTracker::update(const Sweep& sweep, Duration stale_after) {
  const std::size_t ports = sweep.topology->ports().size();
  const bool new_epoch = !topology_ || topology_->epoch() != sweep.topology->epoch();
  if (new_epoch) restart(sweep);
  if (!sweep.counters || sweep.counters->rows() < ports || (before_ && !same_shape(*before_, *sweep.counters)))
    before_.reset();
  // Nodes that were found since the last sweep add ports at the end.
  reset_counts_.resize(ports);
  uncorrectable_.resize(ports);
  details_read_at_.resize(ports, kNever);
  if (topology_ != sweep.topology) update_line_rates(*sweep.topology);
  topology_ = sweep.topology;

  pass_.elapsed_seconds.assign(ports, 0);
  pass_.transmit_packets.assign(ports, kNoCount);
  pass_.receive_packets.assign(ports, kNoCount);
  pass_.receive_bits.assign(ports, kNoCount);
  pass_.errors.clear();
  pass_.resets.clear();
  pass_.impossible.clear();
  pass_.saturated.clear();

  auto rates = std::make_shared<std::vector<PortRates>>();
  rates->reserve(ports);
  if (pass_.rates) rates->assign(pass_.rates->begin(), pass_.rates->end());
  rates->resize(ports, kNoRates);
  if (sweep.counters && sweep.counters->rows() >= ports) {
    compare(sweep, stale_after, *rates);
    before_ = sweep.counters;
  }
  if (sweep.details && sweep.details->rows() >= ports && sweep.details != details_before_) add_uncorrectable(sweep);
  pass_.uncounted = uncounted_;
  pass_.rates = std::move(rates);
  return pass_;
}

void CounterTracker::compare(const Sweep& sweep, Duration stale_after, std::vector<PortRates>& rates) {
  const SampleTable& now = *sweep.counters;
  const Columns columns(now);
  const std::span<const std::uint64_t> saturated = now.raw_saturated();
  const std::size_t words = now.words_per_row();
  for (std::size_t row = 0; row < rates.size(); ++row) {
    const TimePoint read_at = now.read_at(row);
    if (read_at == kNever) continue;
    for (std::size_t word = 0; word < words; ++word)
      if (saturated[row * words + word] & columns.error_words[word]) {
        pass_.saturated.push_back(static_cast<PortIndex>(row));
        break;
      }
    const Port& port = sweep.topology->ports()[row];
    const bool known = before_ && row < before_->rows() && before_->read_at(row) != kNever;
    if (known && read_at > before_->read_at(row)) {
      compare_row(now, *before_, columns, row, port, rates[row]);
    } else if (!known) {
      if (has(now, row, columns.transmit_wait) && port.wait_tick_seconds > 0)
        rates[row].transmit_wait_seconds_total =
            static_cast<double>(now.value(row, columns.transmit_wait)) * static_cast<double>(port.wait_tick_seconds);
    } else if (read_at + stale_after < sweep.finished) {
      const double total = rates[row].transmit_wait_seconds_total;
      rates[row] = kNoRates;
      rates[row].transmit_wait_seconds_total = total;
    }
  }
}

bool CounterTracker::possible(PortIndex port, double bytes, double elapsed) const {
  const auto most = static_cast<double>(most_rates_[port]);
  return most <= 0 || bytes * 8 <= most * kRateTolerance * (elapsed + kReadingSlack);
}

void CounterTracker::compare_row(const SampleTable& now, const SampleTable& before, const Columns& columns,
                                 std::size_t row, const Port& port, PortRates& rates) {
  const std::uint64_t* const a = before.raw_values().data() + row * columns.count;
  const std::uint64_t* const b = now.raw_values().data() + row * columns.count;
  // Mostly only traffic moves; what stands after it is equal.
  const std::size_t after = columns.after_traffic;
  const bool same_events = std::memcmp(a + after, b + after, (columns.count - after) * sizeof(std::uint64_t)) == 0;
  bool decreased = false;
  for (std::size_t column = 0; column < (same_events ? after : columns.count); ++column)
    decreased |= b[column] < a[column];
  // Only where both are present does a decrease mean anything; absent values are rare, so they are looked at last.
  if (decreased) {
    decreased = false;
    for (std::size_t column = 0; column < columns.count; ++column)
      decreased |= b[column] < a[column] && has(now, row, static_cast<Column>(column)) &&
                   has(before, row, static_cast<Column>(column));
  }
  const double total = rates.transmit_wait_seconds_total;
  rates = kNoRates;
  rates.transmit_wait_seconds_total = total;
  if (decreased) {
    ++reset_counts_[row];
    pass_.resets.push_back(static_cast<PortIndex>(row));
    return;
  }

  const double elapsed = seconds(now.read_at(row) - before.read_at(row));
  const bool is_plain = columns.are_plain(now, before, row);
  const auto moved_of = [&](Column column) {
    return is_plain ? static_cast<double>(b[column] - a[column]) : moved(now, before, row, column);
  };
  const double sent = moved_of(columns.transmit_bytes);
  const double received = moved_of(columns.receive_bytes);
  if (!possible(static_cast<PortIndex>(row), std::max(sent, received), elapsed)) {
    pass_.impossible.push_back(static_cast<PortIndex>(row));
    return;
  }
  pass_.elapsed_seconds[row] = static_cast<float>(elapsed);
  // A traffic counter that has just stuck gives no rate: "at least" is no measurement.
  const bool sent_stuck = sent >= 0 && now.saturated(row, columns.transmit_bytes);
  const bool received_stuck = received >= 0 && now.saturated(row, columns.receive_bytes);
  if (sent >= 0 && !sent_stuck) rates.transmit_bits_per_second = sent * 8 / elapsed;
  if (received >= 0 && !received_stuck) {
    rates.receive_bits_per_second = received * 8 / elapsed;
    pass_.receive_bits[row] = static_cast<float>(received * 8);
  }
  const double line_rate = static_cast<double>(line_rates_[row]);
  if (line_rate > 0 && sent >= 0 && received >= 0 && !sent_stuck && !received_stuck)
    rates.utilization_ratio =
        std::min(1.0, std::max(rates.transmit_bits_per_second, rates.receive_bits_per_second) / line_rate);
  pass_.transmit_packets[row] = static_cast<float>(moved_of(columns.transmit_packets));
  pass_.receive_packets[row] = static_cast<float>(moved_of(columns.receive_packets));

  const double waited = moved_of(columns.transmit_wait);
  if (waited >= 0 && port.wait_tick_seconds > 0) {
    const double wait_seconds = waited * static_cast<double>(port.wait_tick_seconds);
    rates.stall_ratio = std::clamp(wait_seconds / elapsed, 0.0, 1.0);
    rates.transmit_wait_seconds_total = (std::isnan(total) ? 0.0 : total) + wait_seconds;
  }

  bool errors = false;
  for (std::size_t i = 0; i < columns.link_error_count; ++i)
    errors |= b[columns.link_errors[i]] != a[columns.link_errors[i]];
  if (!errors) return;
  pass_.errors.push_back({.port = static_cast<PortIndex>(row),
                          .symbol_errors = error_moved(now, before, row, columns.symbol_errors),
                          .link_error_recovery = error_moved(now, before, row, columns.link_error_recovery),
                          .link_downed = error_moved(now, before, row, columns.link_downed),
                          .receive_errors = error_moved(now, before, row, columns.receive_errors),
                          .receive_remote_physical_errors = error_moved(now, before, row, columns.remote_errors),
                          .local_link_integrity_errors = error_moved(now, before, row, columns.integrity)});
}

void CounterTracker::add_uncorrectable(const Sweep& sweep) {
  const SampleTable& details = *sweep.details;
  const std::size_t known = pass_.errors.size();
  for (std::size_t row = 0; row < details_read_at_.size(); ++row) {
    if (details.read_at(row) == details_read_at_[row]) continue;
    const bool first = details_read_at_[row] == kNever;
    details_read_at_[row] = details.read_at(row);
    std::uint64_t sum = 0;
    bool stuck = false;
    for (const CounterId id : {CounterId::kFecUncorrectableBlocks, CounterId::kRsFecUncorrectableBlocks})
      for (unsigned instance = 0; instance < counter_info(id).instances; ++instance) {
        const Column column = details.column(id, instance);
        if (details.column(id) == SampleTable::kNoColumn || !details.present(row, column)) continue;
        sum += details.value(row, column);
        stuck |= details.saturated(row, column);
      }
    const auto place = std::ranges::lower_bound(uncounted_, static_cast<PortIndex>(row));
    const bool was_stuck = place != uncounted_.end() && *place == row;
    if (stuck && !was_stuck) uncounted_.insert(place, static_cast<PortIndex>(row));
    if (!stuck && was_stuck) uncounted_.erase(place);
    const std::uint64_t previous = uncorrectable_[row];
    uncorrectable_[row] = sum;
    if (first || sum <= previous) continue;
    const auto end = pass_.errors.begin() + static_cast<std::ptrdiff_t>(known);
    const auto found = std::lower_bound(pass_.errors.begin(), end, row,
                                        [](const ErrorDelta& delta, std::size_t port) { return delta.port < port; });
    if (found != end && found->port == row)
      found->fec_uncorrectable = sum - previous;
    else
      pass_.errors.push_back({.port = static_cast<PortIndex>(row), .fec_uncorrectable = sum - previous});
  }
  if (pass_.errors.size() != known) std::ranges::sort(pass_.errors, {}, &ErrorDelta::port);
  details_before_ = sweep.details;
}

}  // namespace weft::analyzer
