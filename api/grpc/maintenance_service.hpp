// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/grpc/callers.hpp"
#include "api/publication/commands.hpp"
#include "api/publication/publication.hpp"
#include "api/site/site_queries.hpp"
#include "fabric/clock.hpp"
#include "weft/v1/maintenance.grpc.pb.h"

namespace weft::api {

/// weft.v1.MaintenanceService: reads the published snapshot, passes commands on.
class MaintenanceService final : public v1::MaintenanceService::CallbackService {
 public:
  MaintenanceService(const Publication& publication, Commands& commands, const Clock& clock, const Callers& callers,
                     const SiteQueries* site = nullptr)
      : publication_(publication), commands_(commands), clock_(clock), callers_(callers), site_(site) {}

  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* context, const v1::ListMaintenanceRequest* request,
                                 v1::ListMaintenanceResponse* response) override;
  grpc::ServerUnaryReactor* Get(grpc::CallbackServerContext* context, const v1::GetMaintenanceRequest* request,
                                v1::MaintenanceWindow* response) override;
  grpc::ServerUnaryReactor* Add(grpc::CallbackServerContext* context, const v1::AddMaintenanceRequest* request,
                                v1::MaintenanceWindow* response) override;
  grpc::ServerUnaryReactor* End(grpc::CallbackServerContext* context, const v1::EndMaintenanceRequest* request,
                                v1::MaintenanceWindow* response) override;

 private:
  const Publication& publication_;
  Commands& commands_;
  const Clock& clock_;
  const Callers& callers_;
  const SiteQueries* site_;
};

}  // namespace weft::api
