// SPDX-License-Identifier: Apache-2.0
#pragma once
// The connection to weftd, and what its answers mean for the exit status.

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

#include "api/client/security.hpp"
#include "weft/v1/fabric.grpc.pb.h"
#include "weft/v1/health.grpc.pb.h"
#include "weft/v1/incident.grpc.pb.h"
#include "weft/v1/maintenance.grpc.pb.h"
#include "weft/v1/remedy.grpc.pb.h"
#include "weft/v1/telemetry.grpc.pb.h"

namespace weft::ctl {

/// How the command ends.
enum class Exit : int {
  kGood = 0,
  kBadNews = 1,      ///< the answer is bad news
  kWrongUsage = 2,   ///< also: the server calls the arguments wrong
  kUnreachable = 3,  ///< the server cannot be reached, or is too busy
  kRefused = 4,      ///< a guard, a missing right, a state that does not allow it
};

/// Ends the command: thrown by calls, caught in main alone.
struct Failure : std::runtime_error {
  /// Ends with `how`; `why` is for standard error.
  Failure(Exit how, const std::string& why) : std::runtime_error(why), exit(how) {}
  Exit exit;
};

/// Throws the fitting Failure unless the call went well.
void check(const grpc::Status& status, const std::string& server);

/// Where to look for weftd unless somebody says: its Unix socket, if somebody listens there and no TLS is asked for,
/// else its usual port.
std::string standard_server(const api::ClientSecurity& security);

/// A connection to weftd with a stub for each service.
class Client {
 public:
  /// Connects when the first call is made.
  /// Throws Failure when a file of `security` is no good.
  explicit Client(std::string server, const api::ClientSecurity& security = {});

  /// Makes one call. Throws Failure unless it goes well.
  template <typename Stub, typename Request, typename Response>
  Response call(Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                const Request& request) const {
    grpc::ClientContext context;
    set_deadline(context);
    Response response;
    check((stub.*method)(&context, request, &response), server);
    return response;
  }
  /// All pages of a list as one answer, without a token. Throws as call().
  template <typename Stub, typename Request, typename Response>
  Response all_pages(Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                     Request request) const {
    Response all;
    do {
      const Response page = call(stub, method, request);
      request.set_page_token(page.next_page_token());
      all.MergeFrom(page);
    } while (!request.page_token().empty());
    all.clear_next_page_token();
    return all;
  }
  /// Each call may last `patience`, and none goes on beyond `until`.
  void set_deadline(grpc::ClientContext& context) const;

  std::chrono::seconds patience{15};
  std::chrono::system_clock::time_point until = std::chrono::system_clock::time_point::max();

  std::string server;
  std::shared_ptr<grpc::Channel> channel;
  v1::FabricService::Stub fabric;
  v1::HealthService::Stub health;
  v1::IncidentService::Stub incidents;
  v1::MaintenanceService::Stub maintenance;
  v1::RemedyService::Stub remedies;
  v1::TelemetryService::Stub telemetry;
};

}  // namespace weft::ctl
