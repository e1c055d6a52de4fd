// SPDX-License-Identifier: Apache-2.0
#include "analyzer/acceptance/acceptance_watch.hpp"

#include <algorithm>
#include <optional>

namespace weft::analyzer {
namespace {

using Column = SampleTable::Column;

constexpr Duration kLongestGap = std::chrono::minutes(1);
/// Ports that are in the graph no more and are kept all the same, beside as many as it has.
constexpr std::size_t kKeptGone = 4096;

bool is_there(const SampleTable& table, std::size_t row, Column column) {
  return column != SampleTable::kNoColumn && row < table.rows() && table.present(row, column);
}

/// Sum over all instances; nullopt where none was read, or one is at its top.
std::optional<std::uint64_t> sum_of(const SampleTable& table, std::size_t row, CounterId id) {
  if (table.column(id) == SampleTable::kNoColumn) return std::nullopt;
  std::optional<std::uint64_t> sum;
  for (unsigned i = 0; i < counter_info(id).instances; ++i) {
    const Column column = table.column(id, i);
    if (!table.present(row, column)) continue;
    if (table.saturated(row, column)) return std::nullopt;
    sum = sum.value_or(0) + table.value(row, column);
  }
  return sum;
}

/// What error correction counted up to one reading; nullopt: not known.
struct FecCounts {
  FecCounts(const SampleTable& table, std::size_t row)
      : corrected(sum_of(table, row, CounterId::kRsFecCorrectedSymbols)) {
    const auto blocks = sum_of(table, row, CounterId::kFecUncorrectableBlocks);
    const auto rs_blocks = sum_of(table, row, CounterId::kRsFecUncorrectableBlocks);
    if (blocks || rs_blocks) uncorrectable = blocks.value_or(0) + rs_blocks.value_or(0);
  }
  std::optional<std::uint64_t> corrected;
  std::optional<std::uint64_t> uncorrectable;
};

/// Everything but the breaks begins anew.
void begin(TimePoint when, WatchedPort& watched) {
  WatchedPort fresh;
  fresh.downs = watched.downs;
  fresh.clears = watched.clears;
  fresh.gaps = watched.gaps;
  fresh.since = fresh.last = when;
  fresh.read = (1U << kAcceptanceCounters.size()) - 1;
  watched = fresh;
}

bool went_back(const SampleTable& before, std::size_t row_before, const SampleTable& now, std::size_t row) {
  const auto back = [&](CounterId id) {
    const Column column = now.column(id);
    return is_there(now, row, column) && is_there(before, row_before, before.column(id)) &&
           now.value(row, column) < before.value(row_before, before.column(id));
  };
  return back(CounterId::kTransmitBytes) || back(CounterId::kReceiveBytes) ||
         std::ranges::any_of(kAcceptanceCounters, back);
}

}  // namespace

const WatchedPort* AcceptanceWatch::find(PortKey port) const {
  const auto found = known_.find(port);
  return found == known_.end() ? nullptr : &found->second;
}

void AcceptanceWatch::remap(const std::shared_ptr<const Topology>& topology, std::span<const PortIndex> ports) {
  const bool is_other = !topology_ || topology_->epoch() != topology->epoch();
  // Of ports that went for good nothing is kept for ever.
  if (is_other && known_.size() > 2 * topology->ports().size() + kKeptGone)
    std::erase_if(known_, [&topology](const auto& one) { return topology->find_port(one.first) == kNoIndex; });
  // Rows mean other ports now. What is read next of each is compared with the row that it had.
  topology_before_ = is_other ? topology_ : nullptr;
  topology_ = topology;
  if (!is_other && std::ranges::equal(ports_, ports)) return;
  ports_.assign(ports.begin(), ports.end());
  watched_.clear();
  for (const PortIndex port : ports_)
    watched_.push_back(port < topology->ports().size() ? &known_[topology->key_of(port)] : nullptr);
}

std::size_t AcceptanceWatch::row_before(PortIndex port) const {
  return topology_before_ ? topology_before_->find_port(topology_->key_of(port)) : port;
}

void AcceptanceWatch::update(const Sweep& sweep, std::span<const PortIndex> ports, Duration stale_after) {
  if (!sweep.topology || !sweep.counters || sweep.counters->rows() < sweep.topology->ports().size()) return;
  remap(sweep.topology, ports);
  const Duration longest_gap = std::max(kLongestGap, stale_after);
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    if (watched_[i] == nullptr) continue;
    WatchedPort& watched = *watched_[i];
    follow(sweep, ports_[i], longest_gap, watched);
    if (watched.since != kNever && (began_ == kNever || watched.since < began_)) began_ = watched.since;
  }
  before_ = sweep.counters;
  details_before_ = sweep.details;
}

void AcceptanceWatch::follow(const Sweep& sweep, PortIndex index, Duration longest_gap, WatchedPort& watched) {
  const Port& port = sweep.topology->port(index);
  if (!port.is_up()) {
    if (watched.since == kNever) return;
    begin(kNever, watched);
    ++watched.downs;
    return;
  }
  const SampleTable& now = *sweep.counters;
  const TimePoint read_at = now.read_at(index);
  if (read_at == kNever || read_at == watched.last) return;
  if (watched.since == kNever) return begin(read_at, watched);
  const std::size_t old_row = row_before(index);
  if (!before_ || old_row >= before_->rows() || before_->read_at(old_row) != watched.last ||
      read_at - watched.last > longest_gap || read_at < watched.last) {
    begin(read_at, watched);
    ++watched.gaps;
    return;
  }
  if (went_back(*before_, old_row, now, index)) {
    begin(read_at, watched);
    ++watched.clears;
    return;
  }
  const double bits = port.bits_per_second() * seconds(read_at - watched.last);
  watched.line_bits += bits;
  watched.last = read_at;
  for (std::size_t i = 0; i < kAcceptanceCounters.size(); ++i) {
    const Column column = now.column(kAcceptanceCounters[i]);
    const Column column_before = before_->column(kAcceptanceCounters[i]);
    if (!is_there(now, index, column) || !is_there(*before_, old_row, column_before)) {
      watched.read = static_cast<std::uint16_t>(watched.read & ~(1U << i));
      continue;
    }
    watched.moved[i] += now.value(index, column) - before_->value(old_row, column_before);
    if (now.saturated(index, column)) watched.stuck = static_cast<std::uint16_t>(watched.stuck | 1U << i);
  }
  const Column sent = now.column(CounterId::kTransmitBytes), sent_before = before_->column(CounterId::kTransmitBytes);
  if (!is_there(now, index, sent) || !is_there(*before_, old_row, sent_before))
    watched.transmit_bytes = -1;
  else if (watched.transmit_bytes >= 0)
    watched.transmit_bytes += static_cast<double>(now.value(index, sent) - before_->value(old_row, sent_before));
  follow_fec(sweep, index, watched);
}

void AcceptanceWatch::follow_fec(const Sweep& sweep, PortIndex index, WatchedPort& watched) const {
  if (!sweep.details || index >= sweep.details->rows()) return;
  const SampleTable& now = *sweep.details;
  const TimePoint read_at = now.read_at(index);
  if (read_at == kNever || read_at == watched.fec_last) return;
  const FecCounts counts(now, index);
  const std::size_t old_row = row_before(index);
  if (watched.fec_since != kNever && details_before_ && old_row < details_before_->rows() &&
      details_before_->read_at(old_row) == watched.fec_last) {
    const FecCounts before(*details_before_, old_row);
    if (!(counts.corrected < before.corrected) && !(counts.uncorrectable < before.uncorrectable)) {
      watched.has_corrected = watched.has_corrected && counts.corrected && before.corrected;
      watched.has_uncorrectable = watched.has_uncorrectable && counts.uncorrectable && before.uncorrectable;
      watched.corrected_symbols += counts.corrected.value_or(0) - before.corrected.value_or(0);
      watched.uncorrectable_blocks += counts.uncorrectable.value_or(0) - before.uncorrectable.value_or(0);
      watched.fec_bits += sweep.topology->port(index).bits_per_second() * seconds(read_at - watched.fec_last);
      watched.fec_last = read_at;
      return;
    }
  }
  watched.fec_since = watched.fec_last = read_at;
  watched.fec_bits = 0;
  watched.corrected_symbols = watched.uncorrectable_blocks = 0;
  watched.has_corrected = counts.corrected.has_value();
  watched.has_uncorrectable = counts.uncorrectable.has_value();
}

}  // namespace weft::analyzer
