// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which links fit a text that somebody typed: ListLinksRequest.contains.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"

namespace weft::api {

/// What is looked for. Letters of ASCII are compared without regard to case.
class LinkWords {
 public:
  /// Words that a text may have.
  static constexpr std::size_t kMost = 16;
  /// One bit for each word that a node has, and kPhrase.
  using Bits = std::uint32_t;
  /// The node has several words as they stand, "dgx-04 mlx5_0": they are one name.
  static constexpr Bits kPhrase = Bits{1} << kMost;
  /// The node has all words before the port's name.
  static constexpr Bits kBeforeName = kPhrase << 1;
  /// One end of a link.
  struct End {
    Bits has = 0;             ///< of its node, see words_of()
    std::uint32_t port = 0;   ///< its number
    std::string_view name{};  ///< and name; empty where ports have numbers only
  };

  /// "leaf-1 port 12" and "leaf-1:12" are a port, other texts are words of nodes; where ports have names,
  /// "leaf01:swp1", "leaf01 swp1" and "leaf01 port swp1" may be one as well. kInvalidArgument for more than kMost
  /// words.
  static Result<LinkWords> parse(std::string_view text);

  /// Nothing is looked for: every link fits.
  bool is_empty() const { return words_.empty() && !port_; }
  /// The words that stand in at least one of a node's names.
  Bits words_of(std::initializer_list<std::string_view> names) const;
  /// Of a port: that end's node has all words. Of one word, or several that are one name: either end has it. Of
  /// several: both ends together have all, and neither alone. `b` is not set where the far end is not known.
  bool fits(const End& a, const std::optional<End>& b) const;

 private:
  std::vector<std::string> words_;
  std::string phrase_;  ///< all of them
  std::optional<std::uint32_t> port_;
  std::string name_;                 ///< of a port, which the last word may be; empty: it is none
  std::vector<std::string> before_;  ///< words before that
};

/// The links of a snapshot that fit, with the words of each node looked for once.
class LinkFilter {
 public:
  /// Keeps the words.
  explicit LinkFilter(LinkWords words) : words_(std::move(words)) {}
  /// `index` is an end of the link; no peer: the far end is not known. Ask of one topology after the other.
  bool fits(const Topology& topology, PortIndex index);
  /// Of a link that no topology has: its nodes have a name and a GUID only.
  bool fits(const AbsentLink& link) const;

 private:
  LinkWords::End end_of(PortIndex index);

  LinkWords words_;
  const Topology* topology_ = nullptr;  ///< that `nodes_` are of
  std::vector<std::optional<LinkWords::Bits>> nodes_;
};

}  // namespace weft::api
