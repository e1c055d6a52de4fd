// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which jobs hold this host, from what their schedulers leave on it. Names are those of HostReading::jobs.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/host.hpp"

namespace weft::collector {

inline constexpr std::size_t kMostJobs = 64;

/// "slurm:1234" for the control group "job_1234" that slurmstepd makes for a job; nullopt for any other.
std::optional<std::string> slurm_job(std::string_view group);
/// "kubernetes:<uid>" for a pod's control group: "pod<uid>" (cgroupfs driver), or "kubepods-pod<uid>.slice" and
/// "kubepods-burstable-pod<uid>.slice" with the uid's hyphens as underscores (systemd driver); nullopt for any other.
std::optional<std::string> kubernetes_pod(std::string_view group);
/// The lines of a prolog's file that are not empty, without blanks around them and without control characters; a line
/// that begins with # is a remark. At most kMostJobs.
std::vector<std::string> jobs_in_file(std::string_view text);

/// Where to look for jobs.
struct JobOptions {
  bool slurm = false;
  bool kubernetes = false;
  std::filesystem::path file;         ///< empty: none
  std::filesystem::path cgroup_root;  ///< control groups, version 2 or 1
};

/// The result of find_jobs().
struct JobsFound {
  std::vector<std::string> jobs;  ///< sorted, each once
  SourceStatus status;
};
/// Looks for jobs: a few folders and at most one file are read. Nothing of it fails as a whole.
JobsFound find_jobs(const JobOptions& options);

}  // namespace weft::collector
