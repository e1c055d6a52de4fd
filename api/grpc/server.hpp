// SPDX-License-Identifier: Apache-2.0
#pragma once
// The gRPC server: AcceptanceService, EnrollService, EvidenceService, FabricService, HealthService, HistoryService,
// IncidentService, MaintenanceService, RemedyService, StoreService, TelemetryService, OpenTelemetry's MetricsService,
// grpc.health.v1 and reflection.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "api/access/account.hpp"
#include "api/access/gate.hpp"
#include "api/access/tls.hpp"
#include "api/grpc/stream_registry.hpp"
#include "api/publication/commands.hpp"
#include "api/publication/publication.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::api {

class BackupDesk;
class EnrollDesk;
struct EvidenceSource;
class HistoryDesk;
class MetricsSink;
class SiteQueries;

/// How the gRPC server listens, and its limits.
struct GrpcOptions {
  std::string address = "127.0.0.1";  ///< an address or a name of this machine
  std::uint16_t port = 9641;          ///< 0: any free one
  unsigned max_watchers = 128;        ///< Watch streams at once; further ones get RESOURCE_EXHAUSTED
  unsigned max_topologies = 16;       ///< GetTopology streams at once
  const SiteQueries* site = nullptr;  ///< null: reads are answered by snapshots alone. Must outlive the server
  HistoryDesk* history = nullptr;     ///< null: there is no history. Must outlive the server
  BackupDesk* backups = nullptr;      ///< null: there are none. Must outlive the server
  EnrollDesk* enroll = nullptr;       ///< null: collectors are not enrolled. Must outlive the server
  MetricsSink* pushed = nullptr;      ///< null: nobody may push metrics. Must outlive the server
  /// Null: evidence packs do not say who made them. Must outlive the server.
  const EvidenceSource* evidence = nullptr;
  TelemetryLimits telemetry;
  access::Gate* gate = nullptr;                 ///< null: everybody is let in
  const access::TlsKeys* tls = nullptr;         ///< null: plain text. Needs a gate; both must outlive the server
  std::chrono::milliseconds stop_grace{2'000};  ///< for calls under way when stopping
};

/// The gRPC server with all services of the API.
class GrpcServer {
 public:
  /// Listens and serves. kInvalidArgument for an address that is none, kUnavailable for one that is taken or not ours.
  /// What is passed by reference must outlive it.
  static Result<std::unique_ptr<GrpcServer>> start(const GrpcOptions& options, const Publication& publication,
                                                   Commands& commands, RemedyCommands& remedies,
                                                   TelemetrySink& telemetry, const Clock& clock);
  /// Stops.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  /// Serves accounts of this host, too, over a Unix socket. Needs a gate. Fails as AccountListener::open().
  Result<void> listen_for_accounts(const std::filesystem::path& socket, const access::AccountRights& rights);
  /// The port that it listens on.
  std::uint16_t port() const;
  /// Figures of the collectors' streams.
  TelemetryFigures telemetry() const;
  /// Ends all streams and calls, and joins. Commands that were passed on must be answered for it to return early; their
  /// callbacks may still come later. May be called more than once.
  void stop();

 private:
  struct State;
  explicit GrpcServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weft::api
