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
      maintenance) options+=$'\n--all\n--from\n--for\n--reason\n--fabric\n--who' ;;
    esac
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
    return
  fi
  local words
  case $verb in
    "") words=$'status\nnodes\nports\nlinks\ntopology\npath\nincidents\nincident\nhealth\ncollectors\nwatch\nacknowledge\nsilence\nmaintenance\ncompletion' ;;
    ports | health | path) words=$(weftctl "${server[@]}" nodes --names 2>/dev/null) ;;
    collectors) words=$(weftctl "${server[@]}" collectors 2>/dev/null | awk 'NR > 1 { print $1 }') ;;
    incident | acknowledge | silence) words=$(weftctl "${server[@]}" incidents --ids 2>/dev/null) ;;
    maintenance) words=$'list\nadd\nend\nfabric\n'$(weftctl "${server[@]}" nodes --names 2>/dev/null) ;;
    completion) words=$'bash\nzsh\nfish' ;;
  esac
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
_weftctl() {
  local -a verbs
  verbs=(
    'status:how the watching goes' 'nodes:adapters, switches and routers' 'ports:states, rates and errors'
    'links:cables' 'topology:what is plugged in where' 'path:the way from one port to another' 'incidents:what is wrong' 'incident:all of one incident'
    'health:may a job run on these hosts' 'collectors:hosts that report for themselves' 'watch:incidents as they come' 'acknowledge:somebody looks after it'
    'silence:do not page for it for a while' 'maintenance:planned work' 'completion:a script like this one')
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
complete -c weftctl -n __fish_use_subcommand -a completion -d 'a script like this one'
complete -c weftctl -n '__fish_seen_subcommand_from ports health' -a '(weftctl nodes --names 2>/dev/null)'
complete -c weftctl -n '__fish_seen_subcommand_from collectors' -a "(weftctl collectors 2>/dev/null | awk 'NR > 1 { print \$1 }')"
complete -c weftctl -n '__fish_seen_subcommand_from incident acknowledge silence' -a '(weftctl incidents --ids 2>/dev/null)'
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
complete -c weftctl -n '__fish_seen_subcommand_from acknowledge silence' -l who -x
)sh";

}  // namespace

std::optional<std::string> completion_script(std::string_view shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  if (shell == "fish") return kFish;
  return std::nullopt;
}

}  // namespace weft::ctl
