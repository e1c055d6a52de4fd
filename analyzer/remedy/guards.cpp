// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/guards.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "analyzer/remedy/budget.hpp"
#include "analyzer/remedy/candidates.hpp"
#include "analyzer/remedy/capacity_guard.hpp"
#include "analyzer/remedy/data_guard.hpp"
#include "analyzer/remedy/plan_texts.hpp"
#include "analyzer/remedy/shape_guards.hpp"
#include "analyzer/remedy/switch_ends.hpp"
#include "analyzer/remedy/target_lists.hpp"
#include "fabric/graph/directed_path.hpp"
#include "fabric/host_names.hpp"

namespace weft::analyzer {
namespace {

Verdict passed(std::string why) {
  return {GuardResult::kPassed, std::move(why)};
}
// It says what it waits for, and has sent nothing. What only waits for its turn has it before those that came later.
bool lets_pass(const Plan& waiting, const Plan& other) {
  if (waiting.state != PlanState::kExecuting || waiting.intent != PlanIntent::kNone || waiting.waits_for.empty())
    return false;
  return !waiting.waits_for.starts_with(kOneActorFirst) || other.id < waiting.id;
}
Verdict refused(std::string why) {
  return {GuardResult::kRefused, std::move(why)};
}
Verdict not_needed(std::string why) {
  return {GuardResult::kNotNeeded, std::move(why)};
}

/// "isolate_link": the key of the action's mode below "remedy.".
std::string config_key(RemedyAction action) {
  std::string key = to_string(action);
  std::ranges::transform(key, key.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return key;
}

std::string minutes(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::minutes>(duration).count()) + " min";
}

class Judge {
 public:
  Judge(const Plan& plan, const GuardInput& input)
      : plan_(plan),
        in_(input),
        limits_(input.settings.limits),
        fabric_(input.view.fabric(plan.target.fabric)),
        by_person_(plan.requested_by != kOurselves),
        takes_out_(takes_out(plan.action)),
        is_link_(plan.target.kind == EntityKind::kLink) {
    if (fabric_ && !fabric_->sweep) fabric_ = nullptr;
    if (fabric_ && is_link_) port_ = fabric_->sweep->topology->find_port(plan.target.port);
    ethernet_ = in_.view.is_ethernet_link(plan.target);
    if (in_.tree && port_ != kNoIndex) uplink_ = in_.tree->tree().uplink_of(port_);
    if (in_.shape && takes_out_ && is_between_switches()) sections_ = cross_sections(*in_.shape, port_);
  }

  Verdict verdict(Guard guard) {
    switch (guard) {
      case Guard::kHandsOff:
        return in_.status.is_stopped() ? refused(stopped()) : passed("automation is not stopped");
      case Guard::kEnabled:
        return enabled();
      case Guard::kLists:
        return lists();
      case Guard::kMaintenance:
        return maintenance();
      case Guard::kFreshData:
        return fresh_data();
      case Guard::kSensor:
        return judge_sensor(plan_, in_.hosts, in_.view, limits_);
      case Guard::kIdentity:
        return identity();
      case Guard::kTwoSignals:
        return two_signals();
      case Guard::kOneActor:
        return one_actor();
      case Guard::kBreaker:
        return breaker();
      case Guard::kBudget:
        return budget();
      case Guard::kCoolDown:
        return cool_down();
      case Guard::kReinstatement:
        return reinstatement();
      case Guard::kOwnPath:
        return own_path();
      case Guard::kAlternative:
        return alternative();
      case Guard::kReachability:
        if (in_.tree && uplink_ != kNoIndex) shortfall_ = find_shortfall(in_, uplink_);
        [[fallthrough]];
      case Guard::kLeafCapacity:
      case Guard::kJobCapacity:
      case Guard::kRailCapacity:
        return capacity(guard);
      case Guard::kRouting:
        return routing();
      case Guard::kBisection:
        return bisection();
      case Guard::kBenefit:
        return benefit();
      case Guard::kCount:
        break;
    }
    return passed("");
  }

 private:
  const Topology& topology() const { return *fabric_->sweep->topology; }

  std::string stopped() const {
    return "everything is stopped, also what persons order: " + in_.status.stop_reason() +
           (in_.status.hands_off ? "; to let it go on: weftctl hands-off off --reason ..." : "") +
           (in_.status.file_brake.ends_with(" exists") ? "; to let it go on: remove that file" : "");
  }

  Verdict enabled() const {
    const std::string action = to_string(plan_.action);
    const std::string key = " (remedy." + config_key(plan_.action) + ')';
    switch (in_.settings.mode(plan_.action)) {
      case RemedyMode::kOff:
        return refused(action + " is off" + key);
      case RemedyMode::kAuto:
        if (plan_.actuator.empty()) return refused(nobody());
        return passed(action + (by_person_ ? " is ordered by a person" : " is automatic"));
      case RemedyMode::kPropose:
        break;
    }
    if (plan_.actuator.empty()) return refused(nobody());
    if (plan_.approved_by == kOurselves) return refused(action + " is no longer automatic");
    return passed(action + (by_person_ ? " is ordered by a person" : " needs approval"));
  }

  std::string nobody() const {
    const std::string action = to_string(plan_.action);
    if (ethernet_) {
      const std::string none = "no actuator for Ethernet switch ports: ";
      if (plan_.action == RemedyAction::kRaiseLinkCost) return none + "Weft changes no route costs on Ethernet";
      const std::string by_hand = none + (takes_out_ ? "shut down " : "enable ") + ends() + " yourself, or ";
      if (in_.settings.switch_actuator.empty())
        return by_hand +
               "configure gNMI Set (remedy.gnmi_port.enabled) or a webhook "
               "(remedy.webhook.actions)";
      return by_hand + "configure a webhook (remedy.webhook.actions): " + no_switch_end_text(plan_.target, in_.view);
    }
    const char* by_hand = is_link_     ? ""
                          : takes_out_ ? "; drain it by hand in the scheduler"
                                       : "; undrain it by hand in the scheduler";
    return "no actuator is configured for " + action + actuator_keys() + by_hand;
  }

  const char* actuator_keys() const {
    if (!is_link_) return " (remedy.slurm.enabled, remedy.kubernetes.enabled, remedy.webhook.url)";
    return plan_.action == RemedyAction::kRaiseLinkCost ? " (remedy.opensm_weights.file)"
                                                        : " (infiniband.enabled, remedy.ufm.url, remedy.webhook.url)";
  }

  /// "leaf01 swp49 or spine01 swp1"
  std::string ends() const {
    const PortIndex peer = port_ == kNoIndex ? kNoIndex : topology().port(port_).peer;
    if (peer == kNoIndex) return plan_.target.label;
    return port_label(topology(), port_) + " or " + port_label(topology(), peer);
  }

  Verdict lists() const {
    const RemedySettings& settings = in_.settings;
    if (settings.deny.empty() && settings.allow.empty()) return passed("no allow or deny lists");
    const auto on = [this](const std::vector<std::string>& list) {
      return std::ranges::find_if(list, [this](const std::string& entry) { return is_meant(entry); });
    };
    if (const auto entry = on(settings.deny); entry != settings.deny.end())
      return refused("the target is on the deny list (remedy.deny), as " + *entry);
    for (const std::string& other : in_.hosts.namesakes(plan_.target.host))
      for (const std::string& entry : settings.deny)
        if (means_host(entry, other, in_.hosts))
          return refused(
              other + ", which a scheduler may know by the same name, is on the deny list (remedy.deny), as " + entry);
    // It says what may be taken out; what is out may come back.
    if (takes_out(plan_.action) && !settings.allow.empty() && on(settings.allow) == settings.allow.end())
      return refused("the target is not on the allow list (remedy.allow)");
    return passed("the lists allow it");
  }

  /// Whether the entry of a list means the target.
  bool is_meant(const std::string& entry) const {
    if (!is_link_) return means_host(entry, plan_.target.host, in_.hosts);
    return std::ranges::any_of(std::array{plan_.target.port, plan_.target.peer},
                               [&](PortKey end) { return means_port(entry, end, fabric_ ? &topology() : nullptr); });
  }

  Verdict maintenance() const {
    for (const MaintenanceWindow& window : in_.view.maintenance) {
      if (state_at(window, in_.view.now) != MaintenanceState::kActive) continue;
      if (covers(window, plan_.target) || (!is_link_ && is_work_on_host(window)))
        return by_person_ ? not_needed("requested by a person; maintenance window active: " + in_words(window))
                          : refused("maintenance window active: " + in_words(window));
    }
    return passed("no maintenance window");
  }

  /// By the host's name, or at an adapter of the host.
  bool is_work_on_host(const MaintenanceWindow& window) const {
    return same_host(window.host, plan_.target.host) || std::ranges::any_of(window.nodes, [this](NodeGuid node) {
             return in_.hosts.has_guid(plan_.target.host, node.value);
           });
  }

  /// The subnet of this link is known by another name to a plan: what that holds is not counted under this name, and
  /// what was decided then is for a person to know. Nothing: to none.
  std::optional<Verdict> under_another_name() const {
    const auto is_here = [this](PortKey end) { return topology().find_port(end) != kNoIndex; };
    const Plan* decided = nullptr;
    for (const PlanPtr& other : in_.plans) {
      if (other->target.kind != EntityKind::kLink || other->target.fabric == plan_.target.fabric) continue;
      const bool may_hold =
          other->in_force || other->unresolved || (is_under_way(other->state) && other->intent != PlanIntent::kNone);
      const bool is_decided = is_over(other->state) && other->state != PlanState::kExpired;
      if ((!may_hold && !is_decided) || !is_here(other->target.port) || !is_here(other->target.peer)) continue;
      if (may_hold)
        return refused(plan_name(other->id) + other_name(*other) + ", and does not count under the name " +
                       plan_.target.fabric + keep_name_text(other->target.fabric, *fabric_));
      decided = other.get();
    }
    if (!decided || by_person_) return std::nullopt;
    return Verdict{GuardResult::kNeedsPerson, plan_name(decided->id) + other_name(*decided) + ": " +
                                                  to_string(decided->state) + " for " + decided->target.label};
  }
  static std::string other_name(const Plan& other) {
    return " is of this subnet, under the name " + other.target.fabric;
  }

  Verdict fresh_data() const {
    std::optional<Verdict> other;
    if (is_link_ && takes_out_ && fabric_ && !ethernet_) other = under_another_name();
    if (other && other->first == GuardResult::kRefused) return std::move(*other);
    const std::vector<Duration>& since = in_.counts.missing_since;
    const Duration gone_before = in_.view.steady.value_or(Duration{}) - limits_.missing_for;
    const auto lately = std::ranges::lower_bound(since, gone_before);
    const MissingNodes missing{.lately = static_cast<std::size_t>(since.end() - lately),
                               .gone = static_cast<std::size_t>(lately - since.begin())};
    Verdict seen = judge_fresh_data(plan_, fabric_, missing, in_.known_for, in_.view, limits_);
    // What a person may decide is no better seen for that.
    return other && seen.first == GuardResult::kPassed ? std::move(*other) : seen;
  }

  Verdict identity() const {
    if (is_link_)
      return not_needed(ethernet_ ? "a link is known by the names of its ends in the cabling file"
                                  : "a link is known by the GUIDs of its ends");
    // What was drained carries our mark: a person may always give it back.
    if (by_person_ && !takes_out_) return not_needed("a person returns a host to service");
    const HostIdentity host = in_.hosts.identify(plan_.target.host, in_.view.incident(plan_.incident));
    switch (host.state) {
      case HostIdentity::State::kConfirmed:
        return passed(host.explanation);
      case HostIdentity::State::kUnconfirmed:
        return by_person_ ? passed("a person named the host; " + host.explanation)
                          : Verdict{GuardResult::kNeedsPerson, host.explanation};
      case HostIdentity::State::kContradicted:
        break;
    }
    return refused(host.explanation);
  }

  Verdict two_signals() const {
    if (by_person_) return not_needed("requested by a person");
    if (!takes_out_) return not_needed("it takes a remedy back");
    const Incident* incident = in_.view.incident(plan_.incident);
    if (!incident) return refused("its incident no longer exists");
    if (!incident->is_open()) return refused("its incident is over");
    if (incident->finding.confidence < limits_.confidence)
      return refused("the confidence in the cause is too low (remedy.limits.confidence)");
    std::set<std::pair<std::string, std::string>> signals;
    for (const Evidence& evidence : incident->finding.evidence)
      if (evidence.signal != kPartSignal) signals.emplace(evidence.signal, evidence.where.identity());
    if (signals.size() < 2) return refused("only one signal confirms it");
    return passed(std::to_string(signals.size()) + " signals confirm it");
  }

  Verdict one_actor() const {
    for (const PlanPtr& other : in_.plans)
      if (other->id != plan_.id && holds_fabric(*other) && !lets_pass(*other, plan_) &&
          other->target.fabric == plan_.target.fabric)
        return refused(plan_name(other->id) + " is under way");
    // One at a time: when both fail again their switch loses both at once.
    if (is_link_ && !takes_out_ && !by_person_ && fabric_)
      for (const PlanPtr& other : in_.plans)
        if (other->id != plan_.id && !takes_out(other->action) && is_under_way(other->state) &&
            other->target.kind == EntityKind::kLink && other->target.fabric == plan_.target.fabric &&
            shares_switch(other->target, plan_.target, topology()))
          return refused(other->target.label + " of the same switch is on probation: " + plan_name(other->id));
    const std::string free = "no other plan of this fabric changes anything now, or verifies what it took out";
    if (takes_out_ || !by_person_) return passed(free);
    return passed(free + "; a person may return several links of a switch at a time");
  }

  Verdict breaker() const {
    if (!in_.status.breaker_tripped) return passed("it is not tripped");
    if (by_person_ && !takes_out_) return not_needed("a person takes a remedy back");
    return refused("it is tripped: " + in_.status.breaker_reason +
                   "; after checking: weftctl breaker reset --reason ...");
  }

  Verdict budget() const {
    if (!takes_out_ && by_person_) return not_needed("a person takes a remedy back");
    if (in_.untold) return refused(*in_.untold);
    const auto over = over_budget(plan_, in_.plans, in_.view, in_.ages, in_.tree ? &in_.tree->tree() : nullptr,
                                  in_.links, in_.taken_out, in_.enabled, in_.drained, limits_.budget);
    return over ? refused(*over) : passed("within all budgets");
  }

  Verdict cool_down() const {
    if (by_person_) return not_needed("requested by a person");
    for (const PlanPtr& other : in_.plans) {
      if (other->id == plan_.id || other->started == kNever) continue;
      if (!same_target(other->target, plan_.target)) continue;
      const TimePoint last = std::max(other->started, other->finished);
      const Duration age = in_.ages.of(last);
      if (age < limits_.budget.cool_down && other->id != plan_.undoes)
        return refused(plan_name(other->id) + " changed it less than " + minutes(limits_.budget.cool_down) +
                       " ago (remedy.limits.budget.cool_down); free at " +
                       time_ahead_text(in_.view.now, limits_.budget.cool_down - age));
    }
    return passed("no recent change");
  }

  Verdict reinstatement() const {
    if (takes_out_) return not_needed("it takes no remedy back");
    if (by_person_) return not_needed("requested by a person");
    const std::size_t failed = failed_reinstatements(plan_.target, in_.plans, in_.ages, limits_.verification);
    if (failed >= limits_.verification.reinstatements)
      return refused("it failed again after its return " + std::to_string(failed) +
                     " times: check it by hand (remedy.limits.verification.reinstatements)");
    if (in_.not_due) return refused("its return is not due: " + *in_.not_due);
    return passed("it failed again " + std::to_string(failed) + " times lately");
  }

  /// Who activates a link that comes back.
  Verdict activation() const {
    if (ethernet_ || !in_.view.is_manager_unheard(plan_.target.fabric)) return not_needed("no path is removed");
    const std::string unheard =
        std::string(nobody_activates(in_.view, plan_.target.fabric)) + ": the link comes up when it answers again";
    return by_person_ ? passed(unheard) : refused(unheard);
  }

  Verdict own_path() const {
    if (!is_link_) return not_needed("no path is removed");
    if (!takes_out_) return activation();
    if (!fabric_) return refused("its fabric has no complete sweep yet");
    if (ethernet_)
      return judge_ethernet_own_path(plan_, in_.view,
                                     !plan_.actuator.empty() && plan_.actuator == in_.settings.switch_actuator);
    const PortKey own = fabric_->sweep->local_port;
    const auto& manager = fabric_->sweep->subnet_manager;
    for (const PortKey end : {plan_.target.port, plan_.target.peer}) {
      if (end == own) return refused("the link is on weftd's own path into the fabric");
      if (end == manager) return refused("the link is on the subnet manager's path into the fabric");
    }
    if (!manager) return refused("no subnet manager is known that could reroute");
    const PortIndex at = topology().find_port(*manager);
    if (at == kNoIndex || !topology().node_of(topology().port(at)).reachable)
      return refused("the subnet manager is unreachable and could not reroute");
    if (in_.view.is_manager_unheard(plan_.target.fabric))
      return refused(nobody_reroutes(in_.view, plan_.target.fabric));
    const std::string name = port_label(topology(), at);
    // Of access links the next guard says it.
    if (is_between_switches() && is_bridge(topology(), make_link_key(plan_.target.port, plan_.target.peer)))
      return refused("it is the last path to a part of the fabric from weftd or from the subnet manager at " + name);
    return passed("neither weftd nor the subnet manager at " + name + " depends on it");
  }

  Verdict alternative() const {
    if (!is_link_ || !takes_out_) return not_needed("no path is removed");
    if (!fabric_ || port_ == kNoIndex) return refused("the link is not in the last sweep");
    if (!is_between_switches()) return refused("an access link has no alternative path: drain its host instead");
    if (!in_.shape) return passed("it connects two switches");
    const FabricShape& shape = in_.shape->shape;
    const std::string says = std::string("it connects two switches; shape of the fabric: ") + to_string(shape.shape) +
                             " (" + shape.why + ")";
    if (shape.has_tiers() || !sections_.empty()) return passed(says);
    const bool has_gaps = shape.shape == Shape::kTorus && !shape.grid;
    return {GuardResult::kNeedsPerson,
            says + (has_gaps ? ", not all of whose cables are known" : "") + ": only a person may approve it"};
  }

  Verdict routing() const {
    if (!is_link_ || !takes_out_) return not_needed("no path is removed");
    const RoutingEngine engine = in_.settings.routing_engine;
    if (!ethernet_ && engine == RoutingEngine::kFile)
      return refused("routing engine file does not route round a link that is missing");
    if (plan_.actuator == "opensm_weights" && engine != RoutingEngine::kUnknown && !follows_hop_weights(engine))
      return refused("routing engine " + std::string(to_string(engine)) +
                     " follows no hop weights: isolate the link instead (remedy.routing_engine)");
    if (fabric_ && port_ != kNoIndex && !is_between_switches())
      return not_needed("no route leads round an access link: guard ALTERNATIVE judges that");
    if (sections_.empty()) return not_needed("tiers lead round it: guard REACHABILITY judges that");
    return judge_routing(*in_.shape, port_, engine);
  }

  Verdict bisection() const {
    if (!is_link_ || !takes_out_) return not_needed("no path is removed");
    if (sections_.empty()) return not_needed("no dragonfly or torus: other guards judge the capacity");
    return judge_bisection(sections_, limits_.capacity);
  }

  bool is_between_switches() const {
    const PortIndex peer = port_ == kNoIndex ? kNoIndex : topology().port(port_).peer;
    if (peer == kNoIndex) return false;
    const auto is_switch = [this](PortIndex end) {
      return topology().node_of(topology().port(end)).type == NodeType::kSwitch;
    };
    return is_switch(port_) && is_switch(peer);
  }

  Verdict capacity(Guard guard) const {
    // A costly link stays up and is avoided all the same: whoever is short of ways is short without it.
    if (!is_link_ || !takes_out_) return not_needed("no path is removed");
    if (!sections_.empty())
      return guard == Guard::kReachability ? judge_connection(topology(), port_)
                                           : not_needed("the fabric has no tiers: guard BISECTION judges the capacity");
    if (!in_.tree || uplink_ == kNoIndex)
      return refused("it does not connect two tiers of a fat tree: the remaining capacity cannot be predicted");
    return judge_capacity(guard, in_, topology(), ethernet_, shortfall_);
  }

  Verdict benefit() const {
    if (by_person_) return not_needed("requested by a person");
    if (!takes_out_) return not_needed("it takes a remedy back");
    const Candidate* nothing = nullptr;
    const Candidate* action = nullptr;
    for (const Candidate& candidate : plan_.candidates) {
      if (candidate.action == RemedyAction::kNothing) nothing = &candidate;
      if (candidate.action == plan_.action) action = &candidate;
    }
    if (!nothing || !action) return refused("its benefit is unknown");
    if (action->total_ratio() >= nothing->total_ratio())
      return refused("doing nothing costs no more: " + action->explanation + "; " + nothing->explanation);
    return passed(action->explanation + "; otherwise " + nothing->explanation);
  }

  const Plan& plan_;
  const GuardInput& in_;
  const RemedyLimits& limits_;
  const FabricView* fabric_;
  bool by_person_, takes_out_, is_link_;
  bool ethernet_ = false;
  PortIndex port_ = kNoIndex;
  UplinkIndex uplink_ = kNoIndex;
  std::vector<CrossSection> sections_;  // of the link, in a dragonfly or a torus
  std::optional<Shortfall> shortfall_;
};

}  // namespace

const GuardVerdict* first_refusal(const std::vector<GuardVerdict>& guards, bool by_automation, Guard ignored) {
  const auto found = std::ranges::find_if(guards, [&](const GuardVerdict& verdict) {
    if (verdict.guard == ignored) return false;
    return verdict.result == GuardResult::kRefused || (by_automation && verdict.result == GuardResult::kNeedsPerson);
  });
  return found == guards.end() ? nullptr : &*found;
}

bool holds_fabric(const Plan& plan) {
  if (plan.state == PlanState::kExecuting || plan.state == PlanState::kRollingBack) return true;
  // Probation takes long and asks nothing of the world.
  return plan.state == PlanState::kVerifying && takes_out(plan.action);
}

std::vector<GuardVerdict> check_guards(const Plan& plan, const GuardInput& input) {
  Judge judge(plan, input);
  std::vector<GuardVerdict> verdicts;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Guard::kCount); ++i) {
    const auto guard = static_cast<Guard>(i);
    auto [result, why] = judge.verdict(guard);
    verdicts.push_back({guard, result, std::move(why)});
  }
  return verdicts;
}

}  // namespace weft::analyzer
