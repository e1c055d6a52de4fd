// SPDX-License-Identifier: Apache-2.0
#include "api/convert/collectors.hpp"

#include <algorithm>

#include "api/convert/pages.hpp"
#include "api/convert/times.hpp"
#include "api/publication/utf8.hpp"

namespace weft::api {

static_assert(v1::Collector::CONNECTED == static_cast<int>(CollectorState::kConnected) + 1);
static_assert(v1::Collector::SILENT == static_cast<int>(CollectorState::kSilent) + 1);
static_assert(v1::Collector::DISCONNECTED == static_cast<int>(CollectorState::kDisconnected) + 1);

void to_proto(const HostView& from, v1::Collector& to) {
  to.set_host(valid_utf8(from.host));
  to.set_state(static_cast<v1::Collector::State>(static_cast<int>(from.state) + 1));
  to.set_version(valid_utf8(from.collector_version));
  to.set_address(valid_utf8(from.address));
  if (from.heard != kNever && from.reading && from.reading->taken != kNever)
    to.set_behind_seconds(std::max(0.0, seconds(from.heard - from.reading->taken)));
  if (from.heard != kNever) set_timestamp(*to.mutable_heard(), from.heard);
  to.set_interval_seconds(seconds(from.interval));
  to.set_clock_offset_seconds(seconds(from.clock_offset));
  to.set_sequence(from.sequence);
  to.set_batches(from.batches);
  to.set_late_batches(from.late_batches);
  to.set_lost_batches(from.lost_batches);
  if (!from.reading) return;
  if (from.reading->taken != kNever) set_timestamp(*to.mutable_reading(), from.reading->taken);
  for (const std::string& job : from.reading->jobs) to.add_jobs(valid_utf8(job));
  for (const SourceStatus& status : from.reading->sources) {
    v1::Source& source = *to.add_sources();
    source.set_name(valid_utf8(status.name));
    source.set_ok(status.ok);
    source.set_message(valid_utf8(status.message));
  }
}

Result<v1::ListCollectorsResponse> list_collectors(const Snapshot& snapshot, const v1::ListCollectorsRequest& request) {
  if (request.page_size() < 0) return fail(ErrorCode::kInvalidArgument, "the page size must not be negative");
  v1::ListCollectorsResponse response;
  if (!snapshot.hosts) return response;
  const auto& hosts = *snapshot.hosts;
  PageBudget budget(request.page_size());
  // The token is the host to go on with.
  auto at = std::ranges::lower_bound(hosts, request.page_token(), {}, [](const auto& view) { return view->host; });
  for (; at != hosts.end(); ++at) {
    if (!request.hosts().empty() && std::ranges::find(request.hosts(), (*at)->host) == request.hosts().end()) continue;
    if (budget.full()) {
      response.set_next_page_token((*at)->host);
      break;
    }
    v1::Collector& added = *response.add_collectors();
    to_proto(**at, added);
    budget.spend(added.ByteSizeLong());
  }
  return response;
}

}  // namespace weft::api
