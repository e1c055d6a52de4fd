// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/server.hpp"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "api/grpc/acceptance_service.hpp"
#include "api/grpc/account_listener.hpp"
#include "api/grpc/callers.hpp"
#include "api/grpc/credentials.hpp"
#include "api/grpc/enroll_service.hpp"
#include "api/grpc/evidence_service.hpp"
#include "api/grpc/fabric_service.hpp"
#include "api/grpc/health_service.hpp"
#include "api/grpc/history_service.hpp"
#include "api/grpc/incident_service.hpp"
#include "api/grpc/maintenance_service.hpp"
#include "api/grpc/metrics_service.hpp"
#include "api/grpc/remedy_service.hpp"
#include "api/grpc/shard_confirmation.hpp"
#include "api/grpc/store_service.hpp"
#include "api/grpc/telemetry_service.hpp"
#include "api/grpc/watch_dispatcher.hpp"
#include "api/publication/derived.hpp"

namespace weft::api {
namespace {

constexpr const char* kServices[] = {
    "weft.v1.AcceptanceService", "weft.v1.EnrollService",  "weft.v1.EvidenceService", "weft.v1.FabricService",
    "weft.v1.HealthService",     "weft.v1.HistoryService", "weft.v1.IncidentService", "weft.v1.MaintenanceService",
    "weft.v1.RemedyService",     "weft.v1.StoreService",   "weft.v1.TelemetryService"};
/// What a Batch has besides its body.
constexpr int kEnvelopeBytes = 4096;

std::string endpoint_text(const GrpcOptions& options) {
  const bool bare_v6 = options.address.find(':') != std::string::npos && options.address.front() != '[';
  return (bare_v6 ? '[' + options.address + ']' : options.address) + ':' + std::to_string(options.port);
}

/// gRPC does not say why it cannot listen: try it by hand, for the operating system's words.
Error cannot_listen(const GrpcOptions& options) {
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(options.port);
  if (getaddrinfo(options.address.c_str(), port.c_str(), &hints, &found) != 0 || !found)
    return {ErrorCode::kInvalidArgument, "gRPC: not an address of this machine: " + options.address};
  std::string why = "refused";
  const int descriptor = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0 || bind(descriptor, found->ai_addr, found->ai_addrlen) != 0) why = std::strerror(errno);
  if (descriptor >= 0) close(descriptor);
  freeaddrinfo(found);
  return {ErrorCode::kUnavailable, "gRPC: cannot listen on " + endpoint_text(options) + ": " + why};
}

void set_limits(grpc::ServerBuilder& builder, const GrpcOptions& options) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.telemetry.batch.bytes) + kEnvelopeBytes);
  // With it, a second weftd on the same port would get half of the calls instead of an error.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 128);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 16 * 1024);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // Who connects and asks nothing shall not stay: a connection costs some 20 kB.
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 300'000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
  grpc::ResourceQuota quota("weft");
  quota.Resize(256UL * 1024 * 1024);
  builder.SetResourceQuota(quota);
}

}  // namespace

struct GrpcServer::State {
  State(const GrpcOptions& the_options, const Publication& publication, Commands& commands,
        RemedyCommands& remedy_commands, TelemetrySink& telemetry, const Clock& clock)
      : options(the_options),
        hall(publication, the_options.max_watchers, [this](const Snapshot& snapshot) { show_readiness(snapshot); }),
        acceptances(publication, commands, callers, the_options.evidence, the_options.site),
        enroll(the_options.enroll, callers, gate()),
        evidence(publication, the_options.evidence, the_options.history, clock, the_options.site),
        fabric(publication, clock, hall, the_options.max_topologies, the_options.site),
        health(publication, hall, the_options.site),
        history(publication, the_options.history, clock, the_options.site),
        incidents(publication, commands, clock, hall, callers, the_options.site),
        maintenance(publication, commands, clock, callers, the_options.site),
        metrics(the_options.pushed, callers, gate()),
        remedies(publication, remedy_commands, hall, callers, the_options.site),
        store(the_options.backups),
        telemetry_hall(telemetry, clock, the_options.telemetry, gate()),
        telemetry_service(publication, telemetry_hall, the_options.site) {}

  /// On the hall's thread.
  void show_readiness(const Snapshot& snapshot) {
    const std::lock_guard lock(readiness);
    if (!server || !server->GetHealthCheckService()) return;
    const bool now = is_ready(snapshot);
    if (now == ready) return;
    ready = now;
    set_all(now);
  }
  void set_all(bool serving) {
    grpc::HealthCheckServiceInterface& service = *server->GetHealthCheckService();
    service.SetServingStatus("", serving);
    for (const char* name : kServices) service.SetServingStatus(name, serving);
  }

  /// Connections of accounts, by their role, are served like those of a listener of their own: what it lets them do is
  /// decided before any service sees a call.
  void add_entrances(grpc::ServerBuilder& builder) {
    using Kind = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
    for (auto& [role, entrance] : entrances) {
      account_credentials.push_back(guarded_credentials(*options.gate, nullptr, role));
      entrance = builder.experimental().AddExternalConnectionAcceptor(Kind::FROM_FD, account_credentials.back());
    }
  }
  void serve_account(std::optional<access::Role> role, int socket) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.fd = socket;
    for (auto& [its_role, entrance] : entrances)
      if (its_role == role) return entrance->HandleNewConnection(&connection);
    ::close(socket);
  }

  access::Gate& gate() { return options.gate != nullptr ? *options.gate : open_gate; }

  GrpcOptions options;
  access::Gate open_gate;
  AccountTable accounts;
  const Callers callers{gate(), &accounts};
  std::shared_ptr<grpc::ServerCredentials> credentials =
      options.gate != nullptr ? guarded_credentials(*options.gate, options.tls) : grpc::InsecureServerCredentials();
  std::vector<std::shared_ptr<grpc::ServerCredentials>> account_credentials;
  using Entrance = std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor>;
  std::array<std::pair<std::optional<access::Role>, Entrance>, 3> entrances{
      {{std::nullopt, nullptr}, {access::Role::kOperator, nullptr}, {access::Role::kAdmin, nullptr}}};
  std::optional<HandshakeWatch> handshakes;
  std::mutex readiness;
  bool ready = false;
  std::unique_ptr<grpc::Server> server;  ///< set under `readiness`
  int port = 0;
  WatchDispatcher hall;
  AcceptanceService acceptances;
  EnrollService enroll;
  EvidenceService evidence;
  FabricService fabric;
  HealthService health;
  HistoryService history;
  IncidentService incidents;
  MaintenanceService maintenance;
  MetricsService metrics;
  RemedyService remedies;
  StoreService store;
  StreamRegistry telemetry_hall;
  TelemetryService telemetry_service;
  std::unique_ptr<AccountListener> account_listener;
};

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(const GrpcOptions& options, const Publication& publication,
                                                      Commands& commands, RemedyCommands& remedies,
                                                      TelemetrySink& telemetry, const Clock& clock) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  auto state = std::make_unique<State>(options, publication, commands, remedies, telemetry, clock);
  if (options.gate != nullptr && options.tls != nullptr) state->handshakes.emplace(*options.gate);
  grpc::ServerBuilder builder;
  set_limits(builder, options);
  builder.AddListeningPort(endpoint_text(options), state->credentials, &state->port);
  if (options.gate != nullptr) state->add_entrances(builder);
  builder.experimental().SetInterceptorCreators(confirm_shard(publication));
  builder.RegisterService(&state->acceptances);
  builder.RegisterService(&state->enroll);
  builder.RegisterService(&state->evidence);
  builder.RegisterService(&state->fabric);
  builder.RegisterService(&state->health);
  builder.RegisterService(&state->history);
  builder.RegisterService(&state->incidents);
  builder.RegisterService(&state->metrics);
  builder.RegisterService(&state->remedies);
  builder.RegisterService(&state->maintenance);
  builder.RegisterService(&state->store);
  builder.RegisterService(&state->telemetry_service);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (!server || state->port <= 0) return tl::unexpected(cannot_listen(options));
  {
    const std::lock_guard lock(state->readiness);
    state->server = std::move(server);
    state->set_all(false);
  }
  state->hall.nudge();
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(state)));
}

Result<void> GrpcServer::listen_for_accounts(const std::filesystem::path& socket, const access::AccountRights& rights) {
  auto opened =
      AccountListener::open({.socket = socket, .rights = rights}, state_->accounts, state_->gate(),
                            [this](std::optional<access::Role> role, int end) { state_->serve_account(role, end); });
  if (!opened) return tl::unexpected(opened.error());
  state_->account_listener = std::move(*opened);
  return {};
}

GrpcServer::GrpcServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
GrpcServer::~GrpcServer() {
  stop();
}
std::uint16_t GrpcServer::port() const {
  return static_cast<std::uint16_t>(state_->port);
}

TelemetryFigures GrpcServer::telemetry() const {
  return state_->telemetry_hall.figures();
}

void GrpcServer::stop() {
  state_->hall.stop();
  state_->telemetry_hall.stop();
  if (!state_->server) return;
  if (auto* health = state_->server->GetHealthCheckService()) health->Shutdown();
  state_->server->Shutdown(std::chrono::system_clock::now() + state_->options.stop_grace);
  state_->server->Wait();
  state_->account_listener.reset();  // it hands connections to the server
  state_->server.reset();            // it refers to the services
}

}  // namespace weft::api
