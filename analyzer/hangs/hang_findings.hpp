// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is said of a job that hangs.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/hangs/port_signs.hpp"
#include "analyzer/hangs/rank_reports.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

/// Evidence that a job hangs; `where` is the job.
inline constexpr std::string_view kHangSignal = "job_silent";

/// The job as a thing of its own: all its hosts.
Entity job_entity(std::string_view job);
/// The reverse; empty: it is no job.
std::string job_of(const Entity& entity);

/// That all hosts of the job which used the fabric, `members` of them (0: not known), have moved nothing for `silent`
/// until `now`; it was told after `patience`.
Evidence hang_evidence(std::string_view job, std::size_t members, Duration silent, Duration patience, TimePoint now);

/// JOB_HANG of the port that does most of what is suspect; `suspects` is not empty. Where half of the members do the
/// same, it is of the job.
Finding hang_at_ports(std::string_view job, std::size_t members, std::vector<HangSuspect> suspects);
/// JOB_HANG of what was an incident of that kind when the job fell silent, and is over.
Finding hang_since(std::string_view job, std::size_t members, IncidentKind kind, const Entity& cause, TimePoint began);
/// JOB_HANG of the host of a rank that does not answer, or is behind; of the job where the host is not known, or where
/// so many hosts are in the same trouble that it is none of theirs.
Finding hang_of_rank(std::string_view job, std::size_t members, const RankSuspect& suspect);
/// JOB_HANG of the job itself: INFO.
Finding hang_without_suspect(std::string_view job, std::size_t members);

}  // namespace weft::analyzer
