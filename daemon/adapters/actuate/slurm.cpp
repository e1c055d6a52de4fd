// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/slurm.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "daemon/adapters/actuate/deadline.hpp"
#include "daemon/adapters/actuate/slurm_controller.hpp"
#include "daemon/adapters/actuate/slurm_node.hpp"
#include "daemon/platform/net/safe_text.hpp"
#include "fabric/host_names.hpp"

namespace weft::actuate {
namespace {

class SlurmActuator final : public Actuator {
 public:
  SlurmActuator(std::unique_ptr<SlurmController> controller, Duration timeout)
      : controller_(std::move(controller)), timeout_(timeout) {}

  std::string name() const override { return "slurm"; }

  Result<TargetReading> observe(const RemedyOrder& order) override {
    const Deadline deadline(timeout_);
    const Result<std::vector<SlurmNode>> nodes = controller_->nodes(deadline.left());
    if (!nodes) return tl::unexpected<Error>(nodes.error());
    return find(*nodes, order).map([&](const SlurmNode& node) {
      TargetReading seen = judge_slurm_node(node, controller_->user(), order.owner);
      add_slurm_marks(*nodes, controller_->user(), order.owner, seen);
      return seen;
    });
  }

  std::optional<EntityKind> tells_out_of_service() const override { return EntityKind::kHost; }

  Result<OutOfService> out_of_service() override {
    return controller_->nodes(timeout_).map([](const std::vector<SlurmNode>& nodes) {
      return OutOfService{.hosts = drained_slurm_hosts(nodes), .ports = {}};
    });
  }

  Result<void> apply(const RemedyOrder& order) override {
    const Deadline deadline(timeout_);
    const Result<std::optional<Step>> step = prepare(order, deadline);
    if (!step) return tl::unexpected<Error>(step.error());
    if (!*step) return {};
    // The list of all nodes takes its time; what counts is how this one stands now.
    const Result<SlurmNode> node = controller_->node((*step)->node, deadline.left());
    if (!node) return tl::unexpected<Error>(node.error());
    const Result<bool> needed = is_needed(*node, (*step)->change, order.owner);
    if (!needed) return tl::unexpected<Error>(needed.error());
    if (!*needed) return {};
    Result<void> done =
        controller_->change((*step)->node, (*step)->change, (*step)->reason, deadline.left(), last_moment(order));
    if (done || done.error().code == ErrorCode::kUnavailable || done.error().code == ErrorCode::kTimeout) return done;
    // Slurm 22.05 undrains a node that never registered and says "Invalid node state" all the same.
    const Result<SlurmNode> after = controller_->node((*step)->node, deadline.left());
    if (!after) return fail(ErrorCode::kUnavailable, done.error().message + "; then " + after.error().message);
    const Result<bool> still = is_needed(*after, (*step)->change, order.owner);
    return still && !*still ? Result<void>{} : done;
  }

  Result<std::string> dry_run(const RemedyOrder& order) override {
    const Deadline deadline(timeout_);
    return prepare(order, deadline).map([this](const std::optional<Step>& step) -> std::string {
      if (!step) return "nothing: already in the wanted state";
      return controller_->describe(step->node, step->change, step->reason);
    });
  }

 private:
  struct Step {
    std::string node;
    SlurmChange change = SlurmChange::kDrain;
    std::string reason;
  };

  static Result<SlurmNode> find(const std::vector<SlurmNode>& nodes, const RemedyOrder& order) {
    if (!net::is_host_name(order.target.host))
      return fail(ErrorCode::kInvalidArgument, "'" + net::one_line(order.target.host) + "' is not a host name");
    Result<SlurmNode> node = find_slurm_node(nodes, order.target.host);
    // The name goes into a command that would take "n[1-8]" and "ALL" for many.
    if (node && (!net::is_host_name(node->name) || same_host(node->name, "all")))
      return fail(ErrorCode::kFailedPrecondition,
                  "Slurm's node name '" + net::one_line(node->name) + "' may be a list of nodes");
    return node;
  }

  /// Whether the change is still to be made; kFailedPrecondition where somebody else's doing forbids it.
  Result<bool> is_needed(const SlurmNode& node, SlurmChange change, const MarkOwner& owner) const {
    const TargetReading seen = judge_slurm_node(node, controller_->user(), owner);
    if (change == SlurmChange::kUndrain && !node.has("DRAIN")) return false;
    if (seen.state == TargetState::kForeign)
      return fail(ErrorCode::kFailedPrecondition, seen.detail + ": not changed by Weft, left as it is");
    return (seen.state == TargetState::kOurs) == (change == SlurmChange::kUndrain);
  }

  Result<std::optional<Step>> prepare(const RemedyOrder& order, const Deadline& deadline) {
    if (order.action != RemedyAction::kDrainNode && order.action != RemedyAction::kUndrainNode)
      return fail(ErrorCode::kInvalidArgument, std::string("Slurm cannot ") + to_string(order.action));
    const SlurmChange change = order.action == RemedyAction::kDrainNode ? SlurmChange::kDrain : SlurmChange::kUndrain;
    const Result<std::vector<SlurmNode>> nodes = controller_->nodes(deadline.left());
    if (!nodes) return tl::unexpected<Error>(nodes.error());
    const Result<SlurmNode> node = find(*nodes, order);
    if (!node) return tl::unexpected<Error>(node.error());
    const Result<bool> needed = is_needed(*node, change, order.owner);
    if (!needed) return tl::unexpected<Error>(needed.error());
    if (!*needed) return std::nullopt;
    const std::array names{node->name, node->hostname};
    const std::string_view other = first_other_host(names, order.target.host, order.namesakes);
    if (change == SlurmChange::kDrain && !other.empty())
      return fail(ErrorCode::kFailedPrecondition, "Slurm's node " + node->name + " may be host " + order.target.host +
                                                      " or host " + std::string(other) + ": drain it by hand");
    return Step{node->name, change, net::one_line(order.marked_reason())};
  }

  std::unique_ptr<SlurmController> controller_;
  Duration timeout_;
};

}  // namespace

Result<std::unique_ptr<Actuator>> make_slurm_actuator(const SlurmOptions& options) {
  Result<std::unique_ptr<SlurmController>> controller =
      options.rest_url.empty() ? make_scontrol(options) : make_slurmrestd(options);
  if (!controller) return tl::unexpected<Error>(controller.error());
  return std::make_unique<SlurmActuator>(std::move(*controller), options.timeout);
}

}  // namespace weft::actuate
