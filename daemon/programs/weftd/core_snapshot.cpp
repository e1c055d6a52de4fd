// SPDX-License-Identifier: Apache-2.0
// What Core shows.

#include <memory>
#include <span>
#include <utility>

#include "analyzer/incidents/health.hpp"
#include "daemon/programs/weftd/core.hpp"

namespace weft::daemon {

std::vector<FabricView> Core::views() const {
  std::vector<FabricView> all;
  for (const auto& [name, fabric] : fabrics_) all.push_back(fabric.view);
  explain_sight(all);
  return all;
}

void Core::publish() {
  const TimePoint now = clock_.now();
  tell_swept(now);
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->revision = ++revision_;
  snapshot->taken = now;
  snapshot->fabrics = views();
  snapshot->watches_subnets = config_.infiniband.enabled || config_.ethernet.is_watched();
  snapshot->no_port = no_port_;
  if (!writes_.is_writing() && unsaved_.empty())
    shown_ = incidents_.all();  // without those that have become too old to be kept
  snapshot->hosts = hosts_.views();
  const std::span<const std::shared_ptr<const HostView>> hosts =
      snapshot->hosts ? *snapshot->hosts : std::span<const std::shared_ptr<const HostView>>{};
  snapshot->drift = host_rules_.drift();
  snapshot->incidents = shown_;
  snapshot->maintenance = maintenance_.windows();
  snapshot->acceptances = acceptances_.runs();
  auto health = analyzer::assess(snapshot->fabrics, hosts, *shown_, *maintenance_.windows(), now);
  health = analyzer::with_unswept(std::move(health), known_subnets_, snapshot->fabrics, *shown_);
  health = analyzer::with_other_names(std::move(health), hosts);
  explain_standby(health);
  snapshot->health = std::make_shared<const std::vector<NodeHealth>>(std::move(health));
  for (std::size_t kind = 0; kind < opened_before_.size(); ++kind)
    snapshot->figures.incidents_opened[kind] =
        opened_before_[kind] + incidents_.opened(static_cast<IncidentKind>(kind));
  const store::StoreStatus status = store_.status();
  snapshot->figures.store_ok = status.ok;
  snapshot->figures.store_status = status.message;
  snapshot->leadership = leadership_;
  snapshot->site = site_;
  snapshot->switch_targets = switch_targets_;
  snapshot->incident_retention = config_.incidents.retention;
  snapshot->page_url = config_.events.page_url;
  while (snapshot->page_url.ends_with('/')) snapshot->page_url.pop_back();
  remedies_.complete(*snapshot, incidents_.last_evidence());
  publication_.publish(std::move(snapshot));
  published_ = now;
}

}  // namespace weft::daemon
