// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/slurm_node.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>

#include "daemon/platform/net/safe_text.hpp"
#include "fabric/host_names.hpp"

namespace weft::actuate {
namespace {

/// Behind a state in older and compact spellings: "DRAIN*" does not respond, "IDLE~" is powered down … (sinfo(1), NODE
/// STATE CODES).
constexpr std::string_view kStateMarks = "*~#!%$@^-";

/// One state as flags: the compact spellings of sinfo(1) are split, the marks behind it are taken off.
void add_state(std::string_view text, std::vector<std::string>& states) {
  bool silent = false;
  while (!text.empty() && kStateMarks.find(text.back()) != std::string_view::npos) {
    silent = silent || text.back() == '*';
    text.remove_suffix(1);
  }
  std::string state(text);
  std::ranges::transform(state, state.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (state == "DRAINED" || state == "DRAINING" || state == "DRNG") state = "DRAIN";
  if (state == "FAILING" || state == "FAILG") state = "FAIL";
  if (state == "MAINT") state = "MAINTENANCE";
  if (!state.empty()) states.push_back(std::move(state));
  if (silent) states.emplace_back("NOT_RESPONDING");
}

std::string_view line_of(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// The value of the word `name`= in a line of such words.
std::optional<std::string_view> word(std::string_view line, std::string_view name) {
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string_view item = line.substr(begin, end - begin);
    if (item.size() > name.size() && item.starts_with(name) && item[name.size()] == '=')
      return item.substr(name.size() + 1);
    begin = end + 1;
  }
  return std::nullopt;
}

/// "disk [root@2026-11-21T20:07:45]": the reason, and who set it.
void set_reason(std::string_view text, SlurmNode& node) {
  const std::size_t open = text.rfind(" [");
  if (open != std::string_view::npos && text.ends_with(']')) {
    const std::string_view who = text.substr(open + 2, text.size() - open - 3);
    if (const std::size_t at = who.rfind('@'); at != std::string_view::npos) {
      node.reason_user = who.substr(0, at);
      text = text.substr(0, open);
    }
  }
  node.reason = text;
}

std::optional<Error> incomplete(const std::vector<SlurmNode>& nodes) {
  if (nodes.empty() || !nodes.back().states.empty()) return std::nullopt;
  return Error{ErrorCode::kProtocol, "Slurm returned no state for node " + net::one_line(nodes.back().name)};
}

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

bool SlurmNode::has(std::string_view state) const {
  return std::ranges::find(states, state) != states.end();
}

bool SlurmNode::may_be_by(std::string_view user) const {
  return user.empty() || reason_user.empty() || user == reason_user;
}

Result<std::vector<SlurmNode>> parse_scontrol_nodes(std::string_view text) {
  constexpr std::string_view kIndent = "   ";
  constexpr std::string_view kReason = "Reason=";
  std::vector<SlurmNode> nodes;
  bool reason_seen = false;
  while (!text.empty()) {
    std::string_view line = line_of(text);
    if (line.starts_with("NodeName=")) {
      if (const auto error = incomplete(nodes)) return tl::unexpected<Error>(*error);
      nodes.emplace_back().name = word(line, "NodeName").value_or("");
      if (nodes.back().name.empty()) return fail(ErrorCode::kProtocol, "Slurm returned a node without a name");
      reason_seen = false;
      continue;
    }
    // What follows the reason are texts of people (comment, extra): nothing in them counts.
    if (nodes.empty() || reason_seen || !line.starts_with(kIndent)) continue;
    line.remove_prefix(kIndent.size());
    SlurmNode& node = nodes.back();
    if (line.starts_with(kReason)) {
      set_reason(line.substr(kReason.size()), node);
      reason_seen = true;
    } else if (line.starts_with("NodeAddr=") || line.starts_with("NodeHostName=")) {
      node.hostname = word(line, "NodeHostName").value_or("");
    } else if (line.starts_with("State=")) {
      std::string_view state = *word(line, "State");
      while (true) {
        const std::size_t plus = state.find('+');
        add_state(state.substr(0, plus), node.states);
        if (plus == std::string_view::npos) break;
        state.remove_prefix(plus + 1);
      }
    }
  }
  if (const auto error = incomplete(nodes)) return tl::unexpected<Error>(*error);
  return nodes;
}

Result<std::vector<SlurmNode>> parse_slurmrestd_nodes(std::string_view json) {
  const nlohmann::json answer = nlohmann::json::parse(json, nullptr, false);
  if (!answer.is_object() || !answer.contains("nodes") || !answer["nodes"].is_array())
    return fail(ErrorCode::kProtocol, "slurmrestd's answer has no list of nodes");
  std::vector<SlurmNode> nodes;
  for (const nlohmann::json& item : answer["nodes"]) {
    if (!item.is_object()) return fail(ErrorCode::kProtocol, "slurmrestd returned a node that is not an object");
    SlurmNode& node = nodes.emplace_back();
    node.name = text_of(item, "name");
    node.hostname = text_of(item, "hostname");
    node.reason = text_of(item, "reason");
    node.reason_user = text_of(item, "reason_set_by_user");
    // An array from v0.0.39 on; a text with state_flags beside it before.
    for (const char* key : {"state", "state_flags"}) {
      if (!item.contains(key)) continue;
      if (item[key].is_string()) add_state(item[key].get<std::string>(), node.states);
      if (!item[key].is_array()) continue;
      for (const nlohmann::json& state : item[key])
        if (state.is_string()) add_state(state.get<std::string>(), node.states);
    }
    if (node.name.empty()) return fail(ErrorCode::kProtocol, "slurmrestd returned a node without a name");
    if (const auto error = incomplete(nodes)) return tl::unexpected<Error>(*error);
  }
  return nodes;
}

std::vector<std::vector<std::string>> drained_slurm_hosts(const std::vector<SlurmNode>& nodes) {
  std::vector<std::vector<std::string>> hosts;
  for (const SlurmNode& node : nodes) {
    if (!node.has("DRAIN")) continue;
    std::vector<std::string>& names = hosts.emplace_back(1, node.name);
    if (!node.hostname.empty()) names.push_back(node.hostname);
  }
  return hosts;
}

Result<SlurmNode> find_slurm_node(const std::vector<SlurmNode>& nodes, std::string_view host) {
  std::vector<const SlurmNode*> by_hostname;
  std::vector<const SlurmNode*> by_name;
  for (const SlurmNode& node : nodes) {
    if (same_host(node.hostname, host)) by_hostname.push_back(&node);
    if (same_host(node.name, host)) by_name.push_back(&node);
  }
  const std::string who = net::one_line(host);
  if (by_hostname.empty() && by_name.empty()) return fail(ErrorCode::kNotFound, "Slurm has no node for host " + who);
  if (by_hostname.size() > 1 || (by_hostname.empty() && by_name.size() > 1)) {
    const auto& several = by_hostname.empty() ? by_name : by_hostname;
    return fail(ErrorCode::kFailedPrecondition, std::to_string(several.size()) + " Slurm nodes run on host " + who +
                                                    ", " + several[0]->name + " and " + several[1]->name +
                                                    " among them: drain them by hand");
  }
  if (!by_hostname.empty() && !by_name.empty() && by_hostname.front() != by_name.front())
    return fail(ErrorCode::kFailedPrecondition, "host " + who + " runs node " + by_hostname.front()->name +
                                                    " of Slurm, and another node is named " + by_name.front()->name +
                                                    ": ambiguous");
  return by_hostname.empty() ? *by_name.front() : *by_hostname.front();
}

TargetReading judge_slurm_node(const SlurmNode& node, std::string_view our_user, const MarkOwner& owner) {
  constexpr std::array<std::string_view, 5> kOut{"DOWN", "FAIL", "ERROR", "FUTURE", "MAINTENANCE"};
  TargetReading seen;
  for (const std::string& state : node.states)
    seen.detail += (seen.detail.empty() ? "" : "+") + net::one_line(state, 40);
  seen.detail = "node " + net::one_line(node.name) + " is " + seen.detail;
  if (!node.reason.empty()) {
    seen.detail += ", reason '" + net::one_line(node.reason) + "'";
    if (!node.reason_user.empty()) seen.detail += " set by " + net::one_line(node.reason_user, 40);
  }
  if (node.has("DRAIN")) {
    seen.state =
        owner.owns_reason(node.reason) && node.may_be_by(our_user) ? TargetState::kOurs : TargetState::kForeign;
  } else if (std::ranges::any_of(kOut, [&node](std::string_view state) { return node.has(state); })) {
    seen.state = TargetState::kForeign;
  }
  return seen;
}

void add_slurm_marks(const std::vector<SlurmNode>& nodes, std::string_view our_user, const MarkOwner& owner,
                     TargetReading& seen) {
  for (const SlurmNode& node : nodes) {
    if (!node.has("DRAIN")) continue;
    if (const auto mark = owner.others_mark(node.reason)) seen.add_other(*mark);
    // Any operator may write a reason, and an epoch in it.
    if (node.may_be_by(our_user)) seen.epoch = std::max(seen.epoch, owner.epoch_in_reason(node.reason));
  }
}

}  // namespace weft::actuate
