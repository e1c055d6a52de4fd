// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/client.hpp"

#include <grpcpp/support/channel_arguments.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "api/client/channel.hpp"
#include "daemon/platform/cli/standard_places.hpp"

namespace weft::ctl {
namespace {

std::shared_ptr<grpc::Channel> connect(const std::string& server, const api::ClientSecurity& security) {
  grpc::ChannelArguments arguments;
  // weftd is in the management network: web proxies do not apply.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(64 * 1024 * 1024);
  // A watch goes on as soon as the server is back; gRPC's own patience grows to two minutes.
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  auto channel = api::open_channel(server, security, arguments);
  if (!channel) throw Failure(Exit::kWrongUsage, channel.error().message);
  return *channel;
}

bool is_listened_on(std::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool connected =
      probe >= 0 && ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  if (probe >= 0) ::close(probe);
  return connected;
}

}  // namespace

std::string standard_server(const api::ClientSecurity& security) {
  const bool plain = security.authorities.empty();
  return plain && is_listened_on(usage::kStandardSocket) ? "unix:" + std::string(usage::kStandardSocket)
                                                         : std::string(usage::kStandardServer);
}

void check(const grpc::Status& status, const std::string& server) {
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
      return;
    case grpc::StatusCode::INVALID_ARGUMENT:
      throw Failure(Exit::kWrongUsage, status.error_message());
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      throw Failure(Exit::kUnreachable, "cannot reach weftd at " + server + ": " + status.error_message());
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
      throw Failure(Exit::kRefused, status.error_message());
    case grpc::StatusCode::UNIMPLEMENTED:
      throw Failure(Exit::kUnreachable, "the server at " + server + " is not a weftd of this version");
    default:
      throw Failure(Exit::kBadNews, status.error_message());
  }
}

Client::Client(std::string where, const api::ClientSecurity& security)
    : server(std::move(where)),
      channel(connect(server, security)),
      fabric(channel),
      health(channel),
      incidents(channel),
      maintenance(channel),
      remedies(channel),
      telemetry(channel) {}

void Client::set_deadline(grpc::ClientContext& context) const {
  context.set_deadline(std::min(until, std::chrono::system_clock::now() + patience));
}

}  // namespace weft::ctl
