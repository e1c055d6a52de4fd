// SPDX-License-Identifier: Apache-2.0
#include "api/convert/worst_links.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "api/convert/fabric.hpp"
#include "api/convert/holds.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/utf8.hpp"

namespace weft::api {
namespace {

constexpr std::int32_t kUsualWorstLinks = 20;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// One link and its value, which is above zero.
struct Ranked {
  const FabricView* fabric;
  PortIndex index;  ///< the end that it is listed under
  PortIndex worse;  ///< the end that has the value
  double value;
};

/// The end's value; NaN where it is not known now.
double value_of(const FabricView& fabric, PortIndex index, v1::ListWorstLinksRequest::Measure measure, TimePoint now) {
  if (is_stale(fabric, index, now)) return kUnknown;
  if (measure == v1::ListWorstLinksRequest::FLAPS) {
    const SampleTable* const counters = fabric.sweep->counters.get();
    if (counters == nullptr || index >= counters->rows()) return kUnknown;
    const auto column = counters->column(CounterId::kLinkDowned);
    if (column == SampleTable::kNoColumn || !counters->present(index, column)) return kUnknown;
    return static_cast<double>(counters->value(index, column));
  }
  if (!fabric.rates || index >= fabric.rates->size()) return kUnknown;
  const PortRates& rates = (*fabric.rates)[index];
  return measure == v1::ListWorstLinksRequest::ERRORS ? rates.error_rate : rates.stall_ratio;
}

void rank_links(const FabricView& fabric, v1::ListWorstLinksRequest::Measure measure, TimePoint now,
                std::vector<Ranked>& ranked) {
  const Topology& topology = *fabric.sweep->topology;
  for (PortIndex index = 0; index < topology.ports().size(); ++index) {
    if (!starts_link(topology, index)) continue;
    const PortIndex peer = topology.port(index).peer;
    const double here = value_of(fabric, index, measure, now);
    const double there = value_of(fabric, peer, measure, now);
    // The negations hold for what is not known, too.
    const bool is_peer = !(here >= there) && there > 0;
    const double value = is_peer ? there : here;
    if (value > 0) ranked.push_back({&fabric, index, is_peer ? peer : index, value});
  }
}

}  // namespace

std::size_t limit_of(const v1::ListWorstLinksRequest& request) {
  return static_cast<std::size_t>(request.limit() == 0 ? kUsualWorstLinks : std::min(request.limit(), kMostWorstLinks));
}

Result<v1::ListWorstLinksResponse> list_worst_links(const Snapshot& snapshot, const v1::ListWorstLinksRequest& request,
                                                    TimePoint now) {
  if (request.limit() < 0) return fail(ErrorCode::kInvalidArgument, "the limit must not be negative");
  if (request.by() != v1::ListWorstLinksRequest::ERRORS && request.by() != v1::ListWorstLinksRequest::FLAPS &&
      request.by() != v1::ListWorstLinksRequest::STALL)
    return fail(ErrorCode::kInvalidArgument, "links are ranked by errors, flaps or stall");
  const std::string& name = request.fabric();
  if (!name.empty() && std::ranges::find(snapshot.fabrics, name, &FabricView::name) == snapshot.fabrics.end())
    return fail(ErrorCode::kNotFound, "no fabric named " + valid_utf8(name));

  std::vector<Ranked> ranked;
  for (const FabricView& fabric : snapshot.fabrics)
    if (fabric.sweep && fabric.sweep->topology && (name.empty() || fabric.name == name))
      rank_links(fabric, request.by(), now, ranked);
  std::ranges::stable_sort(ranked, std::ranges::greater{}, &Ranked::value);
  if (ranked.size() > limit_of(request))
    ranked.erase(ranked.begin() + static_cast<std::ptrdiff_t>(limit_of(request)), ranked.end());

  const Holds holds(snapshot);
  v1::ListWorstLinksResponse response;
  for (const Ranked& each : ranked) {
    v1::WorstLink& worst = *response.add_links();
    link_to_proto(*each.fabric, each.index, *worst.mutable_link());
    if (const auto key = each.fabric->sweep->topology->link_of(each.index))
      holds.add_to(each.fabric->name, *key, *worst.mutable_link());
    worst.set_value(each.value);
    to_proto(*each.fabric->sweep->topology, each.worse, *worst.mutable_at());
  }
  say_if_unswept(snapshot, response);
  return response;
}

}  // namespace weft::api
