// SPDX-License-Identifier: Apache-2.0
#include "api/convert/link_filter.hpp"

#include <algorithm>
#include <charconv>

#include "api/convert/text_search.hpp"

namespace weft::api {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

bool is_space(char c) {
  return kSpaces.find(c) != std::string_view::npos;
}

std::string_view without_spaces(std::string_view text) {
  const auto first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

/// Takes ":12" or " port 12" off the end of the text.
std::optional<std::uint32_t> take_port(std::string_view& text) {
  const auto last = text.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == text.size()) return std::nullopt;
  std::uint32_t port = 0;
  if (std::from_chars(text.data() + last + 1, text.data() + text.size(), port).ec != std::errc{}) return std::nullopt;
  constexpr std::string_view kPort = "port";
  std::string_view before = without_spaces(text.substr(0, last + 1));
  if (before.ends_with(':')) {
    before.remove_suffix(1);
  } else {
    const std::size_t name = before.size() < kPort.size() ? 0 : before.size() - kPort.size();
    const bool stands_alone = is_space(text[last]) && name > 0 && is_space(before[name - 1]);
    if (!stands_alone || !contains(before.substr(name), kPort)) return std::nullopt;
    before = before.substr(0, name);
  }
  text = without_spaces(before);
  return port;
}

}  // namespace

Result<LinkWords> LinkWords::parse(std::string_view text) {
  LinkWords wanted;
  text = without_spaces(text);
  wanted.port_ = take_port(text);
  while (!text.empty()) {
    if (wanted.words_.size() == kMost)
      return fail(ErrorCode::kInvalidArgument, "more than " + std::to_string(kMost) + " words to look for in links");
    const std::size_t size = std::min(text.find_first_of(kSpaces), text.size());
    wanted.words_.emplace_back(text.substr(0, size));
    wanted.phrase_ += (wanted.phrase_.empty() ? "" : " ") + wanted.words_.back();
    text = without_spaces(text.substr(size));
  }
  return wanted;
}

LinkWords::Bits LinkWords::words_of(std::initializer_list<std::string_view> names) const {
  Bits has = 0;
  for (std::size_t i = 0; i < words_.size(); ++i)
    if (std::ranges::any_of(names, [&](std::string_view name) { return contains(name, words_[i]); }))
      has |= Bits{1} << i;
  if (words_.size() > 1 && std::ranges::any_of(names, [&](std::string_view name) { return contains(name, phrase_); }))
    has |= kPhrase;
  return has;
}

bool LinkWords::fits(const End& a, const std::optional<End>& b) const {
  const Bits all = (Bits{1} << words_.size()) - 1;
  const auto has_all = [all](Bits has) { return (has & all) == all; };
  if (port_) return (a.port == *port_ && has_all(a.has)) || (b && b->port == *port_ && has_all(b->has));
  const bool one_has_all = has_all(a.has) || (b && has_all(b->has));
  if (words_.size() <= 1) return one_has_all;
  if (((a.has | (b ? b->has : 0)) & kPhrase) != 0) return true;
  return !one_has_all && b && has_all(a.has | b->has);
}

LinkWords::End LinkFilter::end_of(PortIndex index) {
  const Port& port = topology_->port(index);
  std::optional<LinkWords::Bits>& has = nodes_[port.node];
  if (!has) {
    const Node& node = topology_->node(port.node);
    has = words_.words_of({node.name, host_name(node), to_string(node.guid)});
  }
  return {*has, port.number.value};
}

bool LinkFilter::fits(const Topology& topology, PortIndex index) {
  if (words_.is_empty()) return true;
  if (topology_ != &topology) {
    topology_ = &topology;
    nodes_.assign(topology.nodes().size(), std::nullopt);
  }
  const PortIndex peer = topology.port(index).peer;
  return words_.fits(end_of(index), peer == kNoIndex ? std::nullopt : std::optional(end_of(peer)));
}

bool LinkFilter::fits(const AbsentLink& link) const {
  if (words_.is_empty()) return true;
  const auto end = [&](const NamedPort& port) {
    return LinkWords::End{words_.words_of({port.node, to_string(port.key.node)}), port.key.port.value};
  };
  return words_.fits(end(link.ends.a), end(link.ends.b));
}

}  // namespace weft::api
