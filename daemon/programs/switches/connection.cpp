// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/switches/connection.hpp"

#include <chrono>

#include "api/client/channel.hpp"
#include "daemon/programs/switches/credentials.hpp"
#include "fabric/host.hpp"

namespace weft::switches {
namespace {

constexpr auto kConnectTime = std::chrono::seconds(5);
constexpr std::size_t kLongestReason = 300;

}  // namespace

Result<Connection> connect(const TargetLine& line, const std::filesystem::path& credentials_directory,
                           std::uint64_t max_message) {
  const auto credentials = read_credentials(credentials_directory, line);
  if (!credentials) return tl::unexpected(credentials.error());
  if (line.plain_text && (!credentials->authorities.empty() || !credentials->certificate.empty()))
    return fail(ErrorCode::kInvalidArgument, "tls=off: its credentials have certificates");
  grpc::ChannelArguments arguments;
  api::limit_connect_time(arguments, kConnectTime);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // How often it is tried is for us to say.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(static_cast<int>(max_message));
  if (!line.certificate_name.empty()) arguments.SetSslTargetNameOverride(line.certificate_name);
  const auto security =
      line.plain_text ? grpc::InsecureChannelCredentials()
                      : grpc::SslCredentials({credentials->authorities, credentials->key, credentials->certificate});
  Connection connection{grpc::CreateCustomChannel(line.address, security, arguments), {}};
  if (credentials->user.empty()) return connection;
  if (line.login == Login::kBasic)
    connection.login = {{"authorization", basic_authorization(credentials->user, credentials->password)}};
  else
    connection.login = {{"username", credentials->user}, {"password", credentials->password}};
  return connection;
}

bool is_of_login(grpc::StatusCode code) {
  return code == grpc::StatusCode::UNAUTHENTICATED || code == grpc::StatusCode::PERMISSION_DENIED;
}

std::string plain(const std::string& text) {
  return plain_text(text, kLongestReason);
}

std::string told_reason(const grpc::Status& status, const TargetLine& line, std::uint64_t max_message) {
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    const std::string& text = status.error_message();
    for (const char* const word : {"certificate verify failed", "CERTIFICATE_VERIFY_FAILED"})
      if (text.find(word) != std::string::npos)
        return "its certificate is not of the CA in its credentials, or has expired";
    if (text.find("Peer name") != std::string::npos)
      return "its certificate is for another name than " +
             (line.certificate_name.empty() ? line.address : line.certificate_name) + ": set certificate=NAME";
    return plain(api::unreachable_reason(text));
  }
  if (is_of_login(status.error_code()))
    return "it does not accept our login" +
           (status.error_message().empty() ? "" : ": " + plain(status.error_message()));
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) return "it takes the connection and does not answer";
  if (status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED &&
      status.error_message().find("larger than max") != std::string::npos)
    return "it sends more than " + std::to_string(max_message >> 10U) + " KiB in one message (gnmi.max_message)";
  if (status.ok()) return "it ended the stream";
  return plain(status.error_message());
}

}  // namespace weft::switches
