// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/gnmi_port.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "daemon/adapters/actuate/deadline.hpp"
#include "daemon/adapters/switch_port/messages.hpp"
#include "daemon/platform/runtime/child_options.hpp"
#include "daemon/platform/runtime/child_process.hpp"
#include "fabric/host_names.hpp"
#include "fabric/plan_acts.hpp"
#include "fabric/sweep.hpp"

namespace weft::actuate {
namespace {

using namespace std::chrono_literals;
using switch_port::Answer;
using switch_port::Outcome;
using switch_port::Wanted;

/// What weft-switches needs beside its question to a switch.
constexpr Duration kChildTime = 2s;

/// One end of a link, as its switch knows it.
struct NamedEnd {
  std::string node;  ///< the switch
  std::string port;  ///< its interface
};

struct NamedEnds {
  NamedEnd ours, other;
};

bool wait_readable(int socket, Duration most) {
  const auto until = std::chrono::steady_clock::now() + most;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd entry{socket, POLLIN, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::max<std::chrono::milliseconds>(left, 0ms).count()));
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0;
  }
}

NamedEnd name_end(const Topology& topology, PortIndex port) {
  return {std::string(host_name(topology.node_of(topology.port(port)))), std::string(topology.port_name(port))};
}

/// The switch of this fabric that LLDP tells behind our end in place of the other one; empty: none.
std::string other_neighbour(const Topology& topology, const Answer& seen, const std::string& expected) {
  for (std::string_view rest = seen.systems; !rest.empty();) {
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    const std::string system(rest.substr(0, length));
    rest.remove_prefix(std::min(length + 1, rest.size()));
    if (same_host(system, expected)) return {};
    for (const Node& node : topology.nodes())
      if (node.type == NodeType::kSwitch && same_host(host_name(node), system)) return system;
  }
  return {};
}

class GnmiPort final : public Actuator {
 public:
  explicit GnmiPort(GnmiPortOptions options) : options_(std::move(options)) {}

  std::string name() const override { return kGnmiPort; }

  Result<TargetReading> observe(const RemedyOrder& order) override {
    const Deadline until(kLongestCall);
    const auto ends = ends_of(order);
    if (!ends) return tl::unexpected(ends.error());
    const auto ours = read(ends->ours, until);
    if (!ours) return tl::unexpected(ours.error());
    return judge(order, *ends, *ours, until);
  }

  Result<void> apply(const RemedyOrder& order) override {
    const Deadline until(kLongestCall);
    const auto ends = ends_of(order);
    if (!ends) return tl::unexpected(ends.error());
    const auto unread = [](const Error& error) {
      return fail(ErrorCode::kFailedPrecondition, error.message + "; nothing was set");
    };
    const auto ours = read(ends->ours, until);
    if (!ours) return unread(ours.error());
    const auto before = judge(order, *ends, *ours, until);
    if (!before) return unread(before.error());
    if (before->state == TargetState::kForeign)
      return fail(ErrorCode::kFailedPrecondition, before->detail + ": not changed by Weft, left as it is");
    const bool isolate = order.action == RemedyAction::kIsolateLink;
    if (isolate == (before->state == TargetState::kOurs)) return already(isolate, before->detail);
    if (const std::string other = other_neighbour(*order.sweep->topology, *ours, ends->other.node);
        isolate && !other.empty())
      return fail(ErrorCode::kNotFound, ends->ours.node + ' ' + ends->ours.port + " has " + other + " behind it, not " +
                                            ends->other.node + "; nothing was set");
    const auto answer = ask(ends->ours, isolate ? Wanted::kShut : Wanted::kEnable, until, last_moment(order));
    if (!answer) return tl::unexpected(answer.error());
    return verdict(*answer, isolate);
  }

  Result<std::string> dry_run(const RemedyOrder& order) override {
    const auto ends = ends_of(order);
    if (!ends) return tl::unexpected(ends.error());
    return "gNMI Set on " + ends->ours.node + ": interface " + ends->ours.port +
           (order.action == RemedyAction::kIsolateLink ? " is shut" : " is enabled");
  }

 private:
  static Result<NamedEnds> ends_of(const RemedyOrder& order) {
    const auto wrong = [](std::string why) { return fail(ErrorCode::kInvalidArgument, std::move(why)); };
    if (order.target.kind != EntityKind::kLink)
      return wrong("gnmi_port isolates links, not a " + std::string(to_string(order.target.kind)));
    if (order.action != RemedyAction::kIsolateLink && order.action != RemedyAction::kRestoreLink)
      return wrong(std::string("gnmi_port cannot ") + to_string(order.action));
    if (!order.sweep || !order.sweep->topology || order.sweep->fabric != order.target.fabric)
      return wrong("the fabric " + order.target.fabric + " was not read yet");
    if (!order.end || (*order.end != order.target.port && *order.end != order.target.peer))
      return wrong("no end of the link was chosen: neither switch lets Weft set its ports by gNMI");
    const Topology& topology = *order.sweep->topology;
    const PortKey other = *order.end == order.target.port ? order.target.peer : order.target.port;
    const PortIndex ours = topology.find_port(*order.end), theirs = topology.find_port(other);
    if (!topology.is_ethernet() || ours == kNoIndex || theirs == kNoIndex)
      return fail(ErrorCode::kUnavailable, order.target.label + " is not in the fabric as it was last read");
    for (const PortIndex end : {ours, theirs})
      if (topology.node_of(topology.port(end)).type != NodeType::kSwitch)
        return fail(ErrorCode::kFailedPrecondition,
                    port_label(topology, end) + " is not on a switch: an access link has no alternative path");
    return NamedEnds{name_end(topology, ours), name_end(topology, theirs)};
  }

  Result<TargetReading> judge(const RemedyOrder& order, const NamedEnds& ends, const Answer& ours,
                              const Deadline& until) const {
    if (ours.is_shut) return TargetReading{TargetState::kOurs, ours.detail};
    // While it is up nobody has shut the other end either.
    if (ours.is_up) return TargetReading{TargetState::kClear, ours.detail};
    const auto other = ask(ends.other, Wanted::kRead, until, std::nullopt);
    if (other && other->outcome == Outcome::kRead)
      return TargetReading{other->is_shut ? TargetState::kForeign : TargetState::kClear,
                           ours.detail + "; " + other->detail};
    // That its switch is not read by gNMI hinders nothing. One that hangs must not hold up what comes back.
    const bool may_be_told = !other || other->outcome != Outcome::kRefused;
    const std::string why = other ? other->detail : other.error().message;
    if (may_be_told && takes_out(order.action)) return fail(ErrorCode::kUnavailable, why);
    return TargetReading{TargetState::kClear, ours.detail + "; its other end is not known: " + why};
  }

  Result<Answer> read(const NamedEnd& end, const Deadline& until) const {
    auto answer = ask(end, Wanted::kRead, until, std::nullopt);
    if (answer && answer->outcome != Outcome::kRead) return fail(ErrorCode::kUnavailable, answer->detail);
    return answer;
  }

  /// What a Set that was not needed is, as Actuator::apply() tells it: a port does not say who shut it.
  static Result<void> already(bool isolate, const std::string& detail) {
    if (!isolate) return {};
    return fail(ErrorCode::kAlreadyExists, detail + "; nothing was set");
  }

  static Result<void> verdict(const Answer& answer, bool isolate) {
    switch (answer.outcome) {
      case Outcome::kDone:
        return {};
      case Outcome::kAlready:
        return already(isolate, answer.detail);
      case Outcome::kUnclear:
        return fail(ErrorCode::kTimeout, answer.detail);
      case Outcome::kUnread:
      case Outcome::kRefused:
      case Outcome::kLate:
        return fail(ErrorCode::kFailedPrecondition, answer.detail + "; nothing was set");
      case Outcome::kRead:
      case Outcome::kCount:
        break;
    }
    return fail(ErrorCode::kProtocol, "weft-switches only read the port instead of setting it: " + answer.detail);
  }

  /// One run of weft-switches. A failure before it could do anything is neither kUnavailable nor kTimeout.
  Result<Answer> ask(const NamedEnd& end, Wanted wanted, const Deadline& until, std::optional<Duration> before) const {
    const bool sets = wanted != Wanted::kRead;
    switch_port::Question question{.targets = options_.targets,
                                   .targets_file = options_.targets_file,
                                   .credentials_directory = options_.credentials_directory,
                                   .max_message_bytes = options_.max_message_bytes,
                                   .max_targets = options_.max_targets,
                                   .target = end.node,
                                   .port = end.port,
                                   .wanted = wanted,
                                   .before = before,
                                   .timeout = std::min(options_.timeout, until.left() - kChildTime)};
    if (auto checked = question.check(); !checked)
      return fail(ErrorCode::kFailedPrecondition, "no time is left to ask " + end.node);
    std::error_code ignored;
    if (!options_.directory.empty()) std::filesystem::create_directories(options_.directory, ignored);
    auto child = runtime::ChildProcess::spawn(
        {.program = options_.program, .arguments = {switch_port::kOnePortFlag}, .directory = options_.directory});
    if (!child) return fail(ErrorCode::kFailedPrecondition, child.error().message);
    if (auto sent = runtime::send_options(child->socket(), question); !sent)
      return fail(ErrorCode::kFailedPrecondition, sent.error().message);
    const auto none = [&](const std::string& why) {
      return fail(sets ? ErrorCode::kTimeout : ErrorCode::kUnavailable, end.node + ": " + why);
    };
    if (!wait_readable(child->socket(), question.timeout + kChildTime))
      return none("weft-switches gave no answer in time: it " + runtime::describe(child->stop(0ms)));
    auto answer = runtime::receive_options<Answer>(child->socket());
    if (!answer) return none("weft-switches gave no answer: it " + runtime::describe(child->stop(0ms)));
    child->wait_exit(kChildTime);  // after that it is killed
    return answer;
  }

  GnmiPortOptions options_;
};

}  // namespace

std::unique_ptr<Actuator> make_gnmi_port(GnmiPortOptions options) {
  return std::make_unique<GnmiPort>(std::move(options));
}

}  // namespace weft::actuate
