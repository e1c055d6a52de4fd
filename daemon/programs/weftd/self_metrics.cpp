// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/self_metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <array>

namespace weft::daemon {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;

void raise_to(Counter& counter, std::uint64_t value) {
  counter.Increment(static_cast<double>(value) - counter.Value());
}

}  // namespace

struct SelfMetrics::Families {
  std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();
  Family<Gauge>& build = gauge("weft_build_info", "Constant 1, with the version of weftd as a label.");
  Family<Gauge>& depth = gauge("weft_lane_queue_depth", "Jobs waiting for this thread.");
  Family<Counter>& refused = counter("weft_lane_refused_total", "Jobs refused because the queue was full.");
  Family<Counter>& busy = counter("weft_lane_busy_seconds_total", "Time this thread spent on jobs.");
  Family<Gauge>& waiting = gauge("weft_store_incidents_waiting", "Incidents not stored yet.");
  Family<Counter>& written = counter("weft_store_history_written_total", "Samples of port history written.");
  Family<Counter>& dropped = counter("weft_store_history_dropped_total", "Samples of port history dropped.");
  Family<Gauge>& bytes = gauge("weft_store_history_bytes", "Disk space used by port history.");
  Family<Gauge>& analysis = gauge("weft_analysis_duration_seconds", "Duration of the last sweep's analysis.");
  Family<Counter>& restarts =
      counter("weft_sweeper_restarts_total", "Restarts of the process that sweeps this subnet.");
  Family<Counter>& skipped = counter("weft_sweeps_skipped_total", "Sweeps replaced by newer ones before analysis.");
  Family<Counter>& events_delivered = counter("weft_events_delivered_total", "Events delivered to this receiver.");
  Family<Counter>& events_failed =
      counter("weft_events_failed_total", "Failed deliveries to this receiver (no 2xx answer).");
  Family<Counter>& events_given_up =
      counter("weft_events_given_up_total", "Events permanently rejected by this receiver.");
  Family<Gauge>& events_waiting = gauge("weft_events_waiting", "Incidents not yet delivered to this receiver.");
  Family<Gauge>& streams = gauge("weft_collector_streams", "Open streams of collectors.");
  Family<Gauge>& values = gauge("weft_collector_values", "Values in one reading, over all collectors.");
  Family<Counter>& ended =
      counter("weft_collector_streams_refused_total", "Streams of collectors closed for a limit or a protocol error.");
  Family<Counter>& throttled = counter("weft_collector_batches_throttled_total",
                                       "Batches after which a collector was throttled, by reason; none is lost.");
  Family<Counter>& duplicates = counter("weft_collector_batches_duplicate_total", "Duplicate batches, ignored.");
  Family<Counter>& refusals = counter("weft_access_refused_total", "Calls and connections refused, by reason.");
  Family<Gauge>& bad_files = gauge("weft_security_files_refused",
                                   "1 while the files of [security] are invalid and the previous ones stay in use.");
  Family<Counter>& loads = counter("weft_security_files_loaded_total", "Successful loads of the files of [security].");
  Family<Gauge>& certificate_end =
      gauge("weft_certificate_expiry_timestamp_seconds", "Expiry of the server's certificate, in Unix time.");
  Family<Gauge>& issuer_end = gauge("weft_enroll_authority_expiry_timestamp_seconds",
                                    "Expiry of the CA that signs collectors' certificates, in Unix time.");
  Family<Gauge>& bad_plan =
      gauge("weft_expected_topology_refused",
            "1 while the file with the expected topology of this link layer is invalid and the previous one stays in "
            "use.");
  Family<Gauge>& planned =
      gauge("weft_expected_topology_links", "Links that the expected topology of this link layer plans.");
  std::vector<std::string> shards{};  ///< that have metrics
  Family<Gauge>& shard_answers = gauge(
      "weft_shard_answers", "1 while this shard of the site answers this weftd. Its own: 1 while the site lists it.");
  Family<Gauge>& shard_epoch =
      gauge("weft_shard_epoch", "Epoch of the shard's leader, as the database has it; 0: none has told yet.");
  std::vector<std::string> switches{};  ///< that have metrics
  Family<Gauge>& switch_reading =
      gauge("weft_switch_reading", "1 while this switch tells the states of its ports by gNMI.");
  Family<Gauge>& switch_values =
      gauge("weft_switch_values", "Values of this switch that were taken since the program that reads it was started.");
  Family<Gauge>& switch_dropped =
      gauge("weft_switch_values_dropped",
            "Values of this switch that were not taken since the program that reads it was started: of a path that is "
            "not known, out of range or of another type (bad), or beyond the limits of ports and values (limit).");
  Family<Counter>& switch_restarts =
      counter("weft_switch_reader_restarts_total", "Times the program that reads switches was started again.");
  Family<Counter>& otlp_requests = counter(
      "weft_otlp_requests_total", "Requests with pushed metrics, by whether they were taken or refused as a whole.");
  Family<Counter>& otlp_points =
      counter("weft_otlp_points_total",
              "Data points that were pushed: taken; unknown, which the table of names does not have; rejected, which "
              "cannot be or are beyond the limits; late, no newer than the one before.");
  Family<Gauge>& otlp_switches = gauge("weft_otlp_switches", "Switches that are told of by pushed metrics now.");
  Family<Gauge>& unkillable = gauge(
      "weft_unkillable_processes", "Child processes that were killed and have not ended, as in uninterruptible sleep.");
  Family<Gauge>& registered =
      gauge("weft_acting_registered", "1 while the subnet administrator has this weftd's record as one that may act.");
  Family<Gauge>& others = gauge("weft_acting_others", "Other weftd that may act on this subnet, as last told.");
  Family<Gauge>& inbox = gauge("weft_collector_batches_waiting", "Messages of collectors waiting to be processed.");

  Family<Gauge>& gauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(*registry);
  }
  Family<Counter>& counter(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(*registry);
  }
};

SelfMetrics::SelfMetrics(const std::string& version) : families_(std::make_unique<Families>()) {
  families_->build.Add({{"version", version}}).Set(1);
}
SelfMetrics::~SelfMetrics() = default;

std::shared_ptr<prometheus::Collectable> SelfMetrics::collectable() const {
  return families_->registry;
}

void SelfMetrics::set(const std::string& lane, const runtime::LaneFigures& figures) {
  const prometheus::Labels labels{{"lane", lane}};
  families_->depth.Add(labels).Set(static_cast<double>(figures.queue.depth));
  raise_to(families_->refused.Add(labels), figures.queue.refused + figures.queue.dropped);
  Counter& busy = families_->busy.Add(labels);
  busy.Increment(seconds(figures.busy) - busy.Value());
}

void SelfMetrics::set(const store::StoreStatus& status) {
  families_->waiting.Add({}).Set(static_cast<double>(status.incidents_waiting));
  raise_to(families_->written.Add({}), status.history_written);
  raise_to(families_->dropped.Add({}), status.history_dropped);
  families_->bytes.Add({}).Set(static_cast<double>(status.history_bytes));
}

void SelfMetrics::set(const events::EventSender& sender) {
  const prometheus::Labels labels{{"receiver", sender.receiver()}};
  const events::EventFigures& figures = sender.figures();
  raise_to(families_->events_delivered.Add(labels), figures.delivered);
  raise_to(families_->events_failed.Add(labels), figures.failed);
  raise_to(families_->events_given_up.Add(labels), figures.given_up);
  families_->events_waiting.Add(labels).Set(static_cast<double>(figures.waiting));
}

void SelfMetrics::set(const api::TelemetryFigures& streams, const HostFigures& hosts,
                      const runtime::ChannelFigures& inbox) {
  families_->streams.Add({}).Set(static_cast<double>(streams.streams));
  families_->values.Add({}).Set(static_cast<double>(streams.values));
  raise_to(families_->ended.Add({}), streams.refused);
  raise_to(families_->throttled.Add({{"reason", "rate"}}), streams.throttled);
  raise_to(families_->throttled.Add({{"reason", "late"}}), hosts.held_back);
  raise_to(families_->duplicates.Add({}), hosts.duplicates);
  families_->inbox.Add({}).Set(static_cast<double>(inbox.depth));
}

void SelfMetrics::set(const SecurityFigures& security) {
  raise_to(families_->refusals.Add({{"reason", "unauthenticated"}}), security.gate.unauthenticated);
  raise_to(families_->refusals.Add({{"reason", "denied"}}), security.gate.denied);
  raise_to(families_->refusals.Add({{"reason", "rate"}}), security.gate.too_fast);
  families_->bad_files.Add({}).Set(security.refused ? 1 : 0);
  raise_to(families_->loads.Add({}), security.loaded);
  if (security.certificate_end != kNever)
    families_->certificate_end.Add({}).Set(seconds(security.certificate_end.time_since_epoch()));
  if (security.issuer_end != kNever) families_->issuer_end.Add({}).Set(seconds(security.issuer_end.time_since_epoch()));
}

void SelfMetrics::set(LinkLayer layer, const ExpectedFigures& expected) {
  const prometheus::Labels labels{{"link_layer", to_string(layer)}};
  families_->bad_plan.Add(labels).Set(expected.refused ? 1 : 0);
  families_->planned.Add(labels).Set(static_cast<double>(expected.links));
}

void SelfMetrics::set(const std::vector<api::ShardFigures>& shards) {
  for (const std::string& name : families_->shards) {
    if (std::ranges::find(shards, name, &api::ShardFigures::name) != shards.end()) continue;
    families_->shard_answers.Remove(&families_->shard_answers.Add({{"shard", name}}));
    families_->shard_epoch.Remove(&families_->shard_epoch.Add({{"shard", name}}));
  }
  families_->shards.clear();
  for (const api::ShardFigures& shard : shards) {
    families_->shards.push_back(shard.name);
    families_->shard_answers.Add({{"shard", shard.name}}).Set(shard.answers ? 1 : 0);
    families_->shard_epoch.Add({{"shard", shard.name}}).Set(static_cast<double>(shard.epoch));
  }
}

void SelfMetrics::set(const std::vector<SwitchTarget>& targets, std::uint64_t restarts) {
  constexpr std::array<const char*, 3> kReasons{"unknown", "bad", "limit"};
  raise_to(families_->switch_restarts.Add({}), restarts);
  for (const std::string& name : families_->switches) {
    if (std::ranges::find(targets, name, &SwitchTarget::name) != targets.end()) continue;
    families_->switch_reading.Remove(&families_->switch_reading.Add({{"switch", name}}));
    families_->switch_values.Remove(&families_->switch_values.Add({{"switch", name}}));
    for (const char* const reason : kReasons)
      families_->switch_dropped.Remove(&families_->switch_dropped.Add({{"switch", name}, {"reason", reason}}));
  }
  families_->switches.clear();
  for (const SwitchTarget& target : targets) {
    families_->switches.push_back(target.name);
    families_->switch_reading.Add({{"switch", target.name}}).Set(target.state == SwitchTargetState::kReading ? 1 : 0);
    families_->switch_values.Add({{"switch", target.name}}).Set(static_cast<double>(target.values));
    const std::array<std::uint64_t, 3> dropped{target.unknown, target.bad, target.left_out};
    for (std::size_t i = 0; i < dropped.size(); ++i)
      families_->switch_dropped.Add({{"switch", target.name}, {"reason", kReasons[i]}})
          .Set(static_cast<double>(dropped[i]));
  }
}

void SelfMetrics::set(const PushFigures& pushed) {
  raise_to(families_->otlp_requests.Add({{"result", "taken"}}), pushed.requests);
  raise_to(families_->otlp_requests.Add({{"result", "refused"}}), pushed.refused);
  raise_to(families_->otlp_points.Add({{"result", "taken"}}), pushed.values);
  raise_to(families_->otlp_points.Add({{"result", "unknown"}}), pushed.unknown);
  raise_to(families_->otlp_points.Add({{"result", "rejected"}}), pushed.rejected);
  raise_to(families_->otlp_points.Add({{"result", "late"}}), pushed.late);
  families_->otlp_switches.Add({}).Set(static_cast<double>(pushed.nodes));
}

void SelfMetrics::set_unkillable(std::size_t processes) {
  families_->unkillable.Add({}).Set(static_cast<double>(processes));
}

void SelfMetrics::set_acting(const std::string& fabric, const ActingWeftds& acting) {
  const prometheus::Labels labels{{"subnet", fabric}};
  families_->registered.Add(labels).Set(acting.registered ? 1 : 0);
  families_->others.Add(labels).Set(static_cast<double>(acting.others.size()));
}

void SelfMetrics::set_fabric(const std::string& fabric, double analysis_seconds, std::uint64_t sweeper_restarts,
                             std::uint64_t sweeps_skipped) {
  const prometheus::Labels labels{{"subnet", fabric}};
  families_->analysis.Add(labels).Set(analysis_seconds);
  raise_to(families_->restarts.Add(labels), sweeper_restarts);
  raise_to(families_->skipped.Add(labels), sweeps_skipped);
}

}  // namespace weft::daemon
