// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "daemon/programs/collector/jobs.hpp"
#include "fuzz.hpp"

namespace {

using weft::fuzz::demand;

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

void check_file(std::string_view text) {
  const auto jobs = weft::collector::jobs_in_file(text);
  demand(jobs.size() <= weft::collector::kMostJobs, "there is a bound");
  for (const std::string& job : jobs) {
    demand(!job.empty(), "a job has a name");
    demand(std::ranges::none_of(job, is_control), "without control characters");
    demand(job.front() != ' ' && job.back() != ' ', "and without blanks around it");
  }
}

void check_group(std::string_view name) {
  if (const auto job = weft::collector::slurm_job(name)) {
    demand(job->starts_with("slurm:") && job->size() > 6, "it is one of Slurm's");
    demand(job->find_first_not_of("0123456789", 6) == std::string::npos, "with its number");
  }
  if (const auto pod = weft::collector::kubernetes_pod(name)) {
    demand(pod->starts_with("kubernetes:"), "it is one of Kubernetes'");
    demand(pod->find_first_not_of("0123456789abcdef-", 11) == std::string::npos, "with its identity");
  }
}

}  // namespace

// The input is what a prolog may have written, and, line by line, names of control groups.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = weft::fuzz::text_of(data, size);
  check_file(text);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    check_group(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return 0;
}
