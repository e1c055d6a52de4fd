// SPDX-License-Identifier: Apache-2.0
#pragma once
// Says to another shard which one it has reached, for every call that it makes: see shard_peers.hpp. And to everybody
// whether the one that answers leads or stands by: see kRole.

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_interceptor.h>

#include <memory>
#include <vector>

#include "api/publication/publication.hpp"

namespace weft::api {

/// For a server whose shard is that of the latest snapshot. A call that means another shard ends with
/// FAILED_PRECONDITION. `publication` must outlive the server.
std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> confirm_shard(
    const Publication& publication);

}  // namespace weft::api
