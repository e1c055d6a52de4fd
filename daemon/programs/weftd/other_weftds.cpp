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
    logger("remedies")->warn("{}: another weftd that may act here is not noticed: {}", fabric, acting.trouble);
  if (acting.silent != known.silent)
    logger("remedies")
        ->log(acting.silent ? spdlog::level::warn : spdlog::level::info, "{}: {}", fabric,
              acting.silent ? "the subnet manager is silent, so that no link is taken out of service"
                            : "the subnet manager answers again");
  known = acting;
  plans_.set_manager_silent(fabric, acting.silent);
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

void RemedyController::forget_acting(const std::string& fabric) {
  acting_.erase(fabric);
  plans_.set_manager_silent(fabric, false);  // nothing is taken out of a fabric that is not watched
  plans_.set_other_actors(fabric, "", clock_.now());
}

}  // namespace weft::daemon
