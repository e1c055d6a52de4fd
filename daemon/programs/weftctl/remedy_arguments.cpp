// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/arguments.hpp"

namespace weft::ctl {
namespace {

void add_who(CLI::App* verb, Arguments& given) {
  verb->add_option("--who", given.who, kForWhom);
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
    {"restore", "Return a link to service, on probation", false, false, restore_link},
    {"raise-cost", "Make routes avoid a link that stays up, if no guard refuses", false, true, raise_link_cost},
    {"lower-cost", "Set the cost of a link back that Weft raised", false, false, lower_link_cost},
    {"drain", "Drain a host: the scheduler starts no new jobs there", true, true, drain_node},
    {"undrain", "Undrain a host that Weft drained", true, false, undrain_node}};

void add_change(CLI::App& app, Arguments& given, Verb& chosen, const Change& change) {
  CLI::App* verb = app.add_subcommand(change.name, change.help);
  if (change.of_host) {
    verb->add_option("NODE", given.node, "The host's name")->required();
  } else {
    verb->add_option("LINK", given.link, "Either end: leaf-1:7 or 0x2c5eab0300b87b40:7; on Ethernet leaf01:swp7")
        ->required();
  }
  verb->add_option(
      "--reason", given.reason,
      change.needs_reason ? "Reason, for the audit trail; required without --dry-run" : "Reason, for the audit trail");
  add_who(verb, given);
  verb->add_flag("--dry-run", given.dry_run,
                 "Print the guards and the alternatives, and do nothing. Exit status 4 if a guard would refuse");
  verb->add_flag("--yes", given.yes, "On a terminal: do not show that and ask first");
  verb->callback([&given, &chosen, &change] {
    chosen = [&given, &change](const Session& session) {
      if (change.needs_reason && given.reason.empty() && !given.dry_run)
        throw Failure(Exit::kWrongUsage, "--reason is required");
      return change.carry_out(session, {.target = change.of_host ? given.node : given.link,
                                        .reason = given.reason,
                                        .who = given.who,
                                        .dry_run = given.dry_run,
                                        .yes = given.yes});
    };
  });
}

/// One that ends a plan.
CLI::App* add_decision(CLI::App& app, Arguments& given, Verb& chosen, const char* name, const char* help,
                       Exit (*carry_out)(const Session&, const std::string&, const std::string&, const std::string&)) {
  CLI::App* verb = app.add_subcommand(name, help);
  verb->add_option("ID", given.id, "PLAN-7 or 7")->required();
  add_who(verb, given);
  verb->callback([&given, &chosen, carry_out] {
    chosen = [&given, carry_out](const Session& session) {
      return carry_out(session, given.id, given.reason, given.who);
    };
  });
  return verb;
}

}  // namespace

void add_plan_verbs(CLI::App& app, Arguments& given, Verb& chosen) {
  CLI::App* plans = app.add_subcommand("plans", "Plans of remedies, proposed or under way");
  plans->add_flag("--all", given.all, "Include finished ones");
  plans->add_flag("--ids", given.ids, "Only the IDs, one per line");
  plans->callback([&] { chosen = [&](const Session& session) { return show_plans(session, given.all, given.ids); }; });
  CLI::App* plan = app.add_subcommand("plan", "One plan in full: reason, alternatives, guard results, steps so far");
  plan->add_option("ID", given.id, "PLAN-7 or 7")->required();
  plan->callback([&] { chosen = [&](const Session& session) { return show_plan(session, given.id); }; });
  CLI::App* audit = app.add_subcommand("audit", "Audit trail; its hash chain is verified while it is read");
  audit->add_option("--limit", given.limit, "Number of newest entries; 0: all")->capture_default_str();
  audit->callback([&] { chosen = [&](const Session& session) { return show_audit(session, given.limit); }; });
}

void add_remedy_verbs(CLI::App& app, Arguments& given, Verb& chosen) {
  constexpr const char* kPlan = "PLAN-7 or 7";
  constexpr const char* kReason = "Reason, for the audit trail";
  CLI::App* approve = app.add_subcommand("approve", "Approve a proposed plan");
  approve->add_option("ID", given.id, kPlan)->required();
  approve->add_option("--revision", given.revision,
                      "Revision that you reviewed; refused if the plan has changed since");
  add_who(approve, given);
  approve->callback([&] {
    chosen = [&](const Session& session) { return approve_plan(session, given.id, given.revision, given.who); };
  });
  for (CLI::App* verb :
       {add_decision(app, given, chosen, "reject", "Reject a plan", reject_plan),
        add_decision(app, given, chosen, "abort", "End a plan, and undo what it did if it is under way", abort_plan)})
    verb->add_option("--reason", given.reason, kReason)->required();
  for (const Change& change : kChanges) add_change(app, given, chosen, change);

  const auto reason_given = [&given] {
    if (given.reason.empty()) throw Failure(Exit::kWrongUsage, "--reason is required");
  };
  CLI::App* hands_off = app.add_subcommand(
      "hands-off",
      "Stop all automation (on), resume it (off), or show whether it is stopped. Exit status 1 if stopped");
  hands_off->add_option("WORD", given.word, "on or off; default: show the state")->check(CLI::IsMember({"on", "off"}));
  hands_off->add_option("--reason", given.reason, kReason);
  add_who(hands_off, given);
  hands_off->callback([&, reason_given] {
    chosen = [&, reason_given](const Session& session) {
      if (given.word.empty()) return show_automation(session);
      reason_given();
      return set_hands_off(session, given.word == "on", given.reason, given.who);
    };
  });
  CLI::App* breaker = app.add_subcommand("breaker", "Show or reset the circuit breaker");
  breaker->add_option("WORD", given.word, "reset; default: show the state")->check(CLI::IsMember({"reset"}));
  breaker->add_option("--reason", given.reason, "Findings, for the audit trail");
  add_who(breaker, given);
  breaker->callback([&, reason_given] {
    chosen = [&, reason_given](const Session& session) {
      if (given.word.empty()) return show_automation(session);
      reason_given();
      return reset_breaker(session, given.reason, given.who);
    };
  });
}

}  // namespace weft::ctl
