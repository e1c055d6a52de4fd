// SPDX-License-Identifier: Apache-2.0
#pragma once
// What NCCL says of the ranks of a job that does not go on: the fact "nccl_ranks" of a host (ConfigFact::kNcclRanks).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// What is wrong with a rank, the worst last.
enum class RankTrouble : std::uint8_t {
  kBehind,   ///< it has launched fewer collectives than the others of its communicator
  kMissing,  ///< it did not answer NCCL
  kDead,     ///< NCCL has given it up
};
const char* to_string(RankTrouble trouble);  ///< "behind", "missing", "dead"

/// A rank in trouble.
struct StuckRank {
  RankTrouble trouble = RankTrouble::kMissing;
  std::optional<std::uint32_t> rank{};  ///< not known of a process that is no communicator's any more
  std::string host{};                   ///< address of its host, as NCCL knows it: "172.16.64.213"

  bool operator==(const StuckRank&) const = default;
};

/// One answer of NCCL.
struct StuckRanks {
  std::uint32_t ranks = 0;         ///< of the largest communicator that was told of
  std::vector<StuckRank> stuck{};  ///< the worst first; one for each host
  std::uint32_t more = 0;          ///< hosts that are not listed

  bool operator==(const StuckRanks&) const = default;
};

/// Of one text of a fact; further hosts are counted.
inline constexpr std::size_t kMostStuckText = 120;

/// "32 ranks: dead 21 at 172.16.64.213, behind 5 at 10.0.0.4, 3 more"; "32 ranks: all answer". At most kMostStuckText.
std::string to_text(const StuckRanks& ranks);
/// The reverse of to_text(); nullopt for any other text.
std::optional<StuckRanks> parse_stuck_ranks(std::string_view text);

}  // namespace weft
