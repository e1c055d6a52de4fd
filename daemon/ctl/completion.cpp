#include "daemon/ctl/completion.hpp"

namespace weft::ctl {
namespace {

constexpr const char* kBash = R"sh(# weftctl completion bash > /etc/bash_completion.d/weftctl
_weftctl() {
  local cur=${COMP_WORDS[COMP_CWORD]} verb="" word server=()
  local -i i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    case $word in
      --server) server=(--server "${COMP_WORDS[i + 1]}"); ((i++)) ;;
      -*) ;;
      *) [[ -z $verb ]] && verb=$word ;;
    esac
  done
  local IFS=$'\n'
  if [[ $cur == -* ]]; then
    local options=$'--server\n--json\n--plain\n--help'
    case $verb in
      ports) options+=$'\n--fabric\n--counters' ;;
      links) options+=$'\n--fabric\n--down' ;;
      nodes) options+=$'\n--fabric\n--names' ;;
      topology | path) options+=$'\n--fabric' ;;
      incidents) options+=$'\n--all\n--ids' ;;
      acknowledge) options+=$'\n--who' ;;
      silence) options+=$'\n--for\n--who' ;;
      plans) options+=$'\n--all\n--ids\n--watch' ;;
      audit) options+=$'\n--limit' ;;
      approve) options+=$'\n--revision\n--who' ;;
      reject | isolate | restore | drain | undrain | hands-off | breaker) options+=$'\n--reason\n--who' ;;
      maintenance) options+=$'\n--all\n--from\n--for\n--reason\n--fabric\n--who' ;;
    esac
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
    return
  fi
  local words
  case $verb in
    "") words=$'status\nnodes\nports\nlinks\ntopology\npath\nincidents\nincident\nhealth\ncollectors\nwatch\nacknowledge\nsilence\nmaintenance\nplans\nplan\naudit\napprove\nreject\nisolate\nrestore\ndrain\nundrain\nhands-off\nbreaker\ncompletion' ;;
    ports | health | path | isolate | restore | drain | undrain) words=$(weftctl "${server[@]}" nodes --names 2>/dev/null) ;;
    collectors) words=$(weftctl "${server[@]}" collectors 2>/dev/null | awk 'NR > 1 { print $1 }') ;;
    incident | acknowledge | silence) words=$(weftctl "${server[@]}" incidents --ids 2>/dev/null) ;;
    plan) words=$(weftctl "${server[@]}" plans --all --ids 2>/dev/null) ;;
    approve | reject) words=$(weftctl "${server[@]}" plans --ids 2>/dev/null) ;;
    hands-off) words=$'on\noff' ;;
    breaker) words=reset ;;
    maintenance) words=$'list\nadd\nend\nfabric\n'$(weftctl "${server[@]}" nodes --names 2>/dev/null) ;;
    completion) words=$'bash\nzsh\nfish' ;;
  esac
  # A link's end goes on with a colon and a port.
  [[ $verb == isolate || $verb == restore ]] && compopt -o nospace 2>/dev/null
  COMPREPLY=()
  while IFS= read -r word; do
    [[ -n $word && $word == "$cur"* ]] && COMPREPLY+=("$(printf '%q' "$word")")
  done <<<"$words"
}
complete -F _weftctl weftctl
)sh";

constexpr const char* kZsh = R"sh(#compdef weftctl
# weftctl completion zsh > "${fpath[1]}/_weftctl"
_weftctl_nodes() { local -a names; names=(${(f)"$(weftctl nodes --names 2>/dev/null)"}); compadd -a names }
_weftctl_hosts() { local -a names; names=(${(f)"$(weftctl collectors 2>/dev/null | awk 'NR > 1 { print $1 }')"}); compadd -a names }
_weftctl_incidents() { local -a ids; ids=(${(f)"$(weftctl incidents --ids 2>/dev/null)"}); compadd -a ids }
_weftctl_ends() { local -a names; names=(${(f)"$(weftctl nodes --names 2>/dev/null)"}); compadd -S ':' -a names }
_weftctl_plans() { local -a ids; ids=(${(f)"$(weftctl plans --ids 2>/dev/null)"}); compadd -a ids }
_weftctl_all_plans() { local -a ids; ids=(${(f)"$(weftctl plans --all --ids 2>/dev/null)"}); compadd -a ids }
_weftctl() {
  local -a verbs
  verbs=(
    'status:how the watching goes' 'nodes:adapters, switches and routers' 'ports:states, rates and errors'
    'links:cables' 'topology:what is plugged in where' 'path:the way from one port to another' 'incidents:what is wrong' 'incident:all of one incident'
    'health:may a job run on these hosts' 'collectors:hosts that report for themselves' 'watch:incidents as they come' 'acknowledge:somebody looks after it'
    'silence:do not page for it for a while' 'maintenance:planned work' 'plans:what is to be done about trouble' 'plan:all of one plan'
    'audit:who did what' 'approve:let a plan be done' 'reject:say no to a plan' 'isolate:take a cable out of service'
    'restore:put a cable back into service' 'drain:start nothing new on a host' 'undrain:take our own drain back'
    'hands-off:stop all automation, or let it go on' 'breaker:reset it after a look' 'completion:a script like this one')
  _arguments -C '--server[where weftd serves gRPC]:host\:port:' '--json[for programs]' '--plain[drawings in ASCII]' '--help[help]' \
    '1:verb:->verb' '*::argument:->argument'
  case $state in
    verb) _describe verb verbs ;;
    argument)
      case $words[1] in
        ports) _arguments '--fabric[one subnet]:name:' '--counters[every counter]' '1:node:_weftctl_nodes' ;;
        links) _arguments '--fabric[one subnet]:name:' '--down[only those that are down]' ;;
        nodes) _arguments '--fabric[one subnet]:name:' '--names[names only]' ;;
        topology) _arguments '--fabric[one subnet]:name:' ;;
        path) _arguments '--fabric[one subnet]:name:' '1:from:_weftctl_nodes' '2:to:_weftctl_nodes' ;;
        incidents) _arguments '--all[resolved ones too]' '--ids[ids only]' ;;
        health) _arguments '*:node:_weftctl_nodes' ;;
        collectors) _arguments '*:host:_weftctl_hosts' ;;
        incident) _arguments '1:incident:_weftctl_incidents' ;;
        acknowledge) _arguments '--who[name for the record]:name:' '1:incident:_weftctl_incidents' ;;
        silence) _arguments '--for[how long]:time (30m, 2h, 1d):' '--who[name for the record]:name:' '1:incident:_weftctl_incidents' ;;
        plans) _arguments '--all[those that are over too]' '--ids[ids only]' '--watch[what becomes of them]' ;;
        plan) _arguments '1:plan:_weftctl_all_plans' ;;
        audit) _arguments '--limit[the newest so many lines]:number:' ;;
        approve) _arguments '--revision[that you read]:number:' '--who[name for the record]:name:' '1:plan:_weftctl_plans' ;;
        reject) _arguments '--reason[why]:text:' '--who[name for the record]:name:' '1:plan:_weftctl_plans' ;;
        isolate | restore) _arguments '--reason[why]:text:' '--who[name for the record]:name:' '1:either end:_weftctl_ends' ;;
        drain | undrain) _arguments '--reason[why]:text:' '--who[name for the record]:name:' '1:host:_weftctl_nodes' ;;
        hands-off) _arguments '--reason[why]:text:' '--who[name for the record]:name:' '1:word:(on off)' ;;
        breaker) _arguments '--reason[what you saw]:text:' '--who[name for the record]:name:' '1:word:(reset)' ;;
        maintenance) _arguments '--all[those that are over too]' '--from[when]:time:' '--for[how long]:time (30m, 2h, 1d):' '--reason[what is done]:text:' '--fabric[one subnet]:name:' '--who[name for the record]:name:' '1:what:(list add end)' '*:node:_weftctl_nodes' ;;
        completion) _values shell bash zsh fish ;;
      esac ;;
  esac
}
_weftctl "$@"
)sh";

constexpr const char* kFish = R"sh(# weftctl completion fish > ~/.config/fish/completions/weftctl.fish
complete -c weftctl -f
complete -c weftctl -l server -x -d 'where weftd serves gRPC'
complete -c weftctl -l json -d 'for programs'
complete -c weftctl -l plain -d 'drawings in ASCII'
complete -c weftctl -n __fish_use_subcommand -a status -d 'how the watching goes'
complete -c weftctl -n __fish_use_subcommand -a nodes -d 'adapters, switches and routers'
complete -c weftctl -n __fish_use_subcommand -a ports -d 'states, rates and errors'
complete -c weftctl -n __fish_use_subcommand -a links -d 'cables'
complete -c weftctl -n __fish_use_subcommand -a topology -d 'what is plugged in where'
complete -c weftctl -n __fish_use_subcommand -a path -d 'the way from one port to another'
complete -c weftctl -n __fish_use_subcommand -a incidents -d 'what is wrong'
complete -c weftctl -n __fish_use_subcommand -a incident -d 'all of one incident'
complete -c weftctl -n __fish_use_subcommand -a health -d 'may a job run on these hosts'
complete -c weftctl -n __fish_use_subcommand -a collectors -d 'hosts that report for themselves'
complete -c weftctl -n __fish_use_subcommand -a watch -d 'incidents as they come'
complete -c weftctl -n __fish_use_subcommand -a acknowledge -d 'somebody looks after it'
complete -c weftctl -n __fish_use_subcommand -a silence -d 'do not page for it for a while'
complete -c weftctl -n __fish_use_subcommand -a maintenance -d 'planned work'
complete -c weftctl -n __fish_use_subcommand -a plans -d 'what is to be done about trouble'
complete -c weftctl -n __fish_use_subcommand -a plan -d 'all of one plan'
complete -c weftctl -n __fish_use_subcommand -a audit -d 'who did what'
complete -c weftctl -n __fish_use_subcommand -a approve -d 'let a plan be done'
complete -c weftctl -n __fish_use_subcommand -a reject -d 'say no to a plan'
complete -c weftctl -n __fish_use_subcommand -a isolate -d 'take a cable out of service'
complete -c weftctl -n __fish_use_subcommand -a restore -d 'put a cable back into service'
complete -c weftctl -n __fish_use_subcommand -a drain -d 'start nothing new on a host'
complete -c weftctl -n __fish_use_subcommand -a undrain -d 'take our own drain back'
complete -c weftctl -n __fish_use_subcommand -a hands-off -d 'stop all automation, or let it go on'
complete -c weftctl -n __fish_use_subcommand -a breaker -d 'reset it after a look'
complete -c weftctl -n __fish_use_subcommand -a completion -d 'a script like this one'
complete -c weftctl -n '__fish_seen_subcommand_from ports health isolate restore drain undrain' -a '(weftctl nodes --names 2>/dev/null)'
complete -c weftctl -n '__fish_seen_subcommand_from collectors' -a "(weftctl collectors 2>/dev/null | awk 'NR > 1 { print \$1 }')"
complete -c weftctl -n '__fish_seen_subcommand_from incident acknowledge silence' -a '(weftctl incidents --ids 2>/dev/null)'
complete -c weftctl -n '__fish_seen_subcommand_from plan' -a '(weftctl plans --all --ids 2>/dev/null)'
complete -c weftctl -n '__fish_seen_subcommand_from approve reject' -a '(weftctl plans --ids 2>/dev/null)'
complete -c weftctl -n '__fish_seen_subcommand_from hands-off' -a 'on off'
complete -c weftctl -n '__fish_seen_subcommand_from breaker' -a reset
complete -c weftctl -n '__fish_seen_subcommand_from maintenance; and not __fish_seen_subcommand_from list add end' -a 'list add end'
complete -c weftctl -n '__fish_seen_subcommand_from maintenance; and __fish_seen_subcommand_from add' -a '(weftctl nodes --names 2>/dev/null) fabric'
complete -c weftctl -n '__fish_seen_subcommand_from maintenance' -l all
complete -c weftctl -n '__fish_seen_subcommand_from maintenance' -l from -x
complete -c weftctl -n '__fish_seen_subcommand_from maintenance' -l for -x
complete -c weftctl -n '__fish_seen_subcommand_from maintenance' -l reason -x
complete -c weftctl -n '__fish_seen_subcommand_from maintenance' -l who -x
complete -c weftctl -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'
complete -c weftctl -n '__fish_seen_subcommand_from nodes ports links topology path' -l fabric -x
complete -c weftctl -n '__fish_seen_subcommand_from nodes' -l names
complete -c weftctl -n '__fish_seen_subcommand_from ports' -l counters
complete -c weftctl -n '__fish_seen_subcommand_from links' -l down
complete -c weftctl -n '__fish_seen_subcommand_from incidents' -l all
complete -c weftctl -n '__fish_seen_subcommand_from incidents' -l ids
complete -c weftctl -n '__fish_seen_subcommand_from silence' -l for -x
complete -c weftctl -n '__fish_seen_subcommand_from plans' -l all
complete -c weftctl -n '__fish_seen_subcommand_from plans' -l ids
complete -c weftctl -n '__fish_seen_subcommand_from plans' -l watch
complete -c weftctl -n '__fish_seen_subcommand_from audit' -l limit -x
complete -c weftctl -n '__fish_seen_subcommand_from approve' -l revision -x
complete -c weftctl -n '__fish_seen_subcommand_from reject isolate restore drain undrain hands-off breaker' -l reason -x
complete -c weftctl -n '__fish_seen_subcommand_from acknowledge silence approve reject isolate restore drain undrain hands-off breaker' -l who -x
)sh";

}  // namespace

std::optional<std::string> completion_script(std::string_view shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  if (shell == "fish") return kFish;
  return std::nullopt;
}

}  // namespace weft::ctl
