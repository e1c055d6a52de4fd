#include "daemon/weftd/core.hpp"

#include <algorithm>

#include "analyzer/detect/freshness.hpp"
#include "analyzer/incidents/health.hpp"
#include "daemon/weftd/logging.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostUnsavedEvents = 10'000;
constexpr Duration kMaintainEvery = 60s;
constexpr Duration kSaveNodesEvery = 1h;
constexpr Duration kLongestWithoutNews = 1s;

std::string watching_status(const Topology& topology) {
  std::size_t switches = 0, adapters = 0, unreachable = 0;
  for (const Node& node : topology.nodes()) {
    switches += node.type == NodeType::kSwitch;
    adapters += node.type == NodeType::kChannelAdapter;
    unreachable += !node.reachable;
  }
  std::string text = "watching " + std::to_string(switches) + " switches, " + std::to_string(adapters) + " adapters";
  if (unreachable > 0) text += ", " + std::to_string(unreachable) + " of them unreachable";
  return text;
}

// What happened to an incident, in the words of the event log.
const char* what_happened(const Incident& incident) {
  if (incident.state == IncidentState::kResolved) return "resolved";
  if (incident.revision <= 1) return "opened";
  return "updated";
}

}  // namespace

Core::Core(const config::WeftdConfig& config, std::shared_ptr<const Topology> expected, store::Store& store,
           store::Restored restored, runtime::Lane& store_lane, api::Publication& publication, const Clock& clock,
           Post post)
    : config_(config),
      expected_(std::move(expected)),
      store_(store),
      store_lane_(store_lane),
      publication_(publication),
      clock_(clock),
      post_(std::move(post)),
      book_(config.incidents, std::move(restored.incidents), restored.next_incident_id),
      opened_before_(restored.opened),
      shown_(book_.all()) {
  for (store::FabricMemory& memory : restored.fabrics) memories_[memory.fabric] = std::move(memory.state);
  publish();
}

void Core::add_fabric(const std::string& name) {
  if (fabrics_.contains(name)) return;
  Fabric fabric{analyzer::FabricAnalyzer(name, config_.analyzer, expected_), {}, {}, clock_.now(), 0, 0, kNever};
  if (const auto memory = memories_.find(name); memory != memories_.end()) fabric.analyzer.restore(memory->second);
  fabric.saved_links = fabric.analyzer.links_revision();
  fabric.saved_history = fabric.analyzer.history_revision();
  fabric.view.name = name;
  fabric.view.status = "looking for the subnet";
  fabrics_.emplace(name, std::move(fabric));
  publish();
}

void Core::remove_fabric(const std::string& name) {
  if (fabrics_.erase(name) > 0) publish();
}

void Core::take_sweep(Sweep sweep) {
  const auto found = fabrics_.find(sweep.fabric);
  if (found == fabrics_.end()) return;
  Fabric& fabric = found->second;
  const TimePoint now = clock_.now();
  if (!fabric.view.watching) logger("infiniband")->info("{}: {}", sweep.fabric, watching_status(*sweep.topology));
  fabric.trouble.clear();
  fabric.last_sweep = now;

  const auto before = std::chrono::steady_clock::now();
  auto analysis = fabric.analyzer.analyze(sweep, now);
  analysis_seconds_[sweep.fabric] = seconds(std::chrono::steady_clock::now() - before);

  fabric.view.watching = true;
  fabric.view.status = watching_status(*sweep.topology);
  fabric.view.stale_after = analyzer::stale_after(sweep, config_.analyzer);
  fabric.view.rates = analysis.rates;
  fabric.view.sweep = std::make_shared<const Sweep>(std::move(sweep));
  judged(fabric, std::move(analysis), now);
  // Full: the store is behind. This moment is left out of the history; the next one covers it.
  store_lane_.post([&store = store_, sweep = fabric.view.sweep] { (void)store.append_history(sweep); });
  remember(fabric, now);
  if (!saving_ || now - published_ > kLongestWithoutNews) publish();  // else with the incidents, once they are on disk
}

void Core::take_trouble(const std::string& name, const std::string& why) {
  const auto found = fabrics_.find(name);
  if (found == fabrics_.end()) return;
  found->second.trouble = why;
  tick();
}

void Core::tick() {
  const TimePoint now = clock_.now();
  bool news = now - published_ > kLongestWithoutNews;  // ages grow even when nothing else happens
  for (auto& [name, fabric] : fabrics_) {
    const Duration quiet = now - fabric.last_sweep;
    const Duration interval = std::max(config_.infiniband.sweep_interval,
                                       fabric.view.sweep ? fabric.view.sweep->statistics.duration : Duration{});
    if (fabric.trouble.empty() && quiet < interval * 2) continue;
    auto analysis = fabric.analyzer.silent(now, fabric.trouble);
    const bool lost = !analysis.findings.empty();
    judged(fabric, std::move(analysis), now);
    if (lost && fabric.view.watching) {
      fabric.view.watching = false;
      news = true;
    }
    if (!fabric.view.watching) {
      fabric.view.status = fabric.trouble.empty() ? "no sweep has arrived yet" : "waiting: " + fabric.trouble;
    }
  }
  if (now - maintained_ > kMaintainEvery && store_lane_.post([this, now] {
        const auto more = store_.maintain(now);
        if (more && *more) post_([this] { maintained_ = kNever; });
      }))
    maintained_ = now;
  save();
  if (news) publish();
}

void Core::judged(Fabric& fabric, analyzer::Analysis analysis, TimePoint now) {
  note(book_.update(fabric.view.name, std::move(analysis.findings), analysis.coverage, now), now, {}, nullptr);
}

void Core::note(std::vector<Incident> changed, TimePoint now, const std::string& who, const char* what) {
  for (Incident& incident : changed) {
    const char* happened = what ? what : what_happened(incident);
    if (happened != std::string_view("updated"))
      logger("incidents")
          ->info("{} {} {} {}: {}", incident_name(incident.id), happened, to_string(incident.kind),
                 to_string(incident.severity), incident.summary);
    if (unsaved_events_.size() < kMostUnsavedEvents)
      unsaved_events_.push_back({now, incident.id, happened, who, incident.summary});
    unsaved_[incident.id] = std::move(incident);
  }
  save();
}

void Core::save() {
  if (saving_ || (unsaved_.empty() && waiting_.empty())) return;
  struct Batch {
    std::vector<Incident> incidents;
    std::vector<store::Event> events;
    std::vector<Waiting> waiting;
  };
  auto batch = std::make_shared<Batch>();
  for (auto& [id, incident] : unsaved_) batch->incidents.push_back(std::move(incident));
  unsaved_.clear();
  batch->events.swap(unsaved_events_);
  batch->waiting.swap(waiting_);
  saving_ = store_lane_.post([this, batch, shown = book_.all()] {
    const auto written = store_.save_incidents(batch->incidents, batch->events);
    if (!written) logger("store")->error("incidents are not on disk: {}", written.error().message);
    // On failure the store keeps them and tries again: watching goes on, and the status says so.
    post_([this, batch, shown, ok = written.has_value()] { saved(ok, shown, std::move(batch->waiting)); });
  });
  if (saving_) return;
  // The lane has no room: back with them until the next call.
  for (Incident& incident : batch->incidents) unsaved_[incident.id] = std::move(incident);
  batch->events.swap(unsaved_events_);
  batch->waiting.swap(waiting_);
}

void Core::saved(bool ok, std::shared_ptr<const analyzer::IncidentList> shown, std::vector<Waiting> answered) {
  saving_ = false;
  shown_ = std::move(shown);
  publish();
  for (Waiting& waiting : answered) {
    const auto incident = book_.find(waiting.incident);
    if (!ok)
      waiting.callback(fail(ErrorCode::kResourceExhausted, "it is in force, but could not be written to disk yet"));
    else if (incident)
      waiting.callback(*incident);
    else
      waiting.callback(fail(ErrorCode::kNotFound, "no incident " + incident_name(waiting.incident)));
  }
  save();
}

void Core::remember(Fabric& fabric, TimePoint now) {
  const std::string& name = fabric.view.name;
  if (const auto revision = fabric.analyzer.links_revision(); revision != fabric.saved_links) {
    if (store_lane_.post(
            [&store = store_, name, links = fabric.analyzer.state().links] { (void)store.save_links(name, links); }))
      fabric.saved_links = revision;
  }
  if (const auto revision = fabric.analyzer.history_revision(); revision != fabric.saved_history) {
    const auto state = fabric.analyzer.state();
    if (store_lane_.post([&store = store_, name, flaps = state.flaps, errors = state.errors] {
          (void)store.save_conditions(name, flaps, errors);
        }))
      fabric.saved_history = revision;
  }
  if (now - fabric.nodes_saved > kSaveNodesEvery &&
      store_lane_.post([&store = store_, name, topology = fabric.view.sweep->topology, now] {
        (void)store.save_nodes(name, *topology, now);
      }))
    fabric.nodes_saved = now;
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
  const TimePoint now = clock_.now();
  auto incident = book_.acknowledge(id, who, now);
  if (!incident) return callback(tl::unexpected(incident.error()));
  waiting_.push_back({id, std::move(callback)});
  note({std::move(*incident)}, now, who, "acknowledged");
}

void Core::silence(std::uint64_t id, TimePoint until, std::string who, api::Commands::Callback callback) {
  const TimePoint now = clock_.now();
  auto incident = book_.silence(id, until, now);
  if (!incident) return callback(tl::unexpected(incident.error()));
  waiting_.push_back({id, std::move(callback)});
  note({std::move(*incident)}, now, who, "silenced");
}

void Core::publish() {
  const TimePoint now = clock_.now();
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->revision = ++revision_;
  snapshot->taken = now;
  for (const auto& [name, fabric] : fabrics_) snapshot->fabrics.push_back(fabric.view);
  snapshot->incidents = shown_;
  snapshot->health = std::make_shared<const std::vector<NodeHealth>>(analyzer::assess(snapshot->fabrics, *shown_, now));
  for (std::size_t kind = 0; kind < opened_before_.size(); ++kind)
    snapshot->figures.incidents_opened[kind] = opened_before_[kind] + book_.opened(static_cast<IncidentKind>(kind));
  const store::StoreStatus status = store_.status();
  snapshot->figures.store_ok = status.ok;
  snapshot->figures.store_status = status.message;
  publication_.publish(std::move(snapshot));
  published_ = now;
}

}  // namespace weft::daemon
