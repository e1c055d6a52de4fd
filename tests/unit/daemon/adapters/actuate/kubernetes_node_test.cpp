// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/kubernetes_node.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weft::actuate {
namespace {

using Json = nlohmann::json;

const MarkOwner kNodeOwner{"", {7}};

RemedyOrder drain() {
  RemedyOrder order;
  order.plan = 7;
  order.incident = 17;
  order.action = RemedyAction::kDrainNode;
  order.reason = "adapter is dead";
  order.owner = kNodeOwner;
  return order;
}

Json fresh() {
  return Json::parse(R"({"apiVersion":"v1","kind":"Node",
    "metadata":{"name":"dgx-01","resourceVersion":"5","annotations":{"owner":"a"}},
    "spec":{"podCIDR":"10.0.0.0/24","taints":[{"key":"nvidia.com/gpu","value":"present","effect":"NoSchedule"}]},
    "status":{"capacity":{"cpu":"8"}}})");
}

TEST(KubernetesNode, WhatWePutOnIsTakenOffWithoutATrace) {
  const Json before = fresh();
  Json node = before;
  EXPECT_EQ(judge_kubernetes_node(node, kNodeOwner).state, TargetState::kClear);
  put_out_of_service(node, drain());
  EXPECT_EQ(judge_kubernetes_node(node, kNodeOwner).state, TargetState::kOurs);
  EXPECT_EQ(node["spec"]["unschedulable"], true);
  EXPECT_EQ(node["spec"]["taints"].size(), 2U);
  EXPECT_EQ(node["spec"]["taints"][1],
            Json::parse(R"({"key":"weft.dev/unhealthy","value":"PLAN-7","effect":"NoSchedule"})"));
  EXPECT_EQ(node["metadata"]["annotations"]["weft.dev/reason"], "weft PLAN-7 INC-17: adapter is dead");
  put_back_in_service(node, kNodeOwner);
  EXPECT_EQ(node, before);
}

TEST(KubernetesNode, WithoutTaintsAndAnnotationsToo) {
  Json node = Json::parse(R"({"metadata":{"name":"n","annotations":null},"spec":{"taints":null}})");
  put_out_of_service(node, drain());
  EXPECT_EQ(judge_kubernetes_node(node, kNodeOwner).state, TargetState::kOurs);
  put_back_in_service(node, kNodeOwner);
  EXPECT_EQ(node, Json::parse(R"({"metadata":{"name":"n","annotations":{}},"spec":{}})"));
}

TEST(KubernetesNode, ACordonThatIsNotOursStays) {
  Json cordoned = fresh();
  cordoned["spec"]["unschedulable"] = true;
  EXPECT_EQ(judge_kubernetes_node(cordoned, kNodeOwner).state, TargetState::kForeign);

  Json anew = fresh();
  put_out_of_service(anew, drain());
  anew["metadata"]["managedFields"] =
      Json::parse(R"([{"manager":"kubectl","fieldsV1":{"f:spec":{"f:unschedulable":{}}}}])");
  put_back_in_service(anew, kNodeOwner);
  EXPECT_EQ(anew["spec"]["unschedulable"], true);

  Json same = fresh();
  put_out_of_service(same, drain());
  same["metadata"]["managedFields"] = Json::parse(
      R"([{"manager":"weftd","fieldsV1":{"f:spec":{"f:unschedulable":{}}}},{"manager":"kubectl","fieldsV1":{"f:spec":{"f:taints":{}}}}])");
  put_back_in_service(same, kNodeOwner);
  EXPECT_FALSE(same["spec"].contains("unschedulable"));

  Json unmarked = fresh();
  put_out_of_service(unmarked, drain());
  unmarked["metadata"]["annotations"]["weft.dev/reason"] = "mine now";
  put_back_in_service(unmarked, kNodeOwner);
  EXPECT_EQ(unmarked["spec"]["unschedulable"], true);
}

TEST(KubernetesNode, OurTaintWithAnotherValueIsForeign) {
  for (const char* value : {"", "x", "7", "plan-7", "PLAN-", "PLAN-7x", "PLAN-8", "PLAN-7.1c9e0b7a5d3f2468"}) {
    Json node = fresh();
    node["spec"]["taints"].push_back({{"key", "weft.dev/unhealthy"}, {"value", value}, {"effect", "NoSchedule"}});
    EXPECT_EQ(judge_kubernetes_node(node, kNodeOwner).state, TargetState::kForeign) << value;
  }
}

TEST(KubernetesNode, WhatAnotherWeftdPutOnStays) {
  RemedyOrder theirs = drain();
  theirs.owner.installation = "ffff0b7a5d3f2468";
  Json node = fresh();
  put_out_of_service(node, theirs);
  EXPECT_EQ(node["spec"]["taints"][1]["value"], "PLAN-7.ffff0b7a5d3f2468");
  const MarkOwner we{"1c9e0b7a5d3f2468", {7}};
  const TargetReading seen = judge_kubernetes_node(node, we);
  EXPECT_EQ(seen.state, TargetState::kForeign);
  EXPECT_EQ(seen.others, (std::vector<PlanMark>{{7, "ffff0b7a5d3f2468"}}));
  EXPECT_EQ(judge_kubernetes_node(node, theirs.owner).state, TargetState::kOurs);
}

TEST(KubernetesNode, OfAnyShapeIsJudgedAndNotStumbledOver) {
  for (const char* text : {"{}", R"({"spec":null,"metadata":null})", R"({"spec":[],"metadata":7})",
                           R"({"spec":{"taints":{"key":1},"unschedulable":"yes"}})",
                           R"({"spec":{"taints":[1,null,{"key":7}]},"metadata":{"annotations":[1]}})"}) {
    EXPECT_EQ(judge_kubernetes_node(Json::parse(text), kNodeOwner).state, TargetState::kClear) << text;
    EXPECT_FALSE(is_kubernetes_node(Json::parse(text))) << text;
  }
  EXPECT_TRUE(is_kubernetes_node(fresh()));
}

}  // namespace
}  // namespace weft::actuate
