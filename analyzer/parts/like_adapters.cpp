// SPDX-License-Identifier: Apache-2.0
#include "analyzer/parts/like_adapters.hpp"

#include <algorithm>

#include "analyzer/parts/part_trouble.hpp"
#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {

void LikeAdapters::add(const std::string& make, const std::string& shortfall, const std::string& host,
                       const Entity& where) {
  Make& of = counting_[make];
  ++of.adapters;
  of.hosts.insert(host);
  if (shortfall.empty()) return;
  ++of.counts[shortfall];
  std::vector<Entity>& some = of.short_ones[shortfall];
  if (some.size() < kMostAffected) some.push_back(where);
}

void LikeAdapters::end() {
  common_.clear();
  for (auto& [make, of] : counting_) {
    if (of.hosts.size() < limits_.least_hosts) continue;
    for (const auto& [shortfall, count] : of.counts)
      if (count >= limits_.majority * of.adapters)
        common_[{make, shortfall}] = {count, of.adapters, std::move(of.short_ones[shortfall])};
  }
  counting_.clear();
}

bool LikeAdapters::is_common(std::string_view make, std::string_view shortfall) const {
  return common_.contains({std::string(make), std::string(shortfall)});
}

void LikeAdapters::report(TimePoint now, std::vector<Finding>& findings) const {
  for (const auto& [which, common] : common_) {
    const auto& [make, shortfall] = which;
    Entity cause{.kind = EntityKind::kCohort, .fabric = {}, .port = {}, .peer = {}, .label = {}};
    cause.device = "pcie_links|" + make + '|' + shortfall;
    cause.label = "PCIe links of adapters of " + make;
    Finding finding = make_finding(IncidentKind::kHostDegraded, Severity::kInfo, cause);
    const std::string of =
        std::to_string(common.count) + " of " + std::to_string(common.adapters) + " adapters of " + make;
    finding.summary = of + " run at PCIe " + shortfall + ": a setting of the hosts, or how their slots are wired";
    Evidence evidence = fact("pcie_links_alike", of + " ran at PCIe " + shortfall, now, cause);
    evidence.value = common.count;
    evidence.threshold = limits_.majority * common.adapters;
    evidence.unit = "adapters";
    finding.evidence.push_back(std::move(evidence));
    finding.affected = common.where;
    finding.confidence = static_cast<double>(common.count) / common.adapters;
    findings.push_back(std::move(finding));
  }
}

}  // namespace weft::analyzer
