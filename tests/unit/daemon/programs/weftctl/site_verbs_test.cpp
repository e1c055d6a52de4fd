// SPDX-License-Identifier: Apache-2.0
// weftctl at one of two shards of a site.

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "api/publication/derived.hpp"
#include "tests/unit/api/site/shard.hpp"
#include "tests/unit/daemon/programs/weftctl/verbs_fixture.hpp"

namespace weft::ctl {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

/// north, which is asked, and south. Each has a fabric and a host of its own, and work on all that it watches.
class SiteVerbs : public Verbs {
 protected:
  SiteVerbs() {
    publish(north, "north", 1);
    publish(south, "south", 2);
    client = std::make_unique<Client>(north.address());
  }
  void publish(api::Shard& shard, const std::string& name, std::uint64_t number) {
    Incident down = api::make_incident(100 + number);
    down.finding.cause.fabric = "ib-" + name;
    NodeHealth host = api::make_health("host-of-" + name, 0x100 + number, HealthVerdict::kDegraded);
    NodeHealth twin = api::make_health("twin", 0x200 + number, HealthVerdict::kHealthy);
    twin.reasons.emplace_back().message = "work in " + name;
    const NodeHealth busy = api::make_health("busy", 0x300 + number, HealthVerdict::kHealthy);
    auto snapshot = api::make_snapshot(1, {api::SmallFabric(1, "ib-" + name).build()}, {down}, {host, twin, busy});
    auto windows = std::make_shared<MaintenanceList>();
    MaintenanceWindow& window = windows->emplace_back();
    window.id = 100 + number;
    window.entity = {.kind = EntityKind::kFabric, .fabric = {}, .port = {}, .peer = {}, .label = "everything"};
    window.from = api::kNow;
    window.until = api::kNow + std::chrono::hours(1);
    window.reason = "power";
    snapshot->maintenance = windows;
    Plan held = api::make_plan(200 + number, PlanState::kCommitted);
    held.in_force = true;
    snapshot->plans = api::with_plans(api::make_snapshot(1, {}), {api::make_plan(100 + number), held})->plans;
    auto site = std::make_shared<Site>();
    site->own = name;
    site->shards = {{"north", 1, "n", 1, {north.address()}, {"ib-north"}, {}},
                    {"south", 2, "s", 1, {south.address()}, {"ib-south"}, {}}};
    snapshot->site = site;
    shard.publication.publish(snapshot);
  }
  /// South is silent, and north holds nothing.
  void leave_nothing() {
    Snapshot empty = *north.publication.load();
    empty.plans = api::with_plans(api::make_snapshot(1, {}), {})->plans;
    empty.maintenance = std::make_shared<MaintenanceList>();
    north.publication.publish(std::make_shared<const Snapshot>(empty));
    south.server->stop();
  }
  api::Shard north{clock}, south{clock};
};

TEST_F(SiteVerbs, WorkOnEverythingIsThatOfOneShard) {
  const std::string windows = say(Exit::kGood, show_maintenance, true);
  EXPECT_THAT(windows, HasSubstr("TARGET      SHARD"));
  EXPECT_THAT(windows, HasSubstr("MW-101  ACTIVE  everything  north"));
  EXPECT_THAT(windows, HasSubstr("MW-102  ACTIVE  everything  south"));
}

// Two fabrics may have nodes of the same names.
TEST_F(SiteVerbs, IncidentsSayWhoseTheyAre) {
  const std::string all = say(Exit::kGood, show_incidents, IncidentWish{});
  EXPECT_THAT(all, HasSubstr("SHARD  FABRIC    SUMMARY"));
  EXPECT_THAT(all, ContainsRegex("INC-101 .* north  ib-north  link of host-1 is down"));
  EXPECT_THAT(all, ContainsRegex("INC-102 .* south  ib-south  link of host-1 is down"));
  EXPECT_THAT(say(Exit::kGood, show_incident, std::string("INC-102")),
              HasSubstr("\nfabric      ib-south, of shard south\n"));
}

TEST_F(SiteVerbs, PlansSayWhoseTheyAre) {
  const std::string all = say(Exit::kGood, show_plans, WhichPlans::kOpen, false);
  EXPECT_THAT(all, HasSubstr("SHARD  REASON OR OUTCOME"));
  EXPECT_THAT(all, ContainsRegex("PLAN-101 .* north  "));
  EXPECT_THAT(all, ContainsRegex("PLAN-102 .* south  "));
  const std::string held = say(Exit::kGood, show_plans, WhichPlans::kInForce, false);
  EXPECT_THAT(held, HasSubstr("SHARD  REASON"));
  EXPECT_THAT(held, ContainsRegex("PLAN-202 .* south  "));
}

TEST_F(SiteVerbs, HealthSaysWhichShardsKnowAHost) {
  const std::string all = say(Exit::kBadNews, show_health, std::vector<std::string>());
  EXPECT_THAT(all, HasSubstr("SHARD  REASON"));
  EXPECT_THAT(all, ContainsRegex("host-of-south .* south"));
  EXPECT_THAT(say(Exit::kBadNews, show_health, std::vector<std::string>{"host-of-north"}),
              ContainsRegex("host-of-north .* north"));
}

TEST_F(SiteVerbs, ReasonsOfAHostOfTwoShardsSayWhoseTheyAre) {
  EXPECT_THAT(say(Exit::kGood, show_health, std::vector<std::string>{"twin"}),
              HasSubstr("north: work in north; south: work in south"));
}

// A script that runs on what is healthy must not run where the shard that knows of the fault is silent.
TEST_F(SiteVerbs, HealthWithoutAShardIsNotGood) {
  const std::vector<std::string> one{"twin"}, two{"twin", "nowhere"}, bad{"host-of-north"}, all;
  say(Exit::kGood, show_health, one);
  south.server->stop();
  EXPECT_THAT(say(Exit::kUnreachable, show_health, one),
              ContainsRegex("twin +UNKNOWN +WATCH +north .*shard south, which knew it, tells nothing of it now"));
  say(Exit::kUnreachable, show_health, two);
  say(Exit::kBadNews, show_health, bad);
  say(Exit::kBadNews, show_health, all);
  say(Exit::kUnreachable, show_job_health, std::string("slurm:7"), one);
  say(Exit::kBadNews, show_job_health, std::string("slurm:7"), bad);
}

// "does not answer" is said of a shard that does not.
TEST_F(SiteVerbs, ANoteSaysWhyAShardIsMissing) {
  const auto note = [&] {
    std::ostringstream notes;
    Client anew(north.address());
    anew.notes = &notes;
    anew.all_pages(anew.fabric, &v1::FabricService::Stub::ListLinks, v1::ListLinksRequest());
    return notes.str();
  };
  const auto probed = [&](bool answers, const std::string& trouble) {
    for (int i = 0; i < 1000; ++i) {
      const v1::Status::Shard shard = north.site.status().shards(1);
      if (shard.answers() == answers && (!answers || shard.trouble() == trouble)) return;
      if (i % 20 == 0) north.site.probe();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  EXPECT_EQ(note(), "");
  auto snapshot = std::make_shared<Snapshot>(*south.publication.load());
  snapshot->fabrics.clear();
  south.publication.publish(snapshot);
  probed(true, api::kNotSwept);
  EXPECT_EQ(note(), "weftctl: shard south has not swept yet: what it owns is not shown\n");
  EXPECT_EQ(fails(show_path, std::string(), std::string("host-1"), std::string("host-of-south")).exit,
            Exit::kUnreachable);
  south.server->stop();
  probed(false, "");
  EXPECT_EQ(note(), "weftctl: shard south does not answer: what it owns is not shown\n");
}

// What is shown of a name is of all shards, what is done is of one.
TEST_F(SiteVerbs, ACommandSaysOfWhichShardItIs) {
  std::ostringstream notes;
  client->notes = &notes;
  Wish wish{.target = "twin", .reason = "memory", .who = "", .dry_run = true};
  EXPECT_THAT(say(Exit::kGood, drain_node, wish), HasSubstr("\nshard       north\n"));
  EXPECT_EQ(notes.str(), "weftctl: this is of shard north alone: twin is a name in south, too\n");
  wish.dry_run = false;
  EXPECT_THAT(say(Exit::kGood, drain_node, wish), HasSubstr("PLAN-9"));
  wish.target = "twin mlx5_0:1";
  EXPECT_THAT(say(Exit::kGood, isolate_link, wish), HasSubstr("PLAN-9"));
  EXPECT_THAT(notes.str(), ContainsRegex("alone: twin is .*\n.*alone: twin mlx5_0:1 is a name in south, too"));
  notes.str("");
  wish.target = "host-of-north";
  EXPECT_THAT(say(Exit::kGood, drain_node, wish), HasSubstr("PLAN-9"));
  EXPECT_EQ(notes.str(), "");
}

// Whoever is told that nothing is held must learn that another shard has a thing of that name.
TEST_F(SiteVerbs, ARefusalSaysOfWhichShardItIs) {
  std::ostringstream notes;
  client->notes = &notes;
  for (const auto verb : {restore_link, lower_link_cost, undrain_node}) {
    notes.str("");
    EXPECT_EQ(fails(verb, Wish{.target = "busy", .reason = "", .who = ""}).exit, Exit::kRefused);
    EXPECT_EQ(notes.str(), "weftctl: this is of shard north alone: busy is a name in south, too\n");
  }
  notes.str("");
  EXPECT_EQ(fails(undrain_node, Wish{.target = "nobody", .reason = "", .who = ""}).exit, Exit::kBadNews);
  EXPECT_EQ(notes.str(), "");
}

// A script tells "it is not to be done" from "ask again when all answer".
TEST_F(SiteVerbs, ACommandAboutWhatASilentShardMayKnowIsNotRefused) {
  const Wish nobody{.target = "nobody", .reason = "r", .who = ""}, busy{.target = "busy", .reason = "r", .who = ""};
  const NewMaintenance work{
      .what = "gpu-7", .fabric = "", .from = {}, .length = std::chrono::hours(1), .reason = "r", .who = ""};
  EXPECT_EQ(fails(drain_node, nobody).exit, Exit::kBadNews);
  EXPECT_EQ(fails(add_maintenance, work).exit, Exit::kBadNews);
  south.server->stop();
  for (const auto verb : {isolate_link, restore_link, drain_node}) {
    const Failure failure = fails(verb, nobody);
    EXPECT_EQ(failure.exit, Exit::kUnreachable);
    EXPECT_THAT(failure.what(), HasSubstr("no answer from south"));
  }
  const Failure unknown = fails(add_maintenance, work);
  EXPECT_EQ(unknown.exit, Exit::kUnreachable);
  EXPECT_THAT(unknown.what(), HasSubstr("Nothing is named gpu-7 in the shards that answer; no answer from south"));
  EXPECT_EQ(fails(drain_node, busy).exit, Exit::kRefused) << "this shard knows it";
}

TEST_F(SiteVerbs, DifferencesOfAllShardsAreGoodWhenAllWereCompared) {
  say(Exit::kGood, show_cabling_differences, std::string());
  south.server->stop();
  say(Exit::kUnreachable, show_cabling_differences, std::string());
  json(Exit::kUnreachable, show_cabling_differences, std::string());
}

TEST_F(SiteVerbs, TheStatusOfAShardHasItsTroubleBesideItsFigures) {
  std::ostringstream out;
  show_status(Session{*client, out, false, true, false, api::kNow});
  EXPECT_THAT(out.str(), HasSubstr("OPEN INCIDENTS; TROUBLE"));
}

TEST_F(SiteVerbs, NothingIsSaidToBeThereInTheShardsThatAnswerAlone) {
  leave_nothing();
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kInForce, false),
              HasSubstr("No plan holds anything in the shards that answer.\n"));
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kOpen, false),
              HasSubstr("No open plans in the shards that answer.\n"));
  EXPECT_THAT(say(Exit::kGood, show_plans, WhichPlans::kAll, false),
              HasSubstr("No plans in the shards that answer.\n"));
  EXPECT_EQ(say(Exit::kGood, show_maintenance, true), "No maintenance windows in the shards that answer.\n");
  EXPECT_EQ(say(Exit::kGood, show_maintenance, false),
            "No maintenance windows, neither active nor planned, in the shards that answer.\n");
  for (const WhichPlans which : {WhichPlans::kAll, WhichPlans::kOpen, WhichPlans::kInForce})
    EXPECT_EQ(json(Exit::kGood, show_plans, which, false)["missingShards"][0], "south");
}

}  // namespace
}  // namespace weft::ctl
