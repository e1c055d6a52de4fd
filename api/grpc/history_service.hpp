// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/publication/history_desk.hpp"
#include "api/publication/publication.hpp"
#include "api/site/site_queries.hpp"
#include "fabric/clock.hpp"
#include "weft/v1/history.grpc.pb.h"

namespace weft::api {

/// weft.v1.HistoryService: names from the published snapshot, the past from the daemon.
class HistoryService final : public v1::HistoryService::CallbackService {
 public:
  /// Without a desk every question is answered with kUnavailable. `site`: null where weftd is no part of one.
  HistoryService(const Publication& publication, HistoryDesk* desk, const Clock& clock,
                 const SiteQueries* site = nullptr)
      : publication_(publication), desk_(desk), clock_(clock), site_(site) {}

  grpc::ServerUnaryReactor* GetPortHistory(grpc::CallbackServerContext* context,
                                           const v1::GetPortHistoryRequest* request,
                                           v1::GetPortHistoryResponse* response) override;
  grpc::ServerUnaryReactor* GetStallMap(grpc::CallbackServerContext* context, const v1::GetStallMapRequest* request,
                                        v1::GetStallMapResponse* response) override;

 private:
  const Publication& publication_;
  HistoryDesk* const desk_;
  const Clock& clock_;
  const SiteQueries* const site_;
};

}  // namespace weft::api
