// SPDX-License-Identifier: Apache-2.0
#pragma once
// LINK_FLAP of a link that went down once while a job sent over it.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

/// Which single flaps are worth a word: one flap can use up the retries of a queue pair, and with it ends an NCCL job.
/// Decided once for each flap, with the jobs that ran then.
class JobFlaps {
 public:
  /// Keeps a copy of its limits.
  explicit JobFlaps(const Thresholds& thresholds) : together_(thresholds.rdma_together) {}

  /// `findings`: what is wrong now, with the jobs that each thing hurts. Single flaps, which are LINK_FLAP with INFO,
  /// are taken out where no job ran, and where the link went down and came up for a reason that is told anyway: it was
  /// an outage's, or made the link slower, or ended that. The others say whose jobs they may have hurt.
  /// `source`: who judged, for each judges at times of its own; `is_all`: these are all its findings, not its news.
  void apply(std::vector<Finding>& findings, std::string_view source, bool is_all, TimePoint now);

 private:
  /// What else was said of a link.
  struct Trouble {
    TimePoint began = kNever, last = kNever;
    std::string source{};  ///< who said it last
  };
  struct Flap {
    TimePoint at = kNever;
    TimePoint last = kNever;  ///< when it was last among the findings
    std::vector<std::string> jobs{};
  };

  void note(const Entity& link, std::string_view source, TimePoint now);
  bool is_explained(const Finding& finding, TimePoint at) const;
  bool is_worth_a_word(Finding& finding, TimePoint now);

  Duration together_;
  std::map<std::string, Trouble> troubles_;               ///< by identity of the link
  std::map<std::string, Flap> flaps_;                     ///< the same
  std::map<std::string, TimePoint, std::less<>> judged_;  ///< by source: when it last gave all its findings
};

}  // namespace weft::analyzer
