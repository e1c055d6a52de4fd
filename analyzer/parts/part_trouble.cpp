// SPDX-License-Identifier: Apache-2.0
#include "analyzer/parts/part_trouble.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(PartSign::kCount)> kSignals{
    "pcie_", "module_temperature", "module_bias", "module_transmit_power", "adapter_temperature",
    "aer_",  "adapter_log",        "module_log"};

}  // namespace

IncidentKind kind_of(PartSign sign) {
  switch (sign) {
    case PartSign::kModuleTemperature:
    case PartSign::kLaserBias:
    case PartSign::kTransmitPower:
    case PartSign::kModuleLog:
      return IncidentKind::kModuleDegraded;
    case PartSign::kPcieLink:
    case PartSign::kAdapterTemperature:
    case PartSign::kPcieErrors:
    case PartSign::kAdapterLog:
    case PartSign::kCount:
      break;
  }
  return IncidentKind::kHostDegraded;
}

const char* signal_prefix(PartSign sign) {
  return kSignals[static_cast<std::size_t>(sign)];
}

Finding part_finding(IncidentKind kind, const HostWatch& host, const PortWatch& port,
                     std::span<const PartTrouble> troubles, std::vector<Entity> others) {
  Finding finding = make_finding(kind, Severity::kInfo, entity_of(host, port));
  std::vector<const PartTrouble*> ranked;
  for (const PartTrouble& trouble : troubles) ranked.push_back(&trouble);
  std::ranges::stable_sort(ranked, std::ranges::greater{}, &PartTrouble::severity);
  finding.summary = kind == IncidentKind::kModuleDegraded ? "Module at " : "Adapter of ";
  finding.summary += port.label + ": ";
  for (const PartTrouble* const trouble : ranked) {
    finding.severity = std::max(finding.severity, trouble->severity);
    finding.summary += (trouble == ranked.front() ? "" : "; ") + trouble->words;
    finding.evidence.insert(finding.evidence.end(), trouble->evidence.begin(), trouble->evidence.end());
  }
  finding.affected = std::move(others);
  finding.jobs = host.jobs;
  // It is read, not inferred.
  finding.confidence = 1;
  return finding;
}

}  // namespace weft::analyzer
