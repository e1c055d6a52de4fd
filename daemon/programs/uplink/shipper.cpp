// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/uplink/shipper.hpp"

#include <algorithm>
#include <utility>

#include "api/telemetry/fact_codec.hpp"
#include "api/telemetry/neighbour_codec.hpp"

namespace weft::uplink {
namespace {

constexpr int kFreshIntervals = 3;
constexpr Duration kFreshAtLeast = std::chrono::seconds(3);

}  // namespace

void Shipper::begin() {
  waited_ = spool_.newest();
  is_welcome_ = false;
  in_flight_.clear();
  in_flight_bytes_ = 0;
}

void Shipper::welcome(std::uint64_t sequence) {
  is_welcome_ = true;
  ++report_.welcomes;
  report_.acknowledged = std::max(report_.acknowledged, sequence);
  last_ = sequence;
  wrong_.erase(wrong_.begin(), wrong_.upper_bound(sequence));
  decoder_ = api::BatchDecoder();
  encoder_.restart();
  neighbours_.reset();
  neighbours_at_ = kNever;
  facts_.reset();
  facts_at_ = kNever;
  spool_.seek(sequence + 1);
}

void Shipper::acknowledge(std::uint64_t sequence) {
  while (!in_flight_.empty() && in_flight_.front().sequence <= sequence) {
    report_.acknowledged = in_flight_.front().sequence;
    in_flight_bytes_ -= in_flight_.front().bytes;
    in_flight_.pop_front();
  }
}

std::optional<std::uint64_t> Shipper::end(const Error& why) {
  std::optional<std::uint64_t> found;
  if (is_welcome_ && why.code == ErrorCode::kInvalidArgument && !in_flight_.empty()) {
    if (in_flight_.size() == 1) {
      found = in_flight_.front().sequence;
      wrong_.insert(*found);
      ++report_.refused;
    } else {
      careful_until_ = in_flight_.back().sequence;
    }
  }
  is_welcome_ = false;
  in_flight_.clear();
  in_flight_bytes_ = 0;
  return found;
}

bool Shipper::window_is_full() const {
  if (in_flight_.empty()) return false;
  return last_ < careful_until_ || in_flight_.size() >= options_.window || in_flight_bytes_ >= options_.window_bytes;
}

/// By its place in the spool, or because the analyzer was slow to take what came before it. The clock may have been set
/// since: a batch of a time to come is one from before that, and those after it are as new as ever.
bool Shipper::is_late(const spool::SpoolRecord& record, TimePoint now) const {
  const Duration age = now > record.spooled ? now - record.spooled : record.spooled - now;
  return record.sequence <= waited_ || age > std::max(kFreshIntervals * options_.interval, kFreshAtLeast);
}

/// Beside the body, where an older analyzer does not look.
void Shipper::add_tables(const HostReading& reading, Outgoing& outgoing) {
  const auto add = [&](const auto& table, TimePoint read_at, auto& told, TimePoint& told_at, auto encode, auto& packed,
                       TimePoint& packed_at) {
    if (!table) return;
    if (told != table) {
      packed = encode(*table);
      in_flight_.back().bytes += packed->size();
      in_flight_bytes_ += packed->size();
    }
    if (packed || told_at != read_at) packed_at = read_at;
    told = table;
    told_at = read_at;
  };
  add(reading.neighbours, reading.neighbours_at, neighbours_, neighbours_at_, api::encode_neighbours,
      outgoing.neighbours, outgoing.neighbours_at);
  add(reading.facts, reading.facts_at, facts_, facts_at_, api::encode_facts, outgoing.facts, outgoing.facts_at);
}

std::optional<Outgoing> Shipper::next(TimePoint now) {
  if (!is_welcome_ || window_is_full()) return std::nullopt;
  while (auto record = spool_.next()) {
    report_.corrupt = spool_.corrupt();
    const auto batch = decoder_.decode(record->body);
    if (!batch) ++report_.unreadable;
    if (!batch || record->sequence <= last_) continue;
    last_ = record->sequence;
    if (wrong_.contains(record->sequence)) continue;
    auto body = encoder_.encode(*batch);
    if (!body) {
      ++report_.unreadable;
      continue;
    }
    in_flight_.push_back({record->sequence, body->size()});
    in_flight_bytes_ += body->size();
    Outgoing outgoing{record->sequence, is_late(*record, now), std::move(*body)};
    if (batch->reading) add_tables(*batch->reading, outgoing);
    ++report_.sent;
    if (outgoing.late) ++report_.late;
    if (outgoing.sequence <= highest_) ++report_.resent;
    highest_ = std::max(highest_, outgoing.sequence);
    return outgoing;
  }
  report_.corrupt = spool_.corrupt();
  return std::nullopt;
}

}  // namespace weft::uplink
