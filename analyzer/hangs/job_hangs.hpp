// SPDX-License-Identifier: Apache-2.0
#pragma once
// JOB_HANG: all hosts of a running job are silent for minutes, and one port is what they wait for.

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/hangs/hang_findings.hpp"
#include "analyzer/hangs/job_traffic.hpp"
#include "analyzer/hangs/port_signs.hpp"
#include "analyzer/hangs/rank_reports.hpp"
#include "analyzer/thresholds/hangs.hpp"
#include "fabric/incident.hpp"

namespace weft::analyzer {

/// A job that used the fabric and moves nothing any more hangs where something on the fabric explains it. What is an
/// incident of its own by then (a link that is down, an adapter that is at fault) goes on telling it, with the job in
/// its words; else the port that goes on retrying, or takes nothing, has a JOB_HANG. A silence that nothing explains is
/// INFO after long. Jobs that never used the fabric, and those that end, do not hang.
class JobHangs {
 public:
  /// Keeps a copy of its limits.
  explicit JobHangs(const HangLimits& limits) : limits_(limits), traffic_(limits) {}

  /// An incident that was open when the process before ended: its job hangs until it is seen to go on.
  void remember(const Incident& incident);
  /// The host's series or ports are others; `followed` gets the positions of what is asked for.
  void follow(const HostWatch& host, std::vector<std::uint32_t>& followed);
  /// Takes a reading of the host that is no history.
  void take(const HostWatch& host, const HostMovement& movement);
  /// The facts of a reading that is no history: what NCCL says of ranks.
  void take(const HostWatch& host, const HostReading& reading) {
    if (limits_.enabled) ranks_.take(host.name, reading);
  }
  /// The host is forgotten.
  void forget(const std::string& host) {
    traffic_.forget(host);
    ranks_.forget(host);
  }

  /// What is wrong now on a fabric, with the jobs that each thing hurts: it may be what a job waits for, and then says
  /// so.
  void apply_findings(std::span<Finding> findings, TimePoint now);
  /// The same of what hosts tell; and adds JOB_HANG of what nothing else tells. `is_settled`: collectors had time to
  /// find us after our start; before, no hang is over.
  void judge(const Hosts& hosts, bool is_settled, TimePoint now, std::vector<Finding>& findings);

 private:
  /// Something wrong that may make a job hang.
  struct Cause {
    IncidentKind kind = IncidentKind::kLinkDown;
    Entity cause;
    Severity severity = Severity::kInfo;
    std::vector<std::string> jobs{};  ///< that it hurt at any time
    TimePoint began = kNever, last = kNever;
    TimePoint newest = kNever;         ///< of what comes again and again, the last time; else when it began
    std::optional<Finding> finding{};  ///< of RDMA_ERRORS, which would be over soon after their job stood still
  };
  struct Hang {
    TimePoint since = kNever;
    TimePoint now = kNever;   ///< when it was last seen to be silent
    Duration patience{};      ///< after which it was told
    std::size_t members = 0;  ///< hosts that used the fabric for it
    unsigned hosts = 0;       ///< held by it when it fell silent; 0: not known yet
    bool is_ending = false;   ///< hosts of it have left it since
    std::string cause{};      ///< key of causes_; empty: none
    Entity at{};              ///< the suspect; its job where there is none, or too many
    std::optional<Finding> own{};
    std::optional<Evidence> ranks{};  ///< what NCCL says
    bool is_told = false;
  };

  void note(std::span<const Finding> findings, TimePoint now);
  bool may_explain(const Cause& cause, std::string_view job, const Hang& hang) const;
  void compare(const Hosts& hosts, bool is_settled, TimePoint now);
  void look(std::string_view job, const JobSilence& silence, Hang& hang, const Hosts& hosts, TimePoint now);
  bool blame_cause(std::string_view job, Hang& hang);
  bool blame_port(std::string_view job, const JobSilence& silence, Hang& hang);
  static bool blame_rank(std::string_view job, const RankSuspect& suspect, Hang& hang);
  bool has_company(std::string_view job, TimePoint since) const;
  static void add_evidence(std::string_view job, const Hang& hang, Finding& finding);
  void add_words(std::span<Finding> findings) const;
  void carry_on(TimePoint now, std::vector<Finding>& findings);
  void absorb(std::vector<Finding>& findings);

  HangLimits limits_;
  JobTraffic traffic_;
  PortSigns signs_;
  RankReports ranks_;
  TimePoint compared_ = kNever;
  std::map<std::string, Cause, std::less<>> causes_;     ///< by kind and identity
  std::map<std::string, TimePoint, std::less<>> quiet_;  ///< jobs that are silent for a while, and since when
  std::map<std::string, Hang, std::less<>> hangs_;       ///< by job
};

}  // namespace weft::analyzer
