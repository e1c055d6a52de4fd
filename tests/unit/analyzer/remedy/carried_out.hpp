// SPDX-License-Identifier: Apache-2.0
#pragma once
// Plans by automation whose orders are carried out, in a world where nothing else happens.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {

struct CarriedOut : Book {
  CarriedOut() : Book(automatic()) { restart({}); }

  /// weftd is started anew, with that memory, or with its own plans.
  void restart(RemedyMemory memory) {
    book.emplace(settings, std::move(memory), fabric.now(), fabric.now().time_since_epoch());
  }
  void restart() {
    RemedyMemory memory;
    memory.ids = book->all()->back()->id + 1;
    for (const PlanPtr& plan : *book->all()) memory.plans.push_back(*plan);
    restart(std::move(memory));
  }
  /// A sweep; then whatever is asked is answered, and whatever is ordered is done.
  void step() {
    sweep();
    const RemedyBatch batch = book->drain_changes(fabric.now());
    recorded += batch.audit.size();
    for (const RemedyOrder& order : batch.orders) {
      if (order.kind == OrderKind::kRead) {
        const TargetState state = out.contains(order.target.label) ? TargetState::kOurs : TargetState::kClear;
        book->answer_reading(order.number, TargetReading{state, ""}, fabric.now());
        continue;
      }
      ++acts;
      if (takes_out(order.action))
        out.insert(order.target.label);
      else
        out.erase(order.target.label);
      book->answer_action(order.number, {}, fabric.now());
      if (order.target.kind != EntityKind::kLink) continue;
      const PortIndex end = fabric.topology()->find_port(order.target.port);
      if (takes_out(order.action))
        fabric.unlink(end);
      else
        fabric.relink(end);
      fabric.route();
    }
  }
  /// A step in which the link is down where its plan is about to act, and else up. True: it was down.
  bool step_down_when_sent(std::uint64_t of, PortIndex end) {
    const PlanPtr plan = book->find(of);
    const bool is_sent = plan && plan->state == PlanState::kExecuting;
    if (is_sent)
      fabric.unlink(end);
    else
      fabric.relink(end);
    step();
    return is_sent;
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) step();
  }
  /// So many nodes at once that FRESH_DATA refuses what takes out.
  void rack(bool is_gone) {
    for (const char* host : {"host-1-0 mlx5_0", "host-2-0 mlx5_0", "host-3-0 mlx5_0"})
      fabric.silence(fabric.find(host), is_gone);
  }

  std::set<std::string> out;  ///< labels of what is out of service
  int acts = 0;               ///< changes that were ordered
  std::size_t recorded = 0;   ///< in the audit trail
};

}  // namespace weft::analyzer
