// SPDX-License-Identifier: Apache-2.0
#include "api/site/site_queries.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "api/convert/cabling.hpp"
#include "api/convert/collectors.hpp"
#include "api/convert/drift.hpp"
#include "api/convert/fabric_map.hpp"
#include "api/convert/health.hpp"
#include "api/convert/incident_timeline.hpp"
#include "api/convert/maintenance.hpp"
#include "api/convert/path.hpp"
#include "api/convert/plans.hpp"
#include "api/convert/queries.hpp"
#include "api/convert/times.hpp"
#include "api/convert/worst_links.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/find_ports.hpp"
#include "api/publication/utf8.hpp"
#include "api/site/merge.hpp"
#include "api/site/rpc.hpp"
#include "api/site/shard_map.hpp"
#include "api/site/site_state.hpp"
#include "api/site/site_topology.hpp"
#include "fabric/id_series.hpp"
#include "weft/v1/fabric.grpc.pb.h"
#include "weft/v1/health.grpc.pb.h"
#include "weft/v1/incident.grpc.pb.h"
#include "weft/v1/maintenance.grpc.pb.h"
#include "weft/v1/remedy.grpc.pb.h"
#include "weft/v1/telemetry.grpc.pb.h"

namespace weft::api {

SiteQueries::SiteQueries(const Publication& publication, const Clock& clock, ClientSecurity security,
                         std::chrono::milliseconds patience)
    : state_(std::make_shared<State>(publication, clock, std::move(security),
                                     patience == patience.zero() ? kShardPatience : patience)) {}

SiteQueries::~SiteQueries() {
  stop();
}

void SiteQueries::stop() {
  state_->peers.stop();
}

bool SiteQueries::has_others() const {
  const SitePtr site = state_->publication.load()->site;
  return site && !site->others().empty();
}

bool SiteQueries::forgets_hosts() const {
  return state_->known.forgets();
}

void SiteQueries::list_incidents(const v1::ListIncidentsRequest& request, Done<v1::ListIncidentsResponse> done) const {
  state_->list<v1::IncidentService, v1::ListIncidentsResponse>(
      request, [](const Snapshot& snapshot, const auto& asked) { return api::list_incidents(snapshot, asked); },
      rpc(&Calls<v1::IncidentService>::List), [](v1::ListIncidentsResponse& page) { return page.mutable_incidents(); },
      done);
}

void SiteQueries::get_incident(const std::string& id, Done<v1::Incident> done) const {
  v1::GetIncidentRequest request;
  request.set_id(id);
  state_->get<v1::IncidentService, v1::Incident>(
      parse_incident_name(id), valid_utf8(id), request,
      [](const Snapshot& snapshot, const v1::GetIncidentRequest& asked) {
        return api::get_incident(snapshot, asked.id());
      },
      rpc(&Calls<v1::IncidentService>::Get), done);
}

void SiteQueries::get_incident_timeline(const std::string& id, Done<v1::IncidentTimeline> done) const {
  v1::GetIncidentRequest request;
  request.set_id(id);
  state_->get<v1::IncidentService, v1::IncidentTimeline>(
      parse_incident_name(id), valid_utf8(id), request,
      [&clock = state_->clock](const Snapshot& snapshot, const v1::GetIncidentRequest& asked) {
        return api::incident_timeline(snapshot, asked.id(), clock.now());
      },
      rpc(&Calls<v1::IncidentService>::GetTimeline), done);
}

void SiteQueries::get_health(const std::string& node, Done<v1::NodeHealth> done) const {
  const auto snapshot = state_->publication.load();
  auto local = api::get_health(*snapshot, node);
  if (!snapshot->site) return done(std::move(local));
  v1::GetHealthRequest request;
  request.set_node(node);
  state_->ask_all<v1::HealthService, v1::GetHealthRequest, v1::NodeHealth>(
      *snapshot, std::move(local), request, rpc(&Calls<v1::HealthService>::Get),
      [done, node, &known = state_->known](auto answers) {
        known.learn(answers, node);
        auto merged = merge_health(std::move(answers));
        if (merged) known.doubt(*merged, node);
        done(std::move(merged));
      },
      State::Needs::kBoth);
}

void SiteQueries::batch_get_health(const v1::BatchGetHealthRequest& request,
                                   Done<v1::BatchGetHealthResponse> done) const {
  const auto snapshot = state_->publication.load();
  auto local = api::batch_get_health(*snapshot, request);
  if (!snapshot->site || !local) return done(std::move(local));
  state_->ask_all<v1::HealthService, v1::BatchGetHealthRequest, v1::BatchGetHealthResponse>(
      *snapshot, std::move(local), request, rpc(&Calls<v1::HealthService>::BatchGet),
      [done, &known = state_->known](auto answers) {
        known.learn(answers);
        auto merged = merge_health(std::move(answers));
        known.doubt(merged);
        done(std::move(merged));
      });
}

void SiteQueries::list_health(const v1::ListHealthRequest& request, Done<v1::ListHealthResponse> done) const {
  state_->list<v1::HealthService, v1::ListHealthResponse>(
      request, [](const Snapshot& snapshot, const auto& asked) { return api::list_health(snapshot, asked); },
      rpc(&Calls<v1::HealthService>::List), [](v1::ListHealthResponse& page) { return page.mutable_nodes(); }, done);
}

void SiteQueries::get_job_health(const v1::GetJobHealthRequest& request, Done<v1::JobHealth> done) const {
  const auto snapshot = state_->publication.load();
  auto local = api::get_job_health(*snapshot, request);
  if (!snapshot->site || (!local && local.error().code != ErrorCode::kNotFound)) return done(std::move(local));
  state_->ask_all<v1::HealthService, v1::GetJobHealthRequest, v1::JobHealth>(
      *snapshot, std::move(local), request, rpc(&Calls<v1::HealthService>::GetJobHealth),
      [done, names_nodes = !request.nodes().empty(), &known = state_->known](auto answers) {
        known.learn(answers);
        auto merged = merge_job(std::move(answers), names_nodes);
        known.doubt(merged);
        done(std::move(merged));
      });
}

void SiteQueries::list_plans(const v1::ListPlansRequest& request, Done<v1::ListPlansResponse> done) const {
  state_->list<v1::RemedyService, v1::ListPlansResponse>(
      request, [](const Snapshot& snapshot, const auto& asked) { return api::list_plans(snapshot, asked); },
      rpc(&Calls<v1::RemedyService>::ListPlans), [](v1::ListPlansResponse& page) { return page.mutable_plans(); },
      done);
}

void SiteQueries::get_plan(const std::string& id, Done<v1::Plan> done) const {
  v1::GetPlanRequest request;
  request.set_id(id);
  state_->get<v1::RemedyService, v1::Plan>(
      parse_plan_name(id), valid_utf8(id), request,
      [](const Snapshot& snapshot, const v1::GetPlanRequest& asked) { return api::get_plan(snapshot, asked.id()); },
      rpc(&Calls<v1::RemedyService>::GetPlan), done);
}

void SiteQueries::list_maintenance(const v1::ListMaintenanceRequest& request,
                                   Done<v1::ListMaintenanceResponse> done) const {
  state_->list<v1::MaintenanceService, v1::ListMaintenanceResponse>(
      request,
      [&clock = state_->clock](const Snapshot& snapshot, const auto& asked) {
        return api::list_maintenance(snapshot, asked, clock.now());
      },
      rpc(&Calls<v1::MaintenanceService>::List),
      [](v1::ListMaintenanceResponse& page) { return page.mutable_windows(); }, done);
}

void SiteQueries::get_maintenance(const std::string& id, Done<v1::MaintenanceWindow> done) const {
  v1::GetMaintenanceRequest request;
  request.set_id(id);
  state_->get<v1::MaintenanceService, v1::MaintenanceWindow>(
      parse_maintenance_name(id), valid_utf8(id), request,
      [&clock = state_->clock](const Snapshot& snapshot, const v1::GetMaintenanceRequest& asked) {
        return api::get_maintenance(snapshot, asked.id(), clock.now());
      },
      rpc(&Calls<v1::MaintenanceService>::Get), done);
}

void SiteQueries::get_node(const std::string& name, Done<v1::GetNodeResponse> done) const {
  const auto snapshot = state_->publication.load();
  auto local = api::get_node(*snapshot, name, state_->clock.now());
  if (!snapshot->site || (!local && local.error().code != ErrorCode::kNotFound)) return done(std::move(local));
  v1::GetNodeRequest request;
  request.set_node(name);
  state_->ask_all<v1::FabricService, v1::GetNodeRequest, v1::GetNodeResponse>(
      *snapshot, std::move(local), request, rpc(&Calls<v1::FabricService>::GetNode),
      [done](auto answers) { done(merge_nodes(std::move(answers))); }, State::Needs::kBoth);
}

void SiteQueries::list_nodes(const v1::ListNodesRequest& request, Done<v1::ListNodesResponse> done) const {
  state_->list<v1::FabricService, v1::ListNodesResponse>(
      request,
      State::if_swept([](const Snapshot& snapshot, const auto& asked) { return api::list_nodes(snapshot, asked); }),
      rpc(&Calls<v1::FabricService>::ListNodes), [](v1::ListNodesResponse& page) { return page.mutable_nodes(); },
      done);
}

void SiteQueries::list_ports(const v1::ListPortsRequest& request, Done<v1::ListPortsResponse> done) const {
  state_->list<v1::FabricService, v1::ListPortsResponse>(
      request, State::if_swept([&clock = state_->clock](const Snapshot& snapshot, const auto& asked) {
        return api::list_ports(snapshot, asked, clock.now());
      }),
      rpc(&Calls<v1::FabricService>::ListPorts), [](v1::ListPortsResponse& page) { return page.mutable_ports(); },
      done);
}

void SiteQueries::list_links(const v1::ListLinksRequest& request, Done<v1::ListLinksResponse> done) const {
  state_->list<v1::FabricService, v1::ListLinksResponse>(
      request,
      State::if_swept([](const Snapshot& snapshot, const auto& asked) { return api::list_links(snapshot, asked); }),
      rpc(&Calls<v1::FabricService>::ListLinks), [](v1::ListLinksResponse& page) { return page.mutable_links(); },
      done);
}

void SiteQueries::list_worst_links(const v1::ListWorstLinksRequest& request,
                                   Done<v1::ListWorstLinksResponse> done) const {
  const auto snapshot = state_->publication.load();
  auto local = api::list_worst_links(*snapshot, request, state_->clock.now());
  if (!snapshot->site || (!local && local.error().code != ErrorCode::kNotFound)) return done(std::move(local));
  state_->ask_all<v1::FabricService, v1::ListWorstLinksRequest, v1::ListWorstLinksResponse>(
      *snapshot, std::move(local), request, rpc(&Calls<v1::FabricService>::ListWorstLinks),
      [done, limit = limit_of(request)](auto answers) { done(merge_worst_links(std::move(answers), limit)); },
      State::Needs::kSweep);
}

void SiteQueries::get_path(const v1::GetPathRequest& request, Done<v1::GetPathResponse> done) const {
  const auto snapshot = state_->publication.load();
  auto local = api::get_path(*snapshot, request);
  if (!snapshot->site || (!local && local.error().code == ErrorCode::kInvalidArgument)) return done(std::move(local));
  state_->ask_all<v1::FabricService, v1::GetPathRequest, v1::GetPathResponse>(
      *snapshot, std::move(local), request, rpc(&Calls<v1::FabricService>::GetPath),
      [done](auto answers) { done(merge_paths(std::move(answers))); }, State::Needs::kBoth);
}

void SiteQueries::get_cabling_differences(const v1::GetCablingDifferencesRequest& request,
                                          Done<v1::GetCablingDifferencesResponse> done) const {
  const auto snapshot = state_->publication.load();
  auto local = cabling_differences(*snapshot, request.fabric());
  if (!snapshot->site) return done(std::move(local));
  state_->ask_all<v1::FabricService, v1::GetCablingDifferencesRequest, v1::GetCablingDifferencesResponse>(
      *snapshot, std::move(local), request, rpc(&Calls<v1::FabricService>::GetCablingDifferences),
      [done](auto answers) { done(merge_cabling(std::move(answers))); }, State::Needs::kSweep);
}

void SiteQueries::get_drift(const v1::GetDriftRequest& request, Done<v1::GetDriftResponse> done) const {
  const auto snapshot = state_->publication.load();
  auto local = api::get_drift(*snapshot, request);
  if (!snapshot->site) return done(std::move(local));
  state_->ask_all<v1::FabricService, v1::GetDriftRequest, v1::GetDriftResponse>(
      *snapshot, std::move(local), request, rpc(&Calls<v1::FabricService>::GetDrift),
      [done](auto answers) { done(merge_drift(std::move(answers))); }, State::Needs::kCollectors);
}

std::shared_ptr<SiteTopology> SiteQueries::topology(const std::string& fabric) const {
  return std::make_shared<SiteTopology>(state_->publication.load(), fabric, state_->clock.now(), &state_->peers);
}

void SiteQueries::read_topology(const std::string& fabric, std::function<bool(v1::Topology&)> take,
                                Done<void> done) const {
  read_all(topology(fabric), std::move(take), std::move(done));
}

SiteWatches& SiteQueries::watches() const {
  return state_->watches;
}

void SiteQueries::list_collectors(const v1::ListCollectorsRequest& request,
                                  Done<v1::ListCollectorsResponse> done) const {
  state_->list<v1::TelemetryService, v1::ListCollectorsResponse>(
      request,
      [](const Snapshot& snapshot, const auto& asked) -> Result<v1::ListCollectorsResponse> {
        if (snapshot.site && snapshot.leadership.stands_by())
          return fail(ErrorCode::kUnavailable, leadership_text(snapshot.leadership));
        return api::list_collectors(snapshot, asked);
      },
      rpc(&Calls<v1::TelemetryService>::ListCollectors),
      [](v1::ListCollectorsResponse& page) { return page.mutable_collectors(); }, done, State::Needs::kCollectors);
}

void SiteQueries::find_collectors(const std::vector<std::string>& hosts,
                                  std::function<void(std::vector<ShardCollectors>)> done) const {
  const SitePtr site = state_->publication.load()->site;
  const std::vector<SiteShard> others = site ? site->others() : std::vector<SiteShard>();
  if (hosts.empty() || others.empty()) return done({});
  v1::ListCollectorsRequest request;
  for (const std::string& host : hosts) request.add_hosts(host);
  request.set_lost(true);
  const auto gathering = std::make_shared<Gathering<v1::ListCollectorsResponse>>(
      others.size(), [done = std::move(done), state = state_](const auto& answers) {
        std::vector<ShardCollectors> found;
        for (const ShardAnswer<v1::ListCollectorsResponse>& each : answers) {
          // What did not come in one page is not known.
          if (!each.answer || !each.answer->next_page_token().empty()) continue;
          ShardCollectors& shard = found.emplace_back(each.shard);
          for (const v1::Collector& collector : each.answer->collectors()) {
            if (collector.stored_sequence() == 0) continue;
            shard.known.push_back(heard_there(collector));
            state->known.learn(each.shard, collector.host());
          }
        }
        done(std::move(found));
      });
  for (std::size_t i = 0; i < others.size(); ++i)
    state_->peers.ask<v1::TelemetryService, v1::ListCollectorsRequest, v1::ListCollectorsResponse>(
        site, others[i], request, rpc(&Calls<v1::TelemetryService>::ListCollectors), false,
        [gathering, i](ShardAnswer<v1::ListCollectorsResponse> answer) { gathering->take(i, std::move(answer)); });
}

void SiteQueries::note_known(const std::string& shard, const v1::ListCollectorsRequest& request) const {
  const SitePtr site = state_->publication.load()->site;
  if (!site || !request.lost() || shard == site->own || site->find(shard) == nullptr) return;
  // A shard asks for few at once, and whoever may ask may say that he is one.
  if (static_cast<std::size_t>(request.hosts_size()) > kMostLostAtOnce) return;
  for (const std::string& host : request.hosts()) state_->known.claim(shard, host);
}

void SiteQueries::list_audit(const v1::ListAuditRequest& request,
                             const std::function<void(const v1::ListAuditRequest&, Done<v1::ListAuditResponse>)>& own,
                             Done<v1::ListAuditResponse> done) const {
  state_->list<v1::RemedyService, v1::ListAuditResponse>(
      request,
      [own](const Snapshot&, const v1::ListAuditRequest& asked, const Done<v1::ListAuditResponse>& take) {
        own(asked, take);
      },
      rpc(&Calls<v1::RemedyService>::ListAudit), [](v1::ListAuditResponse& page) { return page.mutable_records(); },
      done);
}

void SiteQueries::get_map(const std::string& shard, bool state, Done<std::string> done) const {
  const auto snapshot = state_->publication.load();
  const SitePtr& site = snapshot->site;
  const SiteShard* const owner = site ? site->find(shard) : nullptr;
  if (owner == nullptr) return done(fail(ErrorCode::kNotFound, "there is no shard " + valid_utf8(shard)));
  if (owner->name == site->own)
    return done(state ? fabric_map_state(*snapshot, state_->clock.now()) : fabric_map(*snapshot));
  read_map(state_->peers, site, *owner, state, std::move(done));
}

namespace {

/// What is said of a command about `what`, which the shards `knowing` know. One of them is named as the owner only
/// where no other shard may know the name: `missing` may, and those of them that are `unswept` say why. `is_own`: the
/// own shard knows a node of that name.
Error referred(const std::string& what, const Error& unknown, const std::vector<const SiteShard*>& knowing,
               const std::vector<std::string>& missing, const std::vector<std::string>& unswept, bool is_own) {
  if (knowing.empty() && !missing.empty() && !is_own)
    return {ErrorCode::kFailedPrecondition, unknown_in_site(unknown, missing, unswept).message};
  if (knowing.empty()) return unknown;
  if (knowing.size() == 1 && missing.empty() && !is_own) return belongs_to(what, *knowing.front());
  std::string where;
  for (const SiteShard* shard : knowing) where += (where.empty() ? "" : "; ") + where_to_ask(*shard);
  if (is_own) return {unknown.code, unknown.message + ". Others know a node of that name: " + where};
  std::string text = what + " is a name in " + (knowing.size() == 1 ? "" : "several shards: ") + where;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    text += (i == 0 ? "; it may be one, too, in shards that do not tell: " : ", ") + missing[i];
    if (std::ranges::find(unswept, missing[i]) != unswept.end()) text += " (has not swept yet)";
  }
  return {ErrorCode::kFailedPrecondition, text + ". Ask the one that is meant (weftctl --server)"};
}

}  // namespace

void SiteQueries::refer(const std::string& what, const Error& unknown, std::function<void(Error)> done) const {
  const auto snapshot = state_->publication.load();
  const SitePtr site = snapshot->site;
  if (!site || unknown.code != ErrorCode::kNotFound) return done(unknown);
  std::vector<const SiteShard*> watching;
  for (const SiteShard& shard : site->shards)
    if (shard.name != site->own && std::ranges::find(shard.fabrics, what) != shard.fabrics.end())
      watching.push_back(&shard);
  if (!watching.empty()) return done(referred(valid_utf8(what), unknown, watching, {}, {}, false));
  v1::BatchGetHealthRequest request;
  for (const std::string& name : node_names_in(what)) request.add_nodes(valid_utf8(name));
  state_->ask_all<v1::HealthService, v1::BatchGetHealthRequest, v1::BatchGetHealthResponse>(
      *snapshot, api::batch_get_health(*snapshot, request), request, rpc(&Calls<v1::HealthService>::BatchGet),
      [=](auto answers) {
        std::vector<const SiteShard*> knowing;
        std::vector<std::string> missing;
        std::vector<std::string> unswept;
        bool is_own = false;
        for (auto& each : answers) {
          const bool knows = each.answer && std::ranges::any_of(each.answer->nodes(), is_seen);
          if (each.shard == site->own)
            is_own = knows;
          else if (knows)
            knowing.push_back(site->find(each.shard));
          else if (is_named_missing(each))
            missing.push_back(each.shard);
          if (is_unswept(each)) unswept.push_back(each.shard);
        }
        done(referred(valid_utf8(what), unknown, knowing, missing, unswept, is_own));
      });
}

v1::Status SiteQueries::status() const {
  const auto snapshot = state_->publication.load();
  v1::Status status = api::status(*snapshot);
  if (!snapshot->site) return status;
  const auto reached = state_->peers.reached();
  const std::lock_guard lock(state_->mutex);
  for (v1::Status::Shard& shard : *status.mutable_shards()) {
    if (shard.own()) {
      *shard.mutable_open_incidents() = status.open_incidents();
      continue;
    }
    if (const auto found = reached.find(shard.name()); found != reached.end()) {
      shard.set_answers(found->second.answers);
      shard.set_trouble(valid_utf8(found->second.trouble));
    } else if (shard.trouble().empty()) {
      shard.set_trouble("not asked yet");
    }
    const auto told = state_->told.find(shard.name());
    if (told == state_->told.end()) continue;
    *shard.mutable_open_incidents() = told->second.open_incidents;
    set_timestamp(*shard.mutable_answered(), told->second.at);
    if (shard.answers() && told->second.only_standby)
      shard.set_trouble("a standby answers: nobody leads it now");
    else if (shard.answers() && !told->second.ready)
      shard.set_trouble(kNotSwept);
  }
  return status;
}

void SiteQueries::probe() const {
  state_->watches.look_after();
  const auto snapshot = state_->publication.load();
  const SitePtr& site = snapshot->site;
  if (!site) return;
  std::vector<SiteShard> asked = site->others();
  // A weftd that stands by asks its own leader, too; see ask_all().
  const SiteShard* const own = site->find(site->own);
  if (snapshot->leadership.stands_by() && own != nullptr) asked.push_back(*own);
  for (const SiteShard& shard : asked) {
    state_->peers.ask<v1::FabricService, v1::GetStatusRequest, v1::Status>(
        site, shard, {}, rpc(&Calls<v1::FabricService>::GetStatus), true,
        [state = state_.get()](const ShardAnswer<v1::Status>& answer) {
          if (!answer.answer) return;
          const v1::Status& status = *answer.answer;
          const std::lock_guard lock(state->mutex);
          state->told[answer.shard] = {status.open_incidents(), state->clock.now(),
                                       status.has_leadership() && !status.leadership().leads(), status.ready()};
        });
  }
}

std::vector<ShardFigures> SiteQueries::figures() const {
  const SitePtr site = state_->publication.load()->site;
  if (!site) return {};
  const auto reached = state_->peers.reached();
  std::vector<ShardFigures> figures;
  for (const SiteShard& shard : site->shards) {
    const auto found = reached.find(shard.name);
    const bool own = shard.name == site->own;
    if (shard.is_new && !own) continue;
    const bool answers = own ? !site->is_left : found != reached.end() && found->second.answers;
    figures.push_back({shard.name, own, answers, shard.epoch});
  }
  return figures;
}

}  // namespace weft::api
