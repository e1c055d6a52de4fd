// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/arguments.hpp"
#include "daemon/programs/weftctl/value_format.hpp"

namespace weft::ctl {
namespace {

void add_who(CLI::App* verb, Arguments& given) {
  verb->add_option("--who", given.who, kForWhom);
}

/// Verbs whose plan may take a while.
void add_wait(CLI::App* verb, Arguments& given) {
  CLI::Option* wait = verb->add_flag(
      "--wait", given.wait,
      "Print each step until the plan is over. Exit status 0 if it ended as wanted, 1 if it failed or was "
      "undone, 4 if nothing was done, 5 if it is not over within --timeout");
  verb->add_option("--timeout", given.timeout, "With --wait: the longest time to wait, such as 90s, 30m or 2h")
      ->capture_default_str()
      ->needs(wait);
}

std::optional<Duration> wanted_wait(const Arguments& given) {
  if (!given.wait) return std::nullopt;
  const auto timeout = parse_duration(given.timeout);
  if (!timeout || *timeout <= Duration::zero())
    throw Failure(Exit::kWrongUsage, "--timeout needs a duration such as 90s, 30m or 2h");
  return timeout;
}

Decision decision_of(const Arguments& given) {
  return {.id = given.id,
          .reason = given.reason,
          .who = given.who,
          .revision = given.revision,
          .yes = given.yes,
          .wait = wanted_wait(given),
          .leave = given.leave};
}

/// One that changes a link or a host.
struct Change {
  const char* name;
  const char* help;
  bool of_host;
  bool needs_reason;
  Exit (*carry_out)(const Session&, const Wish&);
};

constexpr Change kChanges[] = {
    {"isolate", "Take a link out of service, if no guard refuses", false, true, isolate_link},
    {"restore", "Return a link to service that Weft isolated, or set its raised cost back; on probation", false, false,
     restore_link},
    {"raise-cost", "Make routes avoid a link that stays up, if no guard refuses", false, true, raise_link_cost},
    {"lower-cost", "Set the cost of a link back that Weft raised; on probation", false, false, lower_link_cost},
    {"drain", "Drain a host: the scheduler starts no new jobs there", true, true, drain_node},
    {"undrain", "Undrain a host that Weft drained", true, false, undrain_node}};

void add_change(CLI::App& app, Arguments& given, Verb& chosen, const Change& change) {
  CLI::App* verb = app.add_subcommand(change.name, change.help);
  if (change.of_host) {
    verb->add_option("NODE", given.node, "The host's name, in any case")->required();
  } else {
    verb->add_option(
            "LINK", given.link,
            "Either end: leaf-1:7 or 0x2c5eab0300b87b40:7, on Ethernet leaf01:swp7; or the link as plans name it")
        ->required();
  }
  verb->add_option(
      "--reason", given.reason,
      change.needs_reason ? "Reason, for the audit trail; required without --dry-run" : "Reason, for the audit trail");
  add_who(verb, given);
  CLI::Option* dry_run = verb->add_flag(
      "--dry-run", given.dry_run,
      "Print the guards and the alternatives, and do nothing. Exit status 4 if a guard would refuse; a plan "
      "under way (ONE_ACTOR) only delays it. Needs the role operator");
  verb->add_flag("--yes", given.yes, "On a terminal: do not show that and ask first");
  add_wait(verb, given);
  dry_run->excludes("--wait")->excludes("--timeout");
  verb->callback([&given, &chosen, &change] {
    chosen = [&given, &change](const Session& session) {
      if (change.needs_reason && given.reason.empty() && !given.dry_run)
        throw Failure(Exit::kWrongUsage, "--reason is required");
      return change.carry_out(session, {.target = change.of_host ? given.node : given.link,
                                        .reason = given.reason,
                                        .who = given.who,
                                        .dry_run = given.dry_run,
                                        .yes = given.yes,
                                        .wait = wanted_wait(given)});
    };
  });
}

/// One that ends a plan.
CLI::App* add_decision(CLI::App& app, Arguments& given, Verb& chosen, const char* name, const char* help,
                       Exit (*carry_out)(const Session&, const Decision&)) {
  CLI::App* verb = app.add_subcommand(name, help);
  verb->add_option("ID", given.id, "PLAN-7 or 7")->required();
  add_who(verb, given);
  verb->callback([&given, &chosen, carry_out] {
    chosen = [&given, carry_out](const Session& session) { return carry_out(session, decision_of(given)); };
  });
  return verb;
}

}  // namespace

void add_plan_verbs(CLI::App& app, Arguments& given, Verb& chosen) {
  CLI::App* plans = app.add_subcommand("plans", "Plans of remedies, proposed or under way");
  CLI::Option* all = plans->add_flag("--all", given.all, "Include finished ones");
  plans
      ->add_flag("--in-force", given.in_force,
                 "Only plans that hold a link isolated or avoided, or a host drained, also those that are over: since "
                 "when, why, and how it comes back")
      ->excludes(all);
  plans->add_flag("--ids", given.ids, "Only the IDs, one per line");
  plans->callback([&] {
    chosen = [&](const Session& session) {
      const auto which = given.in_force ? WhichPlans::kInForce : given.all ? WhichPlans::kAll : WhichPlans::kOpen;
      return show_plans(session, which, given.ids);
    };
  });
  CLI::App* plan = app.add_subcommand("plan", "One plan in full: reason, alternatives, guard results, steps so far");
  plan->add_option("ID", given.id, "PLAN-7 or 7")->required();
  plan->callback([&] { chosen = [&](const Session& session) { return show_plan(session, given.id); }; });
  CLI::App* audit = app.add_subcommand("audit", "Audit trail; its hash chain is verified while it is read");
  audit->add_option("--limit", given.limit, "Number of newest entries; 0: all")->capture_default_str();
  audit->add_option("--from", given.from,
                    "Only entries from \"2026-01-31 14:00\" (UTC) on, or 2h for the last two hours");
  audit->add_option("--to", given.to, "Only entries before that time");
  audit->add_option("--user", given.word, "Only entries with this in USER, letters of either case");
  audit->add_option("--action", given.link, "Only entries with this in ACTION: approved, refused, aborted");
  audit->callback([&] {
    chosen = [&](const Session& session) {
      return show_audit(session, {.limit = given.limit,
                                  .from = past_time("--from", given.from, session.now),
                                  .to = past_time("--to", given.to, session.now),
                                  .who = given.word,
                                  .what = given.link});
    };
  });
}

void add_remedy_verbs(CLI::App& app, Arguments& given, Verb& chosen) {
  constexpr const char* kPlan = "PLAN-7 or 7";
  constexpr const char* kReason = "Reason, for the audit trail";
  CLI::App* approve = app.add_subcommand("approve", "Approve a proposed plan");
  approve->add_option("ID", given.id, kPlan)->required();
  approve->add_option("--revision", given.revision, "Revision that you reviewed; refused if the plan has changed since")
      ->check([](const std::string& text) {
        const bool is_number = !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == text.npos;
        return is_number && text.find_first_not_of('0') != text.npos
                   ? std::string()
                   : "it is a number from 1 on, as weftctl plan prints it, not " + text;
      });
  add_who(approve, given);
  approve->add_flag("--yes", given.yes, "On a terminal: do not show the plan and ask first");
  add_wait(approve, given);
  approve->callback(
      [&] { chosen = [&](const Session& session) { return approve_plan(session, decision_of(given)); }; });
  CLI::App* reject = add_decision(app, given, chosen, "reject", "Reject a plan", reject_plan);
  CLI::App* abort =
      add_decision(app, given, chosen, "abort", "End a plan, and undo what it did if it is under way", abort_plan);
  for (CLI::App* verb : {reject, abort}) verb->add_option("--reason", given.reason, kReason)->required();
  abort->add_flag("--yes", given.yes, "On a terminal: do not show the plan and ask first");
  abort->add_flag("--leave-in-service", given.leave,
                  "End a plan whose target is back in service, and send nothing more: a probation that nobody looks "
                  "at, what failed on its return and waits to be taken out again, or what was undone and is not seen");
  abort->get_option("ID")->description(
      "PLAN-7 or 7. A plan that waits ends, and changes nothing. What ISOLATE_LINK, RAISE_LINK_COST or DRAIN_NODE did "
      "is "
      "taken back. What RESTORE_LINK or UNDRAIN_NODE brought back is taken out of service again, unless a guard of a "
      "link forbids that (exit status 4). While hands-off holds, undoing waits. Of a plan that is over the error names "
      "the way back");
  add_wait(abort, given);
  for (const Change& change : kChanges) add_change(app, given, chosen, change);

  const auto reason_given = [&given] {
    if (given.reason.empty()) throw Failure(Exit::kWrongUsage, "--reason is required");
  };
  CLI::App* hands_off = app.add_subcommand(
      "hands-off",
      "Stop everything, also what persons order (on), let it go on (off), or show what stops it, and what Weft does by "
      "itself and what it proposes. Exit status 1 if stopped. If weftd does not answer, on its host: touch "
      "/var/lib/weft/hands-off (hands-off in state_dir, or remedy.hands_off_file)");
  hands_off->add_option("WORD", given.word, "on or off; default: show the state")->check(CLI::IsMember({"on", "off"}));
  hands_off->add_option("--reason", given.reason, "Reason, for the audit trail; required with on and off");
  add_who(hands_off, given);
  hands_off->add_flag("--yes", given.yes,
                      "With off, on a terminal: list the plans that begin then, but do not ask first");
  hands_off->callback([&, reason_given] {
    chosen = [&, reason_given](const Session& session) {
      if (given.word.empty()) return show_automation(session);
      reason_given();
      return set_hands_off(session, given.word == "on", given.reason, given.who, given.yes);
    };
  });
  CLI::App* breaker =
      app.add_subcommand("breaker",
                         "Show or reset the circuit breaker. After a reset automatic plans may begin at "
                         "once: it lists them");
  breaker->add_option("WORD", given.word, "reset; default: show the state")->check(CLI::IsMember({"reset"}));
  breaker->add_option("--reason", given.reason, "Findings, for the audit trail; required with reset");
  add_who(breaker, given);
  breaker->add_flag("--yes", given.yes,
                    "With reset, on a terminal: list the plans that begin then, but do not ask first");
  breaker->callback([&, reason_given] {
    chosen = [&, reason_given](const Session& session) {
      if (given.word.empty()) return show_automation(session);
      reason_given();
      return reset_breaker(session, given.reason, given.who, given.yes);
    };
  });
}

}  // namespace weft::ctl
