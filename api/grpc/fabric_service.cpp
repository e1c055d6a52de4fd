// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/fabric_service.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/convert/cabling.hpp"
#include "api/convert/drift.hpp"
#include "api/convert/fabric_map.hpp"
#include "api/convert/path.hpp"
#include "api/convert/queries.hpp"
#include "api/convert/worst_links.hpp"
#include "api/convert/worst_things.hpp"
#include "api/grpc/answer.hpp"
#include "api/grpc/fabric_feed.hpp"
#include "api/grpc/site_call.hpp"
#include "api/grpc/site_feed.hpp"
#include "api/site/site_topology.hpp"

namespace weft::api {
namespace {

constexpr std::size_t kMapPiece = 3UL << 20;  ///< bytes; gRPC's usual limit of one message is 4 MiB

/// Sends a topology part after part, at the reader's pace. Deletes itself when gRPC is done with it.
class TopologyStream final : public grpc::ServerWriteReactor<v1::Topology> {
 public:
  TopologyStream(std::shared_ptr<SiteTopology> topology, std::atomic<unsigned>& running, unsigned most)
      : topology_(std::move(topology)), running_(running) {
    if (++running_ > most) {
      Finish({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many topologies are being sent: retry later"});
    } else {
      send_next();
    }
  }

 private:
  void send_next() {
    topology_->next([this](Result<std::optional<v1::Topology>> part) {
      if (!part) return Finish(to_status(part.error()));
      if (!*part) return Finish(grpc::Status::OK);
      part_ = std::move(**part);
      StartWrite(&part_);
    });
  }
  // After either of these next() is called no more, or answers soon.
  void OnCancel() override { topology_->cancel(); }
  void OnWriteDone(bool ok) override {
    if (ok) return send_next();
    topology_->cancel();
    Finish({grpc::StatusCode::CANCELLED, "the client disconnected"});
  }
  void OnDone() override {
    --running_;
    delete this;
  }

  std::shared_ptr<SiteTopology> topology_;
  v1::Topology part_;
  std::atomic<unsigned>& running_;
};

}  // namespace

grpc::ServerUnaryReactor* FabricService::GetStatus(grpc::CallbackServerContext* context, const v1::GetStatusRequest*,
                                                   v1::Status* response) {
  const bool is_ours = is_for_site(site_, *context);
  return answer(context, Result<v1::Status>(is_ours ? site_->status() : status(*publication_.load())), response);
}

grpc::ServerWriteReactor<v1::Topology>* FabricService::GetTopology(grpc::CallbackServerContext* context,
                                                                   const v1::GetTopologyRequest* request) {
  auto topology = is_for_site(site_, *context)
                      ? site_->topology(request->fabric())
                      : std::make_shared<SiteTopology>(publication_.load(), request->fabric(), clock_.now(), nullptr);
  return new TopologyStream(std::move(topology), topologies_, most_topologies_);
}

grpc::ServerUnaryReactor* FabricService::ListNodes(grpc::CallbackServerContext* context,
                                                   const v1::ListNodesRequest* request,
                                                   v1::ListNodesResponse* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->list_nodes(*request, std::move(done)); });
  const auto of = [&](const Snapshot& snapshot) { return list_nodes(snapshot, *request); };
  return answer(context, of_swept_shard(*context, *publication_.load(), of), response);
}

grpc::ServerUnaryReactor* FabricService::GetNode(grpc::CallbackServerContext* context,
                                                 const v1::GetNodeRequest* request, v1::GetNodeResponse* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->get_node(request->node(), std::move(done)); });
  const auto of = [&](const Snapshot& snapshot) { return get_node(snapshot, request->node(), clock_.now()); };
  return answer(context, of_swept_shard(*context, *publication_.load(), of), response);
}

grpc::ServerUnaryReactor* FabricService::ListPorts(grpc::CallbackServerContext* context,
                                                   const v1::ListPortsRequest* request,
                                                   v1::ListPortsResponse* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->list_ports(*request, std::move(done)); });
  const auto of = [&](const Snapshot& snapshot) { return list_ports(snapshot, *request, clock_.now()); };
  return answer(context, of_swept_shard(*context, *publication_.load(), of), response);
}

grpc::ServerUnaryReactor* FabricService::ListLinks(grpc::CallbackServerContext* context,
                                                   const v1::ListLinksRequest* request,
                                                   v1::ListLinksResponse* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->list_links(*request, std::move(done)); });
  const auto of = [&](const Snapshot& snapshot) { return list_links(snapshot, *request); };
  return answer(context, of_swept_shard(*context, *publication_.load(), of), response);
}

grpc::ServerUnaryReactor* FabricService::ListWorstLinks(grpc::CallbackServerContext* context,
                                                        const v1::ListWorstLinksRequest* request,
                                                        v1::ListWorstLinksResponse* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->list_worst_links(*request, std::move(done)); });
  const auto of = [&](const Snapshot& snapshot) { return list_worst_links(snapshot, *request, clock_.now()); };
  return answer(context, of_swept_shard(*context, *publication_.load(), of), response);
}

grpc::ServerUnaryReactor* FabricService::ListWorst(grpc::CallbackServerContext* context,
                                                   const v1::ListWorstRequest* request,
                                                   v1::ListWorstResponse* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->list_worst(*request, std::move(done)); });
  const auto of = [&](const Snapshot& snapshot) { return list_worst(snapshot, *request, clock_.now()); };
  return answer(context, of_swept_shard(*context, *publication_.load(), of), response);
}

grpc::ServerUnaryReactor* FabricService::GetPath(grpc::CallbackServerContext* context,
                                                 const v1::GetPathRequest* request, v1::GetPathResponse* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->get_path(*request, std::move(done)); });
  const auto of = [&](const Snapshot& snapshot) { return get_path(snapshot, *request); };
  return answer(context, of_swept_shard(*context, *publication_.load(), of), response);
}

grpc::ServerUnaryReactor* FabricService::GetCablingDifferences(grpc::CallbackServerContext* context,
                                                               const v1::GetCablingDifferencesRequest* request,
                                                               v1::GetCablingDifferencesResponse* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->get_cabling_differences(*request, std::move(done)); });
  const auto of = [&](const Snapshot& snapshot) { return cabling_differences(snapshot, request->fabric()); };
  return answer(context, of_swept_shard(*context, *publication_.load(), of), response);
}

grpc::ServerUnaryReactor* FabricService::GetDrift(grpc::CallbackServerContext* context,
                                                  const v1::GetDriftRequest* request, v1::GetDriftResponse* response) {
  if (is_for_site(site_, *context))
    return ask_site(response, [&](auto done) { site_->get_drift(*request, std::move(done)); });
  const auto of = [&](const Snapshot& snapshot) { return get_drift(snapshot, *request); };
  return answer(context, of_own_shard(*context, *publication_.load(), of), response);
}

grpc::ServerWriteReactor<v1::WatchFabricResponse>* FabricService::Watch(grpc::CallbackServerContext* context,
                                                                        const v1::WatchFabricRequest* request) {
  return watch_site<FabricNews>(site_, *context, hall_, FabricFeed(*request),
                                [wanted = request->fabric()](const v1::WatchFabricResponse& event, bool) {
                                  return wanted.empty() || event.fabric().name() == wanted;
                                });
}

grpc::ServerUnaryReactor* FabricService::GetMap(grpc::CallbackServerContext* context, const v1::GetMapRequest* request,
                                                v1::GetMapResponse* response) {
  const auto piece_of = [&](const Snapshot& snapshot) -> Result<v1::GetMapResponse> {
    const std::string json = request->state() ? fabric_map_state(snapshot, clock_.now()) : fabric_map(snapshot);
    if (request->offset() > json.size()) return fail(ErrorCode::kInvalidArgument, "the map ends before that");
    v1::GetMapResponse piece;
    piece.set_json(json.substr(request->offset(), kMapPiece));
    piece.set_size(json.size());
    piece.set_version(std::hash<std::string>{}(json));
    return piece;
  };
  return answer(context, of_own_shard(*context, *publication_.load(), piece_of), response);
}

}  // namespace weft::api
