// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is wrong, since when, who is to blame and how sure we are.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/ids.hpp"

namespace weft {

/// Kinds of incidents. dashboards/runbooks explains each; the names are those of to_string().
enum class IncidentKind : std::uint8_t {
  kLinkDown,
  kLinkFlap,
  kLinkDegraded,
  kLinkErrors,
  kSwitchDown,
  kNodeDown,
  kCongestionIncast,
  kCongestionUnevenLoad,
  kCongestionOversubscribed,
  kSlowReceiver,
  kPfcStorm,
  kDeadlock,
  kSilentLoss,
  kRdmaErrors,
  kStraggler,
  kMiscabled,
  kDuplicateGuid,
  kCounterStuck,
  kTelemetryLost,
  kLinksNotActivated,
  kConfigDrift,
  kHostDegraded,
  kModuleDegraded,
  kJobHang,
  kCount,
};
/// "LINK_DOWN" …: the spelling of metrics, JSON, the store and people.
const char* to_string(IncidentKind kind);
/// The reverse of to_string(). The spelling must be exact; nullopt for any other text.
std::optional<IncidentKind> parse_incident_kind(std::string_view text);

/// A switch or a host is down as a whole, with all its ports.
constexpr bool is_node_outage(IncidentKind kind) {
  return kind == IncidentKind::kSwitchDown || kind == IncidentKind::kNodeDown;
}
/// Something is down and stays down: a link, a switch or a host. What it affects is out of reach, not merely slow.
constexpr bool is_outage(IncidentKind kind) {
  return kind == IncidentKind::kLinkDown || kind == IncidentKind::kLinksNotActivated || is_node_outage(kind);
}
/// An outage, or a part of the fabric that is out of sight: what lies behind either one cannot be seen, so that trouble
/// there may follow from it. Without LINK_FLAP: that link comes back and is read again.
constexpr bool is_outage_or_blindness(IncidentKind kind) {
  return is_outage(kind) || kind == IncidentKind::kTelemetryLost;
}
/// From so many links on, which are trained at once and not activated, the subnet manager is in doubt and not they.
inline constexpr std::size_t kManyNotActivated = 3;
/// A part around a host's port works worse than it could, or is about to fail: its adapter with the slot, or its
/// module.
constexpr bool is_of_parts(IncidentKind kind) {
  return kind == IncidentKind::kHostDegraded || kind == IncidentKind::kModuleDegraded;
}
/// Collectors tell of it, not sweeps, also where it is of a port or a link of a watched fabric; LINK_DEGRADED only on
/// Ethernet.
constexpr bool is_told_by_hosts(IncidentKind kind) {
  return kind == IncidentKind::kRdmaErrors || kind == IncidentKind::kSilentLoss || kind == IncidentKind::kStraggler ||
         kind == IncidentKind::kLinkDegraded || kind == IncidentKind::kConfigDrift || kind == IncidentKind::kJobHang ||
         is_of_parts(kind);
}
/// What may cut connections of jobs, for a moment or for good: a flap is enough to lose transfers, and behind what is
/// out of sight there may be an outage.
constexpr bool may_cut_connections(IncidentKind kind) {
  return is_outage_or_blindness(kind) || kind == IncidentKind::kLinkFlap;
}

/// How urgent an incident is, from low to high.
enum class Severity : std::uint8_t { kInfo, kWarning, kCritical };
const char* to_string(Severity severity);  ///< "INFO", "WARNING", "CRITICAL"
/// The reverse of to_string(); nullopt for any other text.
std::optional<Severity> parse_severity(std::string_view text);

/// The life cycle of an incident.
enum class IncidentState : std::uint8_t { kOpen, kAcknowledged, kResolved };
const char* to_string(IncidentState state);  ///< "OPEN", "ACKNOWLEDGED", "RESOLVED"
/// The reverse of to_string(); nullopt for any other text.
std::optional<IncidentState> parse_incident_state(std::string_view text);

/// What became of an incident at one moment.
enum class IncidentChange : std::uint8_t {
  kOpened,
  kReopened,
  kUpdated,          ///< its summary says something else
  kSeverityChanged,  ///< and the summary may say something else too
  kAcknowledged,
  kSilenced,
  kSilenceEnded,  ///< on request; a silence that ends at its time leaves no entry
  kResolved,
  kFolded,  ///< resolved, because it is part of another incident
};
/// "OPENED", "REOPENED", "UPDATED", "SEVERITY_CHANGED", "ACKNOWLEDGED", "SILENCED", "SILENCE_ENDED", "RESOLVED",
/// "FOLDED"
const char* to_string(IncidentChange change);
/// The reverse of to_string(); nullopt for any other text.
std::optional<IncidentChange> parse_incident_change(std::string_view text);

/// What kind of thing an Entity is.
enum class EntityKind : std::uint8_t { kFabric, kNode, kPort, kLink, kCollector, kHostPort, kHost, kCohort };
const char* to_string(
    EntityKind kind);  ///< "fabric", "node", "port", "link", "collector", "host_port", "host", "cohort"
/// The reverse of to_string(); nullopt for any other text.
std::optional<EntityKind> parse_entity_kind(std::string_view text);

/// A thing that incidents speak of. Which fields are set follows from `kind`: a fabric has none but its name; a node
/// its GUID; a port a key; a link both keys (canonical order, see LinkKey); a collector its host's name in `host`; a
/// port that only a collector sees `host`, `device` and port.port (0 for an interface alone); a host, which a scheduler
/// drains as a whole, `host`; a cohort, which is one setting of all ports of one make, or all hosts of a job, `device`.
/// A host's port that is on a watched subnet is a port, known by its key there; in a cause that only its collector
/// tells of, `host` names that one. Equality and identity are kind, fabric and what is set for that kind; labels may
/// change, and so may the host of a port or link.
struct Entity {
  EntityKind kind = EntityKind::kFabric;
  std::string fabric;
  PortKey port;          ///< node and port; port 0 for a node
  PortKey peer;          ///< the other end, of a link
  std::string label;     ///< for people: "leaf-1 port 12 - dgx-04 mlx5_0 port 1"
  std::string host{};    ///< of a collector, host_port or host; of a port or link, whose collector told of it
  std::string device{};  ///< of a host_port, as HostPort::device; of a cohort which one it is

  /// Text that is equal exactly when the entity is the same: key of maps and of the store.
  std::string identity() const;
  /// Equal identities, without making them.
  bool same_as(const Entity& other) const;
};

/// One fact a person can check.
struct Evidence {
  std::string signal;       ///< "port_state", "link_downed", "symbol_errors", …
  std::string description;  ///< one sentence with the numbers in it
  double value = 0;
  double threshold = 0;  ///< 0 where none applies
  std::string unit;      ///< "", "events", "errors/bit", "Gb/s", "s"
  TimePoint observed = kNever;
  Entity where;       ///< the port or node that the signal was read from
  Duration window{};  ///< that `value` is counted or averaged over, up to `observed`; 0: a state of that moment
};

/// A link of a congestion tree. It waits for the link that it leads to, which cannot pass on what it brings.
struct WaitingLink {
  Entity sender;        ///< the port that sends into it
  std::string towards;  ///< its other end, for people: "leaf-1 port 7"
  /// Position of the link that it waits for, always a smaller one than its own; nullopt: here the waiting ends.
  std::optional<std::uint32_t> waits_for{};
  double stall_ratio = 0;        ///< share of time with data and no credit, 0..1
  double utilization_ratio = 0;  ///< what it sends, of its rate, 0..1
};

/// The links that wait for a cause, those it begins with first.
struct WaitingTree {
  std::vector<WaitingLink> links{};  ///< the worst of them, each after the one it waits for
  std::uint64_t total = 0;           ///< links that wait, those that are not listed too
};

/// A part of a link that may be at fault, and that people can touch.
enum class LinkPart : std::uint8_t { kHost, kCable, kModule, kSwitch };
const char* to_string(LinkPart part);  ///< "HOST", "CABLE", "MODULE", "SWITCH"
/// The reverse of to_string(); nullopt for any other text.
std::optional<LinkPart> parse_link_part(std::string_view text);

/// A part of a link that may be at fault. A cable is meant with its modules, unless one of those is a suspect itself.
struct Suspect {
  LinkPart part = LinkPart::kCable;
  Entity where;      ///< the link of a cable; the port that a module is in; of a host or switch a port, or all of it
  double share = 0;  ///< 0..1: how likely it is this one; those of all suspects make 1
};

/// Which part of a link to touch first, and why.
struct Advice {
  std::vector<Suspect> suspects{};     ///< the likeliest first; empty: there is no advice
  bool is_clear = false;               ///< readings favour the first suspect; false: they cannot tell it from others
  std::string first{};                 ///< what to do first, for people
  std::vector<std::string> reasons{};  ///< what was read, a sentence each, the weightiest first
};
/// Do both say to do the same, of the same parts? Shares and reasons may have moved.
bool same_advice(const Advice& a, const Advice& b);

/// What a detection rule says of one snapshot: stateless towards incidents, which live in analyzer/incidents.
/// kind + cause.identity() is the key under which findings of successive snapshots are the same trouble.
struct Finding {
  IncidentKind kind = IncidentKind::kLinkDown;
  Severity severity = Severity::kWarning;
  Entity cause;
  std::vector<Entity> affected;
  std::vector<Evidence> evidence;
  WaitingTree waiting{};            ///< of congestion and of a link's fault that holds others up
  std::vector<std::string> jobs{};  ///< that it hurts, as HostReading::jobs names them
  double confidence = 0;            ///< 0..1: how sure that the cause is the named one
  std::string summary;              ///< one line for a page at 3 a.m.
  std::uint64_t maintenance = 0;    ///< the window in which it is expected (MaintenanceWindow::id); 0: none
  Advice advice{};                  ///< of trouble of a link: host, cable or switch
};

/// Evidence of SLOW_RECEIVER and others: an incident of a part that is at the same port tells why. It confirms nothing.
inline constexpr std::string_view kPartSignal = "part_degraded";
/// What changes no verdict of a host: a part that could do more, or is near a limit, and does all that is asked of it.
inline bool is_remark(const Finding& finding) {
  return is_of_parts(finding.kind) && finding.severity == Severity::kInfo;
}
/// TELEMETRY_LOST of a node some of whose links, which are affected, are not active: they carry nothing, as links of
/// which LINK_DOWN tells.
bool has_dead_links(const Finding& finding);

/// One moment in the life of an incident.
struct TimelineEntry {
  TimePoint at = kNever;
  IncidentChange change = IncidentChange::kOpened;
  Severity severity = Severity::kWarning;  ///< of the incident, from then on
  /// What the summary said from then on; why, of an incident that ended or was silenced. It may be empty then.
  std::string text{};
  std::string who{};  ///< who acknowledged or silenced it, empty if nobody said
  /// When the numbers in `text` were last brought up to date; kNever: they are those of `at`.
  TimePoint numbers_at = kNever;
  std::uint32_t left_out = 0;  ///< entries between the one before and this one that are not kept
  bool operator==(const TimelineEntry&) const = default;
};

/// An incident with its life cycle. Ids are given once and never reused: "INC-17".
struct Incident {
  std::uint64_t id = 0;
  std::uint64_t revision = 0;  ///< grows by one with each change that is shown
  /// The newest finding; its evidence and jobs are merged with those of earlier ones. With `maintenance` set, the
  /// incident began within that window and pages nobody.
  Finding finding;
  IncidentState state = IncidentState::kOpen;
  TimePoint opened = kNever;  ///< first opened; a re-opening keeps it
  TimePoint updated = kNever;
  TimePoint resolved = kNever;    ///< kNever while not resolved
  std::uint32_t occurrences = 1;  ///< 1 + how often it was re-opened
  /// When trouble of this kind with this cause began, this incident's and those before it, oldest first: the newest
  /// kMostBeginnings within IncidentPolicy::repeat_window of the last one.
  std::vector<TimePoint> beginnings;
  std::string acknowledged_by;  ///< who acknowledged it, empty if nobody
  TimePoint silenced_until = kNever;
  /// The gravest severity since it was opened or last re-opened.
  Severity worst_severity = Severity::kInfo;
  /// What the summary said when it was opened or last re-opened; after the end also why it ended, where that is known.
  std::string headline;
  /// What became of it, oldest first: at most kMostTimelineEntries. Empty for one that an older weftd stored.
  std::vector<TimelineEntry> timeline;

  /// What lists and logs show: the present severity while it is open, afterwards the worst one.
  Severity listed_severity() const { return is_open() ? finding.severity : worst_severity; }
  /// What lists and logs say: the present summary while it is open, afterwards the headline.
  const std::string& listed_summary() const { return is_open() ? finding.summary : headline; }
  /// True until the incident is resolved, also while it is acknowledged.
  bool is_open() const { return state != IncidentState::kResolved; }
  /// When it began, or last began anew. It stays the same until it begins anew.
  TimePoint began() const { return beginnings.empty() ? opened : beginnings.back(); }
};

inline constexpr std::size_t kMostBeginnings = 32;
inline constexpr std::size_t kMostTimelineEntries = 32;

/// "INC-17".
std::string incident_name(std::uint64_t id);
/// Where weftd serves what to do about it: "/runbooks/LINK_FLAP", below the page's address.
std::string runbook_path(IncidentKind kind);
/// Reads "INC-17", "inc-17" or "17".
std::optional<std::uint64_t> parse_incident_name(std::string_view text);

/// Health of a host or switch, as schedulers see it.
enum class HealthVerdict : std::uint8_t { kUnknown, kHealthy, kDegraded, kUnhealthy };
const char* to_string(HealthVerdict verdict);  ///< "UNKNOWN", "HEALTHY", "DEGRADED", "UNHEALTHY"

/// What a scheduler should do with a node, from nothing to a drain.
enum class RecommendedAction : std::uint8_t { kNone, kWatch, kAvoidNewJobs, kDrain };
const char* to_string(RecommendedAction action);  ///< "NONE", "WATCH", "AVOID_NEW_JOBS", "DRAIN"

/// One reason for a verdict: an open incident, a maintenance window, a plan that drained the host, or with none of them
/// that something was not read.
struct HealthReason {
  std::uint64_t incident = 0;  ///< 0: none, and `kind` says nothing
  IncidentKind kind = IncidentKind::kLinkDown;
  Severity severity = Severity::kWarning;
  TimePoint since = kNever;
  std::string message;
  std::vector<PortKey> ports;
  std::uint64_t maintenance = 0;  ///< planned work: this window and no incident; `kind` says nothing then
  std::uint64_t plan = 0;         ///< this plan of Weft drained the host, and no incident; `kind` says nothing then
};

/// May a scheduler place a job on this host? No data is UNKNOWN, never HEALTHY.
struct NodeHealth {
  std::string node;    ///< host name (see host_name()), or the name of a switch
  std::string fabric;  ///< the subnet; a host on several has one entry that covers all, with the first one's name
  std::vector<NodeGuid> guids;  ///< its adapters, or the switch
  HealthVerdict verdict = HealthVerdict::kUnknown;
  RecommendedAction action = RecommendedAction::kNone;
  std::vector<HealthReason> reasons;
  Duration data_age{};  ///< of the oldest reading the verdict rests on; Duration::max(): one of them was never read
};

}  // namespace weft
