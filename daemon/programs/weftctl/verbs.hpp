// SPDX-License-Identifier: Apache-2.0
#pragma once
// What weftctl can do. Each verb asks, prints to `out`, and says how it went; a call that fails throws Failure.

#include <cstdint>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "daemon/programs/weftctl/client.hpp"
#include "daemon/programs/weftctl/sheet.hpp"
#include "fabric/clock.hpp"
#include "weft/v1/fabric.pb.h"
#include "weft/v1/remedy.pb.h"

namespace weft::ctl {

/// What every verb needs: the connection, where to print, and how.
struct Session {
  Client& client;
  std::ostream& out;
  bool json = false;
  bool plain = false;     ///< drawings in ASCII
  bool terminal = false;  ///< `out` is one: redrawing is welcome
  TimePoint now = kNever;
  bool colour = false;              ///< `out` takes it, and it is wanted
  std::size_t columns = 0;          ///< of the terminal; 0: no limit
  RowMemory* memory = nullptr;      ///< of a page that is shown again and again
  std::istream* answers = nullptr;  ///< of the person at the terminal; null: nobody is asked

  /// How tables are to be printed.
  Sheet sheet() const { return {.out = out, .columns = columns, .colour = colour, .plain = plain, .memory = memory}; }
};

/// Since when persons stop automation, as the audit trail tells: "2026-01-31 12:00:00 UTC"; of several each time with
/// who and why, "2026-01-31 12:00:00 UTC (kim: a visitor), ...". Empty: none does, or it is not known, as of a site.
std::string brake_since(const Session& session, const v1::RemedyStatus& status);
/// That not all is stored, and what that means for what is shown of plans; nothing where all is.
void print_unstored(std::ostream& out, const v1::Status& status);
/// The same, asked anew; nothing in JSON.
void print_unstored(const Session& session);
/// In a site, that hands-off is of one shard, and where the others are. Nothing where weftd is no part of a site.
void print_reach_of_brake(const Session& session);

/// kBadNews when a fabric is not being watched, or there is no complete first picture yet.
Exit show_status(const Session& session);
/// A line with the reason why weftd does not know all that it shall monitor yet; empty when it does.
std::string not_ready_text(const v1::Status& status);
/// The same, as it says now: for a list that is empty.
std::string not_ready_text(const Session& session);
/// Which nodes are shown. Empty text: all.
struct NodeChoice {
  std::string fabric{};
  std::string node{};       ///< only that one, or all adapters of that host
  std::string contains{};   ///< only those that fit this text, see ListNodesRequest.contains
  std::string type{};       ///< "adapter", "switch" or "router"
  bool down_only = false;   ///< only those that are known not to be reached
  bool names_only = false;  ///< host and switch names, one a line
  /// Not all nodes are asked for.
  bool is_filter() const { return down_only || !node.empty() || !contains.empty() || !type.empty(); }
};
/// Throws kBadNews where there is no such node.
Exit show_nodes(const Session& session, const NodeChoice& choice);
/// `node`: all ports of a node, or one: "leaf-1:12", "leaf-1 port 12", on Ethernet "leaf01 swp12"; empty: all ports,
/// without counters. `counters`: each counter on a line of its own. kBadNews where there is none.
Exit show_ports(const Session& session, const std::string& fabric, const std::string& node, bool counters);
/// Which links are shown. Empty text: all.
struct LinkChoice {
  std::string fabric;
  std::string node;        ///< only those of that node or port, as of show_ports()
  std::string contains;    ///< only those that fit this text, see ListLinksRequest.contains
  bool down_only = false;  ///< only those with an end that is not active
};
/// Prints each with both its ends.
Exit show_links(const Session& session, const LinkChoice& choice);
/// The worst links first, at most `limit` of them. `by`: "errors", "flaps" or "stall".
Exit show_worst_links(const Session& session, const std::string& fabric, const std::string& by, std::uint32_t limit);
/// kBadNews when any of the paths is incomplete.
Exit show_path(const Session& session, const std::string& fabric, const std::string& from, const std::string& to);
/// Prints each node with the far end of each of its ports. Throws kBadNews where there is no such node.
Exit show_topology(const Session& session, const NodeChoice& choice);
/// Prints what differs from the expected topology, the counts first. kBadNews when anything does.
Exit show_cabling_differences(const Session& session, const std::string& fabric);

/// Prints which settings differ, of one fact where one is named. kBadNews when any of them is an incident.
Exit show_drift(const Session& session, const std::string& fact);

/// Which past is shown.
struct HistoryWish {
  std::string what;  ///< a node or port, as of show_ports()
  std::string fabric;
  TimePoint from = kNever;
  TimePoint to = kNever;
  std::vector<std::string> counters{};  ///< none: all
};
/// Draws what a port, or each port of a node, counted.
Exit show_history(const Session& session, const HistoryWish& wanted);

/// Which evidence is written, and where.
struct EvidenceWish {
  std::string what;       ///< "INC-17" or "17", or a node or port, as of show_ports()
  bool is_thing = false;  ///< it is a node or port, whatever it looks like
  std::string fabric{};   ///< of a node or port; so are the next two
  TimePoint from = kNever;
  std::optional<TimePoint> to{};  ///< none: now
  bool has_time = false;          ///< the user named a time or a fabric
  std::string folder = ".";       ///< made where it is not there
  bool with_jobs = false;         ///< names of jobs and people, and what people wrote, too
  bool force = false;             ///< files that are there already are replaced
};
/// Writes an evidence pack, one HTML file and the JSON that it was made from, and says what could not be told. Throws
/// Failure where a file is there already and is not to be replaced, or cannot be written; then none of the two has its
/// name.
Exit write_evidence(const Session& session, const EvidenceWish& wanted);

/// Of what the worst are shown, and by what.
struct WorstWish {
  std::string of = "cables";  ///< "cables", "modules", "hosts" or "switches"
  std::string by = "harm";    ///< "harm", "jobs", "critical" or "times"
  std::string fabric{};
  TimePoint from = kNever;
  std::optional<TimePoint> to{};  ///< none: now
  std::uint32_t limit = 20;
};
/// Lists what did the most harm over a time, the worst first, and what counts as harm.
Exit show_worst(const Session& session, const WorstWish& wanted);

/// Writes a copy of the store to a new file, and says how to go back to it. Throws Failure where the file is there.
Exit back_up(const Session& session, const std::string& file);

/// Which incidents are listed.
struct IncidentWish {
  bool all = false;       ///< resolved ones and planned work too
  bool ids_only = false;  ///< ids, one a line
  std::vector<std::string> kinds{};
  std::vector<std::string> severities{};
  std::string entity{};  ///< as ListIncidentsRequest has it
  std::string job{};
  std::optional<TimePoint> from{};  ///< this and `to` set: resolved ones too
  std::optional<TimePoint> to{};
  /// Not all are asked for that `all` says.
  bool is_filtered() const {
    return from || to || !kinds.empty() || !severities.empty() || !entity.empty() || !job.empty();
  }
};
/// Throws kWrongUsage for a kind or severity that there is not.
Exit show_incidents(const Session& session, const IncidentWish& wanted);
/// Prints one incident with its evidence.
Exit show_incident(const Session& session, const std::string& id);
/// Prints what Weft did about an incident and what people did, one event a line, oldest first.
Exit show_timeline(const Session& session, const std::string& id);
/// Prints what to do: `what` is a kind of incident, an incident's id or another runbook's name, whose letters' case
/// does not matter. Empty: lists all. Asks weftd only about an id. kBadNews where there is none.
Exit show_runbook(const Session& session, const std::string& what);
/// Acknowledges an incident and says so in two lines.
Exit acknowledge(const Session& session, const std::string& id, const std::string& who);
/// Silences an incident for `how_long` from now and says so in two lines.
Exit silence(const Session& session, const std::string& id, Duration how_long, const std::string& who);

/// Which plans are listed: those that are not over, all of them, or those that hold their target isolated, avoided or
/// drained, or may do so.
enum class WhichPlans : std::uint8_t { kOpen, kAll, kInForce };
/// Of the last kind: since when, why, and how it comes back. `ids_only`: ids, one a line.
Exit show_plans(const Session& session, WhichPlans which, bool ids_only);
/// The same and what becomes of them, one a line, until the server ends it (kUnreachable) or a signal does.
Exit watch_plans(const Session& session, bool all);
/// Prints one plan with candidates, guards and steps.
Exit show_plan(const Session& session, const std::string& id);
/// What a person decides about one plan.
struct Decision {
  std::string id;
  std::string reason;  ///< not of an approval
  std::string who;
  std::uint64_t revision = 0;  ///< of an approval: that was read; 0: whatever it is now
  bool yes = false;            ///< of an approval and an abort: else a person at a terminal sees the plan and is asked
  std::optional<Duration> wait{};  ///< at most so long until the plan is over; none: not at all
  bool leave = false;              ///< of an abort: its target is back in service, and stays so
};
/// Approves a plan. This and the eight below print the plan. What is refused throws kRefused with the guard's sentence.
Exit approve_plan(const Session& session, const Decision& decision);
/// Ends a plan that is not over; what is under way is undone.
Exit abort_plan(const Session& session, const Decision& decision);
/// Rejects a plan.
Exit reject_plan(const Session& session, const Decision& decision);
/// What is wanted of a plan that is waited for.
enum class Wished : std::uint8_t {
  kDone,    ///< it is committed
  kUndone,  ///< it is not in force any more
  kLeft,    ///< it is over, and its target in service
};
/// Prints each step of the plan, which is as it was just answered, until it is over. kGood when it is as it was wished;
/// kBadNews when it failed or was undone; kRefused when nothing was done. A server that is away is asked again. After
/// `patience` throws kUnfinished, or kUnreachable where the server is away.
Exit wait_for_plan(const Session& session, v1::Plan plan, Duration patience, Wished wished);
/// What is to be done to one link or host, and how.
struct Wish {
  std::string target;
  std::string reason;
  std::string who;
  bool dry_run = false;            ///< only the preview is printed; kRefused when a guard would refuse
  bool yes = false;                ///< else a person at a terminal sees the preview and is asked
  std::optional<Duration> wait{};  ///< as Decision::wait
};
/// Takes a link out of service.
Exit isolate_link(const Session& session, const Wish& wish);
/// Brings a link back into service.
Exit restore_link(const Session& session, const Wish& wish);
/// Makes routes avoid a link that stays up.
Exit raise_link_cost(const Session& session, const Wish& wish);
/// Takes that back.
Exit lower_link_cost(const Session& session, const Wish& wish);
/// Drains a host.
Exit drain_node(const Session& session, const Wish& wish);
/// Undrains a host that Weft drained.
Exit undrain_node(const Session& session, const Wish& wish);
/// How automation stands. kBadNews while something stops it.
Exit show_automation(const Session& session);
/// Stops all automation, or lets it go on, and prints the state of automation. Before it goes on the plans are listed
/// that begin then, and a person at the terminal is asked, unless `yes`. kRefused: the answer was no.
Exit set_hands_off(const Session& session, bool hands_off, const std::string& reason, const std::string& who,
                   bool yes = false);
/// Resets the circuit breaker and prints the state of automation. Before that it lists and asks as set_hands_off().
Exit reset_breaker(const Session& session, const std::string& reason, const std::string& who, bool yes);
/// Which lines of the audit trail are shown.
struct AuditWish {
  std::uint32_t limit = 0;          ///< the newest so many; 0: all
  std::optional<TimePoint> from{};  ///< as ListAuditRequest has these four
  std::optional<TimePoint> to{};
  std::string who{};
  std::string what{};
  /// Not all lines are asked for.
  bool is_search() const { return from || to || !who.empty() || !what.empty(); }
};
/// Lines of the audit trail, oldest of them first. The hashes of all lines are checked, unless it is a search: then
/// those of the lines that were searched.
Exit show_audit(const Session& session, const AuditWish& wanted);
/// What `weftctl maintenance add` says.
struct NewMaintenance {
  std::string what;
  std::string fabric;
  std::optional<TimePoint> from;  ///< none: now
  Duration length{};
  std::string reason;
  std::string who;
};
/// `all`: those that are over too.
Exit show_maintenance(const Session& session, bool all);
/// Adds a maintenance window and prints it.
Exit add_maintenance(const Session& session, const NewMaintenance& wanted);
/// Ends a maintenance window and prints it.
Exit end_maintenance(const Session& session, const std::string& id, const std::string& who);

/// Where the report of an acceptance goes.
struct AcceptOutput {
  std::string format{};  ///< "html", "json" or "text"; empty: it is printed
  std::string file{};    ///< "-": standard output
  bool force = false;    ///< a file that is there already is replaced
};
/// What `weftctl accept` says. No hosts, switches and links: everything of `fabric`, or everything.
struct AcceptWish {
  std::vector<std::string> hosts{};
  std::vector<std::string> switches{};
  std::vector<std::string> links{};
  std::string fabric{};
  std::optional<Duration> length{};  ///< none: it is judged by what is known now
  double ber_limit = 0;              ///< 0: by the generation of each link
  bool wait = false;                 ///< until it is over
  AcceptOutput output{};
  std::string who{};
};
/// Starts an acceptance, or judges at once; prints the report where there is one. kGood for PASS, or where it began and
/// is not waited for; kBadNews for FAIL; kUnfinished while something that must be measured is not.
Exit accept(const Session& session, const AcceptWish& wanted);
/// Prints one run with its report, or writes it. As accept().
Exit show_acceptance(const Session& session, const std::string& id, const AcceptOutput& output);
/// Ends a run before its time, and prints it. As accept().
Exit end_acceptance(const Session& session, const std::string& id, const std::string& who);
/// `running`: only those that are under way. `host`: only those of which it is a target; empty: all.
Exit show_acceptances(const Session& session, bool running, const std::string& host);

/// Which nodes get a token, and where it goes.
struct EnrollWanted {
  std::vector<std::string> nodes;
  std::string file;                    ///< has more of them, one a line; "-": standard input; empty: none
  std::string folder;                  ///< gets a file NODE.token for each; empty: they are printed
  std::optional<Duration> validity{};  ///< none: as long as weftd chooses
  std::string who;
};
/// Makes one-time tokens for collectors.
Exit make_enroll_tokens(const Session& session, const EnrollWanted& wanted);
/// Prints the tokens that have not expired, without their secrets.
Exit show_enroll_tokens(const Session& session);
/// Takes back tokens that were not used, and prints what is left.
Exit revoke_enroll_tokens(const Session& session, const EnrollWanted& wanted);

/// No nodes: those that are not HEALTHY. kBadNews when any is not HEALTHY.
Exit show_health(const Session& session, const std::vector<std::string>& nodes);
/// All that the job uses; `nodes`: of a job that no collector reports yet. kBadNews when anything of it is not HEALTHY.
Exit show_job_health(const Session& session, const std::string& job, const std::vector<std::string>& nodes);

/// No hosts: all. kBadNews when one of them is silent or gone.
Exit show_collectors(const Session& session, const std::vector<std::string>& hosts);

/// Incidents as they come, until the server ends it (kUnreachable) or a signal does.
Exit watch(const Session& session);

}  // namespace weft::ctl
