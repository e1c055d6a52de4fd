// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/adapters/actuate/kubernetes_node.hpp"
#include "daemon/adapters/actuate/slurm_node.hpp"
#include "daemon/platform/net/safe_text.hpp"
#include "fuzz.hpp"

namespace {

using weft::TargetState;
using weft::fuzz::demand;

const weft::MarkOwner kWe{"1c9e0b7a5d3f2468", {7}};

void check_nodes(const weft::Result<std::vector<weft::actuate::SlurmNode>>& nodes) {
  if (!nodes) return;
  for (const weft::actuate::SlurmNode& node : *nodes) {
    demand(!node.name.empty() && !node.states.empty(), "a node has a name and a state");
    const auto seen = weft::actuate::judge_slurm_node(node, "weft", kWe);
    demand(seen.state != TargetState::kOurs || (node.has("DRAIN") && kWe.owns_reason(node.reason)),
           "ours is what is drained with our mark");
    demand(!node.has("DRAIN") || seen.state != TargetState::kClear, "a drained node takes no jobs");
  }
  static_cast<void>(weft::actuate::find_slurm_node(*nodes, "n1"));
}

void check_kubernetes(std::string_view text) {
  const nlohmann::json read = nlohmann::json::parse(text, nullptr, false);
  const auto seen = weft::actuate::judge_kubernetes_node(read, kWe);
  if (!weft::actuate::is_kubernetes_node(read) || seen.state == TargetState::kForeign) return;
  weft::RemedyOrder order;
  order.plan = 7;
  order.owner = kWe;
  nlohmann::json node = read;
  if (seen.state == TargetState::kClear) {
    weft::actuate::put_out_of_service(node, order);
    demand(weft::actuate::judge_kubernetes_node(node, kWe).state == TargetState::kOurs, "what we took out is ours");
  }
  weft::actuate::put_back_in_service(node, kWe);
  demand(weft::actuate::judge_kubernetes_node(node, kWe).state != TargetState::kOurs, "nothing of ours stays");
  demand(node.value("status", nlohmann::json()) == read.value("status", nlohmann::json()), "the rest is as it was");
  static_cast<void>(node.dump());
}

}  // namespace

// The input is what scontrol prints, what slurmrestd answers, and a Node of Kubernetes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = weft::fuzz::text_of(data, size);
  check_nodes(weft::actuate::parse_scontrol_nodes(text));
  check_nodes(weft::actuate::parse_slurmrestd_nodes(text));
  check_kubernetes(text);
  const std::string line = weft::net::one_line(text, 100);
  demand(line.size() <= 100, "there is a bound");
  demand(std::ranges::none_of(line, [](unsigned char c) { return c < 0x20 || c == 0x7F; }), "no control characters");
  demand(weft::net::one_line(line) == line, "what was made fit is fit");
  return 0;
}
