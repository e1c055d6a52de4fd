// SPDX-License-Identifier: Apache-2.0
// The past in an evidence pack: what its ports counted, and what was done there.

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include "api/convert/maintenance.hpp"
#include "api/convert/plans.hpp"
#include "api/convert/times.hpp"
#include "api/evidence/pack.hpp"
#include "fabric/number_text.hpp"

namespace weft::api {
namespace {

/// Plans of a node or port that are told of: the newest.
constexpr int kMostPlansOfThing = 20;

bool is_still(const v1::CounterHistory& counter) {
  return !counter.at_least() && std::strtod(counter.total().c_str(), nullptr) == 0;
}

/// Gauges are kept for whole stretches of time: they say little of gaps where there are counters.
void set_read_buckets(v1::EvidencePort& port) {
  std::set<std::uint32_t> read;
  for (const v1::CounterHistory& counter : port.history().counters())
    read.insert(counter.bucket().begin(), counter.bucket().end());
  if (port.history().counters().empty())
    for (const v1::GaugeHistory& gauge : port.history().gauges())
      read.insert(gauge.bucket().begin(), gauge.bucket().end());
  port.mutable_read_bucket()->Add(read.begin(), read.end());
  for (v1::CounterHistory& counter : *port.mutable_history()->mutable_counters())
    if (is_still(counter)) {
      counter.clear_bucket();
      counter.clear_rate();
      counter.clear_peak();
    }
}

/// Of a pack without an incident: what was done there.
void add_deeds(const Snapshot& snapshot, TimePoint now, v1::EvidencePack& pack) {
  for (const v1::HistoryMark& mark : pack.marks()) {
    if (mark.kind() == v1::HistoryMark::PLAN && !pack.has_incident()) {
      if (auto plan = get_plan(snapshot, mark.id())) *pack.add_plans() = std::move(*plan);
    } else if (mark.kind() == v1::HistoryMark::MAINTENANCE) {
      const bool is_there =
          std::ranges::any_of(pack.maintenance(), [&](const auto& each) { return each.id() == mark.id(); });
      if (auto window = get_maintenance(snapshot, mark.id(), now); window && !is_there)
        *pack.add_maintenance() = std::move(*window);
    }
  }
  if (const int more = pack.plans_size() - kMostPlansOfThing; !pack.has_incident() && more > 0) {
    pack.mutable_plans()->DeleteSubrange(0, more);
    note_unknown(pack, std::to_string(more) + " older plans are not listed.");
  }
}

}  // namespace

void add_history(const PortHistoryQuestion& asked, const Result<HistoryAnswer>& answer, TimePoint now,
                 v1::EvidencePack& pack) {
  auto history = answer ? port_history(asked, *answer) : tl::unexpected(answer.error());
  if (!history) {
    // What happened there is known all the same.
    note_unknown(pack, "There are no charts: " + history.error().message + '.');
    history = port_history(asked, {asked.question.step, {}, asked.question.fabric});
    if (!history) return;
  }
  *pack.mutable_marks() = std::move(*history->mutable_marks());
  add_deeds(*asked.snapshot, now, pack);
  *pack.mutable_charts_from() = history->from();
  *pack.mutable_charts_step() = history->step();
  pack.set_charts_buckets(history->buckets());
  if (asked.question.gone && history->ports_size() > 0) {
    // All ports of a node that is gone; before the answer nobody knew which there are.
    pack.clear_ports();
    for (int i = 0; i < history->ports_size() && i < static_cast<int>(kMostEvidencePorts); ++i)
      pack.add_ports()->set_label(history->ports(i).label());
  }
  for (int i = 0; i < history->ports_size() && i < pack.ports_size(); ++i) {
    v1::EvidencePort& port = *pack.mutable_ports(i);
    *port.mutable_history() = std::move(*history->mutable_ports(i));
    set_read_buckets(port);
    const auto read = static_cast<std::uint32_t>(port.read_bucket_size());
    if (read == 0) {
      note_unknown(pack, port.label() + ": no history of the time of the charts is stored.");
      port.clear_history();
    } else if (read < history->buckets()) {
      note_unknown(pack, port.label() + ": nothing was read in " + std::to_string(history->buckets() - read) + " of " +
                             std::to_string(history->buckets()) + " parts of " +
                             short_duration(from_duration(history->step())) + "; charts leave them empty.");
    }
  }
}

}  // namespace weft::api
