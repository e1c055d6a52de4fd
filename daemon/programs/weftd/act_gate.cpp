// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/act_gate.hpp"

#include <utility>

namespace weft::daemon {

void ActGate::stop(Stops stops) {
  const std::lock_guard lock(mutex_);
  stops_ = std::move(stops);
}

void ActGate::admit(std::uint64_t order) {
  const std::lock_guard lock(mutex_);
  orders_.try_emplace(order);
}

void ActGate::keep(const std::function<bool(std::uint64_t order)>& wanted) {
  const std::lock_guard lock(mutex_);
  std::erase_if(orders_, [&](const auto& order) { return !order.second && !wanted(order.first); });
}

std::optional<std::string> ActGate::start(const RemedyOrder& order, Duration steady, TimePoint now) {
  const std::lock_guard lock(mutex_);
  const auto found = orders_.find(order.number);
  if (found == orders_.end()) return "the plan was ended or changed meanwhile";
  std::string why;
  if (!stops_.everything.empty())
    why = stops_.everything;
  else if (!stops_.breaker.empty() && order.breaker_stops)
    why = stops_.breaker;
  else if (order.decided && steady - *order.decided > kLongestDecision)
    why = "the guards looked " + std::to_string((steady - *order.decided) / std::chrono::seconds(1)) + " s ago";
  if (!why.empty()) {
    orders_.erase(found);
    return why;
  }
  found->second = OrderUnderWay{order.plan, order.action, order.target.label, now};
  return std::nullopt;
}

void ActGate::finish(std::uint64_t order) {
  const std::lock_guard lock(mutex_);
  orders_.erase(order);
}

std::vector<OrderUnderWay> ActGate::under_way() const {
  const std::lock_guard lock(mutex_);
  std::vector<OrderUnderWay> all;
  for (const auto& [number, begun] : orders_)
    if (begun) all.push_back(*begun);
  return all;
}

}  // namespace weft::daemon
