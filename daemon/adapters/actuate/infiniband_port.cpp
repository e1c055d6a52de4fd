// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/infiniband_port.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "daemon/adapters/actuate/deadline.hpp"
#include "daemon/adapters/port_report/report_line.hpp"
#include "daemon/platform/net/secret.hpp"
#include "daemon/platform/runtime/child_process.hpp"
#include "fabric/graph/directed_path.hpp"
#include "fabric/sweep.hpp"

namespace weft::actuate {
namespace {

using infiniband::PortOutcome;
using infiniband::PortReport;
using namespace std::chrono_literals;

constexpr std::size_t kMostPortAnswer = 16384;

constexpr Duration kLatestLanding = 2min;

std::string words(const DirectedPath& way) {
  std::string text;
  for (const PortNum exit : way) text += (text.empty() ? "" : ",") + std::to_string(exit.value);
  return text;
}

std::string number(std::chrono::milliseconds time) {
  return std::to_string(time.count());
}

/// Reads until the child closes its end or `until`; empty when nothing came.
std::string read_answer(int socket, std::chrono::steady_clock::time_point until) {
  std::string text;
  std::array<char, 4096> buffer;
  while (text.size() < kMostPortAnswer && text.find('\n') == std::string::npos) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd entry{socket, POLLIN, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::max(left, 0ms).count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    const ssize_t got = ::read(socket, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

/// What a Set that was not needed is, as Actuator::apply() tells it: a disabled port does not say who disabled it.
Result<void> already(bool isolate, const std::string& detail) {
  if (!isolate) return {};
  return fail(ErrorCode::kAlreadyExists, detail + "; nothing was set");
}

/// The failure of a Set that did not do what was asked, as Actuator::apply() tells it.
Result<void> verdict(const PortReport& report, bool isolate) {
  switch (report.outcome) {
    case PortOutcome::kDone:
      return {};
    case PortOutcome::kAlready:
      return already(isolate, report.detail);
    case PortOutcome::kUnclear:
      return fail(ErrorCode::kTimeout, report.detail);
    case PortOutcome::kUnseen:
      return fail(ErrorCode::kNotFound, report.detail + "; nothing was set");
    case PortOutcome::kNotThat:
    case PortOutcome::kNeedsKey:
    case PortOutcome::kSilent:
    case PortOutcome::kRefused:
    case PortOutcome::kLate:
      return fail(ErrorCode::kFailedPrecondition, report.detail + "; nothing was set");
    case PortOutcome::kRead:
    case PortOutcome::kCount:
      break;
  }
  return fail(ErrorCode::kProtocol, "weft-port only read the port instead of setting it: " + report.detail);
}

class InfinibandPort final : public Actuator {
 public:
  explicit InfinibandPort(InfinibandPortOptions options) : options_(std::move(options)) {}

  std::string name() const override { return "infiniband_port"; }
  std::optional<Duration> latest_landing() const override { return kLatestLanding; }

  Result<TargetReading> observe(const RemedyOrder& order) override {
    const auto ends = ends_of(order);
    if (!ends) return tl::unexpected(ends.error());
    return look(order, *ends, deadline());
  }

  Result<void> apply(const RemedyOrder& order) override {
    const Deadline until = deadline();
    const auto ends = ends_of(order);
    if (!ends) return tl::unexpected(ends.error());
    if (auto why = refuse(order, *ends); !why) return why;
    const auto before = look(order, *ends, until);
    if (!before) return fail(ErrorCode::kFailedPrecondition, before.error().message + "; nothing was set");
    if (before->state == TargetState::kForeign)
      return fail(ErrorCode::kFailedPrecondition, before->detail + ": not changed by Weft, left as it is");
    const bool isolate = order.action == RemedyAction::kIsolateLink;
    if (isolate == (before->state == TargetState::kOurs)) return already(isolate, before->detail);
    const auto report =
        run(order, ends->ours, ends->other, *ends->way_to_ours, until, isolate ? "disabled" : "polling");
    if (!report) return tl::unexpected(report.error());
    return verdict(*report, isolate);
  }

  Result<std::string> dry_run(const RemedyOrder& order) override {
    const auto ends = ends_of(order);
    if (!ends) return tl::unexpected(ends.error());
    if (auto why = refuse(order, *ends); !why) return tl::unexpected(why.error());
    const bool isolate = order.action == RemedyAction::kIsolateLink;
    const PortIndex index = order.sweep->topology->find_port(ends->ours);
    return "SubnSet(PortInfo) of " + port_label(*order.sweep->topology, index) + " (" + to_string(ends->ours.node) +
           "): PortPhysicalState = " + (isolate ? "Disabled (3)" : "Polling (2)") +
           ", PortState = no change; by hand: " + "ibportstate -D 0," + words(*ends->way_to_ours) + ' ' +
           std::to_string(ends->ours.port.value) + (isolate ? " disable" : " enable");
  }

 private:
  using Deadline = std::chrono::steady_clock::time_point;
  Deadline deadline() const { return std::chrono::steady_clock::now() + options_.bound; }

  static Result<LinkEnds> ends_of(const RemedyOrder& order) {
    if (order.target.kind != EntityKind::kLink)
      return fail(ErrorCode::kInvalidArgument,
                  "infiniband_port isolates links, not a " + std::string(to_string(order.target.kind)));
    if (!order.sweep || !order.sweep->topology)
      return fail(ErrorCode::kInvalidArgument, "the fabric " + order.target.fabric + " was not swept yet");
    if (order.sweep->fabric != order.target.fabric)
      return fail(ErrorCode::kInvalidArgument,
                  "the link is in the fabric " + order.target.fabric + ", but the sweep is of " + order.sweep->fabric);
    auto ends = find_link_ends(*order.sweep->topology, order.sweep->local_port,
                               make_link_key(order.target.port, order.target.peer), order.end);
    if (ends && !ends->way_to_ours)
      return fail(ErrorCode::kUnavailable,
                  "no directed route over links that are up reaches " + to_string(ends->ours.node));
    return ends;
  }

  static Result<void> refuse(const RemedyOrder& order, const LinkEnds& ends) {
    if (order.action != RemedyAction::kIsolateLink && order.action != RemedyAction::kRestoreLink)
      return fail(ErrorCode::kInvalidArgument, std::string("infiniband_port cannot ") + to_string(order.action));
    if (order.action == RemedyAction::kIsolateLink && !ends.has_way_round())
      return fail(ErrorCode::kFailedPrecondition, "the link is the last path to " + to_string(ends.other.node) +
                                                      ": isolating it would cut that node off");
    return {};
  }

  Result<TargetReading> look(const RemedyOrder& order, const LinkEnds& ends, Deadline until) const {
    const auto ours = read(order, ends.ours, *ends.way_to_ours, until);
    if (!ours) return tl::unexpected(ours.error());
    if (ours->physical_state == PortPhysicalState::kDisabled) return TargetReading{TargetState::kOurs, ours->detail};
    // While it is up nobody has disabled the other end either.
    if (ours->physical_state == PortPhysicalState::kLinkUp) return TargetReading{TargetState::kClear, ours->detail};
    if (!ends.way_to_other) return TargetReading{TargetState::kClear, ours->detail + "; its other end is unreachable"};
    const auto other = read(order, ends.other, *ends.way_to_other, until);
    if (!other) return tl::unexpected(other.error());
    const bool foreign = other->physical_state == PortPhysicalState::kDisabled;
    return TargetReading{foreign ? TargetState::kForeign : TargetState::kClear, ours->detail + "; " + other->detail};
  }

  Result<PortReport> read(const RemedyOrder& order, PortKey port, const DirectedPath& way, Deadline until) const {
    auto report = run(order, port, {}, way, until, {});
    if (!report) return report;
    if (report->outcome == PortOutcome::kNotThat) return fail(ErrorCode::kNotFound, report->detail);
    if (report->outcome != PortOutcome::kRead) return fail(ErrorCode::kUnavailable, report->detail);
    // People know it by its name.
    const std::string number = to_string(port.node) + " port " + std::to_string(port.port.value);
    const PortIndex index = order.sweep->topology->find_port(port);
    if (index != kNoIndex && report->detail.starts_with(number + ' '))
      report->detail.replace(0, number.size(), port_label(*order.sweep->topology, index));
    return report;
  }

  /// One run of weft-port; `wanted` empty: it only reads. A failure before it could do anything is neither kUnavailable
  /// nor kTimeout.
  Result<PortReport> run(const RemedyOrder& order, PortKey port, PortKey peer, const DirectedPath& way, Deadline until,
                         const std::string& wanted) const {
    runtime::ChildSpec spec{.program = options_.program, .directory = options_.directory};
    spec.arguments = {"--local-node",  to_string(order.sweep->local_port.node),
                      "--local-port",  std::to_string(order.sweep->local_port.port.value),
                      "--route",       words(way),
                      "--node",        to_string(port.node),
                      "--port",        std::to_string(port.port.value),
                      "--timeout-ms",  number(options_.timeout),
                      "--retries",     std::to_string(options_.retries),
                      "--settling-ms", number(options_.settling),
                      "--output-fd",   std::to_string(runtime::kChildSocket)};
    if (!wanted.empty())
      for (const std::string& word : {std::string("--set"), wanted, std::string("--peer"), to_string(peer.node),
                                      std::string("--peer-port"), std::to_string(peer.port.value)})
        spec.arguments.push_back(word);
    if (!wanted.empty() && order.down_as_reviewed) spec.arguments.emplace_back("--down-as-reviewed");
    if (const auto before = last_moment(order); !wanted.empty() && before)
      spec.arguments.insert(spec.arguments.end(),
                            {"--before-ms", number(std::chrono::floor<std::chrono::milliseconds>(*before))});
    std::string key;
    if (!options_.management_key_file.empty()) {
      auto read = net::read_secret(options_.management_key_file);
      if (!read) return fail(ErrorCode::kFailedPrecondition, "M_Key: " + read.error().message);
      key = *read + '\n';
      spec.arguments.insert(spec.arguments.end(), {"--m-key-fd", std::to_string(runtime::kChildSocket)});
    }
    std::error_code ignored;
    if (!spec.directory.empty()) std::filesystem::create_directories(spec.directory, ignored);
    auto child = runtime::ChildProcess::spawn(spec);
    if (!child) return fail(ErrorCode::kFailedPrecondition, child.error().message);
    // It fits the socket's buffer.
    if (!key.empty() && ::send(child->socket(), key.data(), key.size(), MSG_NOSIGNAL) < 0)
      return fail(ErrorCode::kFailedPrecondition,
                  "cannot pass the M_Key to weft-port: it " + runtime::describe(child->stop(0ms)));
    const std::string answer = read_answer(child->socket(), until);
    if (answer.empty()) {
      const auto exit = child->stop(0ms);
      return fail(wanted.empty() ? ErrorCode::kUnavailable : ErrorCode::kTimeout,
                  "weft-port gave no answer in time: it " + runtime::describe(exit));
    }
    child->wait_exit(2s);  // it says good-bye to the adapter; after that it is killed
    return port::parse_line(answer);
  }

  InfinibandPortOptions options_;
};

}  // namespace

std::unique_ptr<Actuator> make_infiniband_port(InfinibandPortOptions options) {
  return std::make_unique<InfinibandPort>(std::move(options));
}

}  // namespace weft::actuate
