// SPDX-License-Identifier: Apache-2.0
#pragma once
// OpenSM's hop_weights_file as text: a line "<switch GUID> <port> <weight>" for each port that costs more than one hop
// to send through (opensm(8), option -w; osm_ucast_mgr.c, set_hop_wf). Pure functions; lines of others stay as they
// are, where they are.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/ids.hpp"
#include "fabric/plan.hpp"
#include "fabric/result.hpp"

namespace weft::actuate {

/// How one end of a link stands in the file.
struct HopWeight {
  unsigned weight = 1;  ///< of the last line that names it, as OpenSM takes it; 1 where none does
  bool ours = false;    ///< that line carries our mark
  std::string comment;  ///< behind the weight, without '#'
};
/// What the file says of `port`; marks of `owner` are ours.
HopWeight hop_weight_of(std::string_view text, PortKey port, const MarkOwner& owner);

/// The ports that weigh `least` or more, whoever says so, each once.
std::vector<PortKey> heavy_ports(std::string_view text, unsigned least);

/// `text` with a line for each end of the link behind all others, marked as ours by `mark`
/// (RemedyOrder::marked_reason()). Lines of ours for these ends are replaced. No line is longer than OpenSM reads at
/// once, 255 bytes.
std::string with_hop_weight(std::string_view text, LinkKey link, unsigned weight, std::string_view mark,
                            const MarkOwner& owner);

/// `text` without our lines for either end of the link, whichever plan put them there.
std::string without_hop_weight(std::string_view text, LinkKey link, const MarkOwner& owner);

/// The epoch of the leader of `owner`'s installation that wrote the file last ("# weft epoch 4 of 1c9e0b7a5d3f2468", a
/// line that OpenSM passes over); 0 where none is written.
std::int64_t hop_weights_epoch(std::string_view text, const MarkOwner& owner);
/// `text` with that epoch.
std::string with_hop_weights_epoch(std::string_view text, std::int64_t epoch, const MarkOwner& owner);

/// Adds the marks of other installations, on whatever line, to what was seen.
void add_other_marks(std::string_view text, const MarkOwner& owner, TargetReading& seen);

/// The first line that OpenSM would give the whole file up for: it begins with no number; nullopt: it reads all of it.
std::optional<std::size_t> unreadable_hop_weight_line(std::string_view text);

}  // namespace weft::actuate
