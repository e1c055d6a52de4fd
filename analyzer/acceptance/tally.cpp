// SPDX-License-Identifier: Apache-2.0
#include "analyzer/acceptance/tally.hpp"

#include <algorithm>
#include <utility>

#include "fabric/number_text.hpp"

namespace weft::analyzer {
namespace {

void keep(AcceptancePort port, std::vector<AcceptancePort>& all) {
  if (all.size() < kMostAcceptancePorts) all.push_back(std::move(port));
}

/// "; 3 failed", or nothing.
std::string part(std::uint32_t count, const char* what) {
  return count == 0 ? "" : ", " + count_text(count) + ' ' + what;
}

}  // namespace

void HostVerdicts::note(std::string_view host, AcceptanceKind kind, AcceptanceVerdict verdict) {
  const auto found = hosts_.find(host);
  if (found == hosts_.end()) return;
  if (verdict == AcceptanceVerdict::kFail) found->second.failed = true;
  if (verdict == AcceptanceVerdict::kNotYet) found->second.unfinished = true;
  if (verdict == AcceptanceVerdict::kNotMeasured && is_required(kind)) found->second.lacks = true;
}

std::vector<AcceptanceHost> HostVerdicts::verdicts() const {
  std::vector<AcceptanceHost> all;
  for (const auto& [host, seen] : hosts_)
    all.push_back({host, seen.failed       ? AcceptanceVerdict::kFail
                         : seen.unfinished ? AcceptanceVerdict::kNotYet
                         : seen.lacks      ? AcceptanceVerdict::kIncomplete
                                           : AcceptanceVerdict::kPass});
  return all;
}

Tally::Tally(AcceptanceKind kind, std::string limit, std::string source, HostVerdicts& hosts) : hosts_(hosts) {
  check_.kind = kind;
  check_.limit = std::move(limit);
  check_.source = std::move(source);
}

void Tally::add(AcceptancePort port) {
  hosts_.note(port.host, check_.kind, port.verdict);
  switch (port.verdict) {
    case AcceptanceVerdict::kPass:
      return pass();
    case AcceptanceVerdict::kFail:
      ++check_.failed;
      return keep(std::move(port), check_.ports);
    case AcceptanceVerdict::kNotYet:
      // What cannot be told when it ends makes the end of all of it unknown.
      if (check_.unfinished++ == 0)
        check_.judged_at = port.judged_at;
      else if (port.judged_at == kNever || check_.judged_at == kNever)
        check_.judged_at = kNever;
      else
        check_.judged_at = std::max(check_.judged_at, port.judged_at);
      return keep(std::move(port), unfinished_);
    default:
      ++check_.unmeasured;
      return keep(std::move(port), unmeasured_);
  }
}

AcceptanceCheck Tally::finish(std::string nothing) && {
  for (auto* more : {&unfinished_, &unmeasured_})
    for (AcceptancePort& port : *more) keep(std::move(port), check_.ports);
  check_.verdict = check_.failed > 0                             ? AcceptanceVerdict::kFail
                   : check_.unfinished > 0                       ? AcceptanceVerdict::kNotYet
                   : check_.unmeasured > 0 || check_.passed == 0 ? AcceptanceVerdict::kNotMeasured
                                                                 : AcceptanceVerdict::kPass;
  check_.told = count_text(check_.passed) + " passed" + part(check_.failed, "failed") +
                part(check_.unfinished, "unfinished") + part(check_.unmeasured, "not measured");
  if (check_.passed + check_.failed + check_.unfinished + check_.unmeasured == 0) check_.told = std::move(nothing);
  return std::move(check_);
}

}  // namespace weft::analyzer
