// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "daemon/programs/collector/ras_answer.hpp"
#include "fuzz.hpp"

// The input is what whoever listens on the RAS port says; and a fact that a host tells.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weft::fuzz::demand;
  const std::string_view text = weft::fuzz::text_of(data, size);
  if (const auto ranks = weft::collector::parse_ras_answer(text)) {
    demand(std::ranges::is_sorted(ranks->stuck, std::ranges::greater{}, &weft::StuckRank::trouble), "the worst first");
    const std::string told = weft::to_text(*ranks);
    demand(told.size() <= weft::kMostStuckText, "there is a bound");
    const auto read = weft::parse_stuck_ranks(told);
    demand(read.has_value() && read->ranks == ranks->ranks, "it is read again");
    demand(read->stuck.size() + read->more == ranks->stuck.size() + ranks->more, "and nobody is lost");
  }
  if (const auto ranks = weft::parse_stuck_ranks(text))
    demand(weft::parse_stuck_ranks(weft::to_text(*ranks)).has_value(), "what is read can be written");
  return 0;
}
