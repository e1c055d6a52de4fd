// SPDX-License-Identifier: Apache-2.0
#include "api/access/access.hpp"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "api/access/account.hpp"
#include "api/access/gate.hpp"
#include "otlp/metrics_service.pb.h"
#include "weft/v1/acceptance.pb.h"
#include "weft/v1/enroll.pb.h"
#include "weft/v1/evidence.pb.h"
#include "weft/v1/fabric.pb.h"
#include "weft/v1/health.pb.h"
#include "weft/v1/history.pb.h"
#include "weft/v1/incident.pb.h"
#include "weft/v1/maintenance.pb.h"
#include "weft/v1/remedy.pb.h"
#include "weft/v1/store.pb.h"
#include "weft/v1/telemetry.pb.h"

namespace weft::api::access {
namespace {

using ::testing::HasSubstr;
using Path = std::vector<std::string>;

/// Every method of every service in the package weft.v1, whichever files it is written in, and that of OTLP.
std::set<std::string> methods_in_protos() {
  const auto* pool = google::protobuf::DescriptorPool::generated_pool();
  const google::protobuf::FileDescriptor* const files[] = {
      v1::Node::descriptor()->file(),
      v1::NodeHealth::descriptor()->file(),
      v1::Incident::descriptor()->file(),
      v1::MaintenanceWindow::descriptor()->file(),
      v1::Plan::descriptor()->file(),
      v1::Acceptance::descriptor()->file(),
      v1::Hello::descriptor()->file(),
      v1::PortHistory::descriptor()->file(),
      v1::BackupChunk::descriptor()->file(),
      v1::EnrollToken::descriptor()->file(),
      v1::EvidencePack::descriptor()->file(),
      opentelemetry::proto::collector::metrics::v1::Metric::descriptor()->file()};
  std::set<std::string> methods;
  for (const auto* file : files) {
    EXPECT_EQ(pool->FindFileByName(file->name()), file);
    for (int s = 0; s < file->service_count(); ++s)
      for (int m = 0; m < file->service(s)->method_count(); ++m)
        methods.insert('/' + file->service(s)->full_name() + '/' + file->service(s)->method(m)->name());
  }
  return methods;
}

TEST(PermissionTable, HasALineForEveryMethodAndNoneForOthers) {
  const std::set<std::string> methods = methods_in_protos();
  ASSERT_GE(methods.size(), 35U);
  for (const std::string& method : methods) EXPECT_NE(find_method(method), nullptr) << method << " is served to nobody";
  std::set<std::string_view> seen;
  for (const Permission& permission : grpc_permissions()) {
    EXPECT_TRUE(seen.insert(permission.method).second) << permission.method << " is listed twice";
    if (permission.method.starts_with("/weft.")) {
      EXPECT_TRUE(methods.contains(std::string(permission.method))) << permission.method << " does not exist";
    }
  }
}

TEST(PermissionTable, LetsViewersReadOnly) {
  Principal viewer{.name = "v", .role = Role::kViewer, .nodes = {}};
  for (const Permission& permission : grpc_permissions()) {
    const std::string method(permission.method.substr(permission.method.rfind('/') + 1));
    const bool reads = method.starts_with("Get") || method.starts_with("List") || method.starts_with("Watch") ||
                       method.starts_with("BatchGet") || method == "Check" || method == "ServerReflectionInfo" ||
                       method == "Enroll" ||  // which asks for its own token
                       method == "Judge";     // which keeps nothing
    EXPECT_EQ(authorize(permission, viewer).has_value(), reads) << permission.method;
  }
  for (const Permission& route : http_permissions())
    EXPECT_EQ(authorize(route, viewer).has_value(),
              route.method.starts_with("GET ") || route.method == "POST /api/v1/acceptances/judge")
        << route.method;
}

TEST(PermissionTable, GivesEachRoleWhatTheLesserHas) {
  const auto may = [](const Permission& permission, Role role) {
    return authorize(permission, {.name = "x", .role = role, .nodes = {}}).has_value();
  };
  for (const auto table : {grpc_permissions(), http_permissions()})
    for (const Permission& permission : table) {
      EXPECT_LE(may(permission, Role::kViewer), may(permission, Role::kOperator)) << permission.method;
      EXPECT_LE(may(permission, Role::kOperator), may(permission, Role::kAdmin)) << permission.method;
      // A collector may stream and be probed; nobody else may stream, an admin's token least of all.
      const bool streams = permission.right == Right::kCollector;
      EXPECT_EQ(may(permission, Role::kCollector), streams || permission.right == Right::kNone) << permission.method;
      EXPECT_EQ(may(permission, Role::kAdmin), !streams) << permission.method;
      const bool acts = permission.right == Right::kOperator || permission.right == Right::kAdmin;
      EXPECT_EQ(authorize(permission, anybody()).has_value(), !acts) << permission.method;
    }
  const auto denied = authorize(*find_method("/weft.v1.RemedyService/ResetBreaker"),
                                {.name = "ann", .role = Role::kOperator, .nodes = {}});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().code, ErrorCode::kPermissionDenied);
  EXPECT_EQ(denied.error().message, "ann (operator) has no permission for this; it needs an admin");
}

TEST(Routes, AreFoundByTheirPatterns) {
  const auto route = [](std::string_view method, const Path& path) {
    const Permission* found = find_route(method, path);
    return found == nullptr ? std::string_view("none") : found->method;
  };
  EXPECT_EQ(route("GET", {}), "GET /");
  EXPECT_EQ(route("HEAD", {"metrics"}), "GET /metrics");
  EXPECT_EQ(route("POST", {"metrics"}), "none");
  EXPECT_EQ(route("GET", {"runbooks"}), "GET /runbooks");
  EXPECT_EQ(route("GET", {"runbooks", "LINK_FLAP"}), "GET /runbooks/{id}");
  EXPECT_EQ(route("GET", {"api", "v1", "plans"}), "GET /api/v1/plans");
  EXPECT_EQ(route("GET", {"api", "v1", "plans", "PLAN-1"}), "GET /api/v1/plans/{id}");
  EXPECT_EQ(route("GET", {"api", "v1", "plans", "PLAN-1", "approve"}), "none");
  EXPECT_EQ(route("POST", {"api", "v1", "plans", "PLAN-1", "approve"}), "POST /api/v1/plans/{id}/approve");
  EXPECT_EQ(route("POST", {"api", "v1", "plans", "PLAN-1", "burn"}), "none");
  EXPECT_EQ(route("GET", {"api", "v1", "nodes", "a"}), "GET /api/v1/nodes/{node...}");
  EXPECT_EQ(route("GET", {"api", "v1", "nodes", "rack", "a"}), "GET /api/v1/nodes/{node...}");
  EXPECT_EQ(route("GET", {"api", "v1", "nodes", "rack", "a", "health"}), "GET /api/v1/nodes/{node...}/health");
  EXPECT_EQ(route("GET", {"api", "v1", "nodes", "health"}), "GET /api/v1/nodes/{node...}");
  EXPECT_EQ(route("GET", {"api", "v1", "..", "..", "etc", "passwd"}), "none");
  EXPECT_EQ(route("get", {"metrics"}), "none");
  EXPECT_EQ(methods_of({"metrics"}), "GET, HEAD");
  EXPECT_EQ(methods_of({"api", "v1", "incidents", "1", "silence"}), "POST");
  EXPECT_EQ(methods_of({"nothing"}), "");
}

TEST(Routes, HaveTheParametersOfTheirTable) {
  const auto check = [](const Path& path, const std::map<std::string, std::string>& query) {
    const auto checked = check_parameters(*find_route("GET", path), query);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(check({"api", "v1", "links"}, {{"contains", "gpu"}, {"fabric", ""}, {"page_size", "3"}}), "");
  EXPECT_EQ(check({"api", "v1", "links"}, {{"contain", "gpu"}}),
            "there is no parameter \"contain\" here; there are: contains fabric page_size page_token");
  EXPECT_EQ(check({"api", "v1", "links"}, {{"", ""}}),
            "there is no parameter \"\" here; there are: contains fabric page_size page_token");
  EXPECT_EQ(check({"api", "v1", "links"}, {{"contains fabric", ""}}),
            "there is no parameter \"contains fabric\" here; there are: contains fabric page_size page_token");
  EXPECT_EQ(check({"api", "v1", "status"}, {}), "");
  EXPECT_EQ(check({"api", "v1", "status"}, {{"shard", "west"}}), "there is no parameter \"shard\" here; there is none");
  EXPECT_EQ(check({"metrics"}, {{"collect[]", "ports"}, {"names", ""}}), "");
  EXPECT_EQ(check({"metrics"}, {{"collect", "ports"}}),
            "there is no parameter \"collect\" here; there are: collect[] names");
  EXPECT_EQ(check({"healthz"}, {{"target", "host"}}), "");
  EXPECT_EQ(check({}, {{"utm", "1"}}), "");
}

TEST(Nodes, AreSpokenForByThemselvesAlone) {
  const Principal collector{.name = "dgx-04.example", .role = Role::kCollector, .nodes = {"dgx-04.example", "dgx-04"}};
  EXPECT_TRUE(authorize_node(collector, "dgx-04"));
  EXPECT_TRUE(authorize_node(collector, "dgx-04.example"));
  for (const char* other : {"dgx-05", "dgx-0", "dgx-04.other", "", "DGX-04"}) {
    const auto denied = authorize_node(collector, other);
    ASSERT_FALSE(denied) << other;
    EXPECT_EQ(denied.error().code, ErrorCode::kPermissionDenied);
  }
  EXPECT_FALSE(authorize_node({.name = "dgx-04", .role = Role::kAdmin, .nodes = {"dgx-04"}}, "dgx-04"));
  EXPECT_TRUE(authorize_node(anybody(), "any"));
}

class StillClock final : public Clock {
 public:
  TimePoint now() const override { return time; }
  Duration steady() const override { return time.time_since_epoch(); }
  TimePoint time{std::chrono::hours(24)};
};

TEST(AGate, LetsInByTokenAndTellsOfRefusals) {
  const StillClock clock;
  std::vector<Refusal> told;
  Gate gate(clock, [&told](const Refusal& refusal) { told.push_back(refusal); });
  const Permission& reads = *find_method("/weft.v1.FabricService/ListNodes");
  const Permission& acts = *find_method("/weft.v1.RemedyService/DrainNode");
  const Permission& probe = *find_method("/grpc.health.v1.Health/Check");
  EXPECT_EQ(gate.admit(&reads, "reads", {"Bearer s3cret", {}, "peer"}).error().code, ErrorCode::kUnauthenticated);

  gate.change({.tokens = {{.name = "ann", .role = Role::kViewer, .node = {}, .hash = sha256("s3cret"), .expires = {}}},
               .certificates = {},
               .requests_per_second = 0});
  EXPECT_EQ(gate.admit(&reads, "reads", {"Bearer s3cret", {}, "peer"})->name, "ann");
  EXPECT_EQ(gate.who({"Bearer s3cret", {}, ""}).name, "ann");
  EXPECT_EQ(gate.admit(&acts, "acts", {"Bearer s3cret", {}, "peer"}).error().code, ErrorCode::kPermissionDenied);
  EXPECT_EQ(gate.admit(&reads, "reads", {"", {}, "peer"}).error().code, ErrorCode::kUnauthenticated);
  EXPECT_EQ(gate.admit(nullptr, "new", {"Bearer s3cret", {}, "peer"}).error().code, ErrorCode::kPermissionDenied);
  EXPECT_EQ(gate.admit(nullptr, "new", {"", {}, "peer"}).error().code, ErrorCode::kUnauthenticated);
  EXPECT_TRUE(gate.admit(&probe, "probe", {"", {}, "peer"}));
  ASSERT_EQ(told.size(), 5U);
  EXPECT_EQ(told[1].who, "ann");
  EXPECT_EQ(told[1].what, "acts");
  EXPECT_EQ(told[1].peer, "peer");
  EXPECT_EQ(gate.figures().denied, 2U);
  EXPECT_EQ(gate.figures().unauthenticated, 3U);

  gate.change({});  // a token that was taken back counts no more
  EXPECT_EQ(gate.admit(&reads, "reads", {"Bearer s3cret", {}, "peer"}).error().code, ErrorCode::kUnauthenticated);
  EXPECT_EQ(gate.who({"Bearer s3cret", {}, ""}).name, "");
}

TEST(AGate, SlowsDownEachPrincipalByItself) {
  const StillClock clock;
  Gate gate(clock, {});
  const Permission& reads = *find_method("/weft.v1.FabricService/ListNodes");
  gate.change({.tokens = {{.name = "ann", .role = Role::kViewer, .node = {}, .hash = sha256("a"), .expires = {}},
                          {.name = "bob", .role = Role::kViewer, .node = {}, .hash = sha256("b"), .expires = {}}},
               .certificates = {},
               .requests_per_second = 0.001});
  EXPECT_EQ(gate.admit(&reads, "", {"Bearer b", {}, ""}).error().code, ErrorCode::kResourceExhausted);
  gate.change({.tokens = {{.name = "ann", .role = Role::kViewer, .node = {}, .hash = sha256("a"), .expires = {}},
                          {.name = "bob", .role = Role::kViewer, .node = {}, .hash = sha256("b"), .expires = {}}},
               .certificates = {},
               .requests_per_second = 1});
  EXPECT_TRUE(gate.admit(&reads, "", {"Bearer a", {}, ""}));
  EXPECT_TRUE(gate.admit(&reads, "", {"Bearer a", {}, ""}));
  const auto third = gate.admit(&reads, "", {"Bearer a", {}, ""});
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, ErrorCode::kResourceExhausted);
  EXPECT_TRUE(gate.admit(&reads, "", {"Bearer b", {}, ""}));
  EXPECT_EQ(gate.figures().too_fast, 2U);
}

TEST(AGate, WithoutSecurityLetsEverybodyReadAndAccountsAct) {
  const StillClock clock;
  Gate gate(clock, {});
  gate.change({.tokens = {}, .certificates = {}, .anybody_reads = true});
  const Permission& reads = *find_method("/weft.v1.FabricService/ListNodes");
  const Permission& streams = *find_method("/weft.v1.TelemetryService/Stream");
  const Permission& acts = *find_method("/weft.v1.RemedyService/SetHandsOff");
  EXPECT_TRUE(gate.admit(&reads, "", {}));
  EXPECT_TRUE(gate.admit(&streams, "", {})->is_anybody);
  const auto refused = gate.admit(&acts, "", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kPermissionDenied);
  const Principal root{.name = "root (uid 0)", .role = Role::kAdmin, .nodes = {}};
  Shown shown;
  shown.account = &root;
  EXPECT_TRUE(gate.admit(&acts, "", shown));
  EXPECT_TRUE(gate.admit(&streams, "", shown));
  EXPECT_EQ(gate.who(shown).name, "root (uid 0)");
  EXPECT_EQ(gate.who({}).name, "");
  shown.authorization = "Bearer old";
  EXPECT_EQ(gate.admit(&reads, "", shown).error().code, ErrorCode::kUnauthenticated) << "a token counts alone";
}

TEST(Accounts, ActByUserOrGroup) {
  const AccountRights rights{.admins = {0, 990}, .operators = 27};
  EXPECT_EQ(role_of({0, {0}}, rights), Role::kAdmin);
  EXPECT_EQ(role_of({990, {}}, rights), Role::kAdmin);
  EXPECT_EQ(role_of({1000, {100, 27}}, rights), Role::kOperator);
  EXPECT_EQ(role_of({0, {27}}, rights), Role::kAdmin) << "the greater one";
  EXPECT_EQ(role_of({65'534, {65'534, 0}}, rights), std::nullopt) << "root's group is not root";
  EXPECT_EQ(role_of({1000, {0}}, {.admins = {0}, .operators = std::nullopt}), std::nullopt);
}

TEST(Accounts, HaveAName) {
  EXPECT_EQ(account_name(0), "root (uid 0)");
  EXPECT_EQ(account_name(4'000'000'000U), "uid 4000000000");
}

TEST(AGate, ThatIsOpenLetsInEverybody) {
  Gate gate;
  EXPECT_TRUE(gate.is_open());
  EXPECT_TRUE(gate.admit(find_method("/weft.v1.RemedyService/ResetBreaker"), "", {})->is_anybody);
  EXPECT_FALSE(gate.admit(nullptr, "", {}));
  EXPECT_TRUE(gate.who({}).is_anybody);
}

}  // namespace
}  // namespace weft::api::access
