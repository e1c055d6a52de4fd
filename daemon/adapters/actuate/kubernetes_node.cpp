// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/kubernetes_node.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/platform/net/safe_text.hpp"

namespace weft::actuate {
namespace {

using Json = nlohmann::json;

/// The member, or null where a step of the way is missing.
const Json& at(const Json& json, std::initializer_list<std::string_view> way) {
  static const Json kNull;
  const Json* place = &json;
  for (const std::string_view key : way) {
    if (!place->is_object()) return kNull;
    const auto found = place->find(key);
    if (found == place->end()) return kNull;
    place = &*found;
  }
  return *place;
}

std::string text(const Json& json) {
  return json.is_string() ? json.get<std::string>() : std::string();
}

std::string annotation(const Json& node, std::string_view key) {
  return text(at(node, {"metadata", "annotations", key}));
}

bool is_unschedulable(const Json& node) {
  const Json& value = at(node, {"spec", "unschedulable"});
  return value.is_boolean() && value.get<bool>();
}

bool is_weft_taint(const Json& taint) {
  return text(at(taint, {"key"})) == kTaintKey;
}

bool is_our_taint(const Json& taint, const MarkOwner& owner) {
  const auto mark = is_weft_taint(taint) ? parse_plan_mark(text(at(taint, {"value"}))) : std::nullopt;
  return mark && owner.owns(*mark);
}

/// Whether somebody else set spec.unschedulable as it is now. Servers before 1.18 keep no such books; then nobody did.
bool others_cordoned(const Json& node) {
  const Json& managers = at(node, {"metadata", "managedFields"});
  return managers.is_array() && std::ranges::any_of(managers, [](const Json& entry) {
           return !at(entry, {"fieldsV1", "f:spec", "f:unschedulable"}).is_null() &&
                  text(at(entry, {"manager"})) != kFieldManager;
         });
}

bool we_cordoned(const Json& node, const MarkOwner& owner) {
  return annotation(node, kCordonedAnnotation) == "true" && owner.owns_reason(annotation(node, kReasonAnnotation));
}

}  // namespace

bool is_kubernetes_node(const Json& node) {
  const Json& annotations = at(node, {"metadata", "annotations"});
  const Json& taints = at(node, {"spec", "taints"});
  return !text(at(node, {"metadata", "name"})).empty() && !text(at(node, {"metadata", "resourceVersion"})).empty() &&
         (annotations.is_null() || annotations.is_object()) && at(node, {"spec"}).is_object() &&
         (taints.is_null() || taints.is_array());
}

TargetReading judge_kubernetes_node(const Json& node, const MarkOwner& owner) {
  TargetReading seen;
  const bool unschedulable = is_unschedulable(node);
  seen.detail = "node " + net::one_line(text(at(node, {"metadata", "name"}))) +
                (unschedulable ? " is unschedulable" : " is schedulable");
  bool tainted = false;
  bool strange = false;
  if (const Json& taints = at(node, {"spec", "taints"}); taints.is_array()) {
    for (const Json& taint : taints) {
      const std::string value = text(at(taint, {"value"}));
      seen.detail += ", taint " + net::one_line(text(at(taint, {"key"})), 100) + '=' + net::one_line(value, 100) + ':' +
                     net::one_line(text(at(taint, {"effect"})), 40);
      if (!is_weft_taint(taint)) continue;
      tainted = true;
      strange = strange || !is_our_taint(taint, owner);
    }
  }
  const std::string reason = annotation(node, kReasonAnnotation);
  if (!reason.empty()) seen.detail += ", '" + net::one_line(reason) + "'";
  const bool ours = !strange && (tainted || (unschedulable && we_cordoned(node, owner)));
  if (ours)
    seen.state = TargetState::kOurs;
  else if (strange || unschedulable)
    seen.state = TargetState::kForeign;
  if (const auto other = owner.others_mark(reason)) seen.add_other(*other);
  seen.epoch = owner.epoch_in_reason(reason);
  return seen;
}

void put_out_of_service(Json& node, const RemedyOrder& order) {
  Json& spec = node["spec"];
  spec["unschedulable"] = true;
  Json& taints = spec["taints"];
  if (!taints.is_array()) taints = Json::array();
  taints.push_back({{"key", kTaintKey}, {"value", order.mark()}, {"effect", "NoSchedule"}});
  Json& annotations = node["metadata"]["annotations"];
  annotations[std::string(kReasonAnnotation)] = net::one_line(order.marked_reason());
  annotations[std::string(kCordonedAnnotation)] = "true";
}

void put_back_in_service(Json& node, const MarkOwner& owner) {
  Json& spec = node["spec"];
  if (spec.contains("taints") && spec["taints"].is_array()) {
    Json kept = Json::array();
    for (const Json& taint : spec["taints"])
      if (!is_our_taint(taint, owner)) kept.push_back(taint);
    if (kept.empty())
      spec.erase("taints");
    else
      spec["taints"] = std::move(kept);
  }
  if (we_cordoned(node, owner) && !others_cordoned(node)) spec.erase("unschedulable");
  Json& metadata = node["metadata"];
  if (!metadata.contains("annotations") || !metadata["annotations"].is_object()) return;
  metadata["annotations"].erase(std::string(kReasonAnnotation));
  metadata["annotations"].erase(std::string(kCordonedAnnotation));
}

}  // namespace weft::actuate
