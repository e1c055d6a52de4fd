// SPDX-License-Identifier: Apache-2.0
// weftctl with the addresses of several servers.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <thread>

#include "api/publication/derived.hpp"
#include "tests/unit/daemon/programs/weftctl/verbs_fixture.hpp"
#include "weft/v1/errors.pb.h"

namespace weft::ctl {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A weftd that gives each call the same answer.
class StandIn final : public v1::RemedyService::Service {
 public:
  /// `role`: what it says of itself, as a weftd of a pair; empty: it is none.
  explicit StandIn(grpc::Status answer, std::string role = "") : answer_(std::move(answer)), role_(std::move(role)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  grpc::Status GetPlan(grpc::ServerContext*, const v1::GetPlanRequest*, v1::Plan*) override { return answer(); }
  grpc::Status RejectPlan(grpc::ServerContext* context, const v1::RejectPlanRequest*, v1::Plan*) override {
    if (!role_.empty()) context->AddInitialMetadata(api::kRole, role_);
    return answer();
  }
  grpc::Status WatchPlans(grpc::ServerContext*, const v1::WatchPlansRequest*,
                          grpc::ServerWriter<v1::WatchPlansResponse>*) override {
    return answer();
  }

  std::atomic<int> calls = 0;

 private:
  grpc::Status answer() {
    ++calls;
    return answer_;
  }
  grpc::Status answer_;
  std::string role_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

/// What a shard says of what `shard` owns.
grpc::Status belongs_to_shard(const std::string& shard, const std::vector<std::string>& addresses) {
  v1::Owner owner;
  std::string words = "PLAN-1 belongs to shard " + shard + ": ask ";
  for (const std::string& address : addresses) {
    words += (owner.addresses().empty() ? "" : ", ") + address;
    owner.add_addresses(address);
  }
  v1::ErrorStatus details;
  details.set_code(grpc::StatusCode::FAILED_PRECONDITION);
  details.add_details()->PackFrom(owner);
  return {grpc::StatusCode::FAILED_PRECONDITION, words, details.SerializeAsString()};
}

const grpc::Status kStandby{grpc::StatusCode::UNAVAILABLE, "standby: weft2 leads"};
const grpc::Status kBroken{grpc::StatusCode::UNAVAILABLE, "Socket closed"};

/// Takes connections into its queue, and never answers.
class Frozen {
 public:
  Frozen() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof place;
    ::bind(socket_, reinterpret_cast<sockaddr*>(&place), size);
    ::listen(socket_, 8);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&place), &size);
    address = "127.0.0.1:" + std::to_string(ntohs(place.sin_port));
  }
  ~Frozen() { ::close(socket_); }
  Frozen(const Frozen&) = delete;
  Frozen& operator=(const Frozen&) = delete;
  std::string address;

 private:
  int socket_;
};

class Servers : public Verbs {
 protected:
  Servers() { publication.publish(api::with_plans(api::make_snapshot(1, {}), {api::make_plan(1)})); }

  static std::string address_of(const api::GrpcServer& one) { return "127.0.0.1:" + std::to_string(one.port()); }
  std::string real() const { return address_of(*server); }
  /// One more weftd with the same plans.
  std::unique_ptr<api::GrpcServer> another() {
    api::GrpcOptions options;
    options.port = 0;
    return *api::GrpcServer::start(options, publication, commands, remedies, sink, clock);
  }
  void use(const std::string& servers) {
    client = std::make_unique<Client>(servers);
    client->notes = &notes;
  }
  Decision decision() const { return {.id = "PLAN-1", .reason = "no", .who = "olga"}; }

  std::ostringstream notes;
};

TEST_F(Servers, AReadIsAnsweredByTheFirstThatDoesAndSaysSoOnce) {
  use("127.0.0.1:1," + real());
  EXPECT_THAT(say(Exit::kGood, show_plan, "PLAN-1"), HasSubstr("PLAN-1"));
  EXPECT_THAT(notes.str(), AllOf(HasSubstr("weftctl: answered by " + real()), HasSubstr("127.0.0.1:1: ")));
  const std::string once = notes.str();
  say(Exit::kGood, show_plan, "PLAN-1");
  EXPECT_EQ(notes.str(), once);
  EXPECT_EQ(client->server(), real()) << "it stays with the one that answers";
}

TEST_F(Servers, TheFirstAnswersWithoutANote) {
  use(real() + ", 127.0.0.1:1");
  say(Exit::kGood, show_plan, "PLAN-1");
  EXPECT_EQ(notes.str(), "");
}

TEST_F(Servers, WhatAStandbyShowsIsSaidToBeOfAStandbyOnce) {
  Snapshot standby = *publication.load();
  standby.leadership.is_shared = true;
  standby.leadership.leads = false;
  standby.leadership.behind = 1500ms;
  publication.publish(std::make_shared<const Snapshot>(standby));
  use(real());
  EXPECT_THAT(say(Exit::kGood, show_plan, "PLAN-1"), HasSubstr("PLAN-1"));
  const std::string once = notes.str();
  EXPECT_EQ(once, "weftctl: " + real() +
                      " stands by: its incidents and plans are those of the leader, as of 2 s ago or less\n");
  say(Exit::kGood, show_plan, "PLAN-1");
  EXPECT_EQ(notes.str(), once);
  standby.leadership.leads = true;
  publication.publish(std::make_shared<const Snapshot>(standby));
  use(real());
  say(Exit::kGood, show_plan, "PLAN-1");
  EXPECT_EQ(notes.str(), once) << "a leader has nothing to say";
}

// A standby hears no collectors: of their hosts it knows nothing.
TEST_F(Servers, AReadGoesOnFromAStandbyToTheLeader) {
  api::Publication behind;
  Snapshot standby = *publication.load();
  standby.leadership.is_shared = true;
  standby.leadership.leads = false;
  standby.leadership.trouble = "its commits wait";
  behind.publish(std::make_shared<const Snapshot>(standby));
  api::GrpcOptions options;
  options.port = 0;
  const auto second = *api::GrpcServer::start(options, behind, commands, remedies, sink, clock);
  use(address_of(*second) + ',' + real());
  EXPECT_THAT(say(Exit::kGood, show_plan, "PLAN-1"), HasSubstr("PLAN-1"));
  EXPECT_EQ(client->server(), real());
  EXPECT_EQ(notes.str(), "weftctl: answered by " + real() + "; " + address_of(*second) + ": it stands by\n");
  notes.str("");
  use(address_of(*second) + ",127.0.0.1:1");
  EXPECT_THAT(say(Exit::kGood, show_plan, "PLAN-1"), HasSubstr("PLAN-1")) << "nobody leads: what the standby knows";
  EXPECT_THAT(notes.str(), HasSubstr("as the database has them; a leader may know more that it could not store\n"));
  const std::string once = notes.str();
  say(Exit::kGood, show_plan, "PLAN-1");
  EXPECT_EQ(notes.str(), once);
}

TEST_F(Servers, ALeaderSaysWhoWouldTakeOver) {
  Snapshot leader = *publication.load();
  leader.leadership.is_shared = true;
  const auto status = [&](const std::optional<StandbyView>& standby) {
    leader.leadership.standby = standby;
    publication.publish(std::make_shared<const Snapshot>(leader));
    std::ostringstream out;
    show_status(Session{*client, out, false, true, false, api::kNow});
    return out.str();
  };
  EXPECT_THAT(status(StandbyView{"b, process 2", 1s}), HasSubstr("\nStandby: b, process 2, seen 1 s ago\n"));
  EXPECT_THAT(status(StandbyView{"b, process 2", 43s}),
              HasSubstr("\nStandby: b, process 2, seen 43 s ago: it would not take over\n"));
  EXPECT_THAT(status(StandbyView{}), HasSubstr("\nNo standby: when this weftd ends, nobody takes over\n"));
  EXPECT_THAT(status(std::nullopt), Not(testing::ContainsRegex("[Ss]tandby")));
}

TEST_F(Servers, AReadGoesOnWhenAServerFailsInTheMiddle) {
  StandIn broken(kBroken);
  use(broken.address() + ',' + real());
  EXPECT_THAT(say(Exit::kGood, show_plan, "PLAN-1"), HasSubstr("PLAN-1"));
  EXPECT_EQ(broken.calls, 1);
}

TEST_F(Servers, ACommandGoesOnFromTheStandbyToTheLeader) {
  StandIn standby(kStandby);
  use(standby.address() + ',' + real());
  EXPECT_THAT(say(Exit::kGood, reject_plan, decision()), HasSubstr("REJECTED"));
  EXPECT_EQ(standby.calls, 1);
  EXPECT_EQ(remedies.times(), 1U);
  EXPECT_THAT(notes.str(), HasSubstr("standby: weft2 leads"));
}

TEST_F(Servers, ACommandGoesOnWithoutAConnection) {
  use("127.0.0.1:1," + real());
  EXPECT_THAT(say(Exit::kGood, reject_plan, decision()), HasSubstr("REJECTED"));
  EXPECT_EQ(remedies.times(), 1U);
}

TEST_F(Servers, ACommandThatMayHaveBeenTakenIsNotSentAgain) {
  StandIn broken(kBroken);
  use(broken.address() + ',' + real());
  const Failure failure = fails(reject_plan, decision());
  EXPECT_EQ(failure.exit, Exit::kUnreachable);
  EXPECT_THAT(failure.what(), HasSubstr("check whether it was done"));
  EXPECT_EQ(broken.calls, 1);
  EXPECT_EQ(remedies.times(), 0U);
}

TEST_F(Servers, ACommandGoesOnWhenTheConnectionEndedBefore) {
  const auto other = another();
  use(real() + ',' + address_of(*other));
  say(Exit::kGood, show_plan, "PLAN-1");
  server->stop();
  std::this_thread::sleep_for(300ms);  // until gRPC has noticed
  EXPECT_THAT(say(Exit::kGood, reject_plan, decision()), HasSubstr("REJECTED"));
  EXPECT_EQ(remedies.times(), 1U);
}

TEST_F(Servers, ARefusalIsAnAnswer) {
  StandIn refusing({grpc::StatusCode::FAILED_PRECONDITION, "PLAN-1 is over"});
  use(refusing.address() + ',' + real());
  EXPECT_EQ(fails(reject_plan, decision()).exit, Exit::kRefused);
  EXPECT_EQ(remedies.times(), 0U);
}

TEST_F(Servers, WhenNoneServesAllAreNamed) {
  StandIn standby(kStandby);
  use("127.0.0.1:1," + standby.address());
  const Failure failure = fails(reject_plan, decision());
  EXPECT_EQ(failure.exit, Exit::kUnreachable);
  EXPECT_THAT(failure.what(),
              AllOf(HasSubstr("127.0.0.1:1: "), HasSubstr(standby.address() + ": standby: weft2 leads")));
  EXPECT_EQ(standby.calls, 1) << "each is asked once";
}

TEST_F(Servers, ARefusalOfAStandbyIsNoLackOfAConnection) {
  StandIn standby({grpc::StatusCode::UNAVAILABLE, "standby: mgmt1, process 812 leads at mgmt1:9641"});
  use(standby.address());
  const Failure failure = fails(reject_plan, decision());
  EXPECT_EQ(failure.exit, Exit::kUnreachable);
  EXPECT_THAT(failure.what(),
              AllOf(HasSubstr("not taken by weftd at " + standby.address()),
                    HasSubstr("mgmt1, process 812 leads at mgmt1:9641"), Not(HasSubstr("cannot reach"))));
  use(standby.address() + ',' + standby.address());
  EXPECT_THAT(fails(reject_plan, decision()).what(), HasSubstr("no weftd took it: "));
}

// Whoever only asked something has nothing that could be taken.
TEST_F(Servers, AQuestionThatIsForAnotherWeftdIsNotSaidToBeTaken) {
  const std::string words = "PLAN-1 belongs to shard south, which does not answer: Connection refused";
  StandIn north({grpc::StatusCode::UNAVAILABLE, words});
  use(north.address());
  const Failure failure = fails(show_plan, "PLAN-1");
  EXPECT_EQ(failure.exit, Exit::kUnreachable);
  EXPECT_EQ(failure.what(), "weftd at " + north.address() + " does not know: " + words +
                                "; weftctl status shows the others, --server names the one to ask");
  use(north.address() + ',' + north.address());
  EXPECT_THAT(fails(show_plan, "PLAN-1").what(), HasSubstr("no weftd knows: "));
}

TEST_F(Servers, ALeaderThatIsNotSureIsPassedOver) {
  StandIn unsure({grpc::StatusCode::UNAVAILABLE, "nothing was changed: leader: a; its lease is not renewed"});
  use(unsure.address() + ',' + real());
  EXPECT_THAT(say(Exit::kGood, reject_plan, decision()), HasSubstr("REJECTED"));
  EXPECT_EQ(remedies.times(), 1U);
  use(unsure.address());
  EXPECT_THAT(fails(reject_plan, decision()).what(), Not(HasSubstr("cannot reach")));
}

TEST_F(Servers, WhatAnotherShardOwnsIsAskedOfTheNext) {
  StandIn north(belongs_to_shard("south", {"mgmt3:9641"}));
  use(north.address() + ',' + real());
  EXPECT_THAT(say(Exit::kGood, reject_plan, decision()), HasSubstr("REJECTED"));
  use(north.address() + ',' + north.address());
  const Failure failure = fails(reject_plan, decision());
  EXPECT_EQ(failure.exit, Exit::kUnreachable) << "nobody has that name here";
  EXPECT_STREQ(failure.what(),
               "PLAN-1 belongs to shard south: ask mgmt3:9641. That one does not answer: nothing was done");
  StandIn away({grpc::StatusCode::UNAVAILABLE, "PLAN-1 belongs to shard south, which does not answer: refused"});
  use(away.address());
  EXPECT_THAT(fails(reject_plan, decision()).what(), Not(HasSubstr("cannot reach")));
}

TEST_F(Servers, WhatAnotherShardOwnsIsAskedOfTheOneThatIsNamed) {
  StandIn north(belongs_to_shard("south", {"127.0.0.1:1", real()}));
  use(north.address());
  EXPECT_THAT(say(Exit::kGood, reject_plan, decision()), HasSubstr("REJECTED"));
  EXPECT_EQ(remedies.times(), 1U);
  EXPECT_EQ(north.calls, 1);
  EXPECT_THAT(notes.str(), AllOf(HasSubstr("weftctl: answered by " + real()),
                                 HasSubstr(north.address() + ": PLAN-1 belongs to shard south")));
  say(Exit::kGood, show_plan, "PLAN-1");
  EXPECT_EQ(north.calls, 1) << "it stays with the one that owns it";
}

// A person's reason for hands-off, or what a node says of itself, stands in refusals.
TEST_F(Servers, WordsOfARefusalSendNobodyAnywhere) {
  StandIn stranger(grpc::Status::OK);
  StandIn north(
      {grpc::StatusCode::FAILED_PRECONDITION,
       "HANDS_OFF: all automation is stopped: ann: PLAN-1 belongs to shard south: ask " + stranger.address()});
  use(north.address());
  EXPECT_EQ(fails(reject_plan, decision()).exit, Exit::kRefused);
  EXPECT_EQ(stranger.calls, 0);
}

TEST_F(Servers, WhoMayNotActAtTheOwnerIsToldWhoThatIs) {
  StandIn south({grpc::StatusCode::PERMISSION_DENIED,
                 "only reading is allowed: you have no right to act here. On weftd's host: use sudo weftctl"});
  const std::string belongs = "PLAN-1 belongs to shard south: ask " + south.address();
  StandIn north(belongs_to_shard("south", {south.address()}));
  use(north.address());
  const Failure failure = fails(reject_plan, decision());
  EXPECT_EQ(failure.exit, Exit::kRefused);
  EXPECT_EQ(failure.what(), belongs +
                                ". There you may only read from here: repeat it on that host by its socket (sudo "
                                "weftctl, without --server), or from here with a token that it knows (--token-file)");
  EXPECT_EQ(notes.str(), "") << "all of it is in that sentence";
}

TEST_F(Servers, WhoseTokenTheOwnerDoesNotKnowIsToldSo) {
  StandIn south({grpc::StatusCode::UNAUTHENTICATED, "unknown token"});
  const std::string belongs = "PLAN-1 belongs to shard south: ask " + south.address();
  StandIn north(belongs_to_shard("south", {south.address()}));
  use(north.address());
  EXPECT_EQ(fails(reject_plan, decision()).what(), belongs + "; there: unknown token");
}

TEST_F(Servers, TwoShardsThatNameEachOtherAreAskedOnce) {
  StandIn south(belongs_to_shard("west", {"127.0.0.1:1"}));
  StandIn north(belongs_to_shard("south", {south.address()}));
  use(north.address());
  EXPECT_EQ(fails(reject_plan, decision()).exit, Exit::kRefused);
  EXPECT_EQ(south.calls, 1);
  EXPECT_EQ(north.calls, 2) << "the configured one is asked once more, and then no more";
  EXPECT_THAT(notes.str(), HasSubstr("weftctl: asked " + north.address() + ": PLAN-1 belongs to shard south"));
}

TEST_F(Servers, AnOwnerThatDoesNotAnswerIsNamed) {
  StandIn north(belongs_to_shard("south", {"127.0.0.1:1"}));
  use(north.address());
  const Failure failure = fails(reject_plan, decision());
  EXPECT_EQ(failure.exit, Exit::kUnreachable);
  EXPECT_STREQ(failure.what(),
               "PLAN-1 belongs to shard south: ask 127.0.0.1:1. That one does not answer: nothing was done");
  EXPECT_EQ(notes.str(), "");
}

TEST_F(Servers, WhyNobodyAnswersIsSaidInPlainWords) {
  const std::string failed = "failed to connect to all addresses; last error: UNKNOWN: ipv4:10.0.0.1:9641: ";
  for (const auto& [message, words] : std::initializer_list<std::pair<std::string, std::string>>{
           {"DNS resolution failed for weft1:9641: C-ares status is not ARES_SUCCESS qtype=AAAA name=weft1 "
            "is_balancer=0: Domain name not found",
            "its name cannot be looked up: Domain name not found"},
           {failed + "Failed to connect to remote host: Connection refused", "Connection refused"},
           {failed + "connection attempt timed out before receiving SETTINGS frame",
            "it takes connections, and does not answer"},
           {"Socket closed", "Socket closed (a weftd with TLS takes --ca, and one without does not)"},
           {"shard south: " + failed + "Connection refused", "shard south: " + failed + "Connection refused"}}) {
    StandIn silent({grpc::StatusCode::UNAVAILABLE, message});
    use(silent.address());
    const std::string here = words == "Connection refused" ? "; whether it runs here: systemctl status weftd" : "";
    EXPECT_EQ(fails(show_plan, "PLAN-1").what(),
              "cannot reach weftd at " + silent.address() + ": " + words + here + "; --server names another");
    use(silent.address() + ",127.0.0.1:1");
    EXPECT_THAT(fails(show_plan, "PLAN-1").what(),
                AllOf(HasSubstr("reached: " + silent.address() + ": " + words + "; 127.0.0.1:1: Connection refused")));
  }
}

TEST_F(Servers, AWeftdThatAnsweredWasReached) {
  StandIn away({grpc::StatusCode::UNAVAILABLE, "the database is not reachable"}, "leader");
  use(away.address());
  const Failure failure = fails(reject_plan, decision());
  EXPECT_EQ(failure.exit, Exit::kUnreachable);
  EXPECT_EQ(failure.what(), "weftd at " + away.address() + ": the database is not reachable");
}

TEST_F(Servers, NoTokenGoesToAnotherMachineInClearText) {
  api::ClientSecurity security;
  security.token = "secret";
  for (const char* servers : {"mgmt1:9641", "127.0.0.1:1,10.0.0.1:9641"}) {
    const auto make = [&] { Client(servers, security); };
    EXPECT_THROW(make(), Failure) << servers;
  }
  EXPECT_NO_THROW(Client("127.0.0.1:1,localhost:1,unix:/run/weft/weftd.sock", security));
  EXPECT_NO_THROW(Client("mgmt1:9641", api::ClientSecurity()));
}

TEST_F(Servers, NoTokenFollowsARefusalInClearText) {
  // Not seen to be this machine.
  StandIn north(belongs_to_shard("south", {"ipv4:" + real()}));
  api::ClientSecurity security;
  security.token = "secret";
  client = std::make_unique<Client>(north.address(), security);
  const Failure unsent = fails(reject_plan, decision());
  EXPECT_EQ(unsent.exit, Exit::kRefused);
  EXPECT_EQ(unsent.what(), "PLAN-1 belongs to shard south: ask ipv4:" + real() +
                               ". weftctl did not go there itself: the token would go there in clear text. Give --ca "
                               "(WEFT_CA), or no token");
  EXPECT_EQ(remedies.times(), 0U);
  use(north.address());
  say(Exit::kGood, reject_plan, decision());
  EXPECT_EQ(remedies.times(), 1U) << "without a token there is nothing to lose";
  StandIn socket(belongs_to_shard("south", {"unix:/run/weft/weftd.sock"}));
  use(socket.address());
  const Failure nobody = fails(reject_plan, decision());
  EXPECT_EQ(nobody.exit, Exit::kRefused) << "a socket of this machine is nobody's elsewhere";
  EXPECT_THAT(nobody.what(), HasSubstr("weftctl did not go there itself: that is an address on its own machine"));
  EXPECT_EQ(socket.calls, 1);
}

TEST_F(Servers, WhatIsDoneAndNotStoredHasAStatusOfItsOwn) {
  for (const char* message :
       {"the change is in force, but not stored yet: disk full",
        "the plan is ended, but that could not be stored yet: after a restart of weftd, end it again"}) {
    StandIn unstored({grpc::StatusCode::RESOURCE_EXHAUSTED, message});
    use(unstored.address());
    const Failure failure = fails(reject_plan, decision());
    EXPECT_EQ(failure.exit, Exit::kUnstored);
    EXPECT_STREQ(failure.what(), message);
  }
  StandIn busy({grpc::StatusCode::RESOURCE_EXHAUSTED, "not done because it could not be stored yet"});
  use(busy.address());
  EXPECT_EQ(fails(reject_plan, decision()).exit, Exit::kRefused);
}

TEST_F(Servers, AFrozenServerCostsTwoSeconds) {
  const Frozen frozen;
  use(frozen.address + ',' + real());
  const auto began = std::chrono::steady_clock::now();
  say(Exit::kGood, reject_plan, decision());
  const auto lasted = std::chrono::steady_clock::now() - began;
  EXPECT_GE(lasted, 1500ms);
  EXPECT_LE(lasted, 10s);
}

TEST_F(Servers, CompletionSharesItsTimeAmongTheServers) {
  const Frozen frozen;
  use(frozen.address + ',' + real());
  client->until = std::chrono::system_clock::now() + 2s;
  const auto began = std::chrono::steady_clock::now();
  say(Exit::kGood, show_plan, "PLAN-1");
  EXPECT_LE(std::chrono::steady_clock::now() - began, 2s);
}

TEST_F(Servers, AWatchGoesOnWithTheNextServer) {
  StandIn standby(kStandby);
  const auto other = another();
  use(standby.address() + ',' + real() + ',' + address_of(*other));
  client->follow_patience = 0s;
  std::ostringstream out;
  const auto publish = [this](std::uint64_t revision, std::vector<Plan> plans) {
    publication.publish(api::with_plans(api::make_snapshot(revision, {}), std::move(plans)));
    std::this_thread::sleep_for(500ms);
  };
  std::thread ending([&] {
    publish(2, {api::make_plan(1)});
    server->stop();
    publish(3, {api::make_plan(1, PlanState::kRejected, 7), api::make_plan(2, PlanState::kCommitted, 3)});
    publish(4, {api::make_plan(1, PlanState::kRejected, 7), api::make_plan(2, PlanState::kCommitted, 3),
                api::make_plan(3)});
    other->stop();
  });
  try {
    watch_plans(Session{*client, out, true, true, false, api::kNow}, false);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, Exit::kUnreachable);
  }
  ending.join();
  std::vector<std::string> lines;
  std::istringstream said(out.str());
  for (std::string line; std::getline(said, line);) {
    const auto event = nlohmann::json::parse(line);
    const auto plan = event.value("plan", nlohmann::json::object());
    lines.push_back(event["type"].get<std::string>() + ' ' + plan.value("id", "") + ' ' + plan.value("state", ""));
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"INITIAL PLAN-1 PROPOSED", "INITIAL_COMPLETE  ", "CHANGED PLAN-1 REJECTED",
                                             "CHANGED PLAN-2 COMMITTED", "CHANGED PLAN-3 PROPOSED"}));
}

}  // namespace
}  // namespace weft::ctl
