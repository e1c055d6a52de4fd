// SPDX-License-Identifier: Apache-2.0
#include "api/site/news_kinds.hpp"

#include <utility>

#include "api/site/merge.hpp"

namespace weft::api {
namespace {

constexpr int kMostChanges = 500;  ///< of one message, as a shard of its own tells

template <typename Event>
bool is_equal(const Event& before, const Event& now) {
  return before.SerializeAsString() == now.SerializeAsString();
}

/// For streams whose events have a type. `key` names the thing that the event is about; `gone` is the type of the last
/// event of a thing.
template <typename Event, typename IsSame>
bool take_typed(NewsLog<Event>& log, Event& event, const std::string& key, decltype(Event().type()) gone,
                const IsSame& same) {
  if (event.type() == Event::INITIAL_COMPLETE) return true;
  if (event.type() == gone) {
    log.remove(key, std::move(event));
  } else if (event.type() == Event::INITIAL || event.type() == Event::CHANGED) {
    const bool is_new = event.type() == Event::CHANGED;
    event.set_type(Event::CHANGED);
    log.put(key, std::move(event), [&](const Event& before, const Event& now) { return !is_new && same(before, now); });
  }
  return false;
}

std::string key_of(const v1::NodeHealth& health) {
  return health.node() + '\n' + (health.guids().empty() ? "" : health.guids(0));
}

}  // namespace

IncidentNews::Request IncidentNews::request() {
  Request request;
  request.set_include_resolved(true);  // what was resolved while the shard was away is told, too
  return request;
}

void IncidentNews::begin(Service::Stub& stub, grpc::ClientContext* context, const Request* request, Reactor* reactor) {
  stub.async()->Watch(context, request, reactor);
}

bool IncidentNews::take(NewsLog<Event>& log, Event& event) {
  const std::string id = event.incident().id();
  return take_typed(log, event, id, Event::EXPIRED, is_equal<Event>);
}

IncidentNews::Event IncidentNews::last(const Event& event) {
  Event gone;
  gone.set_type(Event::EXPIRED);
  gone.mutable_incident()->set_id(event.incident().id());
  mark(gone, event.incident().shard());
  return gone;
}

void IncidentNews::mark(Event& event, const std::string& shard) {
  if (event.has_incident()) event.mutable_incident()->set_shard(shard);
}

PlanNews::Request PlanNews::request() {
  Request request;
  request.set_include_ended(true);
  return request;
}

void PlanNews::begin(Service::Stub& stub, grpc::ClientContext* context, const Request* request, Reactor* reactor) {
  stub.async()->WatchPlans(context, request, reactor);
}

bool PlanNews::take(NewsLog<Event>& log, Event& event) {
  const std::string id = event.plan().id();
  return take_typed(log, event, id, Event::REMOVED, is_equal<Event>);
}

PlanNews::Event PlanNews::last(const Event& event) {
  Event gone;
  gone.set_type(Event::REMOVED);
  gone.mutable_plan()->set_id(event.plan().id());
  mark(gone, event.plan().shard());
  return gone;
}

void PlanNews::mark(Event& event, const std::string& shard) {
  if (event.has_plan()) event.mutable_plan()->set_shard(shard);
}

void HealthNews::begin(Service::Stub& stub, grpc::ClientContext* context, const Request* request, Reactor* reactor) {
  stub.async()->Watch(context, request, reactor);
}

bool HealthNews::take(NewsLog<Event>& log, Event& event) {
  const std::string key = key_of(event.health());
  return take_typed(log, event, key, Event::REMOVED, [](Event before, Event now) {
    before.mutable_health()->clear_data_age();
    now.mutable_health()->clear_data_age();
    return is_equal(before, now);
  });
}

HealthNews::Event HealthNews::last(const Event& event) {
  Event gone;
  gone.set_type(Event::REMOVED);
  gone.mutable_health()->set_node(event.health().node());
  if (!event.health().guids().empty()) gone.mutable_health()->add_guids(event.health().guids(0));
  *gone.mutable_health()->mutable_shards() = event.health().shards();
  return gone;
}

void HealthNews::mark(Event& event, const std::string& shard) {
  if (!event.has_health()) return;
  event.mutable_health()->clear_shards();
  event.mutable_health()->add_shards(shard);
}

void FabricNews::begin(Service::Stub& stub, grpc::ClientContext* context, const Request* request, Reactor* reactor) {
  stub.async()->Watch(context, request, reactor);
}

bool FabricNews::take(NewsLog<Event>& log, Event& event) {
  const std::string fabric = event.fabric().name() + '\n';
  const auto differs = [](const Event&, const Event&) { return false; };
  Event summary;
  *summary.mutable_fabric() = event.fabric();
  if (event.rediscovered()) {
    log.forget(fabric);  // what was told of it before is to be discarded
    Event anew = summary;
    anew.set_rediscovered(true);
    log.put(fabric, std::move(anew), differs);
  }
  log.put(fabric + "summary", summary, differs);
  for (v1::Node& node : *event.mutable_changed_nodes()) {
    const std::string key = fabric + "node\n" + node.guid();
    Event one = summary;
    *one.add_changed_nodes() = std::move(node);
    log.put(key, std::move(one), differs);
  }
  for (v1::Port& port : *event.mutable_changed_ports()) {
    const std::string key = fabric + "port\n" + port.node_guid() + '\n' + std::to_string(port.port());
    Event one = summary;
    *one.add_changed_ports() = std::move(port);
    log.put(key, std::move(one), differs);
  }
  return true;
}

void FabricNews::mark(Event& event, const std::string& shard) {
  if (event.has_fabric()) event.mutable_fabric()->set_shard(shard);
  for (v1::Node& node : *event.mutable_changed_nodes()) api::mark(node, shard);
  for (v1::Port& port : *event.mutable_changed_ports()) api::mark(port, shard);
}

bool FabricNews::add(Event& event, const Event& next) {
  if (next.fabric().name() != event.fabric().name() || next.rediscovered() ||
      event.changed_nodes_size() + event.changed_ports_size() >= kMostChanges)
    return false;
  *event.mutable_fabric() = next.fabric();
  event.mutable_changed_nodes()->MergeFrom(next.changed_nodes());
  event.mutable_changed_ports()->MergeFrom(next.changed_ports());
  return true;
}

}  // namespace weft::api
