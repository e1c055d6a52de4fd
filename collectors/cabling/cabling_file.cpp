// SPDX-License-Identifier: Apache-2.0
#include "collectors/cabling/cabling_file.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collectors/cabling/cable_table.hpp"
#include "collectors/cabling/dot_graph.hpp"
#include "collectors/cabling/subnet_end.hpp"

namespace weft::cabling {
namespace {

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= CablingLimits::kLongestName &&
         std::ranges::all_of(name, [](char letter) { return letter >= ' ' && letter <= '~'; });
}

/// An interface of Linux or of a switch: no blanks (a host's adapter is called "HOST INTERFACE").
bool is_port(std::string_view name) {
  return is_name(name) && name.find(' ') == std::string_view::npos;
}

/// What a format says of a node: true for a switch, false for a host. Nodes that are not in it are not told.
using Kinds = std::map<std::string, bool, std::less<>>;

/// Cables, and what the text says of their nodes.
struct Cabling {
  std::vector<CableLine> cables;
  Kinds is_switch;
};

void add_fault(Faults& faults, const CableLine& cable, std::initializer_list<std::string_view> words, std::size_t which,
               std::string reason) {
  cable.line > 0 ? faults.add(cable.line, std::move(reason)) : faults.add(words, which, std::move(reason));
}

std::string text_of(const WrittenEnd& end) {
  return in_quotes(end.node) + ':' + in_quotes(end.port);
}

Cabling cabling_of(const DotGraph& graph, Faults& faults) {
  Cabling cabling;
  if (graph.is_strict)
    faults.add({"strict"}, 0, "a strict graph allows one edge between two nodes only: parallel cables would be lost");
  for (const DotNode& node : graph.nodes) {
    if (!is_name(node.name)) faults.add({node.name}, 0, "a node's name is empty, too long, or not printable ASCII");
    if (!node.function.empty()) cabling.is_switch[node.name] = node.function != "host" && node.function != "server";
  }
  for (const DotEdge& edge : graph.edges)
    cabling.cables.push_back(
        {0, {graph.nodes[edge.tail].name, edge.tail_port}, {graph.nodes[edge.head].name, edge.head_port}});
  return cabling;
}

/// Whether the first word is one with which DOT begins, or a comment of it.
bool is_dot(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.empty() || line.starts_with('#')) continue;
    const std::string_view word = line.substr(0, line.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                                                                        "ABCDEFGHIJKLMNOPQRSTUVWXYZ"));
    const auto is = [word](std::string_view other) {
      return std::ranges::equal(word, other, {}, [](char letter) { return letter | 0x20; });
    };
    return is("graph") || is("digraph") || is("strict") || line.starts_with("//") || line.starts_with("/*");
  }
  return false;
}

/// A table may list each cable from both ends.
constexpr std::size_t kMostLines = 2 * CablingLimits::kMostCables;

/// The cables of a text in either format, as it writes them.
Result<Cabling> read(std::string_view text, Faults& faults) {
  if (text.size() > CablingLimits::kMostBytes)
    return fail(ErrorCode::kInvalidArgument,
                "line 1: more than " + std::to_string(CablingLimits::kMostBytes) + " bytes");
  if (!is_dot(text) && is_cable_table(text)) return Cabling{read_cable_table(text, kMostLines, faults), {}};
  const auto graph = parse_dot(text);
  if (!graph) return tl::unexpected(graph.error());
  return cabling_of(*graph, faults);
}

/// Takes out of `cables` those whose end is none, and those that a table lists a second time.
void check(std::vector<CableLine>& cables, Faults& faults) {
  struct Cabled {
    std::size_t times = 0;
    const CableLine* first = nullptr;
  };
  std::map<std::pair<std::string_view, std::string_view>, Cabled> cabled;
  const auto is_same = [](const CableLine& one, const CableLine& other) {
    return (one.a == other.a && one.b == other.b) || (one.a == other.b && one.b == other.a);
  };
  const auto is_wrong = [&](const CableLine& cable) {
    // With two ends each there are too many of them.
    if (faults.enough(cable.line) || cabled.size() > 2 * CablingLimits::kMostCables) return false;
    const auto add = [&](std::initializer_list<std::string_view> words, std::size_t which, std::string reason) {
      add_fault(faults, cable, words, which, std::move(reason));
      return true;
    };
    if (!is_name(cable.a.node) || !is_name(cable.b.node))
      return cable.line == 0 || add({}, 0, "a node's name is empty, too long, or not printable ASCII");
    if (!is_port(cable.a.port) || !is_port(cable.b.port))
      return add({cable.a.node, cable.a.port, cable.b.node, cable.b.port}, 0,
                 "the cable " + text_of(cable.a) + " -- " + text_of(cable.b) +
                     " needs a port name without blanks at both ends");
    if (cable.a.node == cable.b.node)
      return add({cable.a.node, cable.a.port, cable.b.port}, 0,
                 "the cable from " + text_of(cable.a) + " leads back to " + in_quotes(cable.a.node));
    for (const WrittenEnd* end : {&cable.a, &cable.b}) {
      Cabled& known = cabled[{end->node, end->port}];
      const std::size_t before = known.times++;
      if (before == 0)
        known.first = &cable;
      else if (cable.line > 0 && is_same(*known.first, cable))
        return true;  // a table may list both ends
      else
        add({end->node, end->port}, before,
            text_of(*end) + " already has a cable" +
                (cable.line > 0 ? ", in line " + std::to_string(known.first->line) : std::string()));
    }
    return false;
  };
  // They stay where they are until the last one was looked at.
  std::vector<bool> wrong;
  for (const CableLine& cable : cables) wrong.push_back(is_wrong(cable));
  std::size_t at = 0;
  std::erase_if(cables, [&](const CableLine&) { return wrong[at++]; });
}

/// The plan, or all faults. `switch_ports`: a node of which nothing is told is a switch if one of its ports matches.
Result<CablePlan> plan_of(const Cabling& cabling, const std::regex* switch_ports, Faults& faults) {
  if (cabling.cables.size() > CablingLimits::kMostCables)
    faults.add(1, "more than " + std::to_string(CablingLimits::kMostCables) + " cables");
  if (cabling.cables.empty() && faults.empty()) faults.add(1, "it has no cables");
  if (!faults.empty()) return tl::unexpected(faults.error());
  CablePlan plan;
  std::unordered_map<std::string_view, std::uint32_t> positions;
  const auto end_of = [&](const WrittenEnd& end) {
    const auto [found, added] = positions.try_emplace(end.node, static_cast<std::uint32_t>(plan.nodes.size()));
    const auto told = cabling.is_switch.find(end.node);
    if (added) plan.nodes.push_back({end.node, told != cabling.is_switch.end() && told->second});
    if (told == cabling.is_switch.end() && switch_ports && !plan.nodes[found->second].is_switch)
      plan.nodes[found->second].is_switch = std::regex_search(end.port, *switch_ports);
    return CableEnd{found->second, end.port};
  };
  for (const CableLine& cable : cabling.cables) {
    const CableEnd a = end_of(cable.a);
    plan.cables.push_back({a, end_of(cable.b), cable.line});
  }
  if (plan.nodes.size() <= CablingLimits::kMostNodes) return plan;
  faults.add(1, "more than " + std::to_string(CablingLimits::kMostNodes) + " nodes");
  return tl::unexpected(faults.error());
}

}  // namespace

Result<std::string> plan_text(std::string raw) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  constexpr std::size_t kLookedAt = 4096;
  if (raw.starts_with(kByteOrderMark)) raw.erase(0, kByteOrderMark.size());
  if (std::string_view(raw).substr(0, kLookedAt).find('\0') != std::string_view::npos)
    return fail(ErrorCode::kInvalidArgument, "line 1: a zero byte: save the file as UTF-8");
  if (raw.find('\n') == std::string::npos) std::ranges::replace(raw, '\r', '\n');
  return raw;
}

bool is_cabling(std::string_view text) {
  return is_dot(text) || is_cable_table(text);
}

Result<CablePlan> parse_cabling(std::string_view text, std::string_view switch_ports) {
  std::regex pattern;
  try {
    pattern.assign(switch_ports.begin(), switch_ports.end());
  } catch (const std::regex_error& error) {
    return fail(ErrorCode::kInvalidArgument,
                "line 1: " + in_quotes(switch_ports) + " is not a regular expression: " + error.what());
  }
  Faults faults(text);
  auto cabling = read(text, faults);
  if (!cabling) return tl::unexpected(cabling.error());
  check(cabling->cables, faults);
  return plan_of(*cabling, &pattern, faults);
}

Result<CablePlan> parse_subnet_cabling(std::string_view text) {
  Faults faults(text);
  auto cabling = read(text, faults);
  if (!cabling) return tl::unexpected(cabling.error());
  std::erase_if(cabling->cables, [&faults](CableLine& cable) {
    for (WrittenEnd* const end : {&cable.a, &cable.b}) {
      if (auto read = subnet_end(*end)) {
        *end = std::move(*read);
        continue;
      }
      add_fault(faults, cable, {end->node, end->port}, 0,
                in_quotes(end->port) + " is not a port of " + in_quotes(end->node) +
                    ": expected a number, \"Port 26\", \"Blade 3_Port 1/7\" or an adapter, \"mlx5_0\" or \"HCA-1/1\"");
      return true;
    }
    return false;
  });
  check(cabling->cables, faults);
  return plan_of(*cabling, nullptr, faults);
}

}  // namespace weft::cabling
