// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/plan_table.hpp"

#include <string>
#include <utility>
#include <vector>

#include "daemon/adapters/store/entity_columns.hpp"

namespace weft::store {
namespace {

constexpr const char* kTarget = "target";
constexpr const char* kCandidate = "candidate";

/// The good sweeps that are stored. One says, in the place of none, that it was up before weftd was started anew: that
/// is all that its next start asks of their number.
std::uint32_t seen_good(const Plan& plan) {
  return plan.was_up && plan.windows_good == 0 ? 1 : plan.windows_good;
}

/// The statements that write one plan, prepared once for many.
struct PlanWriter {
  explicit PlanWriter(Database& database)
      : previous(database, "SELECT over FROM plan WHERE id = ?"),
        clear(database, "DELETE FROM plan WHERE id = ?"),
        plan(database,
             "INSERT INTO plan (id, revision, state, over, action, actuator, incident, undoes, reason, requested_by, "
             "approved_by, created, updated, expires, started, finished, intent, in_force, unresolved, windows_good, "
             "windows_needed, outcome, inverse, incident_began, kept_out, undone_once, aborted, left_in_service, "
             "read_back) "
             "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
        entity(database, "INSERT INTO plan_entity VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
        candidate(database, "INSERT INTO plan_candidate VALUES (?, ?, ?, ?, ?, ?, ?)"),
        guard(database, "INSERT INTO plan_guard VALUES (?, ?, ?, ?, ?)"),
        step(database, "INSERT INTO plan_step VALUES (?, ?, ?, ?, ?, ?)"),
        job(database, "INSERT INTO plan_job VALUES (?, ?, ?)"),
        neighbour(database, "INSERT INTO plan_neighbour VALUES (?, ?, ?)"),
        routes(database, "INSERT INTO plan_routes VALUES (?, ?, ?)"),
        end(database, "INSERT INTO plan_end VALUES (?, ?, ?)"),
        next_id(database, "UPDATE number SET value = ?1 WHERE name = 'next_plan' AND value < ?1"),
        ended(database,
              "INSERT INTO plan_ended VALUES (?, ?, 1) ON CONFLICT (action, state) DO UPDATE SET count = "
              "plan_ended.count + 1") {}

  void write_entity(std::uint64_t id, const char* role, std::size_t position, const Entity& e) {
    entity.run(id, role, position, to_string(e.kind), e.fabric, e.port.node.value, e.port.port.value, e.peer.node.value,
               e.peer.port.value, e.label, e.host, e.device);
  }

  void write(const Plan& p) {
    previous.query(p.id);
    const bool was_over = previous.next() && previous.integer(0) != 0;
    previous.next();  // to its end, or it would hold the transaction open
    clear.run(p.id);  // all its parts go with it
    plan.run(p.id, p.revision, to_string(p.state), is_over(p.state), to_string(p.action), p.actuator, p.incident,
             p.undoes, p.reason, p.requested_by, p.approved_by, p.created, p.updated, p.expires, p.started, p.finished,
             to_string(p.intent), p.in_force, p.unresolved, seen_good(p), p.windows_needed, p.outcome,
             to_string(p.inverse), p.incident_began, p.kept_out, p.undone_once, p.aborted, p.left_in_service,
             p.read_back);
    write_entity(p.id, kTarget, 0, p.target);
    for (std::size_t n = 0; n < p.candidates.size(); ++n) {
      const Candidate& c = p.candidates[n];
      candidate.run(p.id, n, to_string(c.action), c.cost_ratio, c.harm_ratio, c.allowed, c.explanation);
      write_entity(p.id, kCandidate, n, c.target);
    }
    for (std::size_t n = 0; n < p.guards.size(); ++n)
      guard.run(p.id, n, to_string(p.guards[n].guard), to_string(p.guards[n].result), p.guards[n].explanation);
    for (std::size_t n = 0; n < p.steps.size(); ++n)
      step.run(p.id, n, p.steps[n].at, to_string(p.steps[n].state), p.steps[n].who, p.steps[n].what);
    for (std::size_t n = 0; n < p.jobs.size(); ++n) job.run(p.id, n, p.jobs[n]);
    for (std::size_t n = 0; n < p.neighbours.size(); ++n) neighbour.run(p.id, n, p.neighbours[n].value);
    if (p.routes_before) routes.run(p.id, p.routes_before->known, p.routes_before->lost);
    if (p.end) end.run(p.id, p.end->node.value, p.end->port.value);
    next_id.run(p.id + 1);
    if (is_over(p.state) && !was_over) ended.run(to_string(p.action), to_string(p.state));
  }

  Statement previous, clear, plan, entity, candidate, guard, step, job, neighbour, routes, end, next_id, ended;
};

Plan read_plan_row(Database& database, const Statement& row) {
  Plan plan;
  plan.id = row.bits(0);
  plan.revision = row.bits(1);
  plan.state = named(database, row.text(2), parse_plan_state);
  plan.action = named(database, row.text(3), parse_remedy_action);
  plan.actuator = row.text(4);
  plan.incident = row.bits(5);
  plan.undoes = row.bits(6);
  plan.reason = row.text(7);
  plan.requested_by = row.text(8);
  plan.approved_by = row.text(9);
  plan.created = row.time(10);
  plan.updated = row.time(11);
  plan.expires = row.time(12);
  plan.started = row.time(13);
  plan.finished = row.time(14);
  plan.intent = named(database, row.text(15), parse_plan_intent);
  plan.in_force = row.integer(16) != 0;
  plan.unresolved = row.integer(17) != 0;
  plan.windows_good = static_cast<std::uint32_t>(row.integer(18));
  plan.windows_needed = static_cast<std::uint32_t>(row.integer(19));
  plan.outcome = row.text(20);
  plan.inverse = named(database, row.text(21), parse_remedy_action);
  plan.incident_began = row.time(22);
  plan.kept_out = row.text(23);
  plan.undone_once = row.integer(24) != 0;
  plan.aborted = row.integer(25) != 0;
  plan.left_in_service = row.integer(26) != 0;
  plan.read_back = row.integer(27) != 0;
  return plan;
}

constexpr const char* kWanted =
    " FROM plan WHERE over = 0 OR finished > ? OR in_force <> 0 OR unresolved <> 0 OR incident IN (SELECT id FROM "
    "incident WHERE state <> 'RESOLVED')";

/// What belongs to all plans that were read, with a statement for each kind: their number costs no round trips.
struct PlanPartsReader {
  Database& database;
  std::vector<Plan>& plans;
  TimePoint ended_since;

  /// Gives `take` each row with its plan. `columns` begin with that.
  template <typename Take>
  void read(const std::string& columns, const std::string& order, const Take& take) {
    Statement row(database, "SELECT " + columns + " WHERE plan IN (SELECT id" + kWanted + ") ORDER BY plan" + order);
    row.query(ended_since);
    while (row.next())
      if (Plan* const plan = find_by_id(plans, row.bits(0))) take(*plan, row);
  }

  void read_all() {
    read("plan, action, cost, harm, allowed, explanation FROM plan_candidate", ", position",
         [this](Plan& plan, const Statement& row) {
           Candidate& c = plan.candidates.emplace_back();
           c.action = named(database, row.text(1), parse_remedy_action);
           c.cost_ratio = row.real(2);
           c.harm_ratio = row.real(3);
           c.allowed = row.integer(4) != 0;
           c.explanation = row.text(5);
         });
    read("plan, role, position, kind, fabric, node, port, peer_node, peer_port, label, host, device FROM plan_entity",
         "", [this](Plan& plan, const Statement& row) {
           const std::string role = row.text(1);
           const auto position = static_cast<std::size_t>(row.integer(2));
           if (role == kTarget) plan.target = read_entity(database, row, 3);
           if (role == kCandidate && position < plan.candidates.size())
             plan.candidates[position].target = read_entity(database, row, 3);
         });
    read("plan, guard, result, explanation FROM plan_guard", ", position", [this](Plan& plan, const Statement& row) {
      plan.guards.push_back(
          {named(database, row.text(1), parse_guard), named(database, row.text(2), parse_guard_result), row.text(3)});
    });
    read("plan, at, state, who, what FROM plan_step", ", position", [this](Plan& plan, const Statement& row) {
      plan.steps.push_back({row.time(1), named(database, row.text(2), parse_plan_state), row.text(3), row.text(4)});
    });
    read("plan, name FROM plan_job", ", position",
         [](Plan& plan, const Statement& row) { plan.jobs.push_back(row.text(1)); });
    read("plan, node FROM plan_neighbour", ", position",
         [](Plan& plan, const Statement& row) { plan.neighbours.push_back(NodeGuid{row.bits(1)}); });
    read("plan, known, lost FROM plan_routes", "", [](Plan& plan, const Statement& row) {
      plan.routes_before = {row.bits(1), row.bits(2)};
    });
    read("plan, node, port FROM plan_end", "",
         [this](Plan& plan, const Statement& row) { plan.end = read_port_key(database, row, 1); });
  }
};

}  // namespace

void write_plans(Database& database, std::span<const Plan> plans) {
  if (plans.empty()) return;
  PlanWriter writer(database);
  for (const Plan& plan : plans) writer.write(plan);
}

std::vector<Plan> read_plans(Database& database, TimePoint ended_since) {
  std::vector<Plan> plans;
  Statement rows(database,
                 std::string("SELECT id, revision, state, action, actuator, incident, undoes, reason, requested_by, "
                             "approved_by, created, updated, expires, started, finished, intent, in_force, unresolved, "
                             "windows_good, windows_needed, outcome, inverse, incident_began, kept_out, undone_once, "
                             "aborted, left_in_service, read_back") +
                     kWanted + " ORDER BY id");
  rows.query(ended_since);
  while (rows.next()) plans.push_back(read_plan_row(database, rows));
  PlanPartsReader{database, plans, ended_since}.read_all();
  return plans;
}

std::uint64_t read_next_plan_id(Database& database) {
  return static_cast<std::uint64_t>(database.number("SELECT value FROM number WHERE name = 'next_plan'"));
}

PlansEnded read_plans_ended(Database& database) {
  PlansEnded counts{};
  Statement rows(database, "SELECT action, state, count FROM plan_ended");
  rows.query();
  while (rows.next())
    counts[static_cast<std::size_t>(named(database, rows.text(0), parse_remedy_action))]
          [static_cast<std::size_t>(named(database, rows.text(1), parse_plan_state))] = rows.bits(2);
  return counts;
}

void write_remedy_state(Database& database, const RemedyHolds& state) {
  Statement(database, "DELETE FROM remedy").run();
  Statement(database, "INSERT INTO remedy VALUES (1, ?, ?, ?, ?, ?)")
      .run(state.hands_off, state.hands_off_reason, state.breaker_tripped, state.breaker_reason, state.breaker_since);
  for (const PlanMark& other : state.others)
    Statement(database,
              "INSERT INTO other_installation VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET plan = excluded.plan")
        .run(other.installation, other.plan);
}

RemedyHolds read_remedy_state(Database& database) {
  Statement row(database,
                "SELECT hands_off, hands_off_reason, breaker_tripped, breaker_reason, breaker_since FROM remedy");
  row.query();
  RemedyHolds state;
  if (!row.next()) {
    // A breaker that is not known to be whole must not be taken for one.
    database.fail(ErrorCode::kCorrupt, "has no state of automation");
    return state;
  }
  state = {row.integer(0) != 0, row.text(1), row.integer(2) != 0, row.text(3), row.time(4)};
  row.next();
  Statement others(database, "SELECT plan, id FROM other_installation ORDER BY id");
  others.query();
  while (others.next()) state.others.push_back({others.bits(0), others.text(1)});
  return state;
}

std::string read_installation(Database& database) {
  Statement row(database, "SELECT id FROM installation");
  row.query();
  std::string id = row.next() ? row.text(0) : std::string();
  if (id.empty()) database.fail(ErrorCode::kCorrupt, "has no id of its own");
  return id;
}

bool delete_old_plans(Database& database, TimePoint before, std::int64_t limit) {
  Statement(database,
            "DELETE FROM plan WHERE id IN (SELECT id FROM plan WHERE over <> 0 AND finished < ? AND in_force = 0 AND "
            "unresolved = 0 AND incident NOT IN (SELECT id FROM incident WHERE state <> 'RESOLVED') LIMIT ?)")
      .run(before, limit);
  return database.changes() >= limit;
}

}  // namespace weft::store
