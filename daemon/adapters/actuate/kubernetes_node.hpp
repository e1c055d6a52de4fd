// SPDX-License-Identifier: Apache-2.0
#pragma once
// What our marks on a Kubernetes Node are and how they are put on and taken off. Pure: a Node's JSON in, a Node's JSON
// out, with everything else of it as it was.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "daemon/adapters/actuate/actuator.hpp"

namespace weft::actuate {

inline constexpr std::string_view kTaintKey = "weft.dev/unhealthy";           ///< its value is the plan, "PLAN-7"
inline constexpr std::string_view kReasonAnnotation = "weft.dev/reason";      ///< RemedyOrder::marked_reason()
inline constexpr std::string_view kCordonedAnnotation = "weft.dev/cordoned";  ///< "true": unschedulable is our doing
inline constexpr std::string_view kFieldManager = "weftd";                    ///< ours in metadata.managedFields

/// Whether it is shaped as a Node is, as far as we touch it: what the functions that change it ask for.
bool is_kubernetes_node(const nlohmann::json& node);

/// Ours: it has our taint, or is unschedulable with our annotations. Foreign: it is unschedulable without those, or our
/// taint has a value that is no mark of `owner`. Taints of others keep no node out of service as far as we are
/// concerned: every node with GPUs has some for good.
TargetReading judge_kubernetes_node(const nlohmann::json& node, const MarkOwner& owner);

/// Makes it unschedulable, with taint and annotations. For a node that is clear.
void put_out_of_service(nlohmann::json& node, const RemedyOrder& order);
/// Takes our taint and annotations off, and unschedulable where we set it and nobody set it anew since. For a node that
/// is ours.
void put_back_in_service(nlohmann::json& node, const MarkOwner& owner);

}  // namespace weft::actuate
