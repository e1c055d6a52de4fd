// SPDX-License-Identifier: Apache-2.0
#include "api/convert/history.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "api/convert/fabric.hpp"
#include "api/convert/incidents.hpp"
#include "api/convert/occurrences.hpp"
#include "api/convert/times.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/find_ports.hpp"
#include "api/publication/utf8.hpp"

namespace weft::api {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kUsualPoints = 240;
constexpr std::uint32_t kMostPoints = 2000;
constexpr std::size_t kMostMarks = 200;
constexpr std::size_t kLargestAnswer = 3 << 20;
/// Lengths of a bucket that people can read off an axis.
constexpr std::array<std::chrono::seconds, 19> kSteps{1s, 5s, 10s, 30s, 1min, 2min, 5min, 10min, 15min, 30min,
                                                      1h, 2h, 3h,  6h,  12h,  24h,  48h,  168h,  720h};

Duration step_for(Duration time, std::uint32_t points) {
  for (const Duration step : kSteps)
    if (time <= step * static_cast<std::int64_t>(points)) return step;
  return kSteps.back() * (time / (kSteps.back() * static_cast<std::int64_t>(points)) + 1);
}

/// A GUID that no fabric has, as "0x…", or a port of it. It may be one that was there once.
std::optional<PortKey> gone_port(const Snapshot& snapshot, std::string_view what) {
  std::uint32_t port = 0;
  for (const std::string_view between : {std::string_view(" port "), std::string_view(":")})
    if (const std::size_t at = what.rfind(between); at != std::string_view::npos) {
      const std::string_view digits = what.substr(at + between.size());
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
      if (error != std::errc{} || end != digits.data() + digits.size() || port == 0 || port > kMostPorts)
        return std::nullopt;
      what = what.substr(0, at);
      break;
    }
  if (!what.starts_with("0x")) return std::nullopt;
  const auto guid = parse_guid(what);
  if (!guid || *guid == 0 || is_before_first_sweep(snapshot) || !find_nodes(snapshot, what, 1).empty())
    return std::nullopt;
  return PortKey{NodeGuid{*guid}, PortNum{static_cast<std::uint16_t>(port)}};
}

/// What incidents called a node when it was there; else its GUID.
std::string name_of_gone(const Snapshot& snapshot, NodeGuid guid) {
  if (snapshot.incidents)
    for (const auto& incident : *snapshot.incidents)
      if (const Entity& cause = incident->finding.cause; cause.kind == EntityKind::kNode && cause.port.node == guid)
        return valid_utf8(cause.label);
  return to_string(guid);
}

/// Ports of a node, or one port, in one fabric.
Result<void> find_ports_of(const v1::GetPortHistoryRequest& request, PortHistoryQuestion& asked) {
  std::set<std::string> fabrics;
  const auto add = [&](const FabricView& fabric, PortIndex port) {
    if (!request.fabric().empty() && fabric.name != request.fabric()) return;
    fabrics.insert(fabric.name);
    asked.fabric = &fabric;
    asked.ports.push_back(port);
  };
  for (const FoundNode& found : find_nodes(*asked.snapshot, request.what(), kMostNodes)) {
    const Topology& topology = *found.fabric->sweep->topology;
    const Node& node = topology.node(found.node);
    for (PortIndex i = 0; i < node.port_entries(); ++i)
      if (is_port(topology, node.first_port + i)) add(*found.fabric, node.first_port + i);
  }
  if (asked.ports.empty())
    for (const FoundPort& found : find_ports(*asked.snapshot, request.what())) add(*found.fabric, found.port);
  if (asked.ports.empty()) asked.question.gone = gone_port(*asked.snapshot, request.what());
  if (asked.question.gone) return {};
  if (asked.ports.empty())
    return tl::unexpected(
        unknown_name(*asked.snapshot, request.what(), "unknown node or port " + valid_utf8(request.what())));
  if (fabrics.size() > 1) {
    std::string names;
    for (const std::string& name : fabrics) names += (names.empty() ? "" : ", ") + valid_utf8(name);
    return fail(ErrorCode::kFailedPrecondition,
                valid_utf8(request.what()) + " is in several fabrics, " + names + ": choose one (--fabric, ?fabric=)");
  }
  return {};
}

/// What ports are called: as everywhere, and with the GUID of their node where another node of the fabric is called the
/// same.
class PortLabels {
 public:
  PortLabels(const Topology& topology, std::span<const PortIndex> ports) : topology_(topology) {
    for (const PortIndex port : ports) {
      count_[node_at(port).name] = 0;
      if (const PortIndex peer = topology.port(port).peer; peer != kNoIndex) count_[node_at(peer).name] = 0;
    }
    for (const Node& node : topology.nodes())
      if (const auto found = count_.find(node.name); found != count_.end()) ++found->second;
  }
  /// Of one of the ports, or of the other end of its cable.
  std::string of(PortIndex port) const {
    const std::string label = valid_utf8(port_label(topology_, port));
    const auto found = count_.find(node_at(port).name);
    return found == count_.end() || found->second < 2 ? label : label + " (" + to_string(node_at(port).guid) + ')';
  }

 private:
  const Node& node_at(PortIndex port) const { return topology_.node(topology_.port(port).node); }

  const Topology& topology_;
  std::map<std::string_view, int> count_;
};

/// Is the thing one of the ports, a link at one of them, or the node of one?
bool is_of(const Entity& entity, std::span<const PortKey> ports) {
  return std::ranges::any_of(ports, [&](const PortKey& port) {
    if (entity.port.port.value == 0) return entity.port.node == port.node;
    return entity.port == port || (entity.kind == EntityKind::kLink && entity.peer == port);
  });
}

/// The time of a mark, if it reaches into that of the answer.
bool set_time(v1::HistoryMark& mark, TimePoint from, TimePoint until, const HistoryQuestion& question) {
  if (from >= question.to || (until != kNever && until <= question.from)) return false;
  set_timestamp(*mark.mutable_from(), from);
  if (until != kNever) set_timestamp(*mark.mutable_until(), until);
  return true;
}

std::vector<v1::HistoryMark> marks_of(const PortHistoryQuestion& asked, const std::vector<PortKey>& ports) {
  const auto touches = [&](const Entity& entity) { return is_of(entity, ports); };
  std::vector<v1::HistoryMark> marks;
  const auto add = [&](v1::HistoryMark::Kind kind, std::string id, const std::string& text, TimePoint from,
                       TimePoint until) -> v1::HistoryMark* {
    v1::HistoryMark mark;
    if (!set_time(mark, from, until, asked.question)) return nullptr;
    mark.set_kind(kind);
    mark.set_id(std::move(id));
    mark.set_text(valid_utf8(text));
    return &marks.emplace_back(std::move(mark));
  };
  const Snapshot& snapshot = *asked.snapshot;
  if (snapshot.incidents)
    for (const auto& incident : *snapshot.incidents) {
      if (!touches(incident->finding.cause) && !std::ranges::any_of(incident->finding.affected, touches)) continue;
      for (const Occurrence& each : occurrences_of(*incident))
        if (auto* mark = add(v1::HistoryMark::INCIDENT, incident_name(incident->id), each.text, each.from, each.until))
          mark->set_severity(to_proto(each.severity));
    }
  if (snapshot.plans)
    for (const auto& plan : *snapshot.plans)
      if (plan->started != kNever && touches(plan->target))
        add(v1::HistoryMark::PLAN, plan_name(plan->id), std::string(to_string(plan->action)) + ' ' + plan->target.label,
            plan->started, plan->in_force ? kNever : plan->finished);
  if (snapshot.maintenance)
    for (const MaintenanceWindow& window : *snapshot.maintenance) {
      if (end_of(window) <= window.from) continue;  // called off before it began
      if (std::ranges::any_of(ports, [&](const PortKey& port) { return covers(window, port.node); }) ||
          touches(window.entity))
        add(v1::HistoryMark::MAINTENANCE, maintenance_name(window.id), window.entity.label + ": " + window.reason,
            window.from, end_of(window));
    }
  std::ranges::sort(marks, {}, [](const v1::HistoryMark& mark) { return from_timestamp(mark.from()); });
  if (marks.size() > kMostMarks) marks.erase(marks.begin(), marks.end() - kMostMarks);
  return marks;
}

void counter_to_proto(const CounterHistory& from, float tick, bool with_still, v1::CounterHistory& to) {
  const CounterInfo& info = counter_info(from.counter);
  const bool is_ticks = info.unit == CounterUnit::kTicks && tick > 0;
  const double scale = is_ticks ? tick : 1;
  to.set_counter(std::string(info.name));
  to.set_unit(is_ticks ? "seconds" : to_string(info.unit));
  to.set_total(is_ticks ? std::to_string(static_cast<double>(from.total) * scale) : std::to_string(from.total));
  to.set_at_least(from.at_least);
  if (from.total == 0 && !with_still) return;
  for (const HistoryBucket& bucket : from.buckets) {
    if (bucket.covered <= Duration::zero()) continue;
    to.add_bucket(bucket.index);
    to.add_rate(bucket.increase * scale / std::chrono::duration<double>(bucket.covered).count());
    to.add_peak(bucket.peak * scale);
  }
}

const char* base_unit_of(PortGauge gauge) {
  switch (gauge) {
    case PortGauge::kTemperature:
      return "degrees Celsius";
    case PortGauge::kLaserBias:
      return "amperes";
    default:
      return "watts";
  }
}

void gauge_to_proto(const GaugeHistory& from, v1::GaugeHistory& to) {
  const CounterInfo& info = gauge_info(from.gauge);
  to.set_gauge(std::string(info.name));
  to.set_unit(base_unit_of(from.gauge));
  const auto value = [&info](std::int64_t raw) { return base_value(info.unit, static_cast<std::uint64_t>(raw)); };
  for (const GaugeBucket& bucket : from.buckets) {
    to.add_bucket(bucket.index);
    to.add_last(value(bucket.last));
    to.add_low(value(bucket.low));
    to.add_high(value(bucket.high));
  }
}

}  // namespace

Result<HistoryTime> history_time(const google::protobuf::Timestamp* from, const google::protobuf::Timestamp* to,
                                 std::uint32_t points, TimePoint now) {
  if (from != nullptr)
    if (const auto good = check_time("from", *from); !good) return tl::unexpected(good.error());
  if (to != nullptr)
    if (const auto good = check_time("to", *to); !good) return tl::unexpected(good.error());
  HistoryTime time;
  time.to = to != nullptr ? from_timestamp(*to) : now;
  time.from = from != nullptr ? from_timestamp(*from) : std::max(time.to, TimePoint{} + 24h) - 24h;
  if (time.to < TimePoint{} + 24h || time.from <= TimePoint{})
    return fail(ErrorCode::kInvalidArgument, "the time must begin before it ends, and after 1970");
  if (time.from >= now) return fail(ErrorCode::kInvalidArgument, "the time lies ahead");
  if (time.from >= time.to) return fail(ErrorCode::kInvalidArgument, "the time must begin before it ends");
  time.to = std::min(time.to, now);
  time.step = step_for(time.to - time.from, points);
  // Buckets begin at whole steps, so that a picture that is drawn anew does not flicker, and hours are whole.
  time.from = TimePoint(time.from.time_since_epoch() / time.step * time.step);
  return time;
}

Result<PortHistoryQuestion> parse_port_history(std::shared_ptr<const Snapshot> snapshot,
                                               const v1::GetPortHistoryRequest& request, TimePoint now) {
  PortHistoryQuestion asked;
  asked.snapshot = std::move(snapshot);
  asked.with_still = request.with_still();
  HistoryQuestion& question = asked.question;
  const auto time =
      history_time(request.has_from() ? &request.from() : nullptr, request.has_to() ? &request.to() : nullptr,
                   request.points() == 0 ? kUsualPoints : request.points(), now);
  if (!time) return tl::unexpected(time.error());
  question.from = time->from;
  question.to = time->to;
  question.step = time->step;
  if (request.points() > kMostPoints)
    return fail(ErrorCode::kInvalidArgument, "at most " + std::to_string(kMostPoints) + " points can be had");
  for (const std::string& name : request.counters()) {
    if (const auto gauge = find_port_gauge(name)) {
      question.gauges.push_back(*gauge);
      continue;
    }
    const CounterInfo* info = find_counter(name);
    if (info == nullptr || info->id == CounterId::kCount)
      return fail(ErrorCode::kInvalidArgument, "unknown counter " + valid_utf8(name));
    if (std::ranges::find(question.counters, info->id) == question.counters.end())
      question.counters.push_back(info->id);
  }
  if (const auto found = find_ports_of(request, asked); !found) return tl::unexpected(found.error());
  question.fabric = question.gone ? request.fabric() : asked.fabric->name;
  if (question.gone) return asked;
  const Topology& topology = *asked.fabric->sweep->topology;
  for (const PortIndex port : asked.ports) question.ports.push_back(topology.key_of(port));
  return asked;
}

Result<v1::GetPortHistoryResponse> port_history(const PortHistoryQuestion& asked, const HistoryAnswer& answer) {
  v1::GetPortHistoryResponse response;
  set_timestamp(*response.mutable_from(), asked.question.from);
  set_duration(*response.mutable_step(), answer.step);
  response.set_buckets(
      static_cast<std::uint32_t>((asked.question.to - asked.question.from - Duration(1)) / answer.step + 1));
  std::vector<PortKey> keys = asked.question.ports;
  const auto add = [&](const PortHistory& port, float tick) -> v1::PortHistory& {
    v1::PortHistory& to = *response.add_ports();
    to.set_node_guid(to_string(port.port.node));
    to.set_port(port.port.port.value);
    for (const CounterHistory& counter : port.counters)
      counter_to_proto(counter, tick, asked.with_still, *to.add_counters());
    for (const GaugeHistory& gauge : port.gauges) gauge_to_proto(gauge, *to.add_gauges());
    return to;
  };
  std::optional<PortLabels> labels;
  if (asked.fabric != nullptr && !asked.question.gone) labels.emplace(*asked.fabric->sweep->topology, asked.ports);
  const std::string gone = asked.question.gone ? name_of_gone(*asked.snapshot, asked.question.gone->node) : "";
  for (std::size_t i = 0; i < answer.ports.size(); ++i) {
    if (asked.question.gone) {
      v1::PortHistory& to = add(answer.ports[i], 0);
      keys.push_back(answer.ports[i].port);
      to.set_fabric(valid_utf8(answer.fabric));
      to.set_node(gone);
      to.set_label(gone + " port " + std::to_string(to.port()));
      to.set_gone(true);
      continue;
    }
    if (i >= asked.ports.size() || !labels) break;
    const Topology& topology = *asked.fabric->sweep->topology;
    const Port& port = topology.port(asked.ports[i]);
    v1::PortHistory& to = add(answer.ports[i], port.wait_tick_seconds);
    to.set_fabric(valid_utf8(asked.fabric->name));
    to.set_node(valid_utf8(topology.node(port.node).name));
    to.set_label(labels->of(asked.ports[i]));
    if (const PortIndex peer = port.peer; peer != kNoIndex) to.set_peer(labels->of(peer));
  }
  for (v1::HistoryMark& mark : marks_of(asked, keys)) *response.add_marks() = std::move(mark);
  if (response.ByteSizeLong() > kLargestAnswer)
    return fail(ErrorCode::kResourceExhausted,
                "that is more than 3 MB: request one port, fewer points, or some counters");
  return response;
}

}  // namespace weft::api
