// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/client.hpp"

#include <grpcpp/support/channel_arguments.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "api/client/channel.hpp"
#include "api/client/owners.hpp"
#include "api/publication/derived.hpp"
#include "daemon/platform/cli/standard_places.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "fabric/list_text.hpp"
#include "fabric/site.hpp"

namespace weft::ctl {
namespace {

using namespace std::chrono_literals;

constexpr auto kNextStream = 200ms;
constexpr auto kNextRound = 1s;
constexpr auto kExplanation = 500ms;

std::shared_ptr<grpc::Channel> channel_to(const std::string& server, const api::ClientSecurity& security,
                                          bool has_others) {
  grpc::ChannelArguments arguments;
  // weftd is in the management network: web proxies do not apply.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(64 * 1024 * 1024);
  // A watch goes on as soon as the server is back; gRPC's own patience grows to two minutes.
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  if (has_others) {
    api::limit_connect_time(arguments, api::kConnectTime);
    // A server that died or froze without a word ends a watch. weftd takes a ping every 10 s.
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 11'000);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 4'000);
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  }
  auto channel = api::open_channel(server, security, arguments);
  if (!channel) throw Failure(Exit::kWrongUsage, channel.error().message);
  return *channel;
}

/// gRPC's server cancels what is under way when it stops (grpc::Server::Shutdown); we cancel nothing whose end we look
/// at.
grpc::Status told(const grpc::Status& status) {
  if (status.error_code() != grpc::StatusCode::CANCELLED) return status;
  return {grpc::StatusCode::UNAVAILABLE, "it ended the call: it stops, or is started anew"};
}

bool is_away(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE ||
         status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
}

/// A weftd answered that it did not take the call, because another weftd is the one to be asked: it stands by, its
/// lease is not renewed (RoleKeeper::refusal()), or another shard owns what the call is about (belongs_to()).
bool is_for_another(const grpc::Status& status) {
  if (status.error_code() == grpc::StatusCode::FAILED_PRECONDITION)
    return !api::owners_in(status.error_details()).empty();
  // Nobody is asked for the words of these, whosever they are.
  const std::string message = status.error_message();
  return status.error_code() == grpc::StatusCode::UNAVAILABLE &&
         (message.find(" belongs to shard ") != std::string::npos || api::is_standby(message) ||
          message.starts_with("nothing was changed: "));
}

/// A weftd did it, and could not store it: "…, but not stored yet: …" (Core), "…, but that could not be stored yet: …"
/// (RemedyController).
bool is_done_unstored(const grpc::Status& status) {
  const std::string& message = status.error_message();
  return message.find(", but not stored yet") != std::string::npos ||
         message.find(", but that could not be stored yet") != std::string::npos;
}

bool is_not_allowed(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::PERMISSION_DENIED ||
         status.error_code() == grpc::StatusCode::UNAUTHENTICATED;
}

/// Of the owner that another weftd named, why it does not allow it. What access::authorize() advises whoever may only
/// read, weftctl on weftd's host, was done: at the host of the one that is not the owner.
std::string what_owner_says(const grpc::Status& status) {
  if (!status.error_message().starts_with("only reading is allowed")) return "; there: " + status.error_message();
  return ". There you may only read from here: repeat it on that host by its socket (sudo weftctl, without --server), "
         "or from here with a token that it knows (--token-file)";
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

/// Of a server of this machine on which nothing listens, what tells whether weftd runs.
std::string what_runs_here(const std::string& message, const std::string& server) {
  const std::string reason = api::unreachable_reason(message);
  const bool is_here = server.starts_with("unix:") || is_loopback_address(server);
  const bool is_away = reason == "Connection refused" || reason == "No such file or directory";
  return is_here && is_away ? "; whether it runs here: systemctl status weftd" : "";
}

/// Of a command that got no answer, whether it was done: nothing waits for a weftd that is started later.
[[noreturn]] void say_what_became(const grpc::Status& status, const std::string& server) {
  // Only a call for which there was never a connection was certainly not sent (gRPC 1.51).
  if (status.error_message().find("failed to connect") != std::string::npos)
    throw Failure(Exit::kUnreachable,
                  "cannot reach weftd at " + server + ": " + reason_not_reached(status.error_message(), server) +
                      what_runs_here(status.error_message(), server) +
                      ". Nothing was done, and nothing is kept for later: repeat it when weftd runs; "
                      "--server names another");
  throw Failure(Exit::kUnreachable, "no answer from weftd at " + server + ": " + status.error_message() +
                                        "; check whether it was done before you repeat it");
}

/// Of a weftd that said that another one is to be asked.
[[noreturn]] void say_who_is_asked(Client::Kind kind, const grpc::Status& status, const std::string& server) {
  // A leader without its lease: nobody else leads either, as far as it knows.
  if (kind == Client::Kind::kChange && status.error_message().find("its lease is not renewed") != std::string::npos)
    throw Failure(Exit::kUnreachable, "not taken by weftd at " + server + ": " + status.error_message() +
                                          ". Repeat it when the database answers, or another weftd leads");
  throw Failure(Exit::kUnreachable, kind == Client::Kind::kChange
                                        ? "not taken by weftd at " + server + ": " + status.error_message() +
                                              "; --server names the one to ask, or several"
                                        : "weftd at " + server + " does not know: " + status.error_message() +
                                              "; weftctl status shows the others, --server names the one to ask");
}

/// Throws the fitting Failure unless the call went well.
void check(Client::Kind kind, const grpc::Status& status, const std::string& server) {
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
      return;
    case grpc::StatusCode::INVALID_ARGUMENT:
      throw Failure(Exit::kWrongUsage, status.error_message());
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      if (is_for_another(status)) say_who_is_asked(kind, status, server);
      throw Failure(Exit::kUnreachable,
                    "cannot reach weftd at " + server + ": " + reason_not_reached(status.error_message(), server) +
                        what_runs_here(status.error_message(), server) + "; --server names another");
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      throw Failure(is_done_unstored(status) ? Exit::kUnstored : Exit::kRefused, status.error_message(),
                    status.error_code());
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
      throw Failure(Exit::kRefused, status.error_message(), status.error_code());
    case grpc::StatusCode::UNIMPLEMENTED:
      throw Failure(Exit::kUnreachable, "the server at " + server + " is not a weftd of this version");
    default:
      throw Failure(Exit::kBadNews, status.error_message());
  }
}

}  // namespace

std::string reason_not_reached(const std::string& message, std::string_view server) {
  const std::string reason = api::unreachable_reason(message);
  if (reason != "Socket closed") return reason;
  // A weftd with TLS ends a connection in clear text without a word. A socket of its host has no TLS.
  return server.starts_with("unix:") ? "it ended the connection"
                                     : reason + " (a weftd with TLS takes --ca, and one without does not)";
}

std::string standard_server(const api::ClientSecurity& security) {
  const bool plain = security.authorities.empty();
  return plain && is_listened_on(usage::kStandardSocket) ? "unix:" + std::string(usage::kStandardSocket)
                                                         : std::string(usage::kStandardServer);
}

Client::Client(const std::string& servers, const api::ClientSecurity& security)
    : security_(security), servers_(split_list(servers)) {
  for (const std::string& each : split_list(servers))
    if (!each.starts_with("unix:") && !is_loopback_address(each) && !may_send_token())
      throw Failure(Exit::kWrongUsage,
                    "the token would go to " + each + " in clear text: give --ca (WEFT_CA), or no token");
  open();
}

void Client::note_missing(const std::string& shard) {
  if (missing_.insert(shard).second && notes != nullptr)
    *notes << "weftctl: shard " << printable(shard) << ' ' << why_missing(shard) << ": what it owns is not shown\n";
}

/// As the server in use says of the shard: "does not answer", unless it knows better.
std::string Client::why_missing(const std::string& shard) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kExplanation);
  v1::Status status;
  if (!fabric->GetStatus(&context, v1::GetStatusRequest(), &status).ok()) return "does not answer";
  const bool stands_by = status.has_leadership() && !status.leadership().leads();
  for (const v1::Status::Shard& each : status.shards()) {
    if (each.name() != shard || !each.answers()) continue;
    const bool is_unswept = each.own() ? !stands_by && !status.ready() : each.trouble() == api::kNotSwept;
    if (is_unswept) return "has not swept yet";
    if (!each.own() && !each.trouble().empty()) return "is missing (" + printable(each.trouble()) + ')';
  }
  return "does not answer";
}

void Client::note_standby(const grpc::ClientContext& context) {
  const auto& said = context.GetServerInitialMetadata();
  const auto behind = said.find(api::kBehind);
  if (notes == nullptr || std::exchange(is_noted_standby_, true)) return;
  const bool is_troubled = said.find(api::kTroubled) != said.end();
  *notes << "weftctl: " << server() << " stands by: its incidents and plans are "
         << (is_troubled ? "as the database has them" : "those of the leader");
  if (behind != said.end() && behind->second != "0")
    *notes << ", as of " << printable(std::string(behind->second.data(), behind->second.size())) << " s ago or less";
  if (is_troubled) *notes << "; a leader may know more that it could not store";
  *notes << '\n' << std::flush;
}

// The weftd that answered stands by.
bool Client::is_by_standby(const grpc::ClientContext& context) {
  const auto& said = context.GetServerInitialMetadata();
  const auto role = said.find(api::kRole);
  return role != said.end() && role->second == "standby";
}

void Client::open() {
  channel_ = channel_to(servers_.current(), security_, has_others());
  acceptance.emplace(channel_);
  enroll.emplace(channel_);
  evidence.emplace(channel_);
  fabric.emplace(channel_);
  health.emplace(channel_);
  history.emplace(channel_);
  incidents.emplace(channel_);
  maintenance.emplace(channel_);
  remedies.emplace(channel_);
  store.emplace(channel_);
  telemetry.emplace(channel_);
}

/// With other servers: waits for the connection. Nothing that changes anything was sent when it fails.
grpc::Status Client::connect() {
  if (!has_others()) return grpc::Status::OK;
  const auto now = std::chrono::system_clock::now();
  const auto share = until == Moment::max() ? api::kConnectTime : (until - now) / servers_.size();
  const Moment deadline = now + std::min<Moment::duration>(api::kConnectTime, share);
  grpc_connectivity_state state = channel_->GetState(true);
  while (state != GRPC_CHANNEL_READY && state != GRPC_CHANNEL_TRANSIENT_FAILURE &&
         channel_->WaitForStateChange(state, deadline))
    state = channel_->GetState(true);
  if (state == GRPC_CHANNEL_READY) return grpc::Status::OK;
  if (state != GRPC_CHANNEL_TRANSIENT_FAILURE) return {grpc::StatusCode::UNAVAILABLE, "no connection in time"};
  // Only a call says what is wrong with a channel. It fails at once.
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kExplanation);
  v1::Status unused;
  return fabric->GetStatus(&context, v1::GetStatusRequest(), &unused);
}

void Client::serves() {
  servers_.serves();
  is_refused_ = is_standby_seen_ = false;
  const std::string why = std::exchange(round_, {});
  if (std::exchange(noted_, servers_.index()) != servers_.index() && notes != nullptr)
    *notes << "weftctl: answered by " << server() << "; " << printable(why) << '\n' << std::flush;
}

/// Why a server that another one names is not asked; empty: it is. No token goes in clear text to another machine, and
/// what is a loopback address to a weftd elsewhere is not our own machine.
std::string Client::why_not(const std::string& named) const {
  const bool is_local = is_loopback_address(named);
  const bool is_here = server().starts_with("unix:") || is_loopback_address(server());
  if (named.starts_with("unix") || (is_local && !is_here)) return "that is an address on its own machine";
  if (is_local || may_send_token()) return {};
  return "the token would go there in clear text. Give --ca (WEFT_CA), or no token";
}

/// To another machine: there is none, or it goes over TLS.
bool Client::may_send_token() const {
  return (security_.token.empty() && security_.token_file.empty()) || !security_.authorities.empty();
}

/// Uses the weftd that the one in use names as the owner of what is asked for; false where there is none to follow.
bool Client::goes_to_owner(const grpc::Status& status) {
  std::vector<std::string> owners = api::owners_in(status.error_details());
  not_followed_ = owners.empty() ? "" : why_not(owners.front());
  std::erase_if(owners, [this](const std::string& each) { return !why_not(each).empty(); });
  if (!owners.empty()) not_followed_.clear();
  const std::string before = server();
  if (!servers_.redirect(owners)) return false;
  round_ += (round_.empty() ? "" : "; ") + before + ": " + status.error_message();
  is_refused_ = true;
  open();
  return true;
}

/// A weftd that refuses our certificate ends the connection without a word.
grpc::Status Client::doubting_certificate(const grpc::Status& status) const {
  if (security_.certificate.empty() || status.error_code() != grpc::StatusCode::UNAVAILABLE ||
      api::unreachable_reason(status.error_message()) != "Socket closed")
    return status;
  // Whether it was connected before decides elsewhere whether anything can have been done.
  const bool was_not = status.error_message().find("failed to connect") != std::string::npos;
  return {status.error_code(), (was_not ? "failed to connect: " : "") +
                                   ("it ended the connection. Where it refuses " + security_.certificate.string()) +
                                   " (expired, not valid yet, of another authority), its journal has a line"};
}

/// Uses the next server; false when all of them failed.
bool Client::fails(const grpc::Status& status) {
  round_ += (round_.empty() ? "" : "; ") + server() + ": " +
            (is_away(status) ? reason_not_reached(status.error_message(), server()) : status.error_message());
  is_refused_ = is_refused_ || is_for_another(status);
  const bool more = servers_.try_next();
  open();
  return more;
}

void Client::give_up(Kind kind, const grpc::Status& last) {
  const std::string why = std::exchange(round_, {});
  const bool is_refused = std::exchange(is_refused_, false);
  if (!is_away(last) && notes != nullptr) *notes << "weftctl: asked " << printable(why) << '\n' << std::flush;
  if (!is_away(last)) throw Failure(Exit::kRefused, last.error_message(), last.error_code());
  throw Failure(Exit::kUnreachable, (!is_refused             ? "no weftd can be reached: "
                                     : kind == Kind::kChange ? "no weftd took it: "
                                                             : "no weftd knows: ") +
                                        why);
}

void Client::attempt(Kind kind, const std::function<grpc::Status(grpc::ClientContext&)>& call) {
  std::string refusal;         // of the one that named the owner
  bool is_owner_away = false;  // it does not answer
  while (true) {
    grpc::Status status = connect();
    const bool is_sent = status.ok();
    bool has_answered = false;
    if (is_sent) {
      grpc::ClientContext context;
      // What changes something waits for its answer: it is not asked of another.
      const auto share = kind == Kind::kRead ? patience / static_cast<std::int64_t>(servers_.size()) : patience;
      context.set_deadline(std::min<Moment>(until, std::chrono::system_clock::now() + share));
      status = doubting_certificate(told(call(context)));
      has_answered = context.GetServerInitialMetadata().count(api::kRole) != 0;
      const bool is_standby = !is_away(status) && is_by_standby(context);
      if (is_standby && kind == Kind::kRead && has_others() && !is_without_leader_) {
        seeks_leader();
        continue;
      }
      if (is_standby && status.ok()) note_standby(context);
      if (status.ok() && !is_standby) is_without_leader_ = false;
    }
    const bool is_refused = is_sent && is_for_another(status);
    if (!refusal.empty() && is_not_allowed(status)) throw Failure(Exit::kRefused, refusal + what_owner_says(status));
    if (!is_away(status) && !is_refused) serves();
    if (is_refused && goes_to_owner(status)) {
      refusal = status.error_message();
      continue;
    }
    if (is_refused && !not_followed_.empty())
      status = {status.error_code(),
                status.error_message() + ". weftctl did not go there itself: " + std::exchange(not_followed_, {}),
                status.error_details()};
    if (!has_others() && has_answered && is_away(status) && !is_refused)
      throw Failure(Exit::kUnreachable, "weftd at " + server() + ": " + status.error_message());
    if (!has_others() && kind == Kind::kChange && is_away(status) && !is_refused) say_what_became(status, server());
    if (!has_others() || (!is_away(status) && !is_refused)) return check(kind, status, server());
    if (is_sent && kind == Kind::kChange && !is_refused)
      throw Failure(Exit::kUnreachable, "no answer from weftd at " + server() + ": " + status.error_message() +
                                            "; check whether it was done before you repeat it");
    is_owner_away = is_owner_away || (!refusal.empty() && is_away(status) && !is_refused);
    if (fails(status)) continue;
    if (is_owner_away)
      throw Failure(Exit::kUnreachable,
                    refusal + ". That one does not answer" + (kind == Kind::kChange ? ": nothing was done" : ""));
    // What a standby knows is better than nothing.
    if (!std::exchange(is_standby_seen_, false)) give_up(kind, status);
    is_without_leader_ = true;
  }
}

/// Uses the next server, because the one in use stands by and hears no collectors.
void Client::seeks_leader() {
  is_standby_seen_ = true;
  round_ += (round_.empty() ? "" : "; ") + server() + ": it stands by";
  if (!servers_.try_next()) {
    is_standby_seen_ = false;
    is_without_leader_ = true;
  }
  open();
}

void Client::lost_stream(const grpc::Status& status, bool heard) {
  const grpc::Status why = status.ok() ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "the server ended the stream")
                                       : doubting_certificate(told(status));
  if (!has_others() || !is_away(why)) check(Kind::kRead, why, server());
  const Moment now = std::chrono::system_clock::now();
  if (heard) {
    follow_until_ = now + follow_patience;
    is_without_leader_ = false;
  }
  const bool more = fails(why);
  if (!more && std::exchange(is_standby_seen_, false)) {
    is_without_leader_ = true;
    return;
  }
  if (!more && (!follow_until_ || now > *follow_until_)) give_up(Kind::kRead, why);
  if (!more) round_.clear();
  // Not at once: a server may end each stream as soon as it began.
  std::this_thread::sleep_for(more ? std::chrono::milliseconds(kNextStream) : kNextRound);
}

}  // namespace weft::ctl
