// SPDX-License-Identifier: Apache-2.0
// Lists of plans, and what becomes of one.

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/programs/weftctl/automation_report.hpp"
#include "daemon/programs/weftctl/incident_drawing.hpp"
#include "daemon/programs/weftctl/names.hpp"
#include "daemon/programs/weftctl/others_disabled.hpp"
#include "daemon/programs/weftctl/plan_hints.hpp"
#include "daemon/programs/weftctl/plan_report.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"
#include "daemon/programs/weftctl/watch_ledger.hpp"
#include "fabric/plan.hpp"
#include "fabric/plan_prospects.hpp"

namespace weft::ctl {
namespace {

using Plans = v1::RemedyService::Stub;

/// Between two looks at a plan that is waited for.
constexpr std::chrono::milliseconds kLookAgain{500};

/// Why it is there, or how it ended.
const std::string& essence(const v1::Plan& plan) {
  return plan.has_finished() && !plan.outcome().empty() ? plan.outcome() : plan.reason();
}

/// The state without what stands in progress_text(): it would make the column wide.
std::string narrow_state_text(v1::Plan plan, const v1::Plan* holder) {
  plan.clear_probation_until();
  return plan_state_text(plan, holder);
}

/// How far it is, and why it is there.
std::string progress_text(const v1::Plan& plan) {
  std::string text = plan.has_probation_until() ? "on probation until " + time_text(plan.probation_until()) : "";
  if (const std::string waits = waiting_text(plan); !waits.empty())
    text = waits.starts_with("for ") ? "waits " + waits : waits;
  if (plan.state() == v1::Plan::ROLLING_BACK && !is_undone(plan) && !begins_anew(plan.waits_for()))
    text += (text.empty() ? "" : "; ") + undoing_text(plan);
  const std::string& why =
      plan.state() == v1::Plan::ROLLING_BACK && !plan.outcome().empty() ? plan.outcome() : essence(plan);
  return text.empty() || why.empty() ? text + why : text + "; " + why;
}

/// It has begun to take its target out, or to undo that, and nobody has seen yet that it did.
bool is_changing(const v1::Plan& plan) {
  const bool acts = plan.state() == v1::Plan::ROLLING_BACK || (plan.state() == v1::Plan::EXECUTING && takes_out(plan));
  return acts && (plan.intent() == v1::Plan::APPLY || plan.intent() == v1::Plan::UNDO);
}

const std::string& dash_if_empty(const std::string& text) {
  static const std::string kDash = "-";
  return text.empty() ? kDash : text;
}

/// Nothing where the line would say what the plan's last one said: `last`, by id.
void print_line(const Session& session, const v1::Plan& plan, std::map<std::string, std::string>& last) {
  if (plan.state() == v1::Plan::STATE_UNSPECIFIED) {  // only an id
    last.erase(plan.id());
    return;
  }
  // How far its verification came is no change: it would be a line for each sweep.
  v1::Plan still = plan;
  still.clear_windows_needed();
  still.clear_probation_until();
  const std::string line = plan.id() + "  " + v1::Plan::Action_Name(plan.action()) + "  " + plan_state_text(still) +
                           "  " + printable(plan.target().label()) +
                           (plan.shard().empty() ? "" : "  shard " + printable(plan.shard())) + "  " +
                           printable(essence(plan)) + '\n';
  if (std::exchange(last[plan.id()], line) != line) session.out << time_text(plan.updated()) << "  " << line;
}

/// Why it is held: the reason of the plan that took it out, and what went wrong with its return.
std::string cause(const v1::Plan& plan, const v1::Plan& first) {
  // Its own reason is why it was ordered.
  const std::string why = plan.outcome().empty() ? "" : ": " + plan.outcome();
  const std::string failed = is_in_force_after_all(plan) ? plan.id() + " is in force after all" + why
                             : takes_out(plan)           ? ""
                                                         : plan.id() + " did not bring it back" + why;
  if (!takes_out(first)) return failed;
  return first.reason() + (first.reason().empty() || failed.empty() ? "" : "; ") + failed;
}

/// Since when its target has been out of service; "-": it is not out, or nobody knows since when.
std::string since_text(const v1::Plan& plan) {
  if (plan.has_held_since()) return time_text(plan.held_since());
  return takes_out(plan) && plan.has_started() ? time_text(plan.started()) : "-";  // of an older weftd
}

/// How what a plan holds comes back. `next`: the open plan for the same target, or null.
std::string way_back(const v1::Plan& plan, const v1::Plan* next, TimePoint now) {
  if (plan.unresolved()) return unresolved_text(plan, now);
  if (plan.state() == v1::Plan::ROLLING_BACK) {
    const std::string undone = takes_out(plan)                 ? "it is being undone"
                               : begins_anew(plan.waits_for()) ? "its return failed"
                                                               : "it is being taken out again";
    return plan.waits_for().empty() ? undone : undone + "; it waits: " + without_advice(plan.waits_for());
  }
  const std::string abort = "weftctl abort " + plan.id() + " --reason ...";
  if (is_changing(plan)) return "it is being applied, and may be in force already; to undo it: " + abort;
  if (plan.state() < v1::Plan::COMMITTED) return "it is being verified; to undo it: " + abort;
  if (next != nullptr)
    return next->id() + ' ' + v1::Plan::Action_Name(next->action()) + " is " + plan_state_text(*next) +
           (next->state() == v1::Plan::PROPOSED && refusal(*next) != nullptr ? "; by hand: " + return_command(plan)
                                                                             : std::string());
  const std::string by_hand = return_command(plan);
  if (!plan.kept_out().empty()) return printable(plan.kept_out()) + "; by hand: " + by_hand;
  if (plan.only_by_hand() || plan.incident_id().empty()) return "only by hand: " + by_hand;
  switch (held_by(plan)) {
    case v1::Plan::DRAIN_NODE:
      return "a plan follows when " + plan.incident_id() + " is over and the host is healthy; by hand: " + by_hand;
    case v1::Plan::RAISE_LINK_COST:
      return "a plan follows when " + plan.incident_id() + " is over and the link is up; by hand: " + by_hand;
    default:
      return "a plan follows " +
             (plan.has_return_after()
                  ? "about " + time_text(plan.return_after()) + ", after remedy.limits.reinstate_after"
                  : "after remedy.limits.reinstate_after") +
             "; by hand: " + by_hand;
  }
}

/// `all`: the plans that are known, of which `plans` hold something.
void print_in_force(const Session& session, const v1::ListPlansResponse& plans, const v1::ListPlansResponse& all) {
  if (plans.plans().empty()) {
    session.out << "No plan holds anything" << where_asked(plans) << ".\n";
    return;
  }
  const bool shards = has_shards(plans.plans());
  std::vector<Column> columns{"ID", whole("ACTION"), link("TARGET"), whole("SINCE"), spare("INCIDENT")};
  if (shards) columns.push_back(key("SHARD"));
  columns.insert(columns.end(), {story("REASON"), story("COMES BACK")});
  Table table(std::move(columns));
  for (const v1::Plan& plan : plans.plans()) {
    // What nobody knows of an older plan says nothing beside what another one does with the same target.
    if (plan.unresolved() && std::ranges::any_of(plans.plans(), [&plan](const v1::Plan& other) {
          return !other.unresolved() && other.target().identity() == plan.target().identity();
        }))
      continue;
    const auto next = std::ranges::find_if(all.plans(), [&plan](const v1::Plan& other) {
      return other.state() < v1::Plan::COMMITTED && other.id() != plan.id() &&
             other.target().identity() == plan.target().identity();
    });
    const v1::Plan& first = first_out(plan, all.plans());
    std::vector<std::string> cells{first.id(), v1::Plan::Action_Name(held_by(plan)),
                                   dash_if_empty(plan.target().label()), since_text(plan),
                                   dash_if_empty(plan.incident_id())};
    if (shards) cells.push_back(plan.shard());
    cells.push_back(cause(plan, first));
    cells.push_back(way_back(plan, next == all.plans().end() ? nullptr : &*next, session.now));
    table.add(std::move(cells));
  }
  table.print(session.sheet());
}

/// How long a return that failed, and left nothing held, is listed with open plans.
constexpr std::chrono::hours kFailedLately{24};

/// A return that failed within the last day, and no plan was begun for its target since. What somebody else keeps out
/// print_others_disabled() lists, for as long as that is so.
bool is_failed_return(const v1::Plan& plan, const v1::ListPlansResponse& all, TimePoint now) {
  if (takes_out(plan) || plan.state() != v1::Plan::FAILED || is_left_to_others(own_words(plan))) return false;
  google::protobuf::Timestamp since;
  set_seconds(since, now - kFailedLately);
  if (plan.finished().seconds() < since.seconds()) return false;
  return std::ranges::none_of(all.plans(), [&plan](const v1::Plan& other) {
    const bool is_later = std::pair(other.created().seconds(), other.created().nanos()) >
                          std::pair(plan.created().seconds(), plan.created().nanos());
    return is_later && (other.has_started() || other.state() == v1::Plan::FAILED) && other.id() != plan.id() &&
           other.target().identity() == plan.target().identity();
  });
}

/// Over, and yet a person must look: a return that failed, whether its target is out still or not; what was to be
/// undone and is in force; or nobody knows.
bool needs_a_look(const v1::Plan& plan, const v1::ListPlansResponse& all, TimePoint now) {
  return plan.unresolved() || (plan.in_force() && !takes_out(plan)) || is_in_force_after_all(plan) ||
         is_failed_return(plan, all, now);
}

/// Begun, and not known to be undone: it holds its target, or is about to.
bool is_in_force(const v1::Plan& plan) {
  return holds_its_target(plan) || is_changing(plan) || (takes_out(plan) && plan.state() == v1::Plan::ROLLING_BACK);
}

/// What print_in_force() names, in the order of `plans`, each once: of a return that failed the plan that took its
/// target out.
std::vector<const v1::Plan*> named_first(const v1::ListPlansResponse& plans, const v1::ListPlansResponse& all) {
  std::vector<const v1::Plan*> named;
  for (const v1::Plan& plan : plans.plans())
    if (const v1::Plan& first = first_out(plan, all.plans());
        std::ranges::find(named, first.id(), &v1::Plan::id) == named.end())
      named.push_back(&first);
  return named;
}

/// Those that hold something, and before each the plan that print_in_force() names for it.
v1::ListPlansResponse with_named(const v1::ListPlansResponse& plans, const v1::ListPlansResponse& all) {
  std::set<std::string> known;
  v1::ListPlansResponse both;
  *both.mutable_missing_shards() = plans.missing_shards();
  for (const v1::Plan& plan : plans.plans())
    for (const v1::Plan* each : {&first_out(plan, all.plans()), &plan})
      if (known.insert(each->id()).second) *both.add_plans() = *each;
  return both;
}

v1::ListPlansResponse chosen(const v1::ListPlansResponse& all, WhichPlans which, TimePoint now) {
  if (which == WhichPlans::kAll) return all;
  v1::ListPlansResponse some;
  *some.mutable_missing_shards() = all.missing_shards();
  for (const v1::Plan& plan : all.plans())
    if (which == WhichPlans::kInForce ? is_in_force(plan)
                                      : plan.state() < v1::Plan::COMMITTED || needs_a_look(plan, all, now))
      *some.add_plans() = plan;
  return some;
}

Exit exit_of(const v1::Plan& plan, Wished wished) {
  const bool undone = wished != Wished::kDone;
  if (undone && (plan.unresolved() || is_in_force_after_all(plan))) return Exit::kBadNews;
  if (wished == Wished::kLeft && plan.state() != v1::Plan::FAILED)
    return plan.in_force() ? Exit::kBadNews : Exit::kGood;
  switch (plan.state()) {
    case v1::Plan::COMMITTED:
      return undone ? Exit::kRefused : Exit::kGood;
    case v1::Plan::ROLLED_BACK:
      return undone ? Exit::kGood : Exit::kBadNews;
    case v1::Plan::REJECTED:
      // What a guard kept in service was not undone.
      return undone && (takes_out(plan) || !plan.has_started()) ? Exit::kGood : Exit::kRefused;
    case v1::Plan::EXPIRED:
      return undone ? Exit::kGood : Exit::kRefused;
    default:
      return Exit::kBadNews;
  }
}

/// Those behind the one that was printed last. `last`: that one; empty: none was.
void print_new_steps(const Session& session, const v1::Plan& plan, std::string& last) {
  int from = 0;
  for (int i = 0; i < plan.steps_size(); ++i)
    if (plan.steps(i).SerializeAsString() == last) from = i + 1;
  for (int i = from; i < plan.steps_size(); ++i) {
    const v1::PlanStep& step = plan.steps(i);
    session.out << (step.has_at() ? time_text(step.at()) : "-") << "  " << plan.id() << "  "
                << v1::Plan::State_Name(step.state()) << "  " << printable(step.who()) << "  " << printable(step.what())
                << '\n';
    last = step.SerializeAsString();
  }
  session.out.flush();
}

}  // namespace

Exit show_plans(const Session& session, WhichPlans which, bool ids_only) {
  const v1::ListPlansResponse all =
      session.client.all_pages(session.client.remedies, &Plans::ListPlans, v1::ListPlansRequest());
  const v1::ListPlansResponse plans = chosen(all, which, session.now);
  if (ids_only) {
    std::vector<std::string> ids;
    if (which == WhichPlans::kInForce)
      for (const v1::Plan* plan : named_first(plans, all)) ids.push_back(plan->id());
    else
      for (const v1::Plan& plan : plans.plans()) ids.push_back(plan.id());
    session.out << list_text(ids, session.json);
    return Exit::kGood;
  }
  if (session.json) {
    session.out << json_text(which == WhichPlans::kInForce ? with_named(plans, all) : plans, false) << '\n';
    return Exit::kGood;
  }
  const v1::RemedyStatus status =
      session.client.call(session.client.remedies, &Plans::GetStatus, v1::GetRemedyStatusRequest());
  print_unstored(session);
  print_stops(session.out, status);
  if (which == WhichPlans::kInForce) {
    print_in_force(session, plans, all);
    print_others_disabled(session, all);
    return Exit::kGood;
  }
  if (plans.plans().empty()) {
    session.out << (which == WhichPlans::kAll ? "No plans" : "No open plans") << where_asked(plans) << ".\n";
  } else {
    const bool shards = has_shards(plans.plans());
    std::vector<Column> columns{"ID",           whole("ACTION"),   judged("STATE"),
                                link("TARGET"), spare("INCIDENT"), spare(age("UPDATED"))};
    if (shards) columns.push_back(key("SHARD"));
    columns.push_back(story("REASON OR OUTCOME"));
    Table table(std::move(columns));
    for (const v1::Plan& plan : plans.plans()) {
      std::vector<std::string> cells{plan.id(),
                                     v1::Plan::Action_Name(plan.action()),
                                     narrow_state_text(plan, holds_again(plan, plans.plans())),
                                     dash_if_empty(plan.target().label()),
                                     dash_if_empty(plan.incident_id()),
                                     age_text(plan.has_updated(), plan.updated(), session.now)};
      if (shards) cells.push_back(plan.shard());
      cells.push_back(progress_text(plan));
      table.add(std::move(cells));
    }
    table.print(session.sheet());
  }
  print_held(session.out, status, std::numeric_limits<int>::max());
  print_others_disabled(session, all);
  return Exit::kGood;
}

Exit watch_plans(const Session& session, bool all) {
  using Event = v1::WatchPlansResponse;
  std::map<std::string, std::string> last;
  WatchLedger shown;
  MissingShards missing;
  const auto show = [&](const Event& event) {
    if (session.json) {
      session.out << json_text(event, true) << '\n';
    } else if (!event.has_plan()) {
      session.out << missing.take(event.missing_shards());
    } else {
      print_line(session, event.plan(), last);
    }
    session.out.flush();
  };
  v1::WatchPlansRequest request;
  request.set_include_ended(all || session.client.has_others());  // what ended between two streams is told, too
  session.client.follow(
      session.client.remedies, &Plans::WatchPlans, request, [&] { shown.begin(); },
      [&](Event& event) {
        const v1::Plan& plan = event.plan();
        const bool is_over = plan.state() >= v1::Plan::COMMITTED;
        const std::string text = plan.SerializeAsString();  // not every change of a plan is a new revision
        shown.take(
            event,
            {.id = plan.id(),
             .revision = plan.revision(),
             .is_over = is_over,
             .is_wanted = all || !is_over,
             .text = text},
            Event::REMOVED, [](Event& of) -> std::string& { return *of.mutable_plan()->mutable_id(); }, show);
      });
}

Exit wait_for_plan(const Session& session, v1::Plan plan, Duration patience, Wished wished) {
  const auto until = std::chrono::steady_clock::now() + patience;
  std::string last;
  std::optional<google::protobuf::Timestamp> away;  // since when
  if (!session.json)
    session.out << plan.id() << "  " << v1::Plan::Action_Name(plan.action()) << "  " << label_of(plan.target()) << '\n';
  while (true) {
    if (!session.json) print_new_steps(session, plan, last);
    if (plan.state() >= v1::Plan::COMMITTED) break;
    if (std::chrono::steady_clock::now() >= until) {
      if (away)
        throw Failure(Exit::kUnreachable, "weftd does not answer since " + time_text(*away) + "; " + plan.id() +
                                              " was " + plan_state_text(plan) + " when it last did: weftctl plan " +
                                              plan.id());
      const v1::GuardVerdict* guard = obstacle(plan);
      throw Failure(Exit::kUnfinished, plan.id() + " is still " + plan_state_text(plan) + ": " +
                                           (guard == nullptr ? "" : guard->explanation() + ": ") + "weftctl plan " +
                                           plan.id());
    }
    std::this_thread::sleep_for(kLookAgain);
    v1::GetPlanRequest request;
    request.set_id(plan.id());
    try {
      plan = session.client.call(session.client.remedies, &Plans::GetPlan, request);
      away.reset();
    } catch (const Failure& failure) {
      // weftd goes on with its plans when it is started anew.
      if (failure.exit != Exit::kUnreachable) throw;
      if (away) continue;
      set_seconds(away.emplace(), std::chrono::system_clock::now());
      if (!session.json) session.out << printable(failure.what()) << "; asking again\n" << std::flush;
    }
  }
  if (session.json) {
    session.out << json_text(plan, false) << '\n';
  } else {
    session.out << plan.id() << " is " << plan_state_text(plan) << ": " << printable(plan.outcome()) << '\n';
  }
  return exit_of(plan, wished);
}

}  // namespace weft::ctl
