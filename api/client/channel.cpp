// SPDX-License-Identifier: Apache-2.0
#include "api/client/channel.hpp"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <utility>
#include <vector>

#include "fabric/site.hpp"

namespace weft::api {
namespace {

namespace experimental = grpc::experimental;

constexpr std::size_t kMostBytes = 1 << 20;

Result<std::string> read(const std::filesystem::path& path) {
  if (path.empty()) return std::string();
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad())
    return fail(ErrorCode::kUnavailable, "cannot read " + path.string() + ": " + errno_message(errno));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.empty()) return fail(ErrorCode::kUnavailable, path.string() + " is empty");
  return text;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// Adds the token to each call: gRPC's own call credentials refuse to go over plain text, which is ours to decide.
class ShowToken final : public experimental::Interceptor {
 public:
  explicit ShowToken(const std::string& authorization) : authorization_(authorization) {}
  void Intercept(experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(experimental::InterceptionHookPoints::PRE_SEND_INITIAL_METADATA))
      methods->GetSendInitialMetadata()->emplace("authorization", authorization_);
    methods->Proceed();
  }

 private:
  const std::string& authorization_;  // of the factory, which the channel keeps
};

class ShowTokens final : public experimental::ClientInterceptorFactoryInterface {
 public:
  explicit ShowTokens(const std::string& token) : authorization_("Bearer " + token) {}
  experimental::Interceptor* CreateClientInterceptor(experimental::ClientRpcInfo*) override {
    return new ShowToken(authorization_);
  }

 private:
  const std::string authorization_;
};

}  // namespace

Result<std::shared_ptr<grpc::Channel>> open_channel(const std::string& server, const ClientSecurity& security,
                                                    const grpc::ChannelArguments& arguments,
                                                    Interceptors interceptors) {
  if (security.certificate.empty() != security.key.empty())
    return fail(ErrorCode::kInvalidArgument, "a client certificate and its key must be given together");
  if (security.authorities.empty() && !security.certificate.empty())
    return fail(ErrorCode::kInvalidArgument, "a client certificate needs TLS: give the server's CA, too");
  const auto authorities = read(security.authorities);
  const auto certificate = read(security.certificate);
  const auto key = read(security.key);
  const auto from_file = read(security.token_file);
  for (const auto* text : {&authorities, &certificate, &key, &from_file})
    if (!*text) return tl::unexpected(text->error());
  const std::string token = trimmed(security.token_file.empty() ? security.token : *from_file);
  if (std::ranges::any_of(token, [](char c) { return c <= 0x20 || c >= 0x7F; }))
    return fail(ErrorCode::kInvalidArgument, "a token must have printable characters only, without blanks");
  if (!token.empty() && security.authorities.empty() && !server.starts_with("unix:") && !is_loopback_address(server))
    return fail(ErrorCode::kInvalidArgument,
                "the token would go to " + server + " in clear text: give the CA of its certificate");
  if (!token.empty()) interceptors.push_back(std::make_unique<ShowTokens>(token));
  const auto credentials = security.authorities.empty() ? grpc::InsecureChannelCredentials()
                                                        : grpc::SslCredentials({*authorities, *key, *certificate});
  return experimental::CreateCustomChannelWithInterceptors(server, credentials, arguments, std::move(interceptors));
}

void limit_connect_time(grpc::ChannelArguments& arguments, std::chrono::milliseconds most) {
  const auto milliseconds = static_cast<int>(most.count());
  // A connection attempt may last at least this long, and no longer while the first backoff (1 s) is not longer: gRPC
  // 1.51, subchannel.cc, Subchannel::StartConnectingLocked().
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, milliseconds);
  arguments.SetInt(GRPC_ARG_DNS_ARES_QUERY_TIMEOUT_MS, milliseconds);
}

std::string unreachable_reason(const std::string& message) {
  // What OpenSSL makes of words in clear text.
  if (message.find("WRONG_VERSION_NUMBER") != message.npos || message.find("wrong version number") != message.npos)
    return "what it says is no TLS: does it serve TLS?";
  // No connection is tried where gRPC cannot make use of the files for TLS.
  if (message.find("empty address list") != message.npos)
    return "its address, or a file of ours for TLS (CA, certificate, key), cannot be used";
  const std::string end = message.substr(message.rfind(": ") == message.npos ? 0 : message.rfind(": ") + 2);
  if (message.starts_with("DNS resolution failed")) return "its name cannot be looked up: " + end;
  if (message != end && !message.starts_with("failed to connect")) return message;
  return end.starts_with("connection attempt timed out") ? "it takes connections, and does not answer" : end;
}

}  // namespace weft::api
