// SPDX-License-Identifier: Apache-2.0
#pragma once
// Questions about a whole site: this weftd's own part from its snapshot, the rest from the other shards, at the same
// time. A shard that does not answer within a second is named in the answer; what it owns is not passed over in
// silence.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/client/security.hpp"
#include "api/publication/publication.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"
#include "fabric/site.hpp"

namespace weft::v1 {
class Acceptance;
class GetAcceptanceRequest;
class ListAcceptancesRequest;
class ListAcceptancesResponse;
class BatchGetHealthRequest;
class BatchGetHealthResponse;
class GetCablingDifferencesRequest;
class GetCablingDifferencesResponse;
class GetDriftRequest;
class GetDriftResponse;
class EvidencePack;
class GetEvidenceRequest;
class GetJobHealthRequest;
class GetNodeResponse;
class GetPathRequest;
class GetPathResponse;
class Incident;
class JobHealth;
class GetPortHistoryRequest;
class GetPortHistoryResponse;
class GetStallMapRequest;
class GetStallMapResponse;
class IncidentTimeline;
class ListAuditRequest;
class ListAuditResponse;
class ListCollectorsRequest;
class ListCollectorsResponse;
class ListHealthRequest;
class ListHealthResponse;
class ListIncidentsRequest;
class ListIncidentsResponse;
class ListLinksRequest;
class ListLinksResponse;
class ListMaintenanceRequest;
class ListMaintenanceResponse;
class ListNodesRequest;
class ListNodesResponse;
class ListPlansRequest;
class ListPlansResponse;
class ListPortsRequest;
class ListPortsResponse;
class ListWorstLinksRequest;
class ListWorstLinksResponse;
class ListWorstRequest;
class ListWorstResponse;
class MaintenanceWindow;
class NodeHealth;
class Plan;
class Status;
class Topology;
}  // namespace weft::v1

namespace weft::api {

class SiteTopology;
class SiteWatches;

/// Hosts that one shard asks others for at once by find_collectors(): they compare each with all of theirs.
inline constexpr std::size_t kMostLostAtOnce = 100;

/// Figures of one shard for /metrics.
struct ShardFigures {
  std::string name;
  bool own = false;
  bool answers = false;    ///< when it was last asked; of the own one: the site lists it
  std::int64_t epoch = 0;  ///< of its leader, as the database has it
};

/// What a shard that answered knows of the collectors that it was asked about.
struct ShardCollectors {
  std::string shard;
  std::vector<HeardThere> known;
};

/// All members may be called from any thread. A callback is called once, at once or on a thread of gRPC.
class SiteQueries {
 public:
  /// Takes an answer.
  template <typename Response>
  using Done = std::function<void(Result<Response>)>;

  /// `security`: how we show the other shards who we are. `patience`: so long has each for an answer; zero: a second.
  /// What is passed by reference must outlive it.
  SiteQueries(const Publication& publication, const Clock& clock, ClientSecurity security,
              std::chrono::milliseconds patience = {});
  /// Stops.
  ~SiteQueries();
  SiteQueries(const SiteQueries&) = delete;
  SiteQueries& operator=(const SiteQueries&) = delete;

  /// False where this weftd is no part of a site, or alone in it: snapshots answer everything.
  bool has_others() const;

  /// See IncidentService. Pages of a site have the entries of some shards each.
  void list_incidents(const v1::ListIncidentsRequest& request, Done<v1::ListIncidentsResponse> done) const;
  /// One incident, from the shard that gave its id.
  void get_incident(const std::string& id, Done<v1::Incident> done) const;
  /// What was done about an incident, from the same.
  void get_incident_timeline(const std::string& id, Done<v1::IncidentTimeline> done) const;
  /// Health of one node, from all shards that know it; see HealthService.
  void get_health(const std::string& node, Done<v1::NodeHealth> done) const;
  /// Health of many nodes in one answer.
  void batch_get_health(const v1::BatchGetHealthRequest& request, Done<v1::BatchGetHealthResponse> done) const;
  /// A page of verdicts.
  void list_health(const v1::ListHealthRequest& request, Done<v1::ListHealthResponse> done) const;
  /// Health of a job, whose hosts may be in several shards.
  void get_job_health(const v1::GetJobHealthRequest& request, Done<v1::JobHealth> done) const;
  /// A page of plans; see RemedyService.
  void list_plans(const v1::ListPlansRequest& request, Done<v1::ListPlansResponse> done) const;
  /// One plan, from the shard that gave its id.
  void get_plan(const std::string& id, Done<v1::Plan> done) const;
  /// A page of maintenance windows; see MaintenanceService.
  void list_maintenance(const v1::ListMaintenanceRequest& request, Done<v1::ListMaintenanceResponse> done) const;
  /// One maintenance window, from the shard that gave its id.
  void get_maintenance(const std::string& id, Done<v1::MaintenanceWindow> done) const;
  /// A page of acceptances; see AcceptanceService.
  void list_acceptances(const v1::ListAcceptancesRequest& request, Done<v1::ListAcceptancesResponse> done) const;
  /// One acceptance, from the shard that gave its id.
  void get_acceptance(const v1::GetAcceptanceRequest& request, Done<v1::Acceptance> done) const;
  /// The nodes of that name in all shards; see FabricService.
  void get_node(const std::string& name, Done<v1::GetNodeResponse> done) const;
  /// A page of nodes; see FabricService.
  void list_nodes(const v1::ListNodesRequest& request, Done<v1::ListNodesResponse> done) const;
  /// A page of ports.
  void list_ports(const v1::ListPortsRequest& request, Done<v1::ListPortsResponse> done) const;
  /// A page of links.
  void list_links(const v1::ListLinksRequest& request, Done<v1::ListLinksResponse> done) const;
  /// What did the most harm over a time, of all shards.
  void list_worst(const v1::ListWorstRequest& request, Done<v1::ListWorstResponse> done) const;
  /// The worst links of all shards.
  void list_worst_links(const v1::ListWorstLinksRequest& request, Done<v1::ListWorstLinksResponse> done) const;
  /// The paths within each shard.
  void get_path(const v1::GetPathRequest& request, Done<v1::GetPathResponse> done) const;
  /// How the cabling of each subnet differs from what is expected; see FabricService.
  void get_cabling_differences(const v1::GetCablingDifferencesRequest& request,
                               Done<v1::GetCablingDifferencesResponse> done) const;
  /// All there is in the fabrics of that name, or in all where it is empty, of one shard after the other.
  std::shared_ptr<SiteTopology> topology(const std::string& fabric) const;
  /// Gives `take` each part of it until it says false; see read_all().
  void read_topology(const std::string& fabric, std::function<bool(v1::Topology&)> take, Done<void> done) const;
  /// For streams of the whole site.
  SiteWatches& watches() const;
  /// A page of collectors; see TelemetryService. A weftd that stands by asks its leader. Of a shard of which only a
  /// standby is reached they are missing.
  void list_collectors(const v1::ListCollectorsRequest& request, Done<v1::ListCollectorsResponse> done) const;
  /// How configurations differ; see FabricService. A weftd that stands by asks its leader.
  void get_drift(const v1::GetDriftRequest& request, Done<v1::GetDriftResponse> done) const;
  /// What other shards know of the collectors of `hosts`, which are lost here: an entry for each shard that answers.
  void find_collectors(const std::vector<std::string>& hosts,
                       std::function<void(std::vector<ShardCollectors>)> done) const;
  /// Another shard says by find_collectors() that it knows these hosts: without it there is no whole verdict of them.
  /// Of more than kMostLostAtOnce hosts it is no shard that asks. See KnownNodes::claim().
  void note_known(const std::string& shard, const v1::ListCollectorsRequest& request) const;
  /// The past of ports that the own shard does not know, as it says by `unknown`, from the shard that does; see
  /// HistoryService.
  void get_port_history(const v1::GetPortHistoryRequest& request, const Error& unknown,
                        Done<v1::GetPortHistoryResponse> done) const;
  /// How the own shard makes an evidence pack. It takes the answer at once or later, from any thread.
  using MakeEvidence = std::function<void(const v1::GetEvidenceRequest&, Done<v1::EvidencePack>)>;
  /// An evidence pack, from the shard that owns the incident, or the first that knows the node or port; see
  /// EvidenceService.
  void get_evidence(const v1::GetEvidenceRequest& request, const MakeEvidence& own, Done<v1::EvidencePack> done) const;
  /// The same of the switches of a fabric.
  void get_stall_map(const v1::GetStallMapRequest& request, const Error& unknown,
                     Done<v1::GetStallMapResponse> done) const;
  /// A page of the audit trails; see RemedyService. `own` reads the own shard's.
  void list_audit(const v1::ListAuditRequest& request,
                  const std::function<void(const v1::ListAuditRequest&, Done<v1::ListAuditResponse>)>& own,
                  Done<v1::ListAuditResponse> done) const;
  /// What the page draws of a shard's fabrics, as JSON: what there is or, with `state`, how it is. kNotFound for a
  /// shard that the site does not have.
  void get_map(const std::string& shard, bool state, Done<std::string> done) const;
  /// The refusal of a command about `what`, a node, port, link or fabric that this weftd does not know (`unknown`):
  /// belongs_to() where one other shard knows it, and no other may; kFailedPrecondition where several do, or a shard
  /// that does not answer may know it; else `unknown`.
  void refer(const std::string& what, const Error& unknown, std::function<void(Error)> done) const;
  /// The own status, and what is known of each shard.
  v1::Status status() const;

  /// Asks every other shard how it is, and looks after streams. Call it every few seconds: questions leave out a shard
  /// that did not answer.
  void probe() const;
  /// One entry for each shard, sorted by name; none where this weftd is no part of a site.
  std::vector<ShardFigures> figures() const;
  /// There are more hosts than it keeps in mind which shards know them; see KnownNodes.
  bool forgets_hosts() const;
  /// Ends questions that are open; later ones are answered without the other shards.
  void stop();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace weft::api
