// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/history.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <unordered_map>
#include <utility>

#include "daemon/adapters/store/dialect.hpp"
#include "daemon/adapters/store/entity_columns.hpp"
#include "daemon/adapters/store/history_codec.hpp"
#include "daemon/adapters/store/history_hours.hpp"

namespace weft::store {
namespace {

constexpr std::int64_t kChunksDeletedAtOnce = 2000;
constexpr std::int64_t kPagesReturnedAtOnce = 1000;
constexpr std::size_t kMostDoubts = 100;
constexpr std::int64_t kHourWeight = 50;  ///< of kChunksDeletedAtOnce
/// Ports are noted as seen this often, and forgotten this long after their last history has gone.
constexpr Duration kTouchInterval = std::chrono::hours(24);

/// A moment in so many has gauges, but one in so much time at least.
constexpr int kMomentsOfGauges = 5;
constexpr Duration kGaugesAtLeast = std::chrono::minutes(5);

/// The hour that a moment counts for: its end is the first one's.
auto hour_of(TimePoint at) {
  return std::chrono::floor<std::chrono::hours>(at - Duration(1));
}

/// The same port at every index.
bool same_layout(const Topology& a, const Topology& b) {
  return &a == &b || (a.ports().size() == b.ports().size() &&
                      std::ranges::equal(a.nodes(), b.nodes(), [](const Node& x, const Node& y) {
                        return x.guid == y.guid && x.first_port == y.first_port && x.type == y.type;
                      }));
}

/// Packets, bytes and waits go on all the time; the others are single events.
constexpr bool is_traffic(std::size_t counter) {
  return counter < kDenseCounters;
}

/// What the port's counters grew by between two readings, for a moment of that span. A decrease is a reset: it counts
/// from there. Of a port that was silent for longer the span's share counts, for when the rest came is not known; of
/// events one at least.
ChunkPort growth(const SampleTable& before, std::size_t row_before, const SampleTable& now, std::size_t row,
                 Duration span) {
  ChunkPort port;
  if (before.read_at(row_before) == kNever || now.read_at(row) <= before.read_at(row_before)) return port;
  const Duration since = now.read_at(row) - before.read_at(row_before);
  const bool was_silent = since > span + span / 2;
  const double share = was_silent ? static_cast<double>(span.count()) / static_cast<double>(since.count()) : 1;
  for (std::size_t i = 0; i < kHistoryCounters.size(); ++i) {
    const SampleTable::Column from = before.column(kHistoryCounters[i]);
    const SampleTable::Column to = now.column(kHistoryCounters[i]);
    if (from == SampleTable::kNoColumn || to == SampleTable::kNoColumn) continue;
    if (!before.present(row_before, from) || !now.present(row, to)) continue;
    const std::uint64_t old_value = before.value(row_before, from);
    const std::uint64_t value = now.value(row, to);
    port.present |= 1U << i;
    if (now.saturated(row, to)) port.at_least |= 1U << i;
    port.increase[i] = value >= old_value ? value - old_value : value;
    if (!was_silent || port.increase[i] == 0) continue;
    const auto part = static_cast<std::uint64_t>(std::llround(static_cast<double>(port.increase[i]) * share));
    port.increase[i] = is_traffic(i) ? part : std::max<std::uint64_t>(part, 1);
    port.at_least |= 1U << i;
  }
  return port;
}

/// Two sweeps further apart are no reading of the time between them.
Duration longest_apart(Duration interval) {
  return 3 * interval;
}

}  // namespace

void History::see(const Sweep& sweep, Duration heard) {
  const auto found = fabrics_.find(sweep.fabric);
  if (found == fabrics_.end()) return;
  Fabric& fabric = found->second;
  const Duration interval = std::max(options_.history_interval, sweep.interval);
  const Duration apart = sweep.finished - fabric.seen;
  if (apart - (heard - fabric.heard) > longest_apart(interval)) fabric.is_stepped = true;
  if (apart > longest_apart(interval)) fabric.dark += apart - interval;
  fabric.seen = sweep.finished;
  fabric.heard = heard;
}

Result<bool> History::append(std::shared_ptr<const Sweep> sweep, const HostListPtr& hosts, Duration heard) {
  if (!sweep || !sweep->topology || !sweep->counters || sweep->counters->rows() != sweep->topology->ports().size())
    return false;
  see(*sweep, heard);
  const auto [place, is_new] = fabrics_.try_emplace(sweep->fabric);
  Fabric& fabric = place->second;
  // The first reading has nothing to be compared with, nor has one after the clock was set.
  if (is_new || sweep->finished < fabric.last->finished || fabric.is_stepped) {
    fabric.last = std::move(sweep);
    fabric.tried = fabric.seen = fabric.last->finished;
    fabric.heard = heard;
    fabric.dark = {};
    fabric.is_stepped = false;
    return false;
  }
  // Half an interval of the sweep is granted, so that jitter does not make every other moment late.
  if (sweep->finished - fabric.tried + sweep->interval / 2 < options_.history_interval) return false;
  fabric.tried = sweep->finished;
  Transaction transaction(database_);
  database_.require_in_place();
  for (const TimePoint moment : fabric.doubts) take_back(sweep->fabric, moment);
  map_ports(fabric, *sweep);
  take_gauges(fabric, *sweep, hosts);
  if (sweep->finished - fabric.touched >= kTouchInterval) touch_ports(fabric, sweep->finished);
  const std::int64_t moment = write_moment(fabric, *sweep);
  const bool has_gauges = gauges_are_due(fabric, *sweep);
  GaugeRows gauges = has_gauges ? write_gauges(fabric, *sweep, moment) : GaugeRows{};
  if (auto done = transaction.commit(); !done) {
    fabric.mapped.reset();  // slots that were given out are not stored
    fabric.touched = kNever;
    fabric.gauges.clear();  // they are by slot
    fabric.gauges_since = sweep->finished;
    if (fabric.doubts.size() >= kMostDoubts) fabric.doubts.erase(fabric.doubts.begin());
    if (is_shared_) fabric.doubts.push_back(sweep->finished);
    return tl::unexpected<Error>(done.error());
  }
  fabric.doubts.clear();
  if (has_gauges) {
    fabric.stored = std::move(gauges);
    fabric.gauges.clear();
    fabric.gauges_since = fabric.stored_until = sweep->finished;
  }
  fabric.last = std::move(sweep);
  fabric.dark = {};
  return true;
}

// Its time is written again, as a part of the next moment.
void History::take_back(const std::string& fabric, TimePoint moment) {
  Statement find(database_, "SELECT id FROM moment WHERE fabric = ? AND at = ?");
  find.query(fabric, moment);
  std::int64_t id = 0;
  while (find.next()) id = find.integer(0);
  if (id != 0) delete_moment(id);
}

void History::map_ports(Fabric& fabric, const Sweep& sweep) {
  if (fabric.mapped && same_layout(*fabric.mapped, *sweep.topology)) {
    fabric.mapped = sweep.topology;
    return;
  }
  std::unordered_map<PortKey, std::uint32_t> known;
  Statement rows(database_, "SELECT node, port, slot FROM port WHERE fabric = ?");
  rows.query(sweep.fabric);
  while (rows.next()) known.emplace(read_port_key(database_, rows, 0), static_cast<std::uint32_t>(rows.integer(2)));
  auto next = static_cast<std::uint32_t>(database_.number("SELECT max(slot) + 1 FROM port"));
  Statement add(database_, "INSERT INTO port VALUES (?, ?, ?, ?, ?)");
  fabric.slots.resize(sweep.topology->ports().size());
  for (PortIndex i = 0; i < fabric.slots.size(); ++i) {
    const PortKey key = sweep.topology->key_of(i);
    const auto [found, is_new] = known.emplace(key, next);
    if (is_new) add.run(next++, sweep.fabric, key.node.value, key.port.value, sweep.finished);
    fabric.slots[i] = found->second;
  }
  fabric.mapped = sweep.topology;
  fabric.touched = kNever;
}

void History::touch_ports(Fabric& fabric, TimePoint now) {
  Statement touch(database_, "UPDATE port SET seen = ? WHERE slot = ?");
  for (const std::uint32_t slot : fabric.slots) touch.run(now, slot);
  fabric.touched = now;
}

// What was read before a time without sweeps is let go, at most five moments: no row speaks of such a gap.
void History::take_gauges(Fabric& fabric, const Sweep& sweep, const HostListPtr& hosts) const {
  const Duration longest = longest_apart(std::max(options_.history_interval, sweep.interval));
  if (sweep.finished < fabric.gauges_taken || sweep.finished - fabric.gauges_taken > longest) {
    fabric.gauges.clear();
    fabric.gauges_since = std::max(fabric.last->finished, sweep.finished - longest);
  }
  fabric.gauges_taken = sweep.finished;
  const std::vector<PortGauges> gauges = read_port_gauges(*sweep.topology, hosts, sweep.finished);
  constexpr auto kChunk = static_cast<std::uint32_t>(kChunkPorts);
  for (PortIndex index = 0; index < gauges.size(); ++index) {
    if (gauges[index].present == 0) continue;
    const std::uint32_t slot = fabric.slots[index];
    std::vector<GaugePort>& ports = fabric.gauges[slot / kChunk];
    if (ports.size() <= slot % kChunk) ports.resize(slot % kChunk + 1);
    add(ports[slot % kChunk], gauges[index]);
  }
}

bool History::gauges_are_due(const Fabric& fabric, const Sweep& sweep) const {
  const Duration spacing =
      std::max(options_.history_interval, std::min(options_.history_interval * kMomentsOfGauges, kGaugesAtLeast));
  return sweep.finished - fabric.gauges_since + sweep.interval / 2 >= spacing;
}

std::int64_t History::write_moment(const Fabric& fabric, const Sweep& sweep) {
  const Duration span = sweep.finished - fabric.last->finished - fabric.dark;
  Statement moment(database_, "INSERT INTO moment (fabric, at, span) VALUES (?, ?, ?) RETURNING id");
  moment.query(sweep.fabric, sweep.finished, span);
  std::int64_t id = 0;
  while (moment.next()) id = moment.integer(0);
  reopen_hour(database_, sweep.fabric, sweep.finished);
  const Sweep& last = *fabric.last;
  const bool aligned = same_layout(*last.topology, *sweep.topology);

  // By slot, so that a port that moved within the topology stays in its chunk.
  std::vector<PortIndex> by_slot(fabric.slots.size());
  for (PortIndex i = 0; i < by_slot.size(); ++i) by_slot[i] = i;
  std::ranges::sort(by_slot, {}, [&fabric](PortIndex i) { return fabric.slots[i]; });
  Statement insert(database_, "INSERT INTO chunk VALUES (?, ?)");
  std::vector<ChunkPort> ports;
  constexpr auto kChunk = static_cast<std::uint32_t>(kChunkPorts);
  for (std::size_t next = 0; next < by_slot.size();) {
    const std::uint32_t chunk = fabric.slots[by_slot[next]] / kChunk;
    ports.clear();
    for (; next < by_slot.size() && fabric.slots[by_slot[next]] / kChunk == chunk; ++next) {
      const PortIndex index = by_slot[next];
      const PortIndex before = aligned ? index : last.topology->find_port(sweep.topology->key_of(index));
      ports.resize(fabric.slots[index] % kChunk + 1);  // slots between belong to other fabrics or to ports gone
      if (before != kNoIndex) ports.back() = growth(*last.counters, before, *sweep.counters, index, span);
    }
    insert.run(id << kChunkBits | chunk, encode_chunk(ports));
  }
  return id;
}

// The first row of an hour is whole: whoever reads a time begins there. So is one behind a gap.
History::GaugeRows History::write_gauges(const Fabric& fabric, const Sweep& sweep, std::int64_t moment) {
  const bool goes_on =
      fabric.stored_until == fabric.gauges_since && hour_of(fabric.stored_until) == hour_of(sweep.finished);
  GaugeRows rows;
  Statement insert(database_, "INSERT INTO gauge_chunk VALUES (?, ?, ?)");
  for (const auto& [chunk, gauges] : fabric.gauges) {
    const auto stored = fabric.stored.find(chunk);
    const std::span<const GaugeCodes> before =
        stored == fabric.stored.end() ? std::span<const GaugeCodes>() : std::span<const GaugeCodes>(stored->second);
    std::vector<GaugeCodes>& row = rows[chunk];
    row.resize(std::max(gauges.size(), before.size()));
    for (std::size_t i = 0; i < gauges.size(); ++i)
      row[i] = to_codes(gauges[i], i < before.size() ? before[i] : GaugeCodes{});
    insert.run(moment << kChunkBits | chunk, sweep.finished - fabric.gauges_since,
               encode_gauges(row, goes_on ? before : std::span<const GaugeCodes>()));
  }
  return rows;
}

std::int64_t History::delete_moment(std::int64_t moment) {
  const auto [first, last] = chunk_ids(moment);
  Statement(database_, "DELETE FROM chunk WHERE id BETWEEN ? AND ?").run(first, last);
  const std::int64_t chunks = database_.changes();
  Statement(database_, "DELETE FROM gauge_chunk WHERE id BETWEEN ? AND ?").run(first, last);
  Statement(database_, "DELETE FROM moment WHERE id = ?").run(moment);
  return chunks;
}

Result<bool> History::shrink(TimePoint oldest_allowed) {
  std::int64_t deleted = 0;
  bool more = false;
  {
    Transaction transaction(database_);
    while (true) {
      Statement oldest(database_, "SELECT id, at FROM moment ORDER BY id LIMIT 1");
      oldest.query();
      if (!oldest.next()) break;
      const std::int64_t id = oldest.integer(0);
      const TimePoint at = oldest.time(1);
      // What is deleted in PostgreSQL gives its room back later: by room all would go.
      const bool is_too_much = !is_shared_ && bytes() > options_.max_history_bytes;
      oldest.next();
      if (at >= oldest_allowed && !is_too_much) break;
      if (more = deleted >= kChunksDeletedAtOnce; more) break;
      if (is_too_much && delete_oldest_hour(database_, at))
        deleted += kHourWeight;
      else
        deleted += delete_moment(id) + 1;
    }
    delete_old_hours(database_, oldest_allowed);
    Statement(database_, "DELETE FROM port WHERE seen < ?").run(oldest_allowed - 2 * kTouchInterval);
    if (auto done = transaction.commit(); !done) return tl::unexpected<Error>(done.error());
  }
  // The file keeps some air for what comes next; a lot of it (after a lower limit) goes back to the disk.
  const std::int64_t free_pages = is_shared_ ? 0 : database_.number("PRAGMA freelist_count");
  if (!is_shared_ && free_pages > kPagesReturnedAtOnce + database_.number("PRAGMA page_count") / 4)
    database_.run(("PRAGMA incremental_vacuum(" + std::to_string(kPagesReturnedAtOnce) + ")").c_str());
  if (auto outcome = database_.outcome(); !outcome) return tl::unexpected<Error>(outcome.error());
  return more;
}

std::uint64_t History::bytes() {
  if (is_shared_) return static_cast<std::uint64_t>(database_.number(postgres::kHistoryBytes));
  const std::int64_t pages = database_.number("PRAGMA page_count") - database_.number("PRAGMA freelist_count");
  return static_cast<std::uint64_t>(pages * database_.number("PRAGMA page_size"));
}

}  // namespace weft::store
