// SPDX-License-Identifier: Apache-2.0
#pragma once
// When the members of collectives really began, and whether anybody who reads counters could have told who was late.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "tests/scenarios/scenario.hpp"

namespace weft::scenarios {

/// One iteration of a collective: all compute, each for its own time, and then communicate.
struct Iteration {
  std::size_t job = 0;          ///< position among the jobs
  double silent = 0;            ///< when the communication before it was over, seconds
  std::vector<double> began{};  ///< by member: when it was ready and sent its first
  double last = 0;              ///< when the last one began, and with it the communication
};

/// CollectiveStarts that must be to be seen before anybody can say that a host is a straggler, as the field has it: 3
/// of 3.
inline constexpr unsigned kBeginningsToTell = 3;
/// Others that must have been read silent later, and others that must have been read to have begun earlier.
inline constexpr unsigned kWitnesses = 2;
/// Readings without a first sending that must be there before anybody can know what an endpoint sends besides.
inline constexpr unsigned kReadingsToKnow = 3;
/// By so much, seconds: the clocks of hosts agree no better.
inline constexpr double kClearly = 0.05;

class CollectiveStarts {
 public:
  /// From now on what is added is kept: a day of it is much.
  void keep() { keeps_ = true; }
  void add(Iteration iteration) {
    if (keeps_) iterations_.push_back(std::move(iteration));
  }
  void begin_burst(std::size_t job, double at) {
    if (keeps_) bursts_.push_back({job, at, {}});
  }
  void end_burst(std::size_t job, double at);

  const std::vector<Iteration>& iterations() const { return iterations_; }
  /// Iterations between two moments in which the order of readings shows that `endpoint` was late. It was read silent
  /// for the first time before others were for the last time, so that it can not have begun unseen; and it was read
  /// silent for the last time clearly after others had been read to have begun. And no burst of storage covered it.
  /// Others count that were read both silent and begun. `readings`: by endpoint, ascending seconds.
  unsigned visible(std::span<const Job> jobs, std::uint32_t endpoint, const std::vector<std::vector<double>>& readings,
                   double from, double to) const;
  /// Readings of `endpoint` in silences, up to `to`, from which it follows what it sends besides its jobs. A host that
  /// begins with the others and sends less besides, so much less that its first makes up for it, is read the same in
  /// each reading in which it would have begun; the other readings differ. From `from` on it may be late, and would
  /// have begun with the median of the others; before that it is known when it began. `readings`: of the endpoint.
  unsigned telling(std::span<const Job> jobs, std::uint32_t endpoint, const std::vector<double>& readings, double from,
                   double to) const;

 private:
  struct Burst {
    std::size_t job = 0;
    double begin = 0;
    std::optional<double> end{};
  };
  bool covered(std::span<const Job> jobs, std::uint32_t endpoint, const Iteration& iteration) const;

  bool keeps_ = false;
  std::vector<Iteration> iterations_;
  std::vector<Burst> bursts_;
};

}  // namespace weft::scenarios
