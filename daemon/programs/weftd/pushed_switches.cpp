// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/pushed_switches.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cmath>
#include <utility>

#include "daemon/platform/runtime/regular_file.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;
namespace pushed = api::pushed;

constexpr std::size_t kLargestNamesFile = 1 << 20;
constexpr std::size_t kLongestPushedName = 255;
/// Values that wait for the main thread; a request of 4 MiB has some 40,000.
constexpr std::uint64_t kMostWaiting = 200'000;
/// Of all switches together, some 100 bytes each.
constexpr std::size_t kMostKept = 2'000'000;
/// So many intervals without a word are silence.
constexpr int kSilentPushes = 3;
/// What an agent tells of a switch comes in several requests, one behind the other.
constexpr Duration kReadingsApart = 250ms;
/// opentelemetry/proto/metrics/v1/metrics.proto, DataPointFlags
constexpr std::uint32_t kNoRecordedValue = 1;
/// Counters are whole numbers below this; doubles hold no more of them exactly.
constexpr double kGreatest = 9'007'199'254'740'992.0;

std::string text_of(const pushed::AnyValue& value) {
  switch (value.value_case()) {
    case pushed::AnyValue::kStringValue:
      return value.string_value();
    case pushed::AnyValue::kBoolValue:
      return value.bool_value() ? "true" : "false";
    case pushed::AnyValue::kIntValue:
      return std::to_string(value.int_value());
    case pushed::AnyValue::kDoubleValue:
      return std::to_string(value.double_value());
    case pushed::AnyValue::VALUE_NOT_SET:
      break;
  }
  return {};
}

template <typename Attributes>
void add(std::vector<MetricAttribute>& to, const Attributes& from) {
  for (const pushed::KeyValue& one : from) to.push_back({one.key(), text_of(one.value())});
}

/// What the row makes of it; nullopt where that cannot be.
std::optional<std::uint64_t> value_of(const pushed::NumberDataPoint& point, const MetricRow& row) {
  const bool is_whole = point.value_case() == pushed::NumberDataPoint::kAsInt;
  if (!is_whole && point.value_case() != pushed::NumberDataPoint::kAsDouble) return std::nullopt;
  const double told = is_whole ? static_cast<double>(point.as_int()) : point.as_double();
  const double number = told * row.scale;
  if (!std::isfinite(number)) return std::nullopt;
  if (row.leaf.kind == gnmi::LeafKind::kOperStatus) return told == row.up ? 1 : 0;
  if (is_whole && row.scale == 1)
    return point.as_int() < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(point.as_int()));
  if (number < 0 || number >= kGreatest) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(number));
}

bool is_plain(std::string_view name) {
  return !name.empty() && name.size() <= kLongestPushedName && plain_text(name, name.size()) == name;
}

/// Sorts one request.
class Sorter {
 public:
  Sorter(const MetricNames& names, PushedMetrics& out) : names_(names), out_(out) {}

  void add_resource(const pushed::ResourceMetrics& told) {
    resource_.clear();
    add(resource_, told.resource().attributes());
    const auto name = names_.node_of(resource_);
    has_node_ = name && is_plain(*name);
    node_ = name.value_or("");
    for (const pushed::ScopeMetrics& scope : told.scope_metrics())
      for (const pushed::Metric& metric : scope.metrics()) add_metric(metric);
  }

 private:
  void add_metric(const pushed::Metric& metric) {
    if (metric.has_gauge()) {
      for (const auto& point : metric.gauge().data_points()) add_point(metric, point, false);
    } else if (metric.has_sum()) {
      const bool is_increment = metric.sum().aggregation_temporality() == pushed::AGGREGATION_TEMPORALITY_DELTA;
      for (const auto& point : metric.sum().data_points()) add_point(metric, point, is_increment);
    }
  }

  void add_point(const pushed::Metric& metric, const pushed::NumberDataPoint& point, bool is_increment) {
    if (!names_.knows(metric.name())) {
      ++out_.unknown;
      return;
    }
    if ((point.flags() & kNoRecordedValue) != 0) return;
    attributes_.clear();
    add(attributes_, point.attributes());
    attributes_.insert(attributes_.end(), resource_.begin(), resource_.end());
    const auto match = names_.find(metric.name(), attributes_);
    if (!match) {
      ++out_.unknown;
      return;
    }
    if (!has_node_)
      return reject(node_.empty() ? "no attribute of the resource names the switch: " + names_.node_names()
                                  : "the switch's name is longer than 255 bytes, or has control characters");
    const auto value = value_of(point, *match->row);
    if (!value) return reject(metric.name() + " of " + node_ + " has a value that cannot be");
    if (out_.nodes.empty() || out_.nodes.back().name != node_) out_.nodes.push_back({.name = node_});
    out_.nodes.back().values.push_back({.row = match->row,
                                        .port = std::string(match->port),
                                        .part = std::string(match->part),
                                        .priority = match->priority,
                                        .value = *value,
                                        .stamp = {point.time_unix_nano(), is_increment}});
    ++out_.values;
  }

  void reject(std::string why) {
    if (out_.rejected++ == 0) out_.why = std::move(why);
  }

  const MetricNames& names_;
  PushedMetrics& out_;
  std::vector<MetricAttribute> resource_, attributes_;
  std::string node_;
  bool has_node_ = false;
};

}  // namespace

Result<MetricNames> read_metric_names(const config::Otlp& config) {
  const auto text = runtime::read_regular(config.names_file, kLargestNamesFile);
  if (!text) return tl::unexpected(text.error());
  auto names = MetricNames::parse(*text);
  if (!names) return fail(names.error().code, config.names_file.string() + ": " + names.error().message);
  return names;
}

PushedMetrics read_pushed(const pushed::ExportMetricsServiceRequest& request, const MetricNames& names) {
  PushedMetrics sorted;
  Sorter sorter(names, sorted);
  for (const pushed::ResourceMetrics& told : request.resource_metrics()) sorter.add_resource(told);
  return sorted;
}

PushedSwitches::PushedSwitches(boost::asio::io_context& main, const config::Otlp& config,
                               std::shared_ptr<const MetricNames> names, HostSessions& hosts, const Clock& clock,
                               std::function<void()> taken)
    : main_(main),
      config_(config),
      names_(std::move(names)),
      hosts_(hosts),
      clock_(clock),
      taken_(std::move(taken)),
      timer_(main) {
  if (names_ != nullptr) look_later();
}

PushedSwitches::~PushedSwitches() {
  stop();
}

void PushedSwitches::take(const pushed::ExportMetricsServiceRequest& request, const api::access::Principal& principal,
                          Done done) {
  const auto refuse = [&](Error why) {
    ++refused_;
    done(tl::unexpected(std::move(why)));
  };
  if (is_stopped_) return refuse({ErrorCode::kUnavailable, "weftd is stopping"});
  auto told = std::make_shared<PushedMetrics>(read_pushed(request, *names_));
  for (const PushedNode& node : told->nodes)
    if (const auto may = api::access::authorize_node(principal, node.name); !may) return refuse(may.error());
  const std::uint64_t count = told->values;
  if (waiting_.fetch_add(count) + count > kMostWaiting) {
    waiting_ -= count;
    return refuse({ErrorCode::kUnavailable, "more is pushed than weftd takes in: send it again later"});
  }
  boost::asio::post(main_, [this, told, count, done = std::move(done), alive = std::weak_ptr<const int>(alive_)] {
    if (alive.expired()) return done(fail(ErrorCode::kUnavailable, "weftd is stopping"));
    waiting_ -= count;
    apply(std::move(*told), done);
  });
}

void PushedSwitches::apply(PushedMetrics told, const Done& done) {
  figures_.unknown += told.unknown;
  const TimePoint now = clock_.now();
  std::optional<Error> refusal;
  for (const PushedNode& node : told.nodes)
    if (auto error = apply(node, told, now); error && !refusal) refusal = std::move(error);
  taken_();
  figures_.rejected += told.rejected;
  if (refusal) {
    ++refused_;
    return done(tl::unexpected(std::move(*refusal)));
  }
  ++figures_.requests;
  done(api::PushAnswer{told.rejected, std::move(told.why)});
}

std::optional<Error> PushedSwitches::apply(const PushedNode& told, PushedMetrics& of, TimePoint now) {
  const auto reject = [&](std::uint64_t count, std::string why) {
    if (of.rejected == 0) of.why = std::move(why);
    of.rejected += count;
  };
  auto found = nodes_.find(told.name);
  if (found == nodes_.end()) {
    if (nodes_.size() >= config_.max_nodes || kept_ >= kMostKept) {
      reject(told.values.size(), told.name + " is one switch too many: otlp.max_nodes, or 2000000 values of all");
      return std::nullopt;
    }
    found = nodes_.emplace(told.name, Node{.state = gnmi::SwitchState({}, "otlp")}).first;
  }
  Node& node = found->second;
  if (auto refusal = welcome(told.name, node)) {
    kept_ -= node.state.size();
    nodes_.erase(found);
    return refusal;
  }
  const gnmi::SwitchFigures before = node.state.figures();
  const std::size_t size = node.state.size();
  for (const PushedValue& value : told.values) {
    const gnmi::Place place{&value.row->leaf, value.port, {}, value.part, value.priority};
    gnmi::Value what = value.value;
    if (value.row->leaf.kind == gnmi::LeafKind::kOperStatus) what = std::string_view(value.value == 1 ? "UP" : "DOWN");
    node.state.push(place, what, value.stamp, now);
  }
  kept_ += node.state.size() - size;
  const gnmi::SwitchFigures& after = node.state.figures();
  figures_.values += after.taken - before.taken;
  figures_.late += after.late - before.late;
  if (const std::uint64_t lost = after.left_out - before.left_out + after.bad - before.bad; lost > 0)
    reject(lost, told.name + " has more ports or values than are kept, or a speed that cannot be");
  if (after.taken == before.taken) return std::nullopt;
  node.told = now;
  node.is_dirty = true;
  if (now - node.shown >= kReadingsApart || now < node.shown || node.state.state_changes() != node.changes)
    show(node, now);
  return std::nullopt;
}

std::optional<Error> PushedSwitches::welcome(const std::string& name, Node& node) {
  if (node.stream && !node.stream->ended()) return std::nullopt;
  node.stream = std::make_shared<LocalStream>();
  hosts_.hello(node.stream,
               {.host = name, .spool = LocalStream::new_spool(), .version = "OTLP", .interval = config_.interval});
  return node.stream->ended();
}

void PushedSwitches::show(Node& node, TimePoint now) {
  HostBatch batch;
  batch.sequence = node.stream->next_sequence();
  batch.reading = node.state.reading(node.told, now, kSilentPushes * config_.interval);
  batch.reading->sources.push_back({"otlp", true, ""});
  node.shown = now;
  node.changes = node.state.state_changes();
  node.is_dirty = false;
  hosts_.batch(node.stream, std::move(batch), Duration::zero());
}

void PushedSwitches::look_later() {
  timer_.expires_after(kReadingsApart);
  timer_.async_wait([this, alive = std::weak_ptr<const int>(alive_)](boost::system::error_code error) {
    if (!error && !alive.expired() && !is_stopped_) look();
  });
}

/// Hands on what came in pieces, and lets go of who is silent.
void PushedSwitches::look() {
  const TimePoint now = clock_.now();
  bool has_shown = false;
  for (auto each = nodes_.begin(); each != nodes_.end();) {
    Node& node = each->second;
    if (node.told > now) node.told = now;  // the clock was set back
    if (node.is_dirty && !node.stream->ended()) {
      show(node, now);
      has_shown = true;
    }
    if (now - node.told <= kSilentPushes * config_.interval) {
      ++each;
      continue;
    }
    hosts_.gone(node.stream);
    kept_ -= node.state.size();
    each = nodes_.erase(each);
  }
  if (has_shown) taken_();
  look_later();
}

void PushedSwitches::stop() {
  if (is_stopped_.exchange(true)) return;
  timer_.cancel();
}

PushFigures PushedSwitches::figures() const {
  PushFigures figures = figures_;
  figures.refused = refused_;
  figures.nodes = nodes_.size();
  return figures;
}

}  // namespace weft::daemon
