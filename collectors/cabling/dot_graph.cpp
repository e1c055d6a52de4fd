// SPDX-License-Identifier: Apache-2.0
#include "collectors/cabling/dot_graph.hpp"

#include <graphviz/cgraph.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "collectors/cabling/cable_line.hpp"
#include "collectors/cabling/dot_bounds.hpp"

// flex's yylex_destroy() of libcgraph's scanner, which cgraph.h does not declare. A text that ends within a comment or
// a string would else leave the next one to begin there.
extern "C" int aaglex_destroy(void);

namespace weft::cabling {
namespace {

// libcgraph's scanner and its complaints are global.
std::mutex one_at_a_time;
std::string complaints;

int note_complaint(char* text) {
  constexpr std::size_t kEnough = 4096;
  if (complaints.size() < kEnough) complaints += text;
  return 0;
}

struct Text {
  std::string_view rest;
};

// A line at a time, so that the scanner never holds more than that.
int read_line(void* channel, char* buffer, int size) {
  auto& text = *static_cast<Text*>(channel);
  std::size_t length = std::min({text.rest.find('\n'), text.rest.size(), static_cast<std::size_t>(size) - 1});
  if (length < text.rest.size() && length < static_cast<std::size_t>(size) && text.rest[length] == '\n') ++length;
  text.rest.copy(buffer, length);
  text.rest.remove_prefix(length);
  return static_cast<int>(length);
}

using Graph = std::unique_ptr<Agraph_t, int (*)(Agraph_t*)>;

std::string attribute(void* object, const char* name) {
  char* const value = agget(object, const_cast<char*>(name));
  return value ? value : "";
}

/// "Error: syntax error in line 3 near 'x'\n" → "line 3: syntax error near 'x'"
std::string in_our_words(const std::string& said) {
  constexpr std::string_view kIn = " in line ";
  std::string_view first(said);
  first = first.substr(0, first.find('\n'));
  for (const std::string_view level : {"Error: ", "Warning: "})
    if (first.starts_with(level)) first.remove_prefix(level.size());
  const std::size_t in = first.find(kIn);
  unsigned line = 0;
  if (in == std::string_view::npos) return "line 1: " + (first.empty() ? "it has no graph" : std::string(first));
  const char* const digits = first.data() + in + kIn.size();
  const auto end = std::from_chars(digits, first.data() + first.size(), line).ptr;
  std::string words = "line " + std::to_string(std::max(line, 1U)) + ": " + std::string(first.substr(0, in));
  for (const char letter : std::string_view(end, static_cast<std::size_t>(first.data() + first.size() - end)))
    words += letter >= ' ' && letter <= '~' ? letter : '?';
  return words;
}

DotGraph values_of(Agraph_t* graph) {
  DotGraph values;
  values.is_strict = agisstrict(graph) != 0;
  std::unordered_map<const Agnode_t*, std::uint32_t> positions;
  for (Agnode_t* node = agfstnode(graph); node; node = agnxtnode(graph, node)) {
    positions.emplace(node, static_cast<std::uint32_t>(values.nodes.size()));
    values.nodes.push_back({agnameof(node), attribute(node, "function")});
  }
  std::vector<std::pair<std::uint64_t, DotEdge>> edges;
  for (Agnode_t* node = agfstnode(graph); node; node = agnxtnode(graph, node))
    for (Agedge_t* edge = agfstout(graph, node); edge; edge = agnxtout(graph, edge))
      edges.emplace_back(std::uint64_t{AGSEQ(edge)}, DotEdge{positions.at(agtail(edge)), positions.at(aghead(edge)),
                                                             attribute(edge, "tailport"), attribute(edge, "headport")});
  std::ranges::stable_sort(edges, {}, &std::pair<std::uint64_t, DotEdge>::first);
  for (auto& [sequence, edge] : edges) values.edges.push_back(std::move(edge));
  return values;
}

}  // namespace

Result<DotGraph> parse_dot(std::string_view text) {
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    return fail(ErrorCode::kInvalidArgument, "line " + std::to_string(line_of(text, zero)) + ": a zero byte");
  if (const auto fit = check_dot_bounds(text); !fit) return tl::unexpected(fit.error());
  const std::lock_guard lock(one_at_a_time);
  complaints.clear();
  const agusererrf before = agseterrf(note_complaint);
  Agiodisc_t reader{read_line, AgIoDisc.putstr, AgIoDisc.flush};
  Agdisc_t services{&AgMemDisc, &AgIdDisc, &reader};
  Text rest{text};
  agsetfile(nullptr);
  agreadline(1);
  Graph graph(agread(&rest, &services), agclose);
  std::size_t another = 0;  // the line in which a second graph begins
  if (graph && complaints.empty()) {
    const std::string_view read = text.substr(0, text.size() - rest.rest.size());
    const std::size_t begin = text.find_first_not_of(" \t\r\n;", read.rfind('}') + 1);
    const Graph second(agread(&rest, &services), agclose);
    if (second) another = line_of(text, begin);
  }
  aaglex_destroy();
  agseterrf(before);
  agreseterrors();
  if (!complaints.empty() || !graph) return fail(ErrorCode::kInvalidArgument, in_our_words(complaints));
  if (another > 0)
    return fail(ErrorCode::kInvalidArgument, "line " + std::to_string(another) + ": a second graph begins");
  return values_of(graph.get());
}

}  // namespace weft::cabling
