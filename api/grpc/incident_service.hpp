// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/grpc/callers.hpp"
#include "api/grpc/watch_dispatcher.hpp"
#include "api/publication/commands.hpp"
#include "api/publication/publication.hpp"
#include "api/site/site_queries.hpp"
#include "fabric/clock.hpp"
#include "weft/v1/incident.grpc.pb.h"

namespace weft::api {

/// weft.v1.IncidentService: reads the published snapshot, passes commands on.
class IncidentService final : public v1::IncidentService::CallbackService {
 public:
  IncidentService(const Publication& publication, Commands& commands, const Clock& clock, WatchDispatcher& hall,
                  const Callers& callers, const SiteQueries* site = nullptr)
      : publication_(publication), commands_(commands), clock_(clock), hall_(hall), callers_(callers), site_(site) {}

  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* context, const v1::ListIncidentsRequest* request,
                                 v1::ListIncidentsResponse* response) override;
  grpc::ServerUnaryReactor* Get(grpc::CallbackServerContext* context, const v1::GetIncidentRequest* request,
                                v1::Incident* response) override;
  grpc::ServerUnaryReactor* GetTimeline(grpc::CallbackServerContext* context, const v1::GetIncidentRequest* request,
                                        v1::IncidentTimeline* response) override;
  grpc::ServerWriteReactor<v1::WatchIncidentsResponse>* Watch(grpc::CallbackServerContext* context,
                                                              const v1::WatchIncidentsRequest* request) override;
  grpc::ServerUnaryReactor* Acknowledge(grpc::CallbackServerContext* context,
                                        const v1::AcknowledgeIncidentRequest* request, v1::Incident* response) override;
  grpc::ServerUnaryReactor* Silence(grpc::CallbackServerContext* context, const v1::SilenceIncidentRequest* request,
                                    v1::Incident* response) override;

 private:
  const Publication& publication_;
  Commands& commands_;
  const Clock& clock_;
  WatchDispatcher& hall_;
  const Callers& callers_;
  const SiteQueries* site_;
};

}  // namespace weft::api
