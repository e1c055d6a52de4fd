// SPDX-License-Identifier: Apache-2.0
#pragma once
// A gRPC server as one shard of a site.

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <utility>

#include "api/grpc/server.hpp"
#include "api/site/site_queries.hpp"
#include "tests/unit/api/no_commands.hpp"
#include "tests/unit/api/small_plans.hpp"
#include "tests/unit/api/telemetry_peers.hpp"

namespace weft::api {

/// One shard with what it needs to answer.
struct Shard {
  explicit Shard(const Clock& clock) : site(publication, clock, {}) {
    GrpcOptions options;
    options.port = 0;
    options.site = &site;
    auto started = GrpcServer::start(options, publication, commands, remedies, sink, clock);
    if (started)
      server = std::move(*started);
    else
      ADD_FAILURE() << started.error().message;
  }
  ~Shard() { site.stop(); }
  std::string address() const { return "127.0.0.1:" + std::to_string(server->port()); }

  /// What it answers to a question about the site, once all have answered.
  template <typename Response, typename Request>
  Result<Response> ask(void (SiteQueries::*question)(const Request&, SiteQueries::Done<Response>) const,
                       const Request& request) const {
    std::promise<Result<Response>> promise;
    (site.*question)(request, [&promise](Result<Response> answer) { promise.set_value(std::move(answer)); });
    return promise.get_future().get();
  }

  Publication publication;
  NoCommands commands;
  FakeRemedies remedies;
  RecordingSink sink;
  SiteQueries site;
  std::unique_ptr<GrpcServer> server;
};

}  // namespace weft::api
