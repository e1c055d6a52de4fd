// SPDX-License-Identifier: Apache-2.0
#pragma once
// Label text: escaping, and the labels every series of a port begins with.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/topology.hpp"

namespace weft::api {

/// Appends `value` as it stands between the quotes of a label: \, " and line ends escaped, bytes that are not UTF-8
/// replaced by U+FFFD (the exposition formats demand UTF-8, and a node map file may hold anything).
void append_label_value(std::string& text, std::string_view value);

/// `{node="leaf-1",guid="0x0000000000000001",port="` for each node of a topology, in one block of memory. Made anew for
/// each scrape: a few milliseconds for 40,000 nodes, and nothing to keep between scrapes. A name is cut after 256 bytes
/// (a NodeDescription has 64; the GUID tells nodes apart in any case).
class NodeLabels {
 public:
  explicit NodeLabels(const Topology& topology);

  /// The beginning of the labels of the node's ports, up to the port number.
  std::string_view prefix(NodeIndex node) const {
    return std::string_view(text_).substr(begin_[node], begin_[node + 1] - begin_[node]);
  }
  /// The escaped name within the prefix.
  std::string_view name(NodeIndex node) const;
  /// The GUID within the prefix.
  std::string_view guid(NodeIndex node) const;
  /// Length of the longest prefix, in bytes.
  std::size_t longest() const { return longest_; }

 private:
  std::string text_;
  std::vector<std::uint32_t> begin_;
  std::size_t longest_ = 0;
};

}  // namespace weft::api
