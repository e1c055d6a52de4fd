// SPDX-License-Identifier: Apache-2.0
// What weftd does about others that may act on its fabrics.

#include <algorithm>

#include "daemon/platform/logging/logging.hpp"
#include "daemon/programs/weftd/remedy_controller.hpp"

namespace weft::daemon {
namespace {

/// `own`: the id of our own store.
std::string describe(const ActingWeftd& other, const std::string& own, const Topology& topology) {
  std::string text = other.installation.empty() ? "an unknown installation" : "installation " + other.installation;
  if (!own.empty() && other.installation == own) text = "a copy of this weftd's state directory, " + text;
  if (!other.port) return text + " at several ports";
  text += " at port GUID " + to_string(other.port);
  const auto port = std::ranges::find(topology.ports(), other.port, &Port::guid);
  if (port != topology.ports().end()) text += " (" + topology.node(port->node).name + ')';
  return text;
}

}  // namespace

void RemedyController::take_acting(const std::string& fabric, const ActingWeftds& acting, const Topology& topology) {
  ActingWeftds& known = acting_[fabric];
  const bool is_news = known != acting;
  if (acting.trouble.empty() && !known.trouble.empty())
    logger("remedies")->info("{}: the subnet administrator tells again which other weftd may act", fabric);
  else if (acting.trouble != known.trouble)
    logger("remedies")
        ->warn(
            "{}: the subnet manager was asked whether a second weftd acts on this fabric, and that is not known now: "
            "{}",
            fabric, acting.trouble);
  known = acting;
  take_sign(fabric, acting.manager);
  if (!acting.answered) return;  // who was there is not known to be gone
  std::string who;
  for (const ActingWeftd& other : acting.others)
    who += (who.empty() ? "" : ", ") + describe(other, plans_.installation(), topology);
  if (!acting.interference.empty()) who += (who.empty() ? "" : "; ") + acting.interference;
  const bool was_tripped = plans_.brakes().breaker_tripped;
  plans_.set_other_actors(fabric, who, clock_.now());  // each time: it gets out of date
  if (!is_news && plans_.brakes().breaker_tripped == was_tripped) return;
  if (!who.empty() && !plans_.settings().stop_for_other_weftd)
    logger("remedies")->warn("{}: another weftd may act here: {}; remedy.stop_for_other_weftd is off", fabric, who);
  save();
  tell_gate();
}

// Only its answer ends a silence: a sweeper that was started anew has asked nothing yet.
void RemedyController::take_sign(const std::string& fabric, ManagerSign sign) {
  if (sign == ManagerSign::kNotAsked && asks_managers_) sign = ManagerSign::kUnheard;
  ManagerSign& known = managers_[fabric];
  if (known == sign || (known == ManagerSign::kSilent && sign == ManagerSign::kUnheard)) return;
  if (sign == ManagerSign::kSilent) {
    silent_since_[fabric] = clock_.now();
    logger("remedies")
        ->warn(
            "{}: the subnet manager does not answer: nothing is routed round a failure, and no link is taken out of "
            "service; what to do: weftctl runbook remedies, \"WeftSubnetManagerSilent\"",
            fabric);
  } else if (known == ManagerSign::kSilent) {
    silent_since_.erase(fabric);
    logger("remedies")->info("{}: the subnet manager answers again", fabric);
  }
  known = sign;
}

void RemedyController::forget_acting(const std::string& fabric) {
  acting_.erase(fabric);
  managers_.erase(fabric);
  silent_since_.erase(fabric);
  plans_.set_other_actors(fabric, "", clock_.now());
}

}  // namespace weft::daemon
