// SPDX-License-Identifier: Apache-2.0
#pragma once
// weftctl's verbs against a server whose daemon is made up.

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>

#include "api/grpc/server.hpp"
#include "daemon/programs/weftctl/verbs.hpp"
#include "tests/unit/api/no_commands.hpp"
#include "tests/unit/api/small_plans.hpp"
#include "tests/unit/api/telemetry_peers.hpp"

namespace weft::ctl {

class Verbs : public ::testing::Test {
 protected:
  Verbs() {
    api::GrpcOptions options;
    options.port = 0;
    auto started = api::GrpcServer::start(options, publication, commands, remedies, sink, clock);
    if (started) server = std::move(*started);
    EXPECT_TRUE(server);
    client = std::make_unique<Client>("127.0.0.1:" + std::to_string(server->port()));
  }
  /// What the verb prints.
  template <typename Verb, typename... Given>
  std::string say(Exit expected, Verb verb, const Given&... given) {
    return print(false, expected, verb, given...);
  }
  template <typename Verb, typename... Given>
  nlohmann::json json(Exit expected, Verb verb, const Given&... given) {
    return nlohmann::json::parse(print(true, expected, verb, given...));
  }
  /// How the verb fails.
  template <typename Verb, typename... Given>
  Failure fails(Verb verb, const Given&... given) {
    std::ostringstream out;
    try {
      verb(Session{*client, out, false, true, false, api::kNow}, given...);
    } catch (const Failure& failure) {
      return failure;
    }
    ADD_FAILURE() << "it went well: " << out.str();
    return {Exit::kGood, ""};
  }

  api::Publication publication;
  api::NoCommands commands;
  api::FakeRemedies remedies;
  api::RecordingSink sink;
  api::StillClock clock;
  std::unique_ptr<api::GrpcServer> server;
  std::unique_ptr<Client> client;
  std::size_t columns = 0;  ///< of the terminal that say() prints on; 0: no limit

 private:
  template <typename Verb, typename... Given>
  std::string print(bool as_json, Exit expected, Verb verb, const Given&... given) {
    std::ostringstream out;
    Session session{*client, out, as_json, true, false, api::kNow};
    session.columns = columns;
    EXPECT_EQ(verb(session, given...), expected);
    return out.str();
  }
};

}  // namespace weft::ctl
