// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/grpc/callers.hpp"
#include "api/publication/commands.hpp"
#include "api/publication/evidence_source.hpp"
#include "api/publication/publication.hpp"
#include "api/site/site_queries.hpp"
#include "weft/v1/acceptance.grpc.pb.h"

namespace weft::api {

/// weft.v1.AcceptanceService: reads the published snapshot, passes commands on.
class AcceptanceService final : public v1::AcceptanceService::CallbackService {
 public:
  /// `source` says who made a document; null: nobody does. It must outlive this.
  AcceptanceService(const Publication& publication, Commands& commands, const Callers& callers,
                    const EvidenceSource* source, const SiteQueries* site = nullptr)
      : publication_(publication), commands_(commands), callers_(callers), source_(source), site_(site) {}

  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* context, const v1::ListAcceptancesRequest* request,
                                 v1::ListAcceptancesResponse* response) override;
  grpc::ServerUnaryReactor* Get(grpc::CallbackServerContext* context, const v1::GetAcceptanceRequest* request,
                                v1::Acceptance* response) override;
  grpc::ServerUnaryReactor* Judge(grpc::CallbackServerContext* context, const v1::StartAcceptanceRequest* request,
                                  v1::Acceptance* response) override;
  grpc::ServerUnaryReactor* Start(grpc::CallbackServerContext* context, const v1::StartAcceptanceRequest* request,
                                  v1::Acceptance* response) override;
  grpc::ServerUnaryReactor* End(grpc::CallbackServerContext* context, const v1::EndAcceptanceRequest* request,
                                v1::Acceptance* response) override;

 private:
  /// Looks the targets up, and gives the run to `member` of commands_.
  grpc::ServerUnaryReactor* begin(grpc::CallbackServerContext* context, const v1::StartAcceptanceRequest& request,
                                  v1::Acceptance* response,
                                  void (Commands::*member)(AcceptanceRun, Commands::AcceptanceCallback));

  const Publication& publication_;
  Commands& commands_;
  const Callers& callers_;
  const EvidenceSource* source_;
  const SiteQueries* site_;
};

}  // namespace weft::api
