#include "daemon/programs/weftctl/arguments.hpp"

namespace weft::ctl {
namespace {

using Wish = Exit (*)(const Session&, const std::string&, const std::string&, const std::string&);

void add_who(CLI::App* verb, Arguments& given) {
  verb->add_option("--who", given.who, "Name for the record; yours and this host's without it");
}

/// A verb that wants something done to one thing.
CLI::App* add_wish(CLI::App& app, Arguments& given, Verb& chosen, const char* name, const char* help, const char* what,
                   std::string& thing, const char* which, Wish wish) {
  CLI::App* verb = app.add_subcommand(name, help);
  verb->add_option(what, thing, which)->required();
  add_who(verb, given);
  verb->callback([&given, &chosen, &thing, wish] {
    chosen = [&given, &thing, wish](const Session& session) { return wish(session, thing, given.reason, given.who); };
  });
  return verb;
}

}  // namespace

void add_plan_verbs(CLI::App& app, Arguments& given, Verb& chosen) {
  CLI::App* plans = app.add_subcommand("plans", "What is to be done, or is being done, about trouble");
  plans->add_flag("--all", given.all, "Those that are over too");
  plans->add_flag("--ids", given.ids, "Ids only, one a line");
  plans->callback([&] { chosen = [&](const Session& session) { return show_plans(session, given.all, given.ids); }; });
  CLI::App* plan = app.add_subcommand(
      "plan", "All of one plan: why, what else could be done, what each guard says, how far it came");
  plan->add_option("ID", given.id, "PLAN-7 or 7")->required();
  plan->callback([&] { chosen = [&](const Session& session) { return show_plan(session, given.id); }; });
  CLI::App* audit = app.add_subcommand("audit", "Who did what: the trail, whose hashes are checked as it is read");
  audit->add_option("--limit", given.limit, "The newest so many lines; 0: all")->capture_default_str();
  audit->callback([&] { chosen = [&](const Session& session) { return show_audit(session, given.limit); }; });
}

void add_remedy_verbs(CLI::App& app, Arguments& given, Verb& chosen) {
  constexpr const char* kPlan = "PLAN-7 or 7";
  constexpr const char* kLink = "Either end: leaf-1:7 or 0x2c5eab0300b87b40:7; on Ethernet leaf01:swp7";
  constexpr const char* kNode = "The host's name";
  constexpr const char* kReason = "Why, for the record and whoever meets it";
  CLI::App* approve = app.add_subcommand("approve", "Let a proposed plan be done");
  approve->add_option("ID", given.id, kPlan)->required();
  approve->add_option("--revision", given.revision, "The one that you read; refused if the plan changed since");
  add_who(approve, given);
  approve->callback([&] {
    chosen = [&](const Session& session) { return approve_plan(session, given.id, given.revision, given.who); };
  });
  for (CLI::App* verb : {add_wish(app, given, chosen, "reject", "Say no to a plan", "ID", given.id, kPlan, reject_plan),
                         add_wish(app, given, chosen, "isolate", "Take a cable out of service, if no guard refuses",
                                  "LINK", given.link, kLink, isolate_link),
                         add_wish(app, given, chosen, "drain", "Let the scheduler start nothing new on a host", "NODE",
                                  given.node, kNode, drain_node)})
    verb->add_option("--reason", given.reason, kReason)->required();
  for (CLI::App* verb : {add_wish(app, given, chosen, "restore", "Put a cable back into service, on probation", "LINK",
                                  given.link, kLink, restore_link),
                         add_wish(app, given, chosen, "undrain", "Take our own drain of a host back", "NODE",
                                  given.node, kNode, undrain_node)})
    verb->add_option("--reason", given.reason, kReason);

  const auto reason_given = [&given] {
    if (given.reason.empty()) throw Failure(Exit::kWrongUsage, "--reason is required");
  };
  CLI::App* hands_off = app.add_subcommand(
      "hands-off",
      "Stop all automation at once, or let it go on; without a word: does anything stop it? Exit status 1 if so");
  hands_off->add_option("WORD", given.word, "on or off")->check(CLI::IsMember({"on", "off"}));
  hands_off->add_option("--reason", given.reason, kReason);
  add_who(hands_off, given);
  hands_off->callback([&, reason_given] {
    chosen = [&, reason_given](const Session& session) {
      if (given.word.empty()) return show_automation(session);
      reason_given();
      return set_hands_off(session, given.word == "on", given.reason, given.who);
    };
  });
  CLI::App* breaker =
      app.add_subcommand("breaker", "Reset the breaker after a look; without a word the same as hands-off without one");
  breaker->add_option("WORD", given.word, "reset")->check(CLI::IsMember({"reset"}));
  breaker->add_option("--reason", given.reason, "What you saw, for the record");
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
