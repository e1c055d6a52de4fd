// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/collector/jobs.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <functional>
#include <system_error>
#include "fabric/result.hpp"

namespace weft::collector {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestFile = 64 * 1024;
constexpr std::size_t kMostEntries = 65'536;  // of one folder: no scheduler comes near

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The names of the folders in `folder`; none when it cannot be read.
std::vector<std::string> folders_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) names.push_back(entry->path().filename().string());
    if (names.size() >= kMostEntries) break;
  }
  return names;
}

using Parser = std::optional<std::string> (*)(std::string_view);
void take_from(const fs::path& folder, Parser parser, std::vector<std::string>& jobs) {
  for (const std::string& name : folders_in(folder))
    if (auto job = parser(name)) jobs.push_back(std::move(*job));
}

/// Version 1 has a hierarchy for each controller; every one shows the same jobs, so the first that has any will do.
const std::vector<std::string>& controllers() {
  static const std::vector<std::string> names{"freezer", "memory",  "cpuset", "cpu,cpuacct",
                                              "devices", "systemd", "pids"};
  return names;
}

/// slurmd names its folder after the node where several run on one host: "slurm_gpu-0001", "gpu-0001_slurmstepd.scope".
void find_slurm(const fs::path& root, std::vector<std::string>& jobs) {
  for (const std::string& scope : folders_in(root / "system.slice"))
    if (scope.ends_with("slurmstepd.scope")) take_from(root / "system.slice" / scope, slurm_job, jobs);
  for (const std::string& controller : controllers()) {
    const std::size_t before = jobs.size();
    for (const std::string& top : folders_in(root / controller)) {
      if (top != "slurm" && !top.starts_with("slurm_")) continue;
      for (const std::string& user : folders_in(root / controller / top))
        if (user.starts_with("uid_")) take_from(root / controller / top / user, slurm_job, jobs);
    }
    if (jobs.size() > before) return;
  }
}

void find_pods_below(const fs::path& root, std::vector<std::string>& jobs) {
  for (const char* top : {"kubepods.slice", "kubepods"})
    for (const char* quality : {"", "kubepods-burstable.slice", "kubepods-besteffort.slice", "burstable", "besteffort"})
      take_from(root / top / quality, kubernetes_pod, jobs);
}

void find_kubernetes(const fs::path& root, std::vector<std::string>& jobs) {
  const std::size_t before = jobs.size();
  find_pods_below(root, jobs);
  for (const std::string& controller : controllers())
    if (jobs.size() == before) find_pods_below(root / controller, jobs);
}

std::string read_file(const fs::path& file, std::string& trouble) {
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::string text(kLargestFile, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  // No file is what an epilog may leave behind: no jobs.
  if (!stream.is_open() && errno != ENOENT) trouble = "cannot read " + file.string() + ": " + errno_message(errno);
  return text;
}

}  // namespace

std::optional<std::string> slurm_job(std::string_view group) {
  constexpr std::string_view kPrefix = "job_";
  if (!group.starts_with(kPrefix)) return std::nullopt;
  const std::string_view id = group.substr(kPrefix.size());
  if (id.empty() || id.size() > 20 || !std::ranges::all_of(id, is_digit)) return std::nullopt;
  return "slurm:" + std::string(id);
}

std::optional<std::string> kubernetes_pod(std::string_view group) {
  std::string uid;
  if (group.starts_with("kubepods-") && group.ends_with(".slice")) {
    group.remove_suffix(std::string_view(".slice").size());
    const std::size_t at = group.rfind("-pod");
    if (at == std::string_view::npos) return std::nullopt;
    uid = group.substr(at + 4);
    std::ranges::replace(uid, '_', '-');
  } else if (group.starts_with("pod")) {
    uid = group.substr(3);
  }
  const bool is_uid = uid.size() >= 16 && uid.size() <= 64 && std::ranges::all_of(uid, [](char c) {
                        return is_digit(c) || (c >= 'a' && c <= 'f') || c == '-';
                      });
  if (!is_uid) return std::nullopt;
  return "kubernetes:" + uid;
}

std::vector<std::string> jobs_in_file(std::string_view text) {
  std::vector<std::string> jobs;
  while (!text.empty() && jobs.size() < kMostJobs) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    std::ranges::replace(line, '\t', ' ');
    std::erase_if(line, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
    const std::size_t first = line.find_first_not_of(' ');
    if (first == std::string::npos || line[first] == '#') continue;
    jobs.push_back(line.substr(first, line.find_last_not_of(' ') - first + 1));
  }
  return jobs;
}

JobsFound find_jobs(const JobOptions& options) {
  JobsFound found;
  found.status.name = "jobs";
  if (options.slurm) find_slurm(options.cgroup_root, found.jobs);
  if (options.kubernetes) find_kubernetes(options.cgroup_root, found.jobs);
  if ((options.slurm || options.kubernetes) && !fs::exists(options.cgroup_root))
    found.status.message = "no control groups at " + options.cgroup_root.string();
  if (!options.file.empty())
    for (std::string& job : jobs_in_file(read_file(options.file, found.status.message)))
      found.jobs.push_back(std::move(job));
  found.status.ok = found.status.message.empty();
  std::ranges::sort(found.jobs);
  found.jobs.erase(std::unique(found.jobs.begin(), found.jobs.end()), found.jobs.end());
  if (found.jobs.size() > kMostJobs) found.jobs.resize(kMostJobs);
  return found;
}

}  // namespace weft::collector
