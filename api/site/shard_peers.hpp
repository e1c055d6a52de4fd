// SPDX-License-Identifier: Apache-2.0
#pragma once
// Connections to the other shards of a site, and questions to them.

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/client/security.hpp"
#include "api/publication/derived.hpp"
#include "api/site/answer_fit.hpp"
#include "api/site/merge.hpp"
#include "fabric/result.hpp"
#include "fabric/site.hpp"

namespace weft::api {

/// A call with this in its metadata is from another shard: it is answered for the own shard alone, so that no question
/// goes round.
inline constexpr const char* kAskedByShard = "weft-asked-by-shard";
/// Of a question: the shard that is meant; see shard_identity(). Another one refuses it.
inline constexpr const char* kMeantShard = "weft-meant-shard";
/// Of the answer to it: the shard that gives it. Not there: whoever answers belongs to no site.
inline constexpr const char* kAnsweringShard = "weft-answering-shard";
/// Another shard has so long for an answer, all of its addresses together.
inline constexpr std::chrono::milliseconds kShardPatience{1000};
/// So long it is said of a shard that it could not answer a question just then.
inline constexpr std::chrono::seconds kCannotNow{60};
/// Of a shard that took longer.
inline constexpr const char* kLate = "no answer within 1 s";
/// A longer answer is none; weftd's own pages have some 1 MB.
inline constexpr int kMostAnswerBytes = 4 << 20;

/// Every question to another shard is begun with this, and its answer believed only after is_from(). `meant`: of
/// shard_identity().
void introduce(grpc::ClientContext& context, const std::string& own, const std::string& meant);
/// Why what answered the call, at `address`, is not the shard that is meant; empty: it is. Call it when the answer, or
/// the first of several, is there.
std::string who_else_answered(const grpc::ClientContext& context, const std::string& address, const std::string& meant);

template <typename Service, typename Request, typename Event>
class ShardStream;

/// How the other shards were reached last. All members may be called from any thread; answers come on gRPC's threads.
class ShardPeers {
 public:
  /// How it was with one of them.
  struct Reached {
    bool answers = false;
    std::string trouble{};  ///< why not, or which question it does not answer
  };
  /// Whether the own shard refuses a question, too.
  template <typename Request>
  using Refuses = std::function<bool(const Request&)>;

  /// How we show who we are there, and how long each has for an answer.
  explicit ShardPeers(ClientSecurity security, std::chrono::milliseconds patience = kShardPatience)
      : security_(std::move(security)), patience_(patience) {}
  /// Ends all questions that are open, and waits until their callbacks have returned.
  ~ShardPeers() { stop(); }
  /// See the destructor; afterwards every question fails at once.
  void stop();

  /// Asks the shard; of its addresses the one that answered last, then the next. `begin(stub, context, request,
  /// response, callback)` starts the call. `done` is called once; at once where the shard was not reached a moment ago,
  /// unless `is_probe`. What may be no answer of that shard is none; see misfit() and may_answer(). INVALID_ARGUMENT is
  /// one where the own shard `refuses` the same.
  template <typename Service, typename Request, typename Response, typename Begin>
  void ask(const SitePtr& site, const SiteShard& shard, Request request, Begin begin, bool is_probe,
           std::function<void(ShardAnswer<Response>)> done, Refuses<Request> refuses = {});

  /// Whether the shard answers, and if not why: it is not asked then until a probe finds it, and its streams end.
  void note(const std::string& shard, bool answers, const std::string& trouble);
  /// A question took too long: until the shard answers another one, nobody is told that it answers. It is asked all the
  /// same.
  void note_late(const std::string& shard);
  /// How the shard answered a question of that kind last: `why` it did not; empty: it did. It is asked all the same.
  /// `for_now`: that is said for kCannotNow at most, in case nobody asks again.
  void judge(const std::string& shard, const std::string& question, const std::string& why, bool for_now = false);
  /// By name; those that were never asked are not there.
  std::map<std::string, Reached> reached() const;

 private:
  /// A question that was not answered when it was asked last.
  struct Unanswered {
    std::string why;
    std::chrono::steady_clock::time_point until;  ///< said so long
  };
  struct Peer {
    std::vector<std::string> addresses;
    std::size_t current = 0;  ///< of addresses
    Reached reached;
    bool is_late = false;                          ///< see note_late()
    std::map<std::string, Unanswered> unanswered;  ///< by question
  };
  template <typename Service, typename Request, typename Response, typename Begin>
  struct Call;
  template <typename Service, typename Request, typename Event>
  friend class ShardStream;

  struct Open {
    std::string stream_of;         ///< the shard, where it is a stream
    std::function<void()> cancel;  ///< ends it soon
  };
  /// Counts a question that begins; false: it must not.
  bool enter(grpc::ClientContext* context, Open open);
  /// It has ended: it is not cancelled any more. What it holds is released next, then released() is called; stop()
  /// waits for that.
  void leave(grpc::ClientContext* context);
  void released();
  Result<std::shared_ptr<grpc::Channel>> channel_to(const std::string& address);
  /// The address to be asked next.
  std::string address_of(const SiteShard& shard);
  /// Why the shard is not asked now; empty: it is.
  std::string is_away(const std::string& shard) const;
  /// Notes and says why a shard without an address is not asked.
  tl::unexpected<Error> no_address(const SiteShard& shard);
  void try_next(const std::string& shard);
  /// The next question goes to the first address again: the leader's.
  void try_first(const std::string& shard);

  const ClientSecurity security_;
  const std::chrono::milliseconds patience_;
  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::map<std::string, Peer> peers_;                               ///< by shard
  std::map<std::string, std::shared_ptr<grpc::Channel>> channels_;  ///< by address
  /// The first of all. gRPC joins its threads where the last channel is released: that must not be one of them, so this
  /// one stays until stop().
  std::shared_ptr<grpc::Channel> first_channel_;
  std::map<grpc::ClientContext*, Open> open_;
  std::size_t leaving_ = 0;  ///< between leave() and released()
  bool stopped_ = false;
};

/// One question under way. It keeps itself until it is answered.
template <typename Service, typename Request, typename Response, typename Begin>
struct ShardPeers::Call : std::enable_shared_from_this<Call<Service, Request, Response, Begin>> {
  struct Attempt;
  /// `the_done` is called once.
  Call(ShardPeers& the_peers, SitePtr the_site, SiteShard the_shard, Request the_request, Begin the_begin, bool probe,
       std::function<void(ShardAnswer<Response>)> the_done, Refuses<Request> the_refuses)
      : peers(the_peers),
        site(std::move(the_site)),
        shard(std::move(the_shard)),
        meant(shard_identity(*site, shard)),
        request(std::move(the_request)),
        begin(std::move(the_begin)),
        is_probe(probe),
        done(std::move(the_done)),
        refuses(std::move(the_refuses)),
        deadline(std::chrono::system_clock::now() + the_peers.patience_) {}

  /// Asks the address that is next.
  void start() {
    std::string address = peers.address_of(shard);
    const auto channel = peers.channel_to(address);
    if (!channel) return give_up(channel.error());
    attempts.push_back(std::make_unique<Attempt>());
    Attempt& attempt = *attempts.back();
    attempt.address = std::move(address);
    attempt.stub = Service::NewStub(*channel);
    attempt.context.set_deadline(deadline);
    introduce(attempt.context, site->own, meant);
    if (!peers.enter(&attempt.context, {{}, [&attempt] { attempt.context.TryCancel(); }}))
      return give_up({ErrorCode::kUnavailable, "weftd is stopping"});
    response.Clear();
    begin(*attempt.stub, &attempt.context, &request, &response,
          [self = this->shared_from_this(), &attempt](const grpc::Status& status) mutable {
            self->ended(attempt, status);
            ShardPeers& its_peers = self->peers;
            its_peers.leave(&attempt.context);
            self.reset();
            its_peers.released();
          });
  }

  /// An attempt has ended; another follows where an address is left.
  void ended(const Attempt& attempt, const grpc::Status& status) {
    Error error{code_of(status), status.error_message()};
    bool is_lost = status.error_code() == grpc::StatusCode::UNAVAILABLE;
    if (status.ok() || is_said_by_weftd(status)) {
      if (std::string other = who_else_answered(attempt.context, attempt.address, meant); !other.empty()) {
        error = {ErrorCode::kUnavailable, std::move(other)};
        is_lost = true;
      } else {
        peers.note(shard.name, true, {});
        return answered(status, std::move(error));
      }
    }
    const bool is_late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
    // It says itself that it cannot tell this now: its database is away, or another weftd of it leads.
    if (is_lost && !is_probe && !cannot_now && who_else_answered(attempt.context, attempt.address, meant).empty())
      cannot_now = error;
    if (is_refused(status)) {
      // It is there, and will not tell us: that is no answer either.
      peers.note(shard.name, false, error.message);
      return done({shard.name, tl::unexpected(error), true});
    }
    // It is there, and did not say what was asked: it is busy, of another version, or the answer is too large.
    if (!is_late && !is_lost) return unanswered_for(std::move(error));
    peers.try_next(shard.name);
    if (is_lost && attempts.size() < shard.addresses.size() && std::chrono::system_clock::now() < deadline)
      return start();
    if (cannot_now) {
      peers.note(shard.name, true, {});
      return unanswered_for(std::move(*cannot_now), true);
    }
    // That a question took too long says little of the shard: it may have been a large one.
    if (is_lost || is_probe)
      peers.note(shard.name, false, is_late ? kLate : error.message);
    else
      peers.note_late(shard.name);
    done({shard.name, tl::unexpected(error), true});
  }

  /// The shard that was meant has said something.
  void answered(const grpc::Status& status, Error error) {
    if (status.ok()) {
      std::string why = misfit(*site, shard, request, response);
      if (!why.empty()) return unanswered_for({ErrorCode::kProtocol, std::move(why)});
    } else if (error.code == ErrorCode::kInvalidArgument ? !refuses || !refuses(request)
                                                         : !may_answer(request, error.code)) {
      return unanswered_for(std::move(error));
    }
    peers.judge(shard.name, Request::descriptor()->name(), {});
    if (status.ok()) return done({shard.name, std::move(response), false});
    done({shard.name, tl::unexpected(std::move(error)), false});
  }

  /// What it says is no answer to this question; `for_now`: not at the moment.
  void unanswered_for(Error error, bool for_now = false) {
    if (error.message != kNotSwept)
      peers.judge(shard.name, Request::descriptor()->name(), unanswered<Request>(error.message), for_now);
    done({shard.name, tl::unexpected(std::move(error)), true});
  }

  /// Nothing can be asked.
  void give_up(const Error& error) {
    peers.note(shard.name, false, error.message);
    done({shard.name, tl::unexpected(error), true});
  }

  /// See error_code_of().
  static ErrorCode code_of(const grpc::Status& status);
  /// Its own words, and none of gRPC's; or what cannot be read.
  static bool is_said_by_weftd(const grpc::Status& status) {
    return status.error_code() == grpc::StatusCode::NOT_FOUND || status.error_code() == grpc::StatusCode::DATA_LOSS ||
           status.error_code() == grpc::StatusCode::INVALID_ARGUMENT ||
           status.error_code() == grpc::StatusCode::FAILED_PRECONDITION || status.error_message() == kUnreadable;
  }
  /// The shard does not take who we are.
  static bool is_refused(const grpc::Status& status) {
    return status.error_code() == grpc::StatusCode::UNAUTHENTICATED ||
           status.error_code() == grpc::StatusCode::PERMISSION_DENIED;
  }

  /// What one attempt needs until it has ended.
  struct Attempt {
    std::string address;
    std::unique_ptr<typename Service::Stub> stub;  ///< of the address asked
    grpc::ClientContext context;                   ///< of the call
  };

  ShardPeers& peers;
  const SitePtr site;
  const SiteShard shard;
  const std::string meant;  ///< shard that is asked; see shard_identity()
  const Request request;
  const Begin begin;
  const bool is_probe;
  const std::function<void(ShardAnswer<Response>)> done;
  const Refuses<Request> refuses;
  const std::chrono::system_clock::time_point deadline;
  std::optional<Error> cannot_now{};  ///< what the first of its weftd says that is there and cannot tell it now
  Response response;
  std::vector<std::unique_ptr<Attempt>> attempts;  ///< all but the last have ended
};

/// What an answer of gRPC is as an error of ours.
ErrorCode error_code_of(grpc::StatusCode code);

/// See error_code_of().
template <typename Service, typename Request, typename Response, typename Begin>
ErrorCode ShardPeers::Call<Service, Request, Response, Begin>::code_of(const grpc::Status& status) {
  return error_code_of(status.error_code());
}

/// See the declaration.
template <typename Service, typename Request, typename Response, typename Begin>
void ShardPeers::ask(const SitePtr& site, const SiteShard& shard, Request request, Begin begin, bool is_probe,
                     std::function<void(ShardAnswer<Response>)> done, Refuses<Request> refuses) {
  if (const std::string away = is_probe ? std::string() : is_away(shard.name); !away.empty())
    return done({shard.name, fail(ErrorCode::kUnavailable, away), true});
  if (is_probe) try_first(shard.name);
  if (shard.addresses.empty()) return done({shard.name, no_address(shard), true});
  std::make_shared<Call<Service, Request, Response, Begin>>(*this, site, shard, std::move(request), std::move(begin),
                                                            is_probe, std::move(done), std::move(refuses))
      ->start();
}

}  // namespace weft::api
