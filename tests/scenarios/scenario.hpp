// SPDX-License-Identifier: Apache-2.0
#pragma once
// A scenario as a value: the fabric, what runs on it, what breaks and what a good judge says of it.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/incident.hpp"
#include "tests/scenarios/action.hpp"
#include "tests/scenarios/fat_tree.hpp"
#include "tests/scenarios/subnet_manager.hpp"

namespace weft::scenarios {

inline constexpr double kSecondsOfDay = 86400;

/// How the hosts of a job talk to each other.
enum class JobKind : std::uint8_t {
  kRing,      ///< each member sends to the next one
  kTree,      ///< up a binary tree, then down
  kAllToAll,  ///< member i to i + s, for several shifts s one after the other
  kPipeline,  ///< first half to second half, member by member
  kStorage,   ///< all members to the targets, round robin, in a burst; not waited for
  kSteady,    ///< member i to target i (or to the only one) without a pause
};
inline constexpr std::size_t kJobKinds = 6;

/// From `from` to `to` (seconds) a job sends nothing.
struct Pause {
  double from = 0, to = 0;
};

/// Members and targets are endpoints of the plan. A collective repeats: it computes, then communicates; it is as slow
/// as its slowest flow.
struct Job {
  JobKind kind = JobKind::kRing;
  std::vector<std::uint32_t> members{};
  std::vector<std::uint32_t> targets{};
  std::vector<double> shares{};  ///< of steady ones, by member: so many times `load`; empty: once
  double period = 2;             ///< seconds of one iteration when nothing is slow
  double communication = 1;      ///< share of it, 0..1
  double load = 0.8;             ///< of the line rate that each member offers while it communicates, 0..1
  double start = 0;              ///< seconds
  double end = std::numeric_limits<double>::infinity();
  std::vector<Pause> pauses{};  ///< of a collective, in their order
  double released = 0;          ///< until then it holds its hosts, seconds; 0: until `end`
};

/// Do its members wait for each other?
inline bool is_collective(const Job& job) {
  return job.kind != JobKind::kStorage && job.kind != JobKind::kSteady;
}

enum class FaultKind : std::uint8_t {
  kLinkDown,
  kSwitchDown,
  kHostDown,
  kFlapFast,       ///< every few seconds
  kFlapSlow,       ///< every minute or two
  kFlapSubSample,  ///< shorter than a sweep: only the LinkDowned counters tell
  kWidthLoss,
  kSpeedLoss,
  kErrors,
  kErrorBursts,
  kIncast,
  kCollision,
  kOversubscription,
  kSlowReceiver,
  kPcieStall,
  kPfcStorm,
  kDeadlock,
  kLossOnLink,
  kLossInSwitch,
  kStraggler,
  kOpticsDrift,   ///< within minutes from good to losing packets
  kOpticsFading,  ///< over hours; correction repairs ever more, and nothing is lost yet
  kCrossedCables,
  kFrozenCounters,
  kSaturatedCounter,
  kNodeSilent,
  kCollectorDeath,
  kMadSensor,
  kCounterReset,  ///< from here on nothing is wrong, though it may look so
  kClockJump,
  kErrorsBelowLimit,
  kFailedTransfers,  ///< an adapter's requests end with their retries used up
  kManagerRestart,   ///< the subnet manager is gone, and then sweeps the whole subnet
  kManagerFailover,  ///< another host's subnet manager takes over
  kNodeReboot,       ///< a host is restarted by somebody
  kDriverReload,     ///< a host's adapters go away and come back
  kRetraining,       ///< a link trains anew, once
  kJobHang,          ///< the job of an endpoint stands still, and the endpoint retries
  kCount,
};
inline constexpr std::size_t kFaultKinds = static_cast<std::size_t>(FaultKind::kCount);
/// "link_down" …: as files and reports spell it.
const char* to_string(FaultKind kind);
std::optional<FaultKind> parse_fault_kind(std::string_view text);
const char* to_string(JobKind kind);
std::optional<JobKind> parse_job_kind(std::string_view text);

struct Fault {
  FaultKind kind = FaultKind::kLinkDown;
  PortIndex port = kNoIndex;   ///< of a link or a port: what it strikes; the receiver where a direction matters
  PortIndex other = kNoIndex;  ///< second cable of crossed cables
  NodeIndex node = kNoIndex;   ///< of a node
  std::vector<std::uint32_t> endpoints{};  ///< senders of an incast; pairs (source, target, …) of a collision
  double start = 0;                        ///< seconds from the scenario's beginning
  double end = std::numeric_limits<double>::infinity();
  /// Errors per bit; share lost; requests that fail per second; share that a slow receiver takes; decades a minute of a
  /// drift, in all of a fading; seconds of a clock jump; queue pairs that retry.
  double amount = 0;
};

/// A thing that an incident may name; one with ports a and b is the link between them.
struct Place {
  EntityKind kind = EntityKind::kFabric;
  PortKey a{};
  PortKey b{};
  auto operator<=>(const Place&) const = default;
};

/// What a good judge says.
struct Truth {
  FaultKind fault = FaultKind::kLinkDown;
  IncidentKind kind = IncidentKind::kLinkDown;  ///< what it is to be called
  std::vector<IncidentKind> also{};             ///< other names under which it is no false alarm
  std::vector<Place> culprits{};                ///< any of them is the right one to blame
  std::vector<Place> victims{};
  double start = 0;
  double end = 0;
  bool hard = false;                  ///< plain to see in one sweep: its delay counts
  double amount = 0;                  ///< of the fault
  bool counts = true;                 ///< false: it may be told of and need not
  bool hidden = false;                ///< nobody reads what would show it: that is as if it had no effect
  std::vector<IncidentKind> first{};  ///< besides `kind`, right as the first thing that is said of it
  std::string host{};                 ///< the first alarm must name this host, and not a link of it; empty: any culprit
  Severity most = Severity::kCritical;  ///< an alarm above it is a false one
};

/// What good advice about links in trouble names first.
struct RightAdvice {
  std::vector<Place> links{};     ///< any of them may be in trouble
  std::vector<LinkPart> parts{};  ///< any of them is right
  std::vector<NodeGuid> nodes{};  ///< a host, switch or module must be at one of these; empty: at any
  double until = 0;               ///< seconds: what is said then counts
};

/// A job that hangs, and what is at fault.
struct RightHang {
  std::vector<Place> culprits{};  ///< an incident of any of them must name the hang
  double from = 0, until = 0;     ///< seconds
};

/// Chance events that belong to a healthy fabric. Rates are for one port and day unless said otherwise.
struct Noise {
  double error_rate_low = 1e-18;   ///< symbol errors per bit of the best link …
  double error_rate_high = 1e-15;  ///< … and of the worst: what healthy links have behind their error correction
  double repaired_low = 1e-9;      ///< symbols that error correction repairs, per bit, of the best link …
  double repaired_high = 1e-6;     ///< … and of the worst: PAM4 optics are specified to 2.4e-4 and sold far below
  double repaired_swing = 0.2;     ///< decades by which the day's temperature moves that at most, either way
  double discards = 5;             ///< transmit discards
  double remote_errors = 0.5;      ///< packets that arrive already marked bad
  double management_drops = 0.2;   ///< VL15 dropped
  double symbol_bursts = 0.01;     ///< 5 to 500 symbol errors at once
  double resets = 0.01;            ///< somebody clears the counters of a port
  double lost_node = 2e-4;         ///< a node does not answer in a sweep (share of node-sweeps)
  double lost_counters = 4e-4;     ///< its counters are not read, its states are (share of node-sweeps)
  double late_sweep = 0.003;       ///< a sweep is late by up to two intervals (share of sweeps)
  double retransmits_low = 1e-10;  ///< packets that the best host sends again on a healthy fabric (share of them) …
  double retransmits_high = 1e-7;  ///< … and the worst: its applications and its firmware, not the fabric
  double retransmit_bursts = 1;  ///< a peer that goes away makes 10 to 3000 timeouts, or packets out of order, at once
  double lost_readings = 1e-3;   ///< a host's reading, or what one source tells of it, is lost (share of them)
  double late_readings = 3e-3;   ///< it arrives late by up to one and a half intervals (share of them)
};

/// What real fabrics do and a tidy one does not; each is off unless a scenario says otherwise. See README.md.
struct Assumptions {
  SubnetManagerModel manager;  ///< of InfiniBand
  bool wire_speeds = false;    ///< speeds are what the decoder of PortInfo makes of what a port sends
  unsigned ways = 1;           ///< each flow of InfiniBand over so many equal ways, while the tables name one
  double full_link_loss = 0;   ///< share of the packets that a link loses, and counts, while it is full
  bool marks_only = false;     ///< of Ethernet: nothing is paused; switches mark, receivers notify, senders slow down
  double late_packets = 1;     ///< packets that a receiver counts out of order for a lost one: up to what is under way
  bool flushes = false;        ///< a job that ends flushes its queue pairs, and adapters count that
};

/// Numbers of the model that resemble thresholds of the rules, or that nobody knows. README.md lists them.
struct Constants {
  double harm = 0.15;             ///< somebody must wait for this share of the time before it is harm
  double first_send = 4 << 20;    ///< bytes that a member of a collective sends before it waits, see kFirstSendBytes
  double efficiency = 0.97;       ///< of the line rate, what is left for packets' bytes
  double restless = 0.004;        ///< moments without a credit at a busy port (share of its utilisation, times 0..7)
  double pace = 0.01;             ///< spread of computing times, from host to host and from one iteration to the next
  double last_of_message = 0.02;  ///< of lost packets, those that a timer finds
  double unposted = 3;            ///< packets a second of a flow that find no receive request at a slow host
};

struct Scenario {
  std::string name{};   ///< unique in one run: "link_down/17"
  std::string group{};  ///< row of the report
  std::uint64_t seed = 1;
  FatTreeSpec fabric;
  double interval = 1;    ///< seconds from sweep to sweep
  double duration = 120;  ///< seconds
  bool noisy = true;
  Noise noise;
  Assumptions assumptions;
  Constants constants;
  bool collectors = true;          ///< every host has one
  bool switch_collectors = false;  ///< of Ethernet: every switch has one too; else nobody reads switches
  std::vector<Job> jobs{};
  std::vector<Fault> faults{};
  std::vector<Action> actions{};  ///< what happens besides the faults
  std::vector<RightAdvice> advice{};
  std::vector<RightHang> hangs{};
  std::vector<Truth> truths{};  ///< filled from the faults by truths_of() unless written down
};

/// Is one of its faults a straggler?
bool has_straggler(const Scenario& scenario);
/// What the faults of a scenario ought to be called; victims follow from the forwarding tables.
std::vector<Truth> truths_of(const Scenario& scenario, const Plan& plan);

}  // namespace weft::scenarios
