// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/kubernetes_node.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weft::actuate {
namespace {

using Json = nlohmann::json;

RemedyOrder drain() {
  RemedyOrder order;
  order.plan = 7;
  order.incident = 17;
  order.action = RemedyAction::kDrainNode;
  order.reason = "adapter is dead";
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
  EXPECT_EQ(judge_kubernetes_node(node).state, TargetState::kClear);
  put_out_of_service(node, drain());
  EXPECT_EQ(judge_kubernetes_node(node).state, TargetState::kOurs);
  EXPECT_EQ(node["spec"]["unschedulable"], true);
  EXPECT_EQ(node["spec"]["taints"].size(), 2U);
  EXPECT_EQ(node["spec"]["taints"][1],
            Json::parse(R"({"key":"weft.dev/unhealthy","value":"PLAN-7","effect":"NoSchedule"})"));
  EXPECT_EQ(node["metadata"]["annotations"]["weft.dev/reason"], "weft PLAN-7 INC-17: adapter is dead");
  put_back_in_service(node);
  EXPECT_EQ(node, before);
}

TEST(KubernetesNode, WithoutTaintsAndAnnotationsToo) {
  Json node = Json::parse(R"({"metadata":{"name":"n","annotations":null},"spec":{"taints":null}})");
  put_out_of_service(node, drain());
  EXPECT_EQ(judge_kubernetes_node(node).state, TargetState::kOurs);
  put_back_in_service(node);
  EXPECT_EQ(node, Json::parse(R"({"metadata":{"name":"n","annotations":{}},"spec":{}})"));
}

TEST(KubernetesNode, ACordonThatIsNotOursStays) {
  Json cordoned = fresh();
  cordoned["spec"]["unschedulable"] = true;
  EXPECT_EQ(judge_kubernetes_node(cordoned).state, TargetState::kForeign);

  Json anew = fresh();
  put_out_of_service(anew, drain());
  anew["metadata"]["managedFields"] =
      Json::parse(R"([{"manager":"kubectl","fieldsV1":{"f:spec":{"f:unschedulable":{}}}}])");
  put_back_in_service(anew);
  EXPECT_EQ(anew["spec"]["unschedulable"], true);

  Json same = fresh();
  put_out_of_service(same, drain());
  same["metadata"]["managedFields"] = Json::parse(
      R"([{"manager":"weftd","fieldsV1":{"f:spec":{"f:unschedulable":{}}}},{"manager":"kubectl","fieldsV1":{"f:spec":{"f:taints":{}}}}])");
  put_back_in_service(same);
  EXPECT_FALSE(same["spec"].contains("unschedulable"));

  Json unmarked = fresh();
  put_out_of_service(unmarked, drain());
  unmarked["metadata"]["annotations"]["weft.dev/reason"] = "mine now";
  put_back_in_service(unmarked);
  EXPECT_EQ(unmarked["spec"]["unschedulable"], true);
}

TEST(KubernetesNode, OurTaintWithAnotherValueIsForeign) {
  for (const char* value : {"", "x", "7", "plan-7", "PLAN-", "PLAN-7x"}) {
    Json node = fresh();
    node["spec"]["taints"].push_back({{"key", "weft.dev/unhealthy"}, {"value", value}, {"effect", "NoSchedule"}});
    EXPECT_EQ(judge_kubernetes_node(node).state, TargetState::kForeign) << value;
  }
}

TEST(KubernetesNode, OfAnyShapeIsJudgedAndNotStumbledOver) {
  for (const char* text : {"{}", R"({"spec":null,"metadata":null})", R"({"spec":[],"metadata":7})",
                           R"({"spec":{"taints":{"key":1},"unschedulable":"yes"}})",
                           R"({"spec":{"taints":[1,null,{"key":7}]},"metadata":{"annotations":[1]}})"}) {
    EXPECT_EQ(judge_kubernetes_node(Json::parse(text)).state, TargetState::kClear) << text;
    EXPECT_FALSE(is_kubernetes_node(Json::parse(text))) << text;
  }
  EXPECT_TRUE(is_kubernetes_node(fresh()));
}

}  // namespace
}  // namespace weft::actuate
