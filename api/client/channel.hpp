// SPDX-License-Identifier: Apache-2.0
#pragma once
// Connections to weftd, for all of our clients.

#include <grpcpp/channel.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/client_interceptor.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "api/client/security.hpp"
#include "fabric/result.hpp"

namespace weft::api {

/// What a channel does with each call.
using Interceptors = std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>>;

/// Reads the files and makes a channel to `server` (HOST:PORT or unix:PATH) that connects when it is used; every call
/// on it carries the token. kUnavailable, with the file's name, for one that cannot be read; kInvalidArgument for a
/// combination that makes no sense: a certificate without TLS or key, a token with a line break in it, a token in clear
/// text to another machine.
Result<std::shared_ptr<grpc::Channel>> open_channel(const std::string& server, const ClientSecurity& security,
                                                    const grpc::ChannelArguments& arguments,
                                                    Interceptors interceptors = {});

/// A connection that is not there after `most` (name, TCP, TLS, HTTP/2, each address of the name) fails.
void limit_connect_time(grpc::ChannelArguments& arguments, std::chrono::milliseconds most);

/// Why a peer was not reached, without gRPC's own words for it: of "failed to connect to all addresses; last error:
/// UNKNOWN: ipv4:127.0.0.1:9641: Failed to connect to remote host: Connection refused" the last two. Of TLS with
/// a server without it, and without files that can be used, in words. Other messages stay as they are.
std::string unreachable_reason(const std::string& message);

}  // namespace weft::api
