// SPDX-License-Identifier: Apache-2.0
#include "analyzer/acceptance/acceptance.hpp"

#include <array>
#include <utility>

#include "analyzer/acceptance/checks.hpp"
#include "fabric/host_names.hpp"

namespace weft::analyzer {
namespace {

using Check = AcceptanceCheck (*)(const AcceptanceFacts&, HostVerdicts&);

/// In the order of AcceptanceKind.
constexpr std::array<Check, kAcceptanceKinds> kChecks{
    check_presence,  check_cabling,       check_link_rate,   check_bit_errors, check_fec,    check_errors,
    check_incidents, check_configuration, check_temperature, check_pcie,       check_balance};

std::vector<AcceptanceView> views_of(const AcceptanceRun& run, const Snapshot& snapshot,
                                     const std::map<std::string, AcceptanceWatch>& watches) {
  std::vector<AcceptanceView> views;
  for (const FabricView& fabric : snapshot.fabrics) {
    if (!run.fabric.empty() && fabric.name != run.fabric) continue;
    // One that only the ledger knows is no concern of what is watched.
    if (run.fabric.empty() && fabric.is_unreachable) continue;
    AcceptanceView& view = views.emplace_back();
    view.fabric = &fabric;
    if (view.topology() != nullptr) view.scope = select_ports(run, *view.topology());
    if (const auto watch = watches.find(fabric.name); watch != watches.end()) view.watch = &watch->second;
  }
  return views;
}

/// Hosts that are judged each for itself: those at the ports, and those that were named and are at none.
void add_hosts(const AcceptanceRun& run, const std::vector<AcceptanceView>& views, HostVerdicts& hosts) {
  for (const AcceptanceView& view : views)
    for (const std::string& host : view.scope.hosts) hosts.add(host);
  for (const AcceptanceTarget& target : run.targets) {
    if (target.kind != AcceptanceTargetKind::kHost) continue;
    bool is_there = false;
    for (const AcceptanceView& view : views)
      for (const std::string& host : view.scope.hosts) is_there = is_there || same_host(host, target.name);
    if (!is_there) hosts.add(target.name);
  }
}

}  // namespace

AcceptanceReport AcceptanceJudge::judge(const AcceptanceRun& run, const Snapshot& snapshot,
                                        const std::map<std::string, AcceptanceWatch>& watches, TimePoint now) const {
  const std::vector<AcceptanceView> views = views_of(run, snapshot, watches);
  HostVerdicts hosts;
  add_hosts(run, views, hosts);
  static const std::vector<std::shared_ptr<const Incident>> kNone;
  const AcceptanceFacts facts{.run = run,
                              .views = views,
                              .hosts = snapshot.hosts,
                              .drift = snapshot.drift.get(),
                              .incidents = snapshot.incidents ? *snapshot.incidents : kNone,
                              .thresholds = thresholds_,
                              .bounds = bounds_,
                              .now = now};
  AcceptanceReport report;
  report.made = now;
  for (const Check check : kChecks) report.checks.push_back(check(facts, hosts));
  report.verdict = verdict_of(report.checks);
  report.hosts = hosts.verdicts();
  for (const AcceptanceView& view : views) {
    report.ports += static_cast<std::uint32_t>(view.scope.ports.size());
    const TimePoint began = view.watch ? view.watch->began() : kNever;
    if (began != kNever && (report.watched_since == kNever || began < report.watched_since))
      report.watched_since = began;
  }
  return report;
}

}  // namespace weft::analyzer
