// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/fec_trend.hpp"

#include <algorithm>
#include <utility>

namespace weft::analyzer {
namespace {

/// Readings closer than this are taken together.
constexpr Duration kShortestWindow = std::chrono::seconds(10);
/// A port that was not seen for so long is not waited for.
constexpr Duration kWaitForPort = std::chrono::hours(7 * 24);

}  // namespace

void FecTrends::update(const Sweep& sweep, std::span<const float> line_rates, std::span<const ErrorDelta> errors) {
  worse_.clear();
  if (!sweep.details || sweep.details->column(CounterId::kRsFecCorrectedSymbols) == SampleTable::kNoColumn) return;
  const SampleTable& details = *sweep.details;
  const std::size_t ports = std::min({sweep.topology->ports().size(), details.rows(), line_rates.size()});
  if (epoch_ != sweep.topology->epoch()) {
    remember();
    epoch_ = sweep.topology->epoch();
    receivers_.clear();
    keys_.clear();
    columns_.clear();
    for (unsigned lane = 0; lane < counter_info(CounterId::kRsFecCorrectedSymbols).instances; ++lane)
      columns_.push_back(details.column(CounterId::kRsFecCorrectedSymbols, lane));
  }
  take_up(sweep, ports);
  for (const ErrorDelta& delta : errors)
    if (delta.link_downed > 0 && delta.port < ports) receivers_[delta.port].corrected.reset();
  for (PortIndex port = 0; port < ports; ++port) {
    Receiver& receiver = receivers_[port];
    if (line_rates[port] <= 0) {
      receiver.trend.note_down();
      receiver.corrected.reset();
    }
    if (details.read_at(port) != kNever && details.read_at(port) != receiver.read_at)
      read(receiver, port, details, line_rates[port]);
    if (line_rates[port] > 0 && receiver.trend.is_worse(thresholds_)) worse_.push_back(port);
  }
}

/// Puts the baselines of all ports aside: another epoch has other indices.
void FecTrends::remember() {
  for (PortIndex port = 0; port < receivers_.size(); ++port)
    if (auto baseline = receivers_[port].trend.baseline()) {
      baseline->port = keys_[port];
      waiting_.insert_or_assign(keys_[port], *baseline);
    }
}

/// Makes receivers for ports that are new, with the baselines that wait for them.
void FecTrends::take_up(const Sweep& sweep, std::size_t ports) {
  if (receivers_.size() == ports) return;
  const auto known = static_cast<PortIndex>(receivers_.size());
  receivers_.resize(ports);
  for (PortIndex port = known; port < ports; ++port) {
    keys_.push_back(sweep.topology->key_of(port));
    if (const auto baseline = waiting_.find(keys_.back()); baseline != waiting_.end()) {
      receivers_[port].trend.restore(baseline->second);
      waiting_.erase(baseline);
    }
  }
  std::erase_if(waiting_, [&](const auto& waiting) { return waiting.second.taken + kWaitForPort < sweep.finished; });
}

std::vector<FecBaseline> FecTrends::baselines() const {
  std::vector<FecBaseline> all;
  for (PortIndex port = 0; port < receivers_.size(); ++port)
    if (auto baseline = receivers_[port].trend.baseline()) {
      baseline->port = keys_[port];
      all.push_back(*baseline);
    }
  for (const auto& [key, baseline] : waiting_) all.push_back(baseline);
  return all;
}

void FecTrends::restore(std::span<const FecBaseline> baselines) {
  for (const FecBaseline& baseline : baselines) waiting_.insert_or_assign(baseline.port, baseline);
}

void FecTrends::read(Receiver& receiver, PortIndex port, const SampleTable& details, float line_rate) {
  std::uint64_t corrected = 0;
  bool present = false;
  for (const SampleTable::Column column : columns_) {
    if (!details.present(port, column)) continue;
    if (details.saturated(port, column)) {
      // 32 bits fill within a day at ordinary error rates, and stick until the link goes down: nothing is known until
      // then, nor of the time in which the counter filled.
      receiver.corrected.reset();
      receiver.read_at = details.read_at(port);
      receiver.trend.add_repaired(std::nullopt);
      return;
    }
    corrected += details.value(port, column);
    present = true;
  }
  if (!present) return;
  const auto before = std::exchange(receiver.corrected, corrected);
  const bool known = before && corrected >= *before;
  receiver.trend.add_repaired(known ? std::optional(corrected - *before) : std::nullopt);
  receiver.read_at = details.read_at(port);
  receiver.trend.take(receiver.read_at, static_cast<double>(line_rate), kShortestWindow, 0, thresholds_);
}

void FecTrends::report(const Topology& topology, const LinkTable& table, const Describe& describe, TimePoint now,
                       std::vector<Finding>& findings) const {
  for (const PortIndex port : worse_) {
    const LinkId link = table.link_at(port);
    if (link == kNoIndex) continue;
    receivers_[port].trend.report(reported_link(describe, link),
                                  {.label = port_label(topology, port),
                                   .unit = "symbols",
                                   .lane = {},
                                   .where = describe.port(topology.key_of(port))},
                                  thresholds_, now, findings);
  }
}

}  // namespace weft::analyzer
