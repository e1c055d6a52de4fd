// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/fabric_service.hpp"

#include "api/convert/cabling.hpp"
#include "api/convert/path.hpp"
#include "api/convert/queries.hpp"
#include "api/grpc/answer.hpp"
#include "api/grpc/fabric_feed.hpp"
#include "api/grpc/site_call.hpp"
#include "api/grpc/watch_stream.hpp"

namespace weft::api {
namespace {

/// Sends a topology part after part, at the reader's pace. Deletes itself when gRPC is done with it.
class TopologyStream final : public grpc::ServerWriteReactor<v1::Topology> {
 public:
  TopologyStream(TopologyParts parts, std::atomic<unsigned>& running, unsigned most)
      : parts_(std::move(parts)), running_(running) {
    if (++running_ > most) {
      Finish({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many topologies are being sent: retry later"});
    } else {
      send_next();
    }
  }

 private:
  void send_next() {
    const auto more = parts_.next(part_);
    if (!more) return Finish(to_status(more.error()));
    if (*more) {
      StartWrite(&part_);
    } else {
      Finish(grpc::Status::OK);
    }
  }
  void OnWriteDone(bool ok) override {
    if (ok) {
      send_next();
    } else {
      Finish({grpc::StatusCode::CANCELLED, "the client disconnected"});
    }
  }
  void OnDone() override {
    --running_;
    delete this;
  }

  TopologyParts parts_;
  v1::Topology part_;
  std::atomic<unsigned>& running_;
};

}  // namespace

grpc::ServerUnaryReactor* FabricService::GetStatus(grpc::CallbackServerContext* context, const v1::GetStatusRequest*,
                                                   v1::Status* response) {
  const bool is_ours = is_for_site(site_, *context);
  return answer(context, Result<v1::Status>(is_ours ? site_->status() : status(*publication_.load())), response);
}

grpc::ServerWriteReactor<v1::Topology>* FabricService::GetTopology(grpc::CallbackServerContext*,
                                                                   const v1::GetTopologyRequest* request) {
  return new TopologyStream(TopologyParts(publication_.load(), request->fabric(), clock_.now()), topologies_,
                            most_topologies_);
}

grpc::ServerUnaryReactor* FabricService::ListNodes(grpc::CallbackServerContext* context,
                                                   const v1::ListNodesRequest* request,
                                                   v1::ListNodesResponse* response) {
  return answer(context, list_nodes(*publication_.load(), *request), response);
}

grpc::ServerUnaryReactor* FabricService::GetNode(grpc::CallbackServerContext* context,
                                                 const v1::GetNodeRequest* request, v1::GetNodeResponse* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->get_node(request->node(), std::move(done)); });
  return answer(context, get_node(*publication_.load(), request->node(), clock_.now()), response);
}

grpc::ServerUnaryReactor* FabricService::ListPorts(grpc::CallbackServerContext* context,
                                                   const v1::ListPortsRequest* request,
                                                   v1::ListPortsResponse* response) {
  return answer(context, list_ports(*publication_.load(), *request, clock_.now()), response);
}

grpc::ServerUnaryReactor* FabricService::ListLinks(grpc::CallbackServerContext* context,
                                                   const v1::ListLinksRequest* request,
                                                   v1::ListLinksResponse* response) {
  return answer(context, list_links(*publication_.load(), *request), response);
}

grpc::ServerUnaryReactor* FabricService::GetPath(grpc::CallbackServerContext* context,
                                                 const v1::GetPathRequest* request, v1::GetPathResponse* response) {
  return answer(context, get_path(*publication_.load(), *request), response);
}

grpc::ServerUnaryReactor* FabricService::GetCablingDifferences(grpc::CallbackServerContext* context,
                                                               const v1::GetCablingDifferencesRequest* request,
                                                               v1::GetCablingDifferencesResponse* response) {
  return answer(context, cabling_differences(*publication_.load(), request->fabric()), response);
}

grpc::ServerWriteReactor<v1::WatchFabricResponse>* FabricService::Watch(grpc::CallbackServerContext*,
                                                                        const v1::WatchFabricRequest* request) {
  return WatchStream<FabricFeed>::start(hall_, FabricFeed(*request));
}

}  // namespace weft::api
