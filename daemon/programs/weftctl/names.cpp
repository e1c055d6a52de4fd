// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/names.hpp"

#include "daemon/programs/weftctl/value_format.hpp"
#include "fabric/number_text.hpp"

namespace weft::ctl {

std::string end_text(const v1::PortReference& end) {
  if (end.name().empty()) return end.node() + " port " + std::to_string(end.port());
  return end.node().ends_with(' ' + end.name()) ? end.node() : end.node() + ' ' + end.name();
}

std::string port_text(const v1::Port& port) {
  return port.name().empty() ? std::to_string(port.port()) : port.name();
}

std::string link_text(const std::string& width, const std::string& speed, double bits_per_second) {
  if (!width.empty()) return width + " " + speed;
  return bits_per_second > 0 ? rate_text(bits_per_second) : "-";
}

bool is_rolling_back(const v1::PlanHold& hold) {
  return hold.state() == "ROLLING_BACK";
}

std::string hold_text(const v1::PlanHold& hold, bool stopped) {
  if (hold.plan_id().empty()) return "-";
  return hold.plan_id() + (hold.state() == "COMMITTED" ? "" : ", " + hold.state()) +
         (stopped && is_rolling_back(hold) ? " when hands-off ends" : "");
}

}  // namespace weft::ctl
