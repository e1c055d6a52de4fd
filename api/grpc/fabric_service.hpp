// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "api/grpc/watch_dispatcher.hpp"
#include "api/publication/publication.hpp"
#include "api/site/site_queries.hpp"
#include "fabric/clock.hpp"
#include "weft/v1/fabric.grpc.pb.h"

namespace weft::api {

/// weft.v1.FabricService from the published snapshot.
class FabricService final : public v1::FabricService::CallbackService {
 public:
  FabricService(const Publication& publication, const Clock& clock, WatchDispatcher& hall, unsigned most_topologies,
                const SiteQueries* site = nullptr)
      : publication_(publication), clock_(clock), hall_(hall), most_topologies_(most_topologies), site_(site) {}

  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context, const v1::GetStatusRequest* request,
                                      v1::Status* response) override;
  grpc::ServerWriteReactor<v1::Topology>* GetTopology(grpc::CallbackServerContext* context,
                                                      const v1::GetTopologyRequest* request) override;
  grpc::ServerUnaryReactor* ListNodes(grpc::CallbackServerContext* context, const v1::ListNodesRequest* request,
                                      v1::ListNodesResponse* response) override;
  grpc::ServerUnaryReactor* GetNode(grpc::CallbackServerContext* context, const v1::GetNodeRequest* request,
                                    v1::GetNodeResponse* response) override;
  grpc::ServerUnaryReactor* ListPorts(grpc::CallbackServerContext* context, const v1::ListPortsRequest* request,
                                      v1::ListPortsResponse* response) override;
  grpc::ServerUnaryReactor* ListLinks(grpc::CallbackServerContext* context, const v1::ListLinksRequest* request,
                                      v1::ListLinksResponse* response) override;
  grpc::ServerUnaryReactor* ListWorstLinks(grpc::CallbackServerContext* context,
                                           const v1::ListWorstLinksRequest* request,
                                           v1::ListWorstLinksResponse* response) override;
  grpc::ServerUnaryReactor* ListWorst(grpc::CallbackServerContext* context, const v1::ListWorstRequest* request,
                                      v1::ListWorstResponse* response) override;
  grpc::ServerUnaryReactor* GetPath(grpc::CallbackServerContext* context, const v1::GetPathRequest* request,
                                    v1::GetPathResponse* response) override;
  grpc::ServerUnaryReactor* GetCablingDifferences(grpc::CallbackServerContext* context,
                                                  const v1::GetCablingDifferencesRequest* request,
                                                  v1::GetCablingDifferencesResponse* response) override;
  grpc::ServerUnaryReactor* GetDrift(grpc::CallbackServerContext* context, const v1::GetDriftRequest* request,
                                     v1::GetDriftResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchFabricResponse>* Watch(grpc::CallbackServerContext* context,
                                                           const v1::WatchFabricRequest* request) override;
  grpc::ServerUnaryReactor* GetMap(grpc::CallbackServerContext* context, const v1::GetMapRequest* request,
                                   v1::GetMapResponse* response) override;

 private:
  const Publication& publication_;
  const Clock& clock_;
  WatchDispatcher& hall_;
  unsigned most_topologies_;
  std::atomic<unsigned> topologies_ = 0;  ///< being sent now; each holds a snapshot
  const SiteQueries* site_;
};

}  // namespace weft::api
