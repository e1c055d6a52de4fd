// SPDX-License-Identifier: Apache-2.0
#pragma once
// The streams that go through a whole site: what of an event is needed to pass it on.

#include <string>

#include "api/site/news_log.hpp"
#include "weft/v1/fabric.grpc.pb.h"
#include "weft/v1/health.grpc.pb.h"
#include "weft/v1/incident.grpc.pb.h"
#include "weft/v1/remedy.grpc.pb.h"

namespace weft::api {

/// The messages of a kind of stream.
template <typename TheService, typename TheRequest, typename TheEvent>
struct NewsTypes {
  /// That has the call.
  using Service = TheService;
  /// Asks for the stream.
  using Request = TheRequest;
  /// What the stream consists of.
  using Event = TheEvent;
  /// Its other end, as gRPC wants it.
  using Reactor = grpc::ClientReadReactor<Event>;
};

/// What kinds have in common whose events have types. They have a beginning, which INITIAL_COMPLETE ends.
template <typename TheService, typename TheRequest, typename TheEvent>
struct TypedNews : NewsTypes<TheService, TheRequest, TheEvent> {
  /// Whether an event ends the beginning of the stream.
  static constexpr bool kHasBeginning = true;
  /// Whether it is that event.
  static bool is_complete(const TheEvent& event) { return event.type() == TheEvent::INITIAL_COMPLETE; }
  /// Makes it that event.
  static void set_complete(TheEvent& event) { event.set_type(TheEvent::INITIAL_COMPLETE); }
  /// Makes an event about a thing one of the beginning.
  static void set_initial(TheEvent& event) { event.set_type(TheEvent::INITIAL); }
  /// Makes it the event that says which shards do not answer.
  static void set_missing(TheEvent& event) { event.set_type(TheEvent::MISSING_SHARDS); }
  /// Adds the next event of the shard to one that is about to be told; false: each is told by itself.
  static bool add(TheEvent&, const TheEvent&) { return false; }
};

/// Incidents.
struct IncidentNews : TypedNews<v1::IncidentService, v1::WatchIncidentsRequest, v1::WatchIncidentsResponse> {
  /// All that any watcher may want, also what was resolved while the shard was away.
  static Request request();
  /// Starts the call.
  static void begin(Service::Stub& stub, grpc::ClientContext* context, const Request* request, Reactor* reactor);
  /// Notes an event. True: the shard has told all there is.
  static bool take(NewsLog<Event>& log, Event& event);
  /// Of a thing's last event the one that says that it is no more.
  static Event last(const Event& event);
  /// Notes of which shard it is.
  static void mark(Event& event, const std::string& shard);
};

/// Plans.
struct PlanNews : TypedNews<v1::RemedyService, v1::WatchPlansRequest, v1::WatchPlansResponse> {
  /// As of IncidentNews, and so are the others.
  static Request request();
  /// Starts the call.
  static void begin(Service::Stub& stub, grpc::ClientContext* context, const Request* request, Reactor* reactor);
  /// Notes an event.
  static bool take(NewsLog<Event>& log, Event& event);
  /// That a plan is no longer kept.
  static Event last(const Event& event);
  /// Notes of which shard it is.
  static void mark(Event& event, const std::string& shard);
};

/// Verdicts. A node that several shards know has one of each.
struct HealthNews : TypedNews<v1::HealthService, v1::WatchHealthRequest, v1::WatchHealthResponse> {
  /// All nodes.
  static Request request() { return {}; }
  /// Starts the call.
  static void begin(Service::Stub& stub, grpc::ClientContext* context, const Request* request, Reactor* reactor);
  /// Notes an event. The age of data is no news.
  static bool take(NewsLog<Event>& log, Event& event);
  /// That a node is no longer known.
  static Event last(const Event& event);
  /// Notes of which shard it is.
  static void mark(Event& event, const std::string& shard);
};

/// Subnets: of each its summary, when it was rediscovered, and since then each port and node that changed. There is no
/// beginning.
struct FabricNews : NewsTypes<v1::FabricService, v1::WatchFabricRequest, v1::WatchFabricResponse> {
  /// See TypedNews.
  static constexpr bool kHasBeginning = false;
  /// Never.
  static bool is_complete(const Event&) { return false; }
  /// Not called.
  static void set_complete(Event&) {}
  /// Events have no types.
  static void set_initial(Event&) {}
  /// It is the one without a fabric.
  static void set_missing(Event&) {}
  /// Up to 500 changes of one fabric are told together.
  static bool add(Event& event, const Event& next);
  /// All fabrics.
  static Request request() { return {}; }
  /// Starts the call.
  static void begin(Service::Stub& stub, grpc::ClientContext* context, const Request* request, Reactor* reactor);
  /// Notes an event, in its parts.
  static bool take(NewsLog<Event>& log, Event& event);
  /// Not called.
  static Event last(const Event& event) { return event; }
  /// Notes of which shard it is.
  static void mark(Event& event, const std::string& shard);
};

}  // namespace weft::api
