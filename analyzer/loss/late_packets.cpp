// SPDX-License-Identifier: Apache-2.0
#include "analyzer/loss/late_packets.hpp"

#include <algorithm>
#include <unordered_map>

namespace weft::analyzer {
namespace {

/// What both sides counted of the same losses.
struct BothSides {
  double sent_again = 0, out_of_sequence = 0;

  void add(const LossEnd& end) {
    sent_again += end.sent_again;
    out_of_sequence += end.out_of_sequence;
  }
};

}  // namespace

void weigh_late_packets(std::span<LossEnd> ends) {
  BothSides all;
  std::unordered_map<std::uint32_t, BothSides> of_job;
  for (const LossEnd& end : ends) {
    all.add(end);
    for (const std::uint32_t job : end.jobs) of_job[job].add(end);
  }
  for (LossEnd& end : ends) {
    BothSides sides = end.jobs.empty() ? all : BothSides();
    for (const std::uint32_t job : end.jobs) {
      sides.sent_again += of_job[job].sent_again;
      sides.out_of_sequence += of_job[job].out_of_sequence;
    }
    // Without a NAK nobody has sent anything again, and nobody is hurt.
    if (sides.sent_again > 0) end.out_of_sequence /= std::max(1.0, sides.out_of_sequence / sides.sent_again);
  }
}

}  // namespace weft::analyzer
