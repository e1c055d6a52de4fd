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

bool is_same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && contains(a, b);
}

/// Takes ":swp1", " port swp1" or " swp1" off the end of the text.
std::string take_name(std::string_view& text) {
  constexpr std::string_view kPort = "port";
  auto last = text.rfind(':');
  const bool is_behind_colon = last != std::string_view::npos;
  if (!is_behind_colon) last = text.find_last_of(kSpaces);
  if (last == std::string_view::npos) return {};
  const std::string_view name = without_spaces(text.substr(last + 1));
  std::string_view before = without_spaces(text.substr(0, last));
  if (name.find_first_of(kSpaces) != std::string_view::npos) return {};
  if (const auto word = before.find_last_of(kSpaces);
      !is_behind_colon && word != std::string_view::npos && is_same(before.substr(word + 1), kPort))
    before = without_spaces(before.substr(0, word));
  text = before;
  return std::string(name);
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find_first_of(kSpaces), text.size());
    words.emplace_back(text.substr(0, size));
    text = without_spaces(text.substr(size));
  }
  return words;
}

}  // namespace

Result<LinkWords> LinkWords::parse(std::string_view text) {
  LinkWords wanted;
  text = without_spaces(text);
  wanted.port_ = take_port(text);
  wanted.words_ = split(text);
  if (wanted.words_.size() > kMost)
    return fail(ErrorCode::kInvalidArgument, "more than " + std::to_string(kMost) + " words to look for in links");
  for (const std::string& word : wanted.words_) wanted.phrase_ += (wanted.phrase_.empty() ? "" : " ") + word;
  if (!wanted.port_) {
    wanted.name_ = take_name(text);
    wanted.before_ = split(text);
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
  if (!name_.empty() && std::ranges::all_of(before_, [&](const std::string& word) {
        return std::ranges::any_of(names, [&](std::string_view name) { return contains(name, word); });
      }))
    has |= kBeforeName;
  return has;
}

bool LinkWords::fits(const End& a, const std::optional<End>& b) const {
  const Bits all = (Bits{1} << words_.size()) - 1;
  const auto has_all = [all](Bits has) { return (has & all) == all; };
  const auto is_named = [&](const End& end) { return (end.has & kBeforeName) != 0 && is_same(end.name, name_); };
  if (is_named(a) || (b && is_named(*b))) return true;
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
  return {*has, port.number.value, topology_->port_name(index)};
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
    return LinkWords::End{words_.words_of({port.node, to_string(port.key.node)}), port.key.port.value, port.name};
  };
  return words_.fits(end(link.ends.a), end(link.ends.b));
}

}  // namespace weft::api
