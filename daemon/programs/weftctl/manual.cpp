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
    Examples{"status", R"(  weftctl status                       every fabric, and how old its picture is
  weftctl status --watch               the same, again every two seconds)"},
    Examples{"nodes", R"(  weftctl nodes                        everything with a GUID
  weftctl nodes --names                names alone, for loops
  weftctl --json nodes                 the API's JSON, for programs)"},
    Examples{"ports", R"(  weftctl ports leaf-1                 states, rates and errors of a switch's ports
  weftctl ports leaf-1 --counters      each counter on a line of its own
  weftctl ports dgx-04 --watch 1       every second; what changed is marked)"},
    Examples{"links", R"(  weftctl links                        every cable
  weftctl links --down                 cables that are not up
  weftctl links --down --watch         and the moment they are back)"},
    Examples{"topology", R"(  weftctl topology                     each node, and what is behind each of its ports)"},
    Examples{"path", R"(  weftctl path dgx-04 dgx-17           host to host, on each rail
  weftctl path "leaf-1 port 12" "lid 17"   from a port to a LID
  weftctl path gpu-01 "leaf02 swp3"    Ethernet: every equal way, and its share of many flows)"},
    Examples{"incidents", R"(  weftctl incidents                    what is wrong now
  weftctl incidents --all              resolved ones and planned work too
  weftctl incidents --watch            what is wrong, as it changes)"},
    Examples{"incident", R"(  weftctl incident INC-17              cause, victims, evidence, drawing)"},
    Examples{"health", R"(  weftctl health                       every host that is not healthy
  weftctl health dgx-04                exit status 0 if a job may run there
  weftctl health --job slurm:1234      all that a job uses, links between its nodes too)"},
    Examples{"collectors", R"(  weftctl collectors                   who reports, who is silent, what was lost
  weftctl collectors dgx-04            one host)"},
    Examples{"watch", R"(  weftctl watch                        incidents as they come
  weftctl --json watch                 one event a line, for programs)"},
    Examples{"acknowledge", R"(  weftctl acknowledge INC-17           you look after it; it pages nobody any more)"},
    Examples{"silence", R"(  weftctl silence INC-17 --for 2h      it pages nobody for two hours)"},
    Examples{"maintenance", R"(  weftctl maintenance                  what is announced
  weftctl maintenance add leaf-1 --for 2h --reason "new firmware"
  weftctl maintenance end MW-3         done before its time)"},
    Examples{"plans", R"(  weftctl plans                        what waits for a word, and what is being done
  weftctl plans --watch                what becomes of them)"},
    Examples{"plan", R"(  weftctl plan PLAN-7                  why, what else, what each guard says)"},
    Examples{"audit", R"(  weftctl audit --limit 20             the last twenty lines of who did what)"},
    Examples{"approve", R"(  weftctl approve PLAN-7 --revision 3  as it was when you read it)"},
    Examples{"reject", R"(  weftctl reject PLAN-7 --reason "the job ends in an hour")"},
    Examples{"isolate", R"(  weftctl isolate leaf-3:17 --reason "takes errors")"},
    Examples{"restore", R"(  weftctl restore leaf-3:17 --reason "new cable")"},
    Examples{"drain", R"(  weftctl drain dgx-04 --reason "new memory")"},
    Examples{"undrain", R"(  weftctl undrain dgx-04)"},
    Examples{"hands-off", R"(  weftctl hands-off                    does anything stop automation?
  weftctl hands-off on --reason "work on the spines"
  weftctl hands-off off --reason "done")"},
    Examples{"breaker", R"(  weftctl breaker                      is it tripped, and why?
  weftctl breaker reset --reason "a power feed; all is back")"},
    Examples{"completion", R"(  weftctl completion bash > /etc/bash_completion.d/weftctl
  weftctl completion zsh > "${fpath[1]}/_weftctl"
  weftctl completion fish > ~/.config/fish/completions/weftctl.fish)"},
};

constexpr const char* kExit = R"(  0   good
  1   the answer is bad news: a node that is not healthy, a way that does not arrive, no such incident
  2   wrong usage
  3   weftd cannot be reached, or is too busy
  4   refused: by a guard, by a missing right, by the state of a plan or an incident)";

constexpr const char* kDescription =
    R"(Tables are for people; programs take --json, which is protobuf's JSON mapping of the API's messages, and the
exit status.

On a terminal a table is made to fit: a sentence goes on below itself, columns that can be spared are left out, and it says
which. Into a file or a program it is written whole. Colours are used on a terminal only, and not where NO_COLOR is set; the words
say the same without them.

With --watch a listing is shown again and again until Ctrl-C. Rows that changed within the last ten seconds are marked with a
">" in front; ages and rates mark nothing. When weftd is lost the page says since when, keeps what it knew, and goes on asking.)";

constexpr const char* kEnvironment = R"(WEFT_SERVER: where weftd serves gRPC, when --server does not say it.

WEFT_CA, WEFT_CERT, WEFT_KEY, WEFT_TOKEN_FILE: the same for --ca, --cert, --key and --token-file.

WEFT_TOKEN: a bearer token. There is no flag for it: other users read those in the list of processes.

NO_COLOR: when it is set and not empty, nothing is coloured unless --color always is given.

LANG, LC_ALL, LC_CTYPE: drawings are made in ASCII where these do not say UTF-8.

USER: with the host's name it is the name for the record, when --who does not give one.)";

}  // namespace

const char* const kFooter = R"(
Examples:
  weftctl status                       how the watching goes
  weftctl incidents                    what is wrong now
  weftctl incident INC-17              cause, who waits for it, evidence
  weftctl ports leaf-1                 states, rates and errors of a switch's ports
  weftctl path dgx-04 dgx-17           the cables between two hosts, and what is wrong on them
  weftctl links --down --watch         cables that are not up, as it changes
  weftctl health dgx-04 && srun ...    may a job run there
  weftctl --json nodes | jq '.nodes[].name'
  weftctl silence INC-17 --for 2h
  weftctl maintenance add leaf-1 --for 2h --reason "new firmware"
  weftctl plan PLAN-7                  what is to be done, what else could be, what each guard says
  weftctl approve PLAN-7 --revision 3  let it be done, as it was when you read it
  weftctl drain dgx-04 --reason "new cable"
  weftctl hands-off on --reason "work on the spines"

weftctl VERB --help says more of each. Exit status: 0 good; 1 the answer is bad news (a node that is not healthy, a way that
does not arrive); 2 wrong usage; 3 weftd cannot be reached; 4 refused (by a guard, by the state of a plan or an incident).
Environment: WEFT_SERVER, WEFT_CA, WEFT_CERT, WEFT_KEY and WEFT_TOKEN_FILE are the defaults of flags; WEFT_TOKEN is a bearer
token; NO_COLOR turns colours off.)";

std::string examples_of(std::string_view verb) {
  const auto found = std::ranges::find(kExamples, verb, &Examples::verb);
  return found == kExamples.end() ? "" : "Examples:\n" + std::string(found->lines);
}

usage::ManPage manual(const std::string& version) {
  return {.section = 1,
          .version = version,
          .one_line = "what weftd knows of the fabric, for people and scripts",
          .describes = kDescription,
          .more = {{"EXIT STATUS", kExit}, {"ENVIRONMENT", kEnvironment}},
          .see_also = {"weftd(8)", "weft-collector(8)"}};
}

}  // namespace weft::ctl
