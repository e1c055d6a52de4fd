// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/manual.hpp"

#include <algorithm>
#include <array>

namespace weft::ctl {
namespace {

struct Examples {
  std::string_view verb;
  std::string_view lines;
};

constexpr std::array kExamples{
    Examples{"status", R"(  weftctl status                       every fabric, with the age of its last sweep
  weftctl status --watch               the same, every two seconds)"},
    Examples{"nodes", R"(  weftctl nodes                        all devices with a GUID
  weftctl nodes dgx-04                 the adapters of one host
  weftctl nodes --type switch --contains spine
  weftctl nodes --down --watch         what is cut off, updated live
  weftctl nodes --names                only names, for scripts
  weftctl --json nodes                 the API's JSON)"},
    Examples{"ports", R"(  weftctl ports leaf-1                 states, rates and errors of a switch's ports
  weftctl ports leaf-1:12              one port
  weftctl ports leaf-1 --counters      one line per counter
  weftctl ports dgx-04 --watch 1       every second; what changed is marked)"},
    Examples{"backup", R"(  weftctl backup /backup/weft-2026-01-31.db)"},
    Examples{"enroll", R"(  weftctl enroll dgx-01                a token for one node, good for a day
  weftctl enroll dgx-01 dgx-02 --for 7d   one for each, good for a week
  weftctl enroll --list                tokens, and which were used
  weftctl enroll --revoke dgx-01       take a token back)"},
    Examples{"evidence", R"(  weftctl evidence INC-17              two files here: a document, and what it was made from
  weftctl evidence INC-17 -o case-4711   in a folder
  weftctl evidence leaf-1 12 --last 7d   one port without an incident
  weftctl evidence INC-17 -o case-4711 --force   again, in place of the files that are there
  weftctl evidence INC-17 --with-jobs  also jobs and people: for your own use)"},
    Examples{"worst", R"(  weftctl worst                        cables by the harm of the last 7 days
  weftctl worst modules --last 30d     by the modules that are at the ports now
  weftctl worst hosts --by jobs        hosts whose incidents hurt the most jobs
  weftctl worst switches --top 5)"},
    Examples{"history", R"(  weftctl history leaf-1:12            one port, the last 24 hours
  weftctl history leaf-1 --last 7d     every port of a switch, a week
  weftctl history leaf-1:12 --counter symbol_errors --last 2h
  weftctl history dgx-04 --counter "optical in" --last 30d   received optical power of each port)"},
    Examples{"links", R"(  weftctl links                        every cable
  weftctl links leaf-1                 cables of one node
  weftctl links --contains "leaf-0 spine-3"   cables between nodes with these in their names
  weftctl links --down                 cables that are not up
  weftctl links --down --watch         the same, updated live
  weftctl links --worst errors         by errors per bit, the worst first; also flaps, stall)"},
    Examples{"topology", R"(  weftctl topology                     each node, and the peer of each port
  weftctl topology leaf-1              one node
  weftctl topology --differences       cables that are not as planned)"},
    Examples{"path", R"(  weftctl path dgx-04 dgx-17           host to host, on each rail
  weftctl path "leaf-1 port 12" "lid 17"   from a port to a LID
  weftctl path gpu-01 "leaf02 swp3"    Ethernet: all ECMP paths, each cable's share of flows)"},
    Examples{"incidents", R"(  weftctl incidents                    open incidents
  weftctl incidents --all              resolved ones and planned work too
  weftctl incidents --kind LINK_FLAP --entity leaf-1 --from "2026-01-31 14:00"
  weftctl incidents --watch            open incidents, updated live)"},
    Examples{"incident", R"(  weftctl incident INC-17              cause, affected, drawing, evidence, timeline)"},
    Examples{"timeline", R"(  weftctl timeline INC-17              its changes, its plans, and what people did)"},
    Examples{"runbook", R"(  weftctl runbook LINK_FLAP            what to do about a link that flaps
  weftctl runbook INC-17               what to do about this incident
  weftctl runbook weft-itself          trouble of Weft itself; needs no weftd)"},
    Examples{"health", R"(  weftctl health                       every host that is not healthy
  weftctl health dgx-04                exit status 0 only if a job may run there
  weftctl health --job slurm:1234      a job's nodes and the links between them)"},
    Examples{"drift", R"(  weftctl drift                        which settings differ, and at which ports
  weftctl drift firmware               of firmware alone)"},
    Examples{"collectors", R"(  weftctl collectors                   connected and silent collectors, lost batches
  weftctl collectors dgx-04            one host)"},
    Examples{"watch", R"(  weftctl watch                        incidents as they change
  weftctl --json watch                 one event per line, as JSON)"},
    Examples{"acknowledge", R"(  weftctl acknowledge INC-17           no more paging for it)"},
    Examples{"silence", R"(  weftctl silence INC-17 --for 2h      no paging for two hours)"},
    Examples{"maintenance", R"(  weftctl maintenance                  active and planned windows
  weftctl maintenance add leaf-1 --for 2h --reason "new firmware"
  weftctl maintenance end MW-3         end a window early)"},
    Examples{"accept", R"(  weftctl accept --hosts gpu-01,gpu-02 --for 2h --wait
  weftctl accept --fabric ib0 --for 1d   all of a fabric
  weftctl accept --links leaf-1:12 --now   a link, by what is known now
  weftctl accept list                  runs, and what came of them
  weftctl accept show ACC-3            a run with its report
  weftctl accept show ACC-3 -o html report.html
  weftctl accept end ACC-3             end it before its time)"},
    Examples{"plans", R"(  weftctl plans                        open plans
  weftctl plans --in-force             what plans hold isolated, avoided or drained
  weftctl plans --watch                open plans, updated live)"},
    Examples{"plan", R"(  weftctl plan PLAN-7                  reason, alternatives, guard results)"},
    Examples{"audit", R"(  weftctl audit --limit 20             the last twenty entries
  weftctl audit --user ann --action approved --from "2026-01-31 14:00")"},
    Examples{"approve", R"(  weftctl approve PLAN-7               shows the plan and asks, on a terminal
  weftctl approve PLAN-7 --revision 3  the revision that you reviewed
  weftctl approve PLAN-7 --yes --wait  stays until the plan is over)"},
    Examples{"abort", R"(  weftctl abort PLAN-7 --reason "wrong cable"
  weftctl abort PLAN-7 --reason "wrong cable" --yes --wait
  weftctl abort PLAN-7 --leave-in-service --reason "OpenSM is gone for today")"},
    Examples{"reject", R"(  weftctl reject PLAN-7 --reason "the job ends in an hour")"},
    Examples{"isolate", R"(  weftctl isolate leaf-3:17 --dry-run    what every guard says; nothing is done
  weftctl isolate leaf-3:17 --reason "takes errors"
  weftctl isolate leaf-3:17 --reason "takes errors" --yes --wait --timeout 10m)"},
    Examples{"raise-cost", R"(  weftctl raise-cost leaf-3:17 --reason "slow")"},
    Examples{"lower-cost", R"(  weftctl lower-cost leaf-3:17 --reason "new cable")"},
    Examples{"restore", R"(  weftctl restore leaf-3:17 --reason "new cable")"},
    Examples{"drain", R"(  weftctl drain dgx-04 --reason "new memory")"},
    Examples{"undrain", R"(  weftctl undrain dgx-04)"},
    Examples{"hands-off", R"(  weftctl hands-off                    show whether automation is stopped
  weftctl hands-off on --reason "work on the spines"
  weftctl hands-off off --reason "done")"},
    Examples{"breaker", R"(  weftctl breaker                      show its state
  weftctl breaker reset --reason "power feed failed; repaired")"},
    Examples{"completion", R"(  weftctl completion bash > /etc/bash_completion.d/weftctl
  weftctl completion zsh > "${fpath[1]}/_weftctl"
  weftctl completion fish > ~/.config/fish/completions/weftctl.fish)"},
};

constexpr const char* kExit = R"(  0   good
  1   bad news: a node is not healthy or is to get no new jobs, a path is incomplete,
      automation is stopped, no such incident, an acceptance failed; with --wait the plan
      failed or was undone
  2   wrong usage
  3   weftd cannot be reached, is too busy, stands by, or cannot be sure that it leads; a
      shard of a site does not answer that may know the name in a command, or where what
      the others know is good (health, topology --differences). Lists without what that
      shard has end with 0, and name it on standard error
  4   refused: by a guard, by a missing permission, by a limit, by the state of a plan
      or an incident; with --wait nothing was done
  5   with --wait: the plan is not over within --timeout; of an acceptance: something
      that must be measured is not, or not for long enough
  6   done, but not stored: it holds until weftd is restarted)";

constexpr const char* kDescription =
    R"(Tables are for people. Scripts should use --json (protobuf's JSON mapping of the API's messages) and the exit
status.

On a terminal a table is fitted to its width: long sentences are wrapped, less important columns are left out, and a note lists
them. Output into a file or a pipe is complete. Colours are used on a terminal only, and not if NO_COLOR is set; they carry no
information of their own.

With --watch a listing is repeated until Ctrl-C. A ">" in front marks rows that changed within the last ten seconds, except for
ages and rates. If weftd becomes unreachable, the page shows since when, keeps the last data, and weftctl retries.

With several servers, of which one leads, weftctl asks them in their order, and says on standard error if another one than the
first answers. A connection may take 2 s. A command that changes something is sent to another server only if the one before
certainly did not take it. A stream of changes that breaks off goes on with the next server, without repeating a line, for up
to 60 s.)";

constexpr const char* kEnvironment =
    R"(WEFT_SERVER: address of weftd's gRPC server, or several separated by commas; the default of
--server.

WEFT_CA, WEFT_CERT, WEFT_KEY, WEFT_TOKEN_FILE: the same for --ca, --cert, --key and --token-file.

WEFT_TOKEN: a bearer token. There is no flag for it: other users can read flags in the process list.

NO_COLOR: if set and not empty: no colours, unless --color always is given.

LANG, LC_ALL, LC_CTYPE: drawings are in ASCII unless the locale is UTF-8.

SUDO_USER: the default of --who. Who you are weftd finds out by itself: your account on its Unix socket, or the name of your token or
certificate.)";

}  // namespace

const char* const kOverviewFooter =
    "weftctl help VERB has details and examples; --help-all also exit status and environment, man weftctl everything.";

const char* const kFooter = R"(
Examples:
  weftctl status                       monitoring status
  weftctl incidents                    open incidents
  weftctl incident INC-17              cause, waiting links, evidence, timeline
  weftctl ports leaf-1                 states, rates and errors of a switch's ports
  weftctl path dgx-04 dgx-17           cables between two hosts, with their incidents
  weftctl links --down --watch         cables that are not up, updated live
  weftctl health dgx-04 && srun ...    run only on a healthy host
  weftctl --json nodes | jq '.nodes[].name'
  weftctl silence INC-17 --for 2h
  weftctl maintenance add leaf-1 --for 2h --reason "new firmware"
  weftctl plan PLAN-7                  action, alternatives, guard results
  weftctl approve PLAN-7 --revision 3  approve the revision that you reviewed
  weftctl drain dgx-04 --reason "new cable"
  weftctl hands-off on --reason "work on the spines"

weftctl help VERB has details. Exit status: 0 good; 1 bad news (a node is not healthy or is to get no new
jobs, a path is incomplete, automation is stopped); 2 wrong usage; 3 weftd cannot be reached, is too busy, or
stands by, or a shard of a site does not answer that may know better (lists end with 0 then, and say so);
4 refused (by a guard, by a missing permission, by a limit, by the state of a plan or an incident); 5 not over
in time (--wait); 6 done, but not stored yet.
Environment: WEFT_SERVER, WEFT_CA, WEFT_CERT, WEFT_KEY and WEFT_TOKEN_FILE are the defaults of flags; WEFT_TOKEN is a bearer
token; NO_COLOR turns colours off.)";

std::string examples_of(std::string_view verb) {
  const std::string_view name = verb.substr(0, verb.find(' '));
  const auto found = std::ranges::find(kExamples, name, &Examples::verb);
  if (found == kExamples.end()) return "";
  if (name == verb) return "Examples:\n" + std::string(found->lines);
  // Of "maintenance add" those lines that begin with it.
  std::string lines;
  for (std::string_view rest = found->lines; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.starts_with("  weftctl " + std::string(verb))) lines += '\n' + std::string(line);
  }
  return lines.empty() ? "" : "Examples:" + lines;
}

usage::ManPage manual(const std::string& version) {
  return {.section = 1,
          .version = version,
          .one_line = "show the fabric's state and incidents, and control remedies",
          .describes = kDescription,
          .more = {{"EXIT STATUS", kExit}, {"ENVIRONMENT", kEnvironment}},
          .see_also = {"weftd(8)", "weft-collector(8)"}};
}

}  // namespace weft::ctl
