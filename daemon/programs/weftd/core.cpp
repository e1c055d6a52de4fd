// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/core.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "analyzer/ports/freshness.hpp"
#include "analyzer/remedy/windows.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/programs/weftd/log_texts.hpp"
#include "daemon/programs/weftd/moved_hosts.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostUnsavedEvents = 10'000;
constexpr Duration kMaintainEvery = 60s;
constexpr Duration kSaveNodesEvery = 1h;
constexpr auto kSaveBaselinesEvery = 15min;
constexpr Duration kLongestWithoutNews = 1s;
constexpr Duration kJudgeHostsEvery = 1s;
/// Collectors leave a weftd that stored nothing of theirs for a minute.
constexpr Duration kCollectorsStay = 30s;

}  // namespace

bool passed(TimePoint now, TimePoint since, Duration span) {
  return now < since || now - since > span;
}

Core::Core(const config::WeftdConfig& config, store::Store& store, store::Restored restored, runtime::Lane& store_lane,
           RemedyController& remedies, api::Publication& publication, const Clock& clock, Post post)
    : config_(config),
      place_hints_{analyzer::place_pattern(config.infiniband.pod_pattern).value_or(std::nullopt),
                   analyzer::place_pattern(config.infiniband.rail_pattern).value_or(std::nullopt)},
      store_(store),
      store_lane_(store_lane),
      remedies_(remedies),
      publication_(publication),
      clock_(clock),
      post_(std::move(post)),
      host_rules_(config.analyzer, clock.now()),
      hosts_(config.telemetry, std::move(restored.collectors), restored.incidents, host_rules_, store, store_lane,
             clock, post_, [this] { return !incidents_lost_; }),
      incidents_(config.incidents, std::move(restored.incidents), restored.incident_ids),
      maintenance_(config.maintenance, config.incidents.retention, std::move(restored.maintenance),
                   restored.maintenance_ids, store, store_lane, clock, post_,
                   [this] {
                     set_maintenance_windows();
                     publish();
                   }),
      acceptances_(config.analyzer, std::move(restored.acceptances), restored.acceptance_ids, store, store_lane,
                   publication, clock, post_, [this] { publish(); }),
      opened_before_(restored.opened),
      writes_(
          store_lane, post_,
          [this](const Batch& batch) {
            incidents_lost_ = true;  // if it throws
            auto done = store_.save_incidents(batch.incidents, batch.events);
            incidents_lost_ = false;
            return done;
          },
          [this](Batch batch, const runtime::WriteOutcome& outcome) { saved(std::move(batch), outcome); }),
      shown_(incidents_.all()),
      started_(clock.now()) {
  remember_fabrics(std::move(restored.fabrics));
  if (const auto withheld = config.metrics.withheld()) hosts_.leave_out_zeros(*withheld);
  set_maintenance_windows();
  publish();
}

void Core::add_fabric(const std::string& name, LinkLayer layer, const std::string& through) {
  if (is_found(name, through)) return;
  const bool is_ethernet = layer == LinkLayer::kEthernet;
  Fabric fabric{rules_of(name, layer), {}, layer, {}, {}, {}, clock_.now(), 0, 0, kNever, kNever, true, {}, {}};
  if (const auto withheld = config_.metrics.withheld()) {
    fabric.counter_moves.emplace(*withheld);
    fabric.detail_moves.emplace(*withheld);
  }
  fabric.saved_links = fabric.analyzer.links_revision();
  fabric.saved_history = fabric.analyzer.history_revision();
  fabric.view.name = name;
  fabric.view.through = through;
  fabric.view.status = is_ethernet ? kNothingFound : "discovering the subnet";
  fabrics_.emplace(name, std::move(fabric));
  publish();
}

void Core::expect(LinkLayer layer, ExpectedCabling expected) {
  expected_[layer] = std::move(expected);
  for (auto& [name, fabric] : fabrics_)
    if (fabric.layer == layer) {
      fabric.analyzer.expect(expected_[layer]);
      fabric.tell_differences = true;
    }
}

void Core::expect(std::shared_ptr<const analyzer::SettingProfiles> profiles) {
  profiles_ = std::move(profiles);
  host_rules_.set_profiles(profiles_);
}

void Core::remove_fabric(const std::string& name) {
  const auto gone = fabrics_.extract(name);
  if (gone.empty()) return;
  const bool was_watched = unwatched_.erase(name) == 0;
  analysis_seconds_.erase(name);
  if (const auto memory = memories_.find(name); was_watched && memory != memories_.end())
    memory->second.seen = clock_.now();
  if (!was_watched || !continue_elsewhere(gone.mapped())) give_up(name, clock_.now());
  publish();
}

// What people announced, and what our own plans hold: nobody is to be woken for either.
void Core::set_maintenance_windows() {
  MaintenanceList held = remedies_.windows();
  planned_ = maintenance_.windows();
  if (!held.empty()) {
    held.insert(held.begin(), planned_->begin(), planned_->end());
    planned_ = std::make_shared<const MaintenanceList>(std::move(held));
  }
  incidents_.set_maintenance_windows(planned_);
  host_rules_.set_maintenance_windows(planned_);
  for (auto& [name, fabric] : fabrics_) fabric.analyzer.set_maintenance_windows(planned_);
}

void Core::take_plans() {
  set_maintenance_windows();
  look_after();
  publish();
}

void Core::look_after() {
  if (!leads_) return;
  const TimePoint now = clock_.now();
  std::set<std::uint64_t> looked_after;
  for (const auto& [incident, plan] : remedies_.looked_after()) {
    looked_after.insert(incident);
    const auto before = incidents_.find(incident);
    if (!before || before->state != IncidentState::kOpen) continue;
    const std::string who = analyzer::caretaker_text(plan);
    if (auto acknowledged = incidents_.acknowledge(incident, who, now))
      note({std::move(*acknowledged)}, now, who, "acknowledged");
  }
  const auto all = incidents_.all();
  for (const auto& incident : *all) {
    const std::string why = looked_after.contains(incident->id) ? "" : remedies_.let_go(*incident);
    if (why.empty()) continue;
    if (auto open = incidents_.take_back_acknowledgement(incident->id, why, now))
      note({std::move(*open)}, now, {}, "open again");
  }
}

bool Core::has_open_incident(const std::string& fabric) const {
  return std::ranges::any_of(*incidents_.all(), [&fabric](const auto& incident) {
    return incident->is_open() && incident->finding.cause.fabric == fabric;
  });
}

void Core::take_sweep(Sweep sweep) {
  const auto found = fabrics_.find(sweep.fabric);
  if (found == fabrics_.end()) return;
  Fabric& fabric = found->second;
  const TimePoint now = clock_.now();
  tell_apart(fabric, sweep, now);
  if (!fabric.view.watching)
    logger(sweep.topology->is_ethernet() ? "ethernet" : "infiniband")
        ->info("{}: {}", sweep.fabric, watching_status(sweep));
  if (const std::string silence = no_answer(sweep.statistics); silence != fabric.silence) {
    if (fabric.silence.empty()) logger("infiniband")->warn("{}: {}", sweep.fabric, silence);
    fabric.silence = silence;
  }
  fabric.trouble.clear();
  fabric.last_sweep = now;

  const auto before = std::chrono::steady_clock::now();
  sweep.topology = fabric.cables.complete(std::move(sweep.topology), [&] { return fabric.analyzer.state().links; });
  auto analysis = fabric.analyzer.analyze(sweep, now, host_rules_.marks(sweep.fabric, now), others(fabric));
  analysis_seconds_[sweep.fabric] = seconds(std::chrono::steady_clock::now() - before);

  fabric.view.watching = true;
  fabric.view.status = watching_status(sweep);
  fabric.view.stale_after = analyzer::stale_after(sweep, config_.analyzer);
  fabric.view.rates = analysis.rates;
  const char* const layer = sweep.topology->is_ethernet() ? "ethernet" : "infiniband";
  if (fabric.tell_differences && analysis.cabling)
    logger(layer)->info("{}: {}", sweep.fabric, differences_text(*analysis.cabling));
  fabric.tell_differences = fabric.tell_differences && !analysis.cabling;
  if (analysis.cabling && (!fabric.view.cabling || fabric.view.cabling->ignored != analysis.cabling->ignored))
    for (const std::string& text : ignored_texts(*analysis.cabling)) logger(layer)->warn("{}: {}", sweep.fabric, text);
  fabric.view.cabling = analysis.cabling;
  fabric.view.absent_links = analysis.absent_links;
  if (!fabric.view.sweep || (fabric.view.sweep->topology != sweep.topology &&
                             !analyzer::same_cabling(*fabric.view.sweep->topology, *sweep.topology)))
    fabric.view.places = std::make_shared<const Places>(analyzer::find_places(*sweep.topology, place_hints_));
  follow_moves(fabric, sweep);
  const bool rearranged = !fabric.view.sweep || fabric.view.sweep->topology != sweep.topology;
  fabric.view.sweep = std::make_shared<const Sweep>(std::move(sweep));
  fabric.was_seen = fabric.was_seen || !analyzer::is_blind(fabric.view);
  // Before a collector's next event: it is joined with the port that this sweep shows.
  if (rearranged) host_rules_.join(views());
  judged(fabric, std::move(analysis), now);
  // Full: the store is behind. This moment is left out of the history; the next one covers it, if it comes soon.
  store_lane_.post([&store = store_, sweep = fabric.view.sweep, hosts = hosts_.views(), heard = clock_.steady()] {
    (void)store.append_history(sweep, hosts, heard);
  });
  remember(fabric, now);
  acceptances_.take_sweep(fabric.view);
  if (!writes_.is_writing() || passed(now, published_, kLongestWithoutNews))
    publish();  // else with the incidents, once they are on disk
}

void Core::follow_moves(Fabric& fabric, const Sweep& sweep) {
  // Counters of an Ethernet fabric are shown as its hosts and switches report them.
  if (!fabric.counter_moves || sweep.topology->is_ethernet()) return;
  fabric.counter_moves->update(sweep.counters.get(), sweep.topology, clock_.steady());
  fabric.detail_moves->update(sweep.details.get(), sweep.topology, clock_.steady());
  fabric.view.counters_moved = fabric.counter_moves->moved();
  fabric.view.details_moved = fabric.detail_moves->moved();
}

void Core::take_hosts() {
  if (!host_rules_.has_news()) return;
  const TimePoint now = clock_.now();
  update_incidents(analyzer::kHostsFabric, host_rules_.news(now), analyzer::Coverage::blind(), now);
}

void Core::judge_hosts(TimePoint now) {
  if (!passed(now, hosts_judged_, kJudgeHostsEvery - 1ms)) return;
  hosts_judged_ = now;
  host_rules_.join(views());
  if (!leadership_.leads || leadership_.is_held)
    unheld_since_ = now;
  else if (passed(now, unheld_since_, kCollectorsStay))
    host_rules_.excuse_silence(now);
  auto analysis = host_rules_.judge(now);
  const auto is_up = [this](PortKey port, TimePoint since) { return host_rules_.is_up_without_sweeps(port, since); };
  note(incidents_.take_up(is_up, now), now, {}, nullptr);
  update_incidents(analyzer::kHostsFabric, std::move(analysis.findings), analysis.coverage, now);
}

void Core::take_trouble(const std::string& name, const std::string& why) {
  const auto found = fabrics_.find(name);
  if (found == fabrics_.end()) return;
  found->second.trouble = why;
  tick();
}

void Core::tick() {
  const TimePoint now = clock_.now();
  if (const auto losses = store_.status().losses; std::exchange(losses_, losses) != losses) store_again();
  watch_over_known(now);
  bool news = passed(now, published_, kLongestWithoutNews);  // ages grow even when nothing else happens
  for (auto& [name, fabric] : fabrics_) {
    fabric.last_sweep = std::min(fabric.last_sweep, now);  // the clock may have been set back
    const Duration quiet = now - fabric.last_sweep;
    Duration interval = config_.infiniband.sweep_interval;
    if (const Sweep* const last = fabric.view.sweep.get())
      interval = std::max(last->topology->is_ethernet() ? last->interval : interval, last->statistics.duration);
    if (fabric.trouble.empty() && quiet < interval * 2) continue;
    const bool found_nothing = fabric.layer == LinkLayer::kEthernet && !fabric.view.sweep;
    auto analysis = fabric.analyzer.silent(now, fabric.trouble, found_nothing ? kNothingFound : "no sweeps");
    const bool lost = !analysis.findings.empty();
    judged(fabric, std::move(analysis), now);
    if (lost && fabric.view.watching) {
      fabric.view.watching = false;
      news = true;
    }
    if (!fabric.view.watching) {
      fabric.view.status = !fabric.trouble.empty() ? "waiting: " + fabric.trouble
                           : found_nothing         ? kNothingFound
                           : fabric.view.sweep     ? "no recent sweep"
                                                   : "no sweep yet";
    }
  }
  if (passed(now, maintained_, kMaintainEvery) && store_lane_.post([this, now, clock = remedies_.clock_memory()] {
        const auto more = store_.maintain(now, clock);
        if (more && *more) post_([this] { maintained_ = kNever; });
      })) {
    maintained_ = now;
    give_up_what_nobody_watches(now);
    maintenance_.tick();
  }
  if (leads_) {
    hosts_.tick(
        [this](const std::string& host) { return open_trouble_of(host, *incidents_.all(), host_rules_, remedies_); },
        remedies_.clock_memory());
    judge_hosts(now);
    acceptances_.tick();
    save();
    save_hosts();
    remedies_.tick();
    look_after();  // a drained host's last job may have ended
  }
  if (news) publish();
}

void Core::judged(Fabric& fabric, analyzer::Analysis analysis, TimePoint now) {
  if (!leads_) return;  // the leader finds the same
  host_rules_.complete(fabric.view.name, analysis.findings, now);
  host_rules_.advise(fabric.view.name, std::move(analysis.cases), analysis.findings, now);
  for (Finding& finding : analysis.findings)
    if (finding.kind == IncidentKind::kTelemetryLost && finding.cause.kind == EntityKind::kFabric && fabric.view.sweep)
      finding.summary += instead_text(*fabric.view.sweep, views());
  update_incidents(fabric.view.name, std::move(analysis.findings), analysis.coverage, now);
}

void Core::update_incidents(std::string_view fabric, std::vector<Finding> findings, const analyzer::Coverage& coverage,
                            TimePoint now) {
  incidents_.set_clock(remedies_.clock_memory());
  note(incidents_.update(fabric, std::move(findings), coverage, now), now, {}, nullptr);
}

void Core::note(std::vector<Incident> changed, TimePoint now, const std::string& who, const char* what) {
  for (Incident& incident : changed) {
    const char* happened = what ? what : what_happened(incident, *shown_);
    if (happened != std::string_view("updated"))
      logger("incidents")
          ->info("{} {}{} {} {}: {}", incident_name(incident.id), happened, who.empty() ? "" : " by " + who + ':',
                 to_string(incident.finding.kind), to_string(incident.listed_severity()), incident.listed_summary());
    if (unsaved_events_.size() < kMostUnsavedEvents)
      unsaved_events_.push_back({now, incident.id, happened, who, incident.finding.summary});
    unsaved_[incident.id] = std::move(incident);
  }
  save();
}

void Core::save() {
  if (writes_.is_writing() || (unsaved_.empty() && !writes_.is_awaited())) return;
  Batch batch;
  for (auto& [id, incident] : unsaved_) batch.incidents.push_back(std::move(incident));
  unsaved_.clear();
  batch.events.swap(unsaved_events_);
  batch.shown = incidents_.all();
  if (auto back = writes_.write(std::move(batch))) take_back(std::move(*back));  // no room: until the next call
}

void Core::take_back(Batch batch) {
  for (Incident& incident : batch.incidents) unsaved_.try_emplace(incident.id, std::move(incident));
  batch.events.insert(batch.events.end(), std::make_move_iterator(unsaved_events_.begin()),
                      std::make_move_iterator(unsaved_events_.end()));
  unsaved_events_ = std::move(batch.events);
}

void Core::saved(Batch batch, const runtime::WriteOutcome& outcome) {
  if (!outcome) logger("store")->error("incidents could not be stored: {}", outcome.error.message);
  // What the store refused it keeps and tries again: watching goes on, and its status says so. Else they are ours
  // again.
  const bool lost = outcome.end == runtime::WriteEnd::kThrown;
  shown_ = std::move(batch.shown);
  if (lost) take_back(std::move(batch));
  publish();
  writes_.answer(outcome);
  if (lost) return;  // with the next tick: not at once again and again
  save();
  save_hosts();
}

void Core::answer_when_saved(std::uint64_t incident, api::Commands::Callback callback) {
  writes_.wait([this, incident, callback = std::move(callback)](const runtime::WriteOutcome& outcome) {
    if (outcome.end == runtime::WriteEnd::kStopped) return callback(stopping());
    if (!outcome)
      return callback(
          fail(ErrorCode::kResourceExhausted, "the change is in force, but not stored yet: " + outcome.error.message));
    const auto found = incidents_.find(incident);
    callback(found ? Result<Incident>(*found) : fail(ErrorCode::kNotFound, "no incident " + incident_name(incident)));
  });
}

void Core::save_hosts() {
  // A collector that is told "safe" sends no more of it: what its batches led to goes to the lane before. It need not
  // be stored yet: where incidents never cease, collectors would never be told.
  if (unsaved_.empty()) hosts_.save();
}

void Core::stop() {
  stopped_ = true;
  writes_.stop();
  maintenance_.stop();
  acceptances_.stop();
}

void Core::remember(Fabric& fabric, TimePoint now) {
  const std::string& name = fabric.view.name;
  if (!leads_ || !store_apart(fabric)) return;
  // What was not written is offered again with the next sweep.
  const auto offer = [&](auto job, auto forget) {
    return store_lane_.post([this, name, job = std::move(job), forget] {
      if (!job(store_))
        post_([this, name, forget] {
          if (const auto found = fabrics_.find(name); found != fabrics_.end()) forget(found->second);
        });
    });
  };
  if (const auto revision = fabric.analyzer.links_revision(); revision != fabric.saved_links) {
    if (offer([name, links = fabric.analyzer.state().links](
                  store::Store& store) { return store.save_links(name, links).has_value(); },
              [](Fabric& unsaved) { unsaved.saved_links = kNothingSaved; }))
      fabric.saved_links = revision;
  }
  if (const auto revision = fabric.analyzer.history_revision(); revision != fabric.saved_history) {
    const auto state = fabric.analyzer.state();
    if (offer([name, flaps = state.flaps, errors = state.errors](
                  store::Store& store) { return store.save_conditions(name, flaps, errors).has_value(); },
              [](Fabric& unsaved) { unsaved.saved_history = kNothingSaved; }))
      fabric.saved_history = revision;
  }
  if (passed(now, fabric.nodes_saved, kSaveNodesEvery) &&
      offer([name, topology = fabric.view.sweep->topology,
             now](store::Store& store) { return store.save_nodes(name, *topology, now).has_value(); },
            [](Fabric& unsaved) { unsaved.nodes_saved = kNever; }))
    fabric.nodes_saved = now;
  if (passed(now, fabric.baselines_saved, kSaveBaselinesEvery) &&
      offer([name, baselines = fabric.analyzer.state().fec_baselines](
                store::Store& store) { return store.save_fec_baselines(name, baselines).has_value(); },
            [](Fabric& unsaved) { unsaved.baselines_saved = kNever; }))
    fabric.baselines_saved = now;
}

std::shared_ptr<const Sweep> Core::last_sweep(const std::string& name) const {
  const auto found = fabrics_.find(name);
  return found == fabrics_.end() ? nullptr : found->second.view.sweep;
}

bool Core::is_watching(const std::string& name) const {
  const auto found = fabrics_.find(name);
  return found != fabrics_.end() && found->second.view.watching;
}

void Core::acknowledge(std::uint64_t id, std::string who, api::Commands::Callback callback) {
  if (stopped_) return callback(stopping());
  const TimePoint now = clock_.now();
  const auto before = incidents_.find(id);
  auto incident = incidents_.acknowledge(id, who, now);
  if (!incident) return callback(tl::unexpected(incident.error()));
  answer_when_saved(id, std::move(callback));
  // Said once already: a client that repeats itself must not fill the record and the log.
  if (before && before->state == IncidentState::kAcknowledged && before->revision == incident->revision) return save();
  note({std::move(*incident)}, now, who, "acknowledged");
}

void Core::silence(std::uint64_t id, TimePoint until, std::string who, api::Commands::Callback callback) {
  if (stopped_) return callback(stopping());
  const TimePoint now = clock_.now();
  auto incident = incidents_.silence(id, until, now, who);
  if (!incident) return callback(tl::unexpected(incident.error()));
  answer_when_saved(id, std::move(callback));
  note({std::move(*incident)}, now, who, "silenced");
}

}  // namespace weft::daemon
