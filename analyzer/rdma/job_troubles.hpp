// SPDX-License-Identifier: Apache-2.0
#pragma once
// RDMA_ERRORS of many ports of one job have one cause, and are one incident or none of their own.

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

/// When a host, a switch or a link of a job fails, the transfers of all its other members fail seconds later: that is
/// the outage's doing, and told as evidence of it. And when a job's transfers fail on many ports at once without such
/// an outage, its application ended or was killed, or something that all of them share is wrong: one incident for all.
class JobTroubles {
 public:
  explicit JobTroubles(const Thresholds& thresholds)
      : together_(thresholds.rdma_together), many_(thresholds.rdma_together_ports) {}

  /// What is wrong now, with the jobs that each thing hurts. Outages are remembered, and get as evidence what was found
  /// to be their doing. A single flap that made transfers fail is a WARNING.
  void apply_findings(std::span<Finding> findings, TimePoint now);

  /// Takes from `troubles`, RDMA_ERRORS of one port each, those that are an outage's doing, and makes one of those that
  /// are one job's.
  void gather(std::vector<Finding>& troubles, TimePoint now);

 private:
  struct Outage {
    std::vector<std::string> jobs;
    TimePoint began = kNever;                   ///< when it was noticed; of a link that flaps its last flap
    TimePoint last = kNever;                    ///< when it was last said to be there
    std::map<std::string, TimePoint> failed{};  ///< ports whose transfers failed because of it, and when they last did
    bool has_failed = false;                    ///< there were any
  };
  struct Known {
    TimePoint began = kNever, last = kNever;
    bool of_many = false;
  };

  void forget(TimePoint now);
  bool is_consequence(const Finding& trouble);

  Duration together_;
  std::size_t many_;
  std::map<std::string, Outage> outages_;  ///< by kind and identity of the cause
  std::map<std::string, Known> known_;     ///< troubles of one port, by identity of the cause
};

}  // namespace weft::analyzer
