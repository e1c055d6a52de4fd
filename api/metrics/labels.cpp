// SPDX-License-Identifier: Apache-2.0
#include "api/metrics/labels.hpp"

#include <algorithm>

#include "api/publication/utf8.hpp"

namespace weft::api {
namespace {

constexpr std::string_view kBeforeName = "{node=\"";
constexpr std::string_view kBeforeGuid = "\",guid=\"";
constexpr std::string_view kAfterGuid = "\",port=\"";
constexpr std::size_t kGuidLength = 18;
constexpr std::size_t kLongestName = 256;

}  // namespace

void append_label_value(std::string& text, std::string_view value) {
  while (!value.empty()) {
    const std::size_t length = utf8_sequence_length(value);
    if (length == 0) {
      text += kReplacementCharacter;
      value.remove_prefix(1);
      continue;
    }
    switch (value.front()) {
      case '\\':
        text += "\\\\";
        break;
      case '"':
        text += "\\\"";
        break;
      case '\n':
        text += "\\n";
        break;
      default:
        text += value.substr(0, length);
    }
    value.remove_prefix(length);
  }
}

NodeLabels::NodeLabels(const Topology& topology) {
  const auto nodes = topology.nodes();
  begin_.reserve(nodes.size() + 1);
  text_.reserve(nodes.size() * 72);
  for (const Node& node : nodes) {
    begin_.push_back(static_cast<std::uint32_t>(text_.size()));
    text_ += kBeforeName;
    append_label_value(text_, std::string_view(node.name).substr(0, kLongestName));
    text_ += kBeforeGuid;
    text_ += to_string(node.guid);
    text_ += kAfterGuid;
    longest_ = std::max(longest_, text_.size() - begin_.back());
  }
  begin_.push_back(static_cast<std::uint32_t>(text_.size()));
}

std::string_view NodeLabels::name(NodeIndex node) const {
  std::string_view text = prefix(node);
  text.remove_prefix(kBeforeName.size());
  text.remove_suffix(kBeforeGuid.size() + kGuidLength + kAfterGuid.size());
  return text;
}

std::string_view NodeLabels::guid(NodeIndex node) const {
  std::string_view text = prefix(node);
  text.remove_suffix(kAfterGuid.size());
  return text.substr(text.size() - kGuidLength);
}

}  // namespace weft::api
