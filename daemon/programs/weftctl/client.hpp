// SPDX-License-Identifier: Apache-2.0
#pragma once
// The connection to weftd, and what its answers mean for the exit status.

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "api/client/security.hpp"
#include "api/client/server_list.hpp"
#include "weft/v1/acceptance.grpc.pb.h"
#include "weft/v1/enroll.grpc.pb.h"
#include "weft/v1/evidence.grpc.pb.h"
#include "weft/v1/fabric.grpc.pb.h"
#include "weft/v1/health.grpc.pb.h"
#include "weft/v1/history.grpc.pb.h"
#include "weft/v1/incident.grpc.pb.h"
#include "weft/v1/maintenance.grpc.pb.h"
#include "weft/v1/remedy.grpc.pb.h"
#include "weft/v1/store.grpc.pb.h"
#include "weft/v1/telemetry.grpc.pb.h"

namespace weft::ctl {

/// How the command ends.
enum class Exit : int {
  kGood = 0,
  kBadNews = 1,      ///< the answer is bad news
  kWrongUsage = 2,   ///< also: the server calls the arguments wrong
  kUnreachable = 3,  ///< the server cannot be reached, is too busy, or does not lead
  kRefused = 4,      ///< a guard, a missing right, a state that does not allow it
  kUnfinished = 5,   ///< what was waited for was not over in time
  kUnstored = 6,     ///< it is done, but not stored yet: a restart of weftd may forget it
};

/// Ends the command: thrown by calls, caught in main alone.
struct Failure : std::runtime_error {
  /// Ends with `how`; `why` is for standard error.
  Failure(Exit how, const std::string& why, grpc::StatusCode status = grpc::StatusCode::OK)
      : std::runtime_error(why), exit(how), code(status) {}
  Exit exit;
  grpc::StatusCode code;  ///< what weftd refused with; OK: something else is wrong
};

/// Where to look for weftd unless somebody says: its Unix socket, if somebody listens there and no TLS is asked for,
/// else its usual port.
std::string standard_server(const api::ClientSecurity& security);

/// Why a weftd at `server` was not reached, of what gRPC said of it, in plain words.
std::string reason_not_reached(const std::string& message, std::string_view server);

/// A connection to weftd with a stub for each service. Of several servers it uses one, and the next one when that one
/// does not answer, is on standby or cannot be sure that it leads. Where another shard owns what is asked for it uses
/// the one that the refusal names, and stays there.
class Client {
 public:
  /// Whether a call may be made again on another server when nobody knows what became of it on the first.
  enum class Kind : std::uint8_t { kRead, kChange };

  /// `servers`: HOST:PORT or unix:PATH, several separated by commas. Connects when the first call is made.
  /// Throws Failure when a file of `security` is no good.
  explicit Client(const std::string& servers, const api::ClientSecurity& security = {});

  /// Makes one call that changes nothing. Throws Failure unless it goes well on one of the servers.
  template <typename Stub, typename Request, typename Response>
  Response call(std::optional<Stub>& stub,
                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*), const Request& request) {
    return run<Response>(Kind::kRead, stub, method, request);
  }
  /// Makes one call that changes something. Throws Failure unless it goes well. It is made on another server only when
  /// it is certain that the one before did not take it: there was no connection, or it said so.
  template <typename Stub, typename Request, typename Response>
  Response change(std::optional<Stub>& stub,
                  grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                  const Request& request) {
    return run<Response>(Kind::kChange, stub, method, request);
  }
  /// All pages of a list as one answer of one server, without a token. Throws as call().
  template <typename Stub, typename Request, typename Response>
  Response all_pages(std::optional<Stub>& stub,
                     grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*), Request request) {
    Response all;
    std::size_t begun_at = servers_.index();
    while (true) {
      const Response page = call(stub, method, request);
      if (std::exchange(begun_at, servers_.index()) != servers_.index() && !request.page_token().empty()) {
        all.Clear();  // another server cuts its pages elsewhere
        request.clear_page_token();
        continue;
      }
      all.MergeFrom(page);
      request.set_page_token(page.next_page_token());
      if (request.page_token().empty()) break;
    }
    all.clear_next_page_token();
    if constexpr (requires { all.missing_shards(); }) {
      auto& missing = *all.mutable_missing_shards();
      std::sort(missing.begin(), missing.end());
      missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    }
    return all;
  }
  /// Makes a call of any form, which returns how it ended; it has its deadline already. Throws as call() or change().
  void attempt(Kind kind, const std::function<grpc::Status(grpc::ClientContext&)>& call);

  /// Gives `take` each event of a stream; `begin` is called before the first one of each stream. With one server until
  /// its stream ends. With several the next one goes on, also after some time without any. Throws Failure at the end.
  template <typename Stub, typename Request, typename Event, typename Begin, typename Take>
  [[noreturn]] void follow(std::optional<Stub>& stub,
                           std::unique_ptr<grpc::ClientReader<Event>> (Stub::*method)(grpc::ClientContext*,
                                                                                      const Request&),
                           const Request& request, Begin begin, Take take) {
    while (true) {
      bool heard = false;
      grpc::Status status = connect();
      if (status.ok()) {
        grpc::ClientContext context;
        begin();
        const auto stream = ((*stub).*method)(&context, request);
        if (is_to_lead(context, *stream)) continue;
        for (Event event; stream->Read(&event); take(event))
          if (!std::exchange(heard, true)) serves();
        status = stream->Finish();
      }
      lost_stream(status, heard);
    }
  }

  /// Shards of which it has told so.
  const std::set<std::string>& missing() const { return missing_; }
  /// Says once that this shard of the site did not answer. Calls and changes do so of what is missing in their answer.
  void note_missing(const std::string& shard);
  /// The server in use.
  const std::string& server() const { return servers_.current(); }
  /// Whether there is another server than the one in use.
  bool has_others() const { return servers_.size() > 1; }

  std::chrono::seconds patience{15};  ///< for each call, all servers together
  std::chrono::system_clock::time_point until = std::chrono::system_clock::time_point::max();  ///< for all calls
  std::chrono::seconds follow_patience{60};  ///< for the next stream: within that another weftd leads, as a rule
  std::ostream* notes = nullptr;  ///< takes a line when another server than before answers; null: nobody does

  std::optional<v1::AcceptanceService::Stub> acceptance;
  std::optional<v1::EnrollService::Stub> enroll;
  std::optional<v1::EvidenceService::Stub> evidence;
  std::optional<v1::FabricService::Stub> fabric;
  std::optional<v1::HealthService::Stub> health;
  std::optional<v1::HistoryService::Stub> history;
  std::optional<v1::IncidentService::Stub> incidents;
  std::optional<v1::MaintenanceService::Stub> maintenance;
  std::optional<v1::RemedyService::Stub> remedies;
  std::optional<v1::StoreService::Stub> store;
  std::optional<v1::TelemetryService::Stub> telemetry;

 private:
  using Moment = std::chrono::system_clock::time_point;

  template <typename Response, typename Stub, typename Request>
  Response run(Kind kind, std::optional<Stub>& stub,
               grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*), const Request& request) {
    Response response;
    attempt(kind, [&](grpc::ClientContext& context) {
      response.Clear();
      return ((*stub).*method)(&context, request, &response);
    });
    if constexpr (requires { response.missing_shards(); })
      for (const std::string& shard : response.missing_shards()) note_missing(shard);
    return response;
  }
  /// Whether the stream is of a standby while another server may lead; then that one is in use.
  template <typename Stream>
  bool is_to_lead(grpc::ClientContext& context, Stream& stream) {
    if (!has_others() || is_without_leader_) return false;
    stream.WaitForInitialMetadata();
    if (!is_by_standby(context)) return false;
    context.TryCancel();
    stream.Finish();
    seeks_leader();
    return true;
  }
  static bool is_by_standby(const grpc::ClientContext& context);
  void open();
  grpc::Status connect();
  void serves();
  std::string why_missing(const std::string& shard);
  void note_standby(const grpc::ClientContext& context);
  void seeks_leader();
  std::string why_not(const std::string& named) const;
  bool may_send_token() const;
  bool goes_to_owner(const grpc::Status& status);
  grpc::Status doubting_certificate(const grpc::Status& status) const;
  bool fails(const grpc::Status& status);
  void lost_stream(const grpc::Status& status, bool heard);
  [[noreturn]] void give_up(Kind kind, const grpc::Status& last);

  api::ClientSecurity security_;
  api::ServerList servers_;
  std::shared_ptr<grpc::Channel> channel_;
  std::size_t noted_ = 0;               ///< the server that the user knows of
  bool is_noted_standby_ = false;       ///< the user knows that a standby answered
  bool is_standby_seen_ = false;        ///< one answered since the last success, and the others are tried
  bool is_without_leader_ = false;      ///< none of them led when they were last asked: a standby's answer is taken
  std::set<std::string> missing_;       ///< shards of which note_missing() has told
  std::string round_;                   ///< what is wrong with each server since the last one that answered
  std::string not_followed_;            ///< why the owner that the last refusal named is not asked; empty: it is
  bool is_refused_ = false;             ///< one of them answered that it is not the one to be asked
  std::optional<Moment> follow_until_;  ///< a stream that was heard is sought again until then
};

}  // namespace weft::ctl
