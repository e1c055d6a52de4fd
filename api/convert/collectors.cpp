// SPDX-License-Identifier: Apache-2.0
#include "api/convert/collectors.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "api/convert/pages.hpp"
#include "api/convert/text_search.hpp"
#include "api/convert/times.hpp"
#include "api/publication/utf8.hpp"
#include "fabric/counters.hpp"

namespace weft::api {

static_assert(v1::Collector::CONNECTED == static_cast<int>(CollectorState::kConnected) + 1);
static_assert(v1::Collector::SILENT == static_cast<int>(CollectorState::kSilent) + 1);
static_assert(v1::Collector::DISCONNECTED == static_cast<int>(CollectorState::kDisconnected) + 1);

void to_proto(const HostView& from, v1::Collector& to) {
  to.set_host(valid_utf8(from.host));
  to.set_state(static_cast<v1::Collector::State>(static_cast<int>(from.state) + 1));
  to.set_version(valid_utf8(from.collector_version));
  to.set_address(valid_utf8(from.address));
  to.set_spool(from.spool);
  to.set_adapters(from.adapters);
  if (from.since != kNever) set_timestamp(*to.mutable_connected(), from.since);
  to.set_stored_sequence(from.stored);
  if (from.heard != kNever && from.reading && from.reading->taken != kNever)
    to.set_behind_seconds(std::max(0.0, seconds(from.heard - from.reading->taken)));
  if (from.heard != kNever) set_timestamp(*to.mutable_heard(), from.heard);
  to.set_interval_seconds(seconds(from.interval));
  to.set_clock_offset_seconds(seconds(from.clock_offset));
  to.set_sequence(from.sequence);
  to.set_batches(from.batches);
  to.set_late_batches(from.late_batches);
  to.set_lost_batches(from.lost_batches);
  if (const auto* const jobs = jobs_of(from))
    for (const std::string& job : *jobs) to.add_jobs(valid_utf8(job));
  if (!from.reading) return;
  if (from.reading->taken != kNever) set_timestamp(*to.mutable_reading(), from.reading->taken);
  for (const SourceStatus& status : from.reading->sources) {
    v1::Source& source = *to.add_sources();
    source.set_name(valid_utf8(status.name));
    source.set_ok(status.ok);
    source.set_message(valid_utf8(status.message));
  }
}

namespace {

/// Names that are not in the catalogue have no unit, and are left out.
void add_counter(const HostSeries& series, std::uint64_t value, v1::CollectorPort& to) {
  const CounterInfo* info = series.is_raw ? nullptr : find_counter(series.name);
  if (info == nullptr) return;
  v1::CollectorValue& counter = *to.add_counters();
  counter.set_name(std::string(info->name));
  counter.set_value(value);
  counter.set_unit(to_string(info->unit));
  if (series.lane != kNoLane) counter.set_instance(series.lane);
  if (series.priority != kNoPriority) counter.set_instance(series.priority);
}

void add_active_ports(const HostReading& reading, v1::Collector& to) {
  if (!reading.inventory) return;
  for (const HostPort& port : reading.inventory->ports)
    if (port.state == PortState::kActive) {
      to.add_active_ports(valid_utf8(port_name(port.device, port.number)));
      if (port.port_guid) to.add_active_port_guids(port.port_guid.value);
    }
}

/// Ports of hosts of which a LINK_DOWN is open, by host.
std::multimap<std::string, std::string> reported_down(const Snapshot& snapshot) {
  std::multimap<std::string, std::string> ports;
  if (!snapshot.incidents) return ports;
  for (const auto& incident : *snapshot.incidents) {
    const Entity& cause = incident->finding.cause;
    if (incident->is_open() && incident->finding.kind == IncidentKind::kLinkDown && cause.kind == EntityKind::kHostPort)
      ports.emplace(cause.host, port_name(cause.device, cause.port.port.value));
  }
  return ports;
}

void add_neighbours(const HostReading& reading, v1::Collector& to) {
  if (!reading.neighbours) return;
  if (reading.neighbours_at != kNever) set_timestamp(*to.mutable_neighbours_read(), reading.neighbours_at);
  for (const NeighbourPort& port : reading.neighbours->ports) {
    if (port.neighbours.empty()) continue;
    v1::InterfaceNeighbours& interface = *to.add_neighbours();
    interface.set_interface(port.interface);
    interface.set_left_out(port.left_out);
    for (const Neighbour& from : port.neighbours) {
      v1::LldpNeighbour& one = *interface.add_neighbours();
      one.set_chassis_type(to_string(from.chassis.type));
      one.set_chassis(from.chassis.id);
      one.set_port_type(to_string(from.port.type));
      one.set_port(from.port.id);
      one.set_system_name(from.system_name);
      one.set_port_description(from.port_description);
      for (const std::string& address : from.addresses) one.add_addresses(address);
      one.set_ttl_seconds(from.ttl_seconds);
      if (from.since > 0) one.mutable_since()->set_seconds(from.since);
    }
  }
}

bool is_wanted(const HostView& host, const v1::ListCollectorsRequest& request) {
  if (!request.hosts().empty() && std::ranges::find(request.hosts(), host.host) == request.hosts().end()) return false;
  if (request.job().empty()) return true;
  const auto* const jobs = jobs_of(host);
  return jobs && std::ranges::any_of(*jobs, [&](const std::string& job) { return is_job(job, request.job()); });
}

void add_facts(const HostReading& reading, v1::Collector& to) {
  if (!reading.facts) return;
  if (reading.facts_at != kNever) set_timestamp(*to.mutable_configuration_read(), reading.facts_at);
  for (const PortFacts& from : reading.facts->ports) {
    v1::PortConfiguration& port = *to.add_configuration();
    port.set_device(from.device);
    port.set_port(from.number);
    for (const FactValue& fact : from.facts) to_proto(fact, *port.add_facts());
  }
}

}  // namespace

void to_proto(const FactValue& from, v1::ConfigurationFact& to) {
  const ConfigFactRow& row = row_of(from.fact);
  to.set_name(row.name);
  to.set_value(from.value);
  to.set_unit(row.unit);
  to.set_source(to_string(from.source));
  to.set_read_from(row.read_from);
}

void add_readings(const HostReading& reading, v1::Collector& to) {
  if (!reading.inventory) return;
  const SeriesList& all = reading.inventory->series;
  std::map<std::pair<std::string_view, std::uint8_t>, v1::CollectorPort> ports;
  const std::size_t count = std::min({all.size(), reading.values.size(), reading.present.size()});
  for (std::size_t i = 0; i < count; ++i)
    if (reading.present[i] != 0) add_counter(all[i], reading.values[i], ports[{all[i].device, all[i].port}]);
  for (auto& [place, port] : ports) {
    port.set_device(valid_utf8(std::string(place.first)));
    port.set_port(place.second);
    *to.add_ports() = std::move(port);
  }
}

HeardThere heard_there(const v1::Collector& collector) {
  HeardThere there{.host = collector.host(), .adapters = collector.adapters()};
  there.ports.active.assign(collector.active_ports().begin(), collector.active_ports().end());
  for (const std::uint64_t guid : collector.active_port_guids()) there.ports.active_guids.push_back(PortGuid{guid});
  there.ports.reported_down.assign(collector.reported_down_ports().begin(), collector.reported_down_ports().end());
  there.is_connected = collector.state() == v1::Collector::CONNECTED;
  there.heard = from_timestamp(collector.heard());
  return there;
}

Result<v1::ListCollectorsResponse> list_collectors(const Snapshot& snapshot, const v1::ListCollectorsRequest& request) {
  if (request.page_size() < 0) return fail(ErrorCode::kInvalidArgument, "the page size must not be negative");
  v1::ListCollectorsResponse response;
  if (!snapshot.hosts) return response;
  const auto& hosts = *snapshot.hosts;
  const auto down = request.lost() ? reported_down(snapshot) : std::multimap<std::string, std::string>();
  PageBudget budget(request.page_size());
  // The token is the host to go on with.
  auto at = std::ranges::lower_bound(hosts, request.page_token(), {}, [](const auto& view) { return view->host; });
  for (; at != hosts.end(); ++at) {
    if (!is_wanted(**at, request)) continue;
    if (budget.full()) {
      response.set_next_page_token((*at)->host);
      break;
    }
    v1::Collector& added = *response.add_collectors();
    to_proto(**at, added);
    if (request.with_readings() && (*at)->reading) {
      add_readings(*(*at)->reading, added);
      add_neighbours(*(*at)->reading, added);
      add_facts(*(*at)->reading, added);
    }
    // A reading of before, or one that waited, is no news of now.
    const bool is_of_now = (*at)->reading && !(*at)->is_late && (*at)->told != kNever && (*at)->told >= (*at)->since;
    if (request.lost() && is_of_now) {
      add_active_ports(*(*at)->reading, added);
      for (auto [port, end] = down.equal_range((*at)->host); port != end; ++port)
        added.add_reported_down_ports(valid_utf8(port->second));
    }
    budget.spend(added.ByteSizeLong());
  }
  return response;
}

}  // namespace weft::api
