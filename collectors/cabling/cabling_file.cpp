// SPDX-License-Identifier: Apache-2.0
#include "collectors/cabling/cabling_file.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <set>

#include "collectors/cabling/dot_graph.hpp"

namespace weft::cabling {
namespace {

constexpr std::size_t kShown = 20;

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_' || letter == '-' || letter == '/';
}

/// Is `word` in `line`, and not as a part of a longer one?
bool names(std::string_view line, std::string_view word) {
  if (word.empty()) return true;
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word(line[at - 1])) && (end == line.size() || !is_word(line[end]))) return true;
  }
  return false;
}

/// What is wrong, with the lines that speak of it.
class Faults {
 public:
  explicit Faults(std::string_view text) : text_(text) {}

  bool empty() const { return shown_.empty(); }
  bool enough() const { return shown_.size() >= kShown; }

  /// At the `which`-th line, from 0, that has all of these words; the last one where there are fewer, else the first
  /// line of all.
  void add(std::initializer_list<std::string_view> words, std::size_t which, const std::string& reason) {
    if (enough()) return;
    std::size_t found = 1, number = 0, met = 0;
    for (std::string_view rest = text_; !rest.empty() && met <= which;) {
      const std::size_t end = rest.find('\n');
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      ++number;
      if (!std::ranges::all_of(words, [line](std::string_view word) { return names(line, word); })) continue;
      found = number;
      ++met;
    }
    shown_.push_back("line " + std::to_string(found) + ": " + reason);
  }

  /// At the first line that has that letter.
  void add_at(char letter, const std::string& reason) {
    const auto before = text_.substr(0, std::min(text_.find(letter), text_.size()));
    shown_.push_back("line " + std::to_string(1 + std::ranges::count(before, '\n')) + ": " + reason);
  }

  Error error() const {
    std::string message;
    for (const std::string& line : shown_) message += (message.empty() ? "" : "\n") + line;
    return {ErrorCode::kInvalidArgument, std::move(message)};
  }

 private:
  std::string_view text_;
  std::vector<std::string> shown_;
};

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= CablingLimits::kLongestName &&
         std::ranges::all_of(name, [](char letter) { return letter >= ' ' && letter <= '~'; });
}

/// An interface of Linux or of a switch: no blanks (a host's adapter is called "HOST INTERFACE").
bool is_port(std::string_view name) {
  return is_name(name) && name.find(' ') == std::string_view::npos;
}

std::string in_quotes(std::string_view name) {
  std::string text = "\"";
  for (const char letter : name.substr(0, CablingLimits::kLongestName))
    text += letter >= ' ' && letter <= '~' ? letter : '?';
  return text + '"';
}

std::string end_of(const DotGraph& graph, std::uint32_t node, const std::string& port) {
  return in_quotes(graph.nodes[node].name) + ':' + in_quotes(port);
}

void check(const DotGraph& graph, Faults& faults) {
  if (graph.is_strict)
    faults.add({"strict"}, 0, "a strict graph allows one edge between two nodes only: parallel cables would be lost");
  if (graph.nodes.size() > CablingLimits::kMostNodes)
    faults.add({}, 0, "more than " + std::to_string(CablingLimits::kMostNodes) + " nodes");
  if (graph.edges.size() > CablingLimits::kMostCables)
    faults.add({}, 0, "more than " + std::to_string(CablingLimits::kMostCables) + " cables");
  if (graph.edges.empty()) faults.add({}, 0, "it has no cables");
  for (const DotNode& node : graph.nodes)
    if (node.name.starts_with('%'))  // libcgraph takes such names for its own numbers, and gives others back
      return faults.add_at('%', "a node's name must not begin with %");
    else if (!is_name(node.name))
      faults.add({node.name}, 0, "a node's name is empty, too long, or not printable ASCII");
  std::map<std::pair<std::uint32_t, std::string_view>, std::size_t> cabled;
  for (const DotEdge& edge : graph.edges) {
    if (faults.enough()) return;
    const std::string& tail = graph.nodes[edge.tail].name;
    const std::string& head = graph.nodes[edge.head].name;
    bool whole = true;
    for (const std::string* port : {&edge.tail_port, &edge.head_port})
      if (whole && !is_port(*port)) {
        whole = false;
        faults.add({tail, edge.tail_port, head, edge.head_port}, 0,
                   "the cable " + end_of(graph, edge.tail, edge.tail_port) + " -- " +
                       end_of(graph, edge.head, edge.head_port) + " needs a port name without blanks at both ends");
      }
    if (!whole) continue;
    if (edge.tail == edge.head) {
      faults.add({tail, edge.tail_port, edge.head_port}, 0,
                 "the cable from " + end_of(graph, edge.tail, edge.tail_port) + " leads back to " + in_quotes(tail));
      continue;
    }
    for (const auto& [node, port] : {std::pair{edge.tail, &edge.tail_port}, std::pair{edge.head, &edge.head_port}})
      if (const std::size_t before = cabled[{node, *port}]++; before > 0)
        faults.add({graph.nodes[node].name, *port}, before, end_of(graph, node, *port) + " already has a cable");
  }
}

CablePlan plan_of(const DotGraph& graph, const std::regex& switch_ports) {
  CablePlan plan;
  std::vector<std::uint32_t> position(graph.nodes.size(), 0);
  std::vector<std::uint8_t> used(graph.nodes.size(), 0), looks_like_switch(graph.nodes.size(), 0);
  for (const DotEdge& edge : graph.edges)
    for (const auto& [node, port] : {std::pair{edge.tail, &edge.tail_port}, std::pair{edge.head, &edge.head_port}}) {
      used[node] = 1;
      if (!looks_like_switch[node] && std::regex_search(*port, switch_ports)) looks_like_switch[node] = 1;
    }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const DotNode& node = graph.nodes[i];
    if (!used[i]) continue;
    position[i] = static_cast<std::uint32_t>(plan.nodes.size());
    const bool is_switch =
        node.function.empty() ? looks_like_switch[i] != 0 : node.function != "host" && node.function != "server";
    plan.nodes.push_back({node.name, is_switch});
  }
  for (const DotEdge& edge : graph.edges)
    plan.cables.push_back({{position[edge.tail], edge.tail_port}, {position[edge.head], edge.head_port}});
  return plan;
}

}  // namespace

Result<CablePlan> parse_cabling(std::string_view text, std::string_view switch_ports) {
  std::regex pattern;
  try {
    pattern.assign(switch_ports.begin(), switch_ports.end());
  } catch (const std::regex_error& error) {
    return fail(ErrorCode::kInvalidArgument,
                "line 1: " + in_quotes(switch_ports) + " is not a regular expression: " + error.what());
  }
  if (text.size() > CablingLimits::kMostBytes)
    return fail(ErrorCode::kInvalidArgument,
                "line 1: more than " + std::to_string(CablingLimits::kMostBytes) + " bytes");
  const auto graph = parse_dot(text);
  if (!graph) return tl::unexpected(graph.error());
  Faults faults(text);
  check(*graph, faults);
  if (!faults.empty()) return tl::unexpected(faults.error());
  return plan_of(*graph, pattern);
}

}  // namespace weft::cabling
