// SPDX-License-Identifier: Apache-2.0
// What others took out counts in the budgets.

#include "analyzer/remedy/budget.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

Duration steady(Book& book) {
  return *book.look().steady;
}

TEST(Budgets, CountHostsThatOthersDrained) {
  Book book;
  book.settings.limits.budget.out_minimum = 3;
  book.book.emplace(book.settings, RemedyMemory{}, book.fabric.now());
  const Entity host = host_entity("gpu-0001");
  const auto budget = [&book](const Entity& target, RemedyAction action) {
    const auto plan = book.book->preview(action, target, "why", "ann", book.look());
    return plan ? book.verdict(*plan, Guard::kBudget).explanation : plan.error().message;
  };
  const auto drain = [&] { return budget(host, RemedyAction::kDrainNode); };
  EXPECT_EQ(drain(), "within all budgets") << "nobody tells of drained hosts";
  book.book->set_drained_hosts("fake", {});
  EXPECT_EQ(drain(), "the scheduler has not told yet which hosts are drained");
  book.book->set_drained_hosts("fake", {{{"gpu-0002"}, {"gpu-0003.cluster"}}, steady(book)});
  EXPECT_EQ(drain(), "within all budgets");
  book.book->set_drained_hosts("fake", {{{"gpu-0002"}, {"gpu-0003"}, {"gpu-0004"}}, steady(book)});
  EXPECT_EQ(drain(),
            "maximum of targets isolated, avoided or drained reached: 3 (remedy.limits.budget.out_minimum), with 3 "
            "hosts that others drained");
  EXPECT_EQ(budget(book.link("leaf-0", "spine-0"), RemedyAction::kIsolateLink), "within all budgets");
}

TEST(Budgets, DoNotGoByAnOldListOfDrainedHosts) {
  Book book;
  const auto drain = [&book] {
    const auto plan = book.book->preview(RemedyAction::kDrainNode, host_entity("gpu-0001"), "why", "ann", book.look());
    return plan ? book.verdict(*plan, Guard::kBudget).explanation : plan.error().message;
  };
  book.book->set_drained_hosts("fake", {{{"gpu-0002"}}, steady(book)});
  book.fabric.advance(170s);
  EXPECT_EQ(drain(), "within all budgets");
  book.fabric.advance(20s);
  EXPECT_EQ(drain(), "the scheduler has not told for 3 min which hosts are drained");
  book.fabric.advance(1h);
  EXPECT_EQ(drain(), "the scheduler has not told for 63 min which hosts are drained");
  book.book->set_drained_hosts("fake", {{}, steady(book)});
  EXPECT_EQ(drain(), "within all budgets");
}

/// Two links of leaf-0 are disabled by somebody, and two targets may be out. The budget of a target's plan, where there
/// is a fabric "other" as well.
struct TwoDisabled : Book {
  TwoDisabled() {
    settings.limits.budget.out_minimum = 2;
    settings.limits.budget.out_share = 0;
    book.emplace(settings, RemedyMemory{}, fabric.now());
    for (const char* spine : {"spine-5", "spine-6"}) {
      const PortIndex port = fabric.port_towards("leaf-0", spine);
      fabric.unlink(port);
      fabric.port(port).physical_state = PortPhysicalState::kDisabled;
    }
    other.route();
  }
  std::string budget(RemedyAction action, const Entity& target) {
    other.advance(fabric.now() - other.now());
    RemedyView view = look();
    views.push_back(views[0]);
    views[1].name = "other";
    views[1].sweep = std::make_shared<const Sweep>(other.sweep());
    view.fabrics = views;
    const auto plan = book->preview(action, target, "why", "ann", view);
    return plan ? verdict(*plan, Guard::kBudget).explanation : plan.error().message;
  }
  fakes::FabricBuilder other = fakes::FabricBuilder::fat_tree(8, 4, 1);
};

TEST(Budgets, LinksThatOthersDisabledCountForADrain) {
  TwoDisabled b;
  EXPECT_EQ(b.budget(RemedyAction::kDrainNode, host_entity("host-0-0")),
            "maximum of targets isolated, avoided or drained reached: 2 (remedy.limits.budget.out_minimum), with 2 "
            "links that others took out");
}

TEST(Budgets, LinksThatOthersDisabledCountInOtherFabrics) {
  TwoDisabled b;
  Entity link = b.link("leaf-1", "spine-0");
  link.fabric = "other";
  EXPECT_EQ(b.budget(RemedyAction::kIsolateLink, link),
            "maximum of targets isolated, avoided or drained reached: 2 (remedy.limits.budget.out_minimum), with 2 "
            "links that others took out");
  b.settings.limits.budget.out_minimum = 3;
  b.settings.limits.budget.out_per_switch = 2;
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  link = b.link("leaf-0", "spine-0");
  link.fabric = "other";
  EXPECT_EQ(b.budget(RemedyAction::kIsolateLink, link),
            "maximum of links of one switch isolated or avoided reached: 2 at leaf-0 "
            "(remedy.limits.budget.out_per_switch), with 2 links that others took out")
      << "a switch is the same under each name of its subnet";
}

/// What a preview of isolating the link says of the budget, and of the leaf's ways.
struct Avoided : Book {
  Avoided() {
    settings.limits.budget.out_per_switch = 2;
    book.emplace(settings, RemedyMemory{}, fabric.now());
  }
  std::string said(Guard guard, const Entity& target, RemedyAction action = RemedyAction::kIsolateLink) {
    const auto plan = book->preview(action, target, "why", "ann", look());
    return plan ? verdict(*plan, guard).explanation : plan.error().message;
  }
  PortKey end_of(const std::string& a, const std::string& b) { return link(a, b).port; }
};

TEST(Budgets, CountLinksThatOthersLetAManagerAvoid) {
  Avoided b;
  const Entity target = b.link("leaf-0", "spine-0");
  EXPECT_EQ(b.said(Guard::kBudget, target), "within all budgets") << "nobody tells";
  b.book->set_avoided_ports("weights", {});
  EXPECT_EQ(b.said(Guard::kBudget, target), "weights has not told yet which links are avoided");
  EXPECT_EQ(b.said(Guard::kBudget, host_entity("host-0-0"), RemedyAction::kDrainNode), "within all budgets");
  b.book->set_avoided_ports("weights", {{b.end_of("leaf-0", "spine-1")}, steady(b)});
  EXPECT_EQ(b.said(Guard::kBudget, target), "within all budgets");
  const Entity second = b.link("leaf-0", "spine-2");
  b.book->set_avoided_ports("weights", {{b.end_of("leaf-0", "spine-1"), second.port, second.peer}, steady(b)});
  EXPECT_EQ(b.said(Guard::kBudget, target),
            "maximum of links of one switch isolated or avoided reached: 2 at leaf-0 "
            "(remedy.limits.budget.out_per_switch), with 2 links that others took out");
  b.book->set_avoided_ports("weights", {{b.end_of("leaf-0", "spine-1"), b.end_of("leaf-2", "spine-0")}, steady(b)});
  EXPECT_EQ(b.said(Guard::kBudget, target), "within all budgets") << "one at each of its switches";
  b.book->set_avoided_ports("weights", {{b.end_of("leaf-0", "spine-1"), second.port, second.peer}, steady(b)});
  EXPECT_EQ(b.said(Guard::kBudget, second), "within all budgets") << "itself does not count, and neither end twice";
  EXPECT_EQ(b.said(Guard::kBudget, b.link("leaf-1", "spine-3")), "within all budgets");
  b.fabric.advance(200s);
  EXPECT_EQ(b.said(Guard::kBudget, b.link("leaf-1", "spine-3")),
            "weights has not told for 3 min which links are avoided");
  b.book->set_list_trouble("weights", "/etc/weights is not a file");
  EXPECT_EQ(b.said(Guard::kBudget, b.link("leaf-1", "spine-3")),
            "weights has not told for 3 min which links are avoided: /etc/weights is not a file");
}

// What was read before may still have that link: who seems to have lost each other already would lose each other now.
TEST(Budgets, WaitForAListThatIsNewerThanWhatWasGivenBack) {
  Avoided b;
  RemedyMemory memory;
  Plan& back = memory.plans.emplace_back();
  back.id = 1;
  back.action = RemedyAction::kRestoreLink;
  back.state = PlanState::kCommitted;
  back.target = b.link("leaf-1", "spine-0");
  back.started = back.finished = b.fabric.now() - 30s;
  back.steps = {{back.finished, PlanState::kVerifying, "weftd", "in service"}};
  back.actuator = "weights";
  b.book.emplace(b.settings, memory, b.fabric.now(), b.fabric.now().time_since_epoch());
  const Entity target = b.link("leaf-0", "spine-0");
  b.book->set_avoided_ports("weights", {{back.target.port}, steady(b) - 40s});
  EXPECT_EQ(b.said(Guard::kBudget, target), "weights has not told which links are avoided since PLAN-1 gave one back");
  b.book->set_avoided_ports("weights", {{}, steady(b)});
  EXPECT_EQ(b.said(Guard::kBudget, target), "within all budgets");
}

TEST(Budgets, CountAvoidedLinksThatAreDownAndThatADiscoveryForgot) {
  Avoided b;
  b.settings.limits.budget.out_per_switch = 1;
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  const Entity avoided = b.link("leaf-0", "spine-1"), target = b.link("leaf-0", "spine-0");
  b.errors("leaf-0", "spine-1");
  b.fabric.unlink(b.fabric.port_towards("leaf-0", "spine-1"));
  b.fabric.rediscover();
  b.fabric.route();
  b.book->set_avoided_ports("ufm", {{}, steady(b)});
  EXPECT_EQ(b.said(Guard::kBudget, target), "within all budgets");
  b.book->set_avoided_ports("ufm", {{avoided.port, avoided.peer}, steady(b)});
  EXPECT_NE(b.said(Guard::kBudget, target), "within all budgets");
}

TEST(Budgets, CountALinkOnceThatIsDisabledAndAvoided) {
  Avoided b;
  const PortIndex port = b.fabric.port_towards("leaf-0", "spine-1");
  b.fabric.port(port).physical_state = PortPhysicalState::kDisabled;
  b.fabric.port(port).state = PortState::kDown;
  b.book->set_avoided_ports("weights", {{b.end_of("leaf-0", "spine-1")}, steady(b)});
  EXPECT_EQ(b.said(Guard::kBudget, b.link("leaf-0", "spine-0")), "within all budgets");
}

TEST(Budgets, CountOurOwnLinksOnceWhereAPartnerTellsOfThemToo) {
  Avoided b;
  b.settings.limits.budget.out_minimum = 2;
  b.settings.limits.budget.out_share = 0;
  b.settings.limits.capacity.leaf_share_idle = 0.5;
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  const Entity ours = b.link("leaf-0", "spine-1");
  ASSERT_TRUE(b.book->request(RemedyAction::kRaiseLinkCost, ours, "why", "ann", b.look()));
  b.book->set_avoided_ports("weights", {{ours.port, ours.peer}, steady(b)});
  b.sweep();
  EXPECT_EQ(b.said(Guard::kBudget, b.link("leaf-1", "spine-0")), "within all budgets");
}

// What automation has only begun is not out; what others took out is, whatever is planned for it.
TEST(Budgets, CountALinkOfOthersForWhichAPlanHasOnlyBegun) {
  Avoided b;
  b.settings.limits.budget.out_per_switch = 1;
  RemedyMemory memory;
  Plan& begun = memory.plans.emplace_back();
  begun.id = 1;
  begun.state = PlanState::kExecuting;
  begun.target = b.link("leaf-0", "spine-1");
  begun.started = b.fabric.now();
  begun.approved_by = std::string(kOurselves);
  begun.actuator = "weights";
  b.book.emplace(b.settings, memory, b.fabric.now(), b.fabric.now().time_since_epoch());
  b.book->set_avoided_ports("weights", {{}, steady(b)});
  const Entity target = b.link("leaf-0", "spine-0");
  EXPECT_EQ(b.said(Guard::kBudget, target), "within all budgets");
  b.book->set_avoided_ports("weights", {{begun.target.port, begun.target.peer}, steady(b)});
  EXPECT_EQ(b.said(Guard::kBudget, target),
            "maximum of links of one switch isolated or avoided reached: 1 at leaf-0 "
            "(remedy.limits.budget.out_per_switch), with 1 link that others took out");
}

TEST(Budgets, ReturnsThatPersonsOrderedCountForNoneOfAutomation) {
  for (const auto& [by, state] :
       {std::pair("ann", PlanState::kCommitted), {"ann", PlanState::kFailed}, {"weftd", PlanState::kCommitted}}) {
    Book b(automatic());
    b.settings.limits.budget.returns_per_hour = 1;
    RemedyMemory memory;
    for (const char* spine : {"spine-0", "spine-1"}) {
      Plan& out = memory.plans.emplace_back();
      out.id = memory.plans.size();
      out.state = PlanState::kCommitted;
      out.target = b.link("leaf-0", spine);
      out.incident = 7;  // over long since
      out.actuator = "fake";
      out.requested_by = out.approved_by = std::string(kOurselves);
      out.started = out.finished = b.fabric.now() - 25h;
      out.in_force = memory.plans.size() == 2;
    }
    Plan back = memory.plans[0];
    back.id = 3;
    back.state = state;
    back.action = RemedyAction::kRestoreLink;
    back.undoes = 1;
    back.requested_by = back.approved_by = by;
    back.started = back.finished = b.fabric.now() - 10min;
    memory.plans.push_back(back);
    b.fabric.unlink(b.fabric.port_towards("leaf-0", "spine-1"));
    b.fabric.route();
    memory.ids = 3;
    b.book.emplace(b.settings, memory, b.fabric.now());
    b.sweep();
    const GuardVerdict budget = b.verdict(b.plan(4), Guard::kBudget);
    if (by == kOurselves)
      EXPECT_TRUE(budget.explanation.starts_with("returns per hour are used up: 1")) << budget.explanation;
    else
      EXPECT_EQ(budget.explanation, "within all budgets");
  }
}

TEST(Capacity, ALinkThatOthersLetAManagerAvoidIsNoWay) {
  Avoided b;
  b.settings.limits.capacity.leaf_share_idle = 0.8;  // of eight ways seven are needed
  b.book.emplace(b.settings, RemedyMemory{}, b.fabric.now());
  const std::string enough = "all leaves keep their share of uplink paths";
  const Entity target = b.link("leaf-0", "spine-0");
  b.book->set_avoided_ports("weights", {{}, steady(b)});
  EXPECT_EQ(b.said(Guard::kLeafCapacity, target), enough);
  b.book->set_avoided_ports("weights", {{b.end_of("leaf-0", "spine-1")}, steady(b)});
  EXPECT_EQ(b.said(Guard::kLeafCapacity, target),
            "leaf-0 would keep 6 of 8 uplink paths; 7 are needed (remedy.limits.capacity.leaf_share_idle)");
  EXPECT_EQ(b.said(Guard::kLeafCapacity, b.link("leaf-1", "spine-0")), enough);
  b.book->set_avoided_ports("weights", {{}, steady(b)});
  EXPECT_EQ(b.said(Guard::kLeafCapacity, target), enough);
}

TEST(Budgets, ALongListOfDrainedHostsCostsNextToNothing) {
  Book book;
  std::vector<std::vector<std::string>> hosts;
  for (int i = 0; i < 20'000; ++i) hosts.push_back({"node" + std::to_string(i) + ".cluster.example.org"});
  const DrainedHosts drained(hosts, steady(book));
  const std::vector<std::string_view> ours(50, "node7");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) ASSERT_EQ(drained.besides(ours), 19'999U);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST(Budgets, CountAHostThatAPlanDrainedOnce) {
  Book book;
  book.settings.limits.budget.out_minimum = 3;
  RemedyMemory memory;
  Plan& plan = memory.plans.emplace_back();
  plan.id = 1;
  plan.action = RemedyAction::kDrainNode;
  plan.target = host_entity("gpu-0002");
  plan.state = PlanState::kCommitted;
  plan.in_force = true;
  plan.finished = book.fabric.now();
  book.book.emplace(book.settings, memory, book.fabric.now());
  const Entity host = host_entity("gpu-0001");
  for (const auto& [others, expected] :
       {std::pair<std::vector<std::vector<std::string>>, const char*>{{{"n2", "gpu-0002"}, {"gpu-0003"}},
                                                                      "within all budgets"},
        {{{"gpu-0002", "n2"}, {"gpu-0003"}, {"gpu-0004", "n4"}},
         "maximum of targets isolated, avoided or drained reached: 3 (remedy.limits.budget.out_minimum), with 2 hosts "
         "that others drained"}}) {
    book.book->set_drained_hosts("fake", {others, steady(book)});
    const auto wished = book.book->preview(RemedyAction::kDrainNode, host, "why", "ann", book.look());
    ASSERT_TRUE(wished) << wished.error().message;
    EXPECT_EQ(book.verdict(*wished, Guard::kBudget).explanation, expected);
  }
}

}  // namespace
}  // namespace weft::analyzer
