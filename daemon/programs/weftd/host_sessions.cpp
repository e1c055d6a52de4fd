// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/host_sessions.hpp"

#include <algorithm>
#include <utility>

#include "daemon/platform/logging/logging.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

constexpr Duration kSaveEvery = 1s;
constexpr Duration kShortestSilence = 5s;
constexpr unsigned kSilentIntervals = 3;
/// A leader writes down about once a second how far it heard a collector.
constexpr Duration kLeaderHears = 15s;
/// Times max_collectors: those who went and are not forgotten yet.
constexpr std::size_t kRememberedHosts = 2;
/// No number of HostAnalyzer::seen_revision().
constexpr std::uint64_t kNotStored = ~std::uint64_t{0};

}  // namespace

HostSessions::HostSessions(const config::Telemetry& config, std::vector<store::CollectorMark> known,
                           std::span<const Incident> incidents, analyzer::HostAnalyzer& rules, store::Store& store,
                           runtime::Lane& store_lane, const Clock& clock, Post post, std::function<bool()> may_save)
    : config_(config),
      clock_(clock),
      rules_(rules),
      writes_(
          store_lane, std::move(post),
          [&store, may_save = std::move(may_save)](const Batch& batch) -> Result<void> {
            if (!may_save()) return fail(ErrorCode::kUnavailable, "the incidents of their batches are not stored yet");
            return store.save_collectors(batch.marks, batch.forgotten);
          },
          [this](Batch batch, const runtime::WriteOutcome& outcome) { saved(std::move(batch), outcome); }) {
  restore(std::move(known), incidents);
}

void HostSessions::add(store::CollectorMark mark) {
  Host host;
  host.view.host = mark.host;
  host.view.heard = mark.last_seen;
  host.view.sequence = host.view.stored = mark.sequence;
  host.view.batches = mark.batches;
  host.view.late_batches = mark.late;
  host.view.lost_batches = mark.lost;
  host.view.jobs_before = std::move(mark.jobs);
  host.view.spool = mark.spool;
  host.adapters = mark.adapters;
  host.first_seen = mark.first_seen;
  host.saved_seen = mark.last_seen;
  host.counted_from = true;
  hosts_.emplace(std::move(mark.host), std::move(host));
}

void HostSessions::restore(std::vector<store::CollectorMark> known, std::span<const Incident> incidents) {
  hosts_.clear();
  keep_until_ = clock_.now() + kAskOthersFirst;
  rules_.set_others(site_ && !site_->others().empty());
  for (const Incident& incident : incidents) rules_.remember(incident);
  for (store::CollectorMark& mark : known) {
    rules_.expect(mark.host, mark.last_seen, mark.jobs.value_or(std::vector<std::string>{}));
    if (mark.flaps) rules_.restore(mark.host, *mark.flaps);
    if (mark.ports) rules_.restore_ports(mark.host, *mark.ports);
    if (mark.stays) rules_.modules().restore(mark.host, *mark.stays);
    const std::string name = mark.host;
    add(std::move(mark));
    hosts_.at(name).stored_ports = rules_.seen_revision(name);
  }
  list_changed_ = list_ != nullptr || !hosts_.empty();
}

void HostSessions::follow(std::vector<store::CollectorMark> marks) {
  const TimePoint now = clock_.now();
  hosts_.clear();
  for (store::CollectorMark& mark : marks) add(std::move(mark));
  for (auto& [name, host] : hosts_)
    if (now - host.view.heard <= kLeaderHears) host.view.state = CollectorState::kConnected;
  list_changed_ = list_ != nullptr || !hosts_.empty();
}

CollectorState HostSessions::state_of(const Host& host, TimePoint now) {
  if (!host.stream) return CollectorState::kDisconnected;
  const Duration patience = std::max<Duration>(host.view.interval * kSilentIntervals, kShortestSilence);
  return now - host.view.heard > patience ? CollectorState::kSilent : CollectorState::kConnected;
}

store::CollectorMark HostSessions::mark_of(const Host& host) {
  return {.host = host.view.host,
          .spool = host.view.spool,
          .sequence = host.view.sequence,
          .batches = host.view.batches,
          .late = host.view.late_batches,
          .lost = host.view.lost_batches,
          .first_seen = host.first_seen,
          .last_seen = last_seen(host),
          .flaps = std::nullopt,
          .adapters = host.adapters};
}

HostSessions::Host* HostSessions::host_of(const Stream& stream) {
  const auto found = by_stream_.find(stream.get());
  return found == by_stream_.end() ? nullptr : &found->second->second;
}

/// The host that the Hello speaks for, without a stream; null when the stream was refused.
HostSessions::Host* HostSessions::admit(const Stream& stream, const api::CollectorHello& hello, TimePoint now) {
  auto found = hosts_.find(hello.host);
  if (found == hosts_.end()) {
    if (hosts_.size() >= kRememberedHosts * config_.max_collectors) {
      stream->end({ErrorCode::kResourceExhausted, "too many known hosts: retry later"});
      return nullptr;
    }
    found = hosts_.emplace(hello.host, Host{}).first;
    found->second.view.host = hello.host;
    found->second.first_seen = now;
    found->second.view.spool = hello.spool;
  }
  Host& host = found->second;
  if (host.stream) {
    if (host.view.spool != hello.spool && state_of(host, now) == CollectorState::kConnected) {
      stream->end({ErrorCode::kAlreadyExists, "another collector is connected for host " + hello.host});
      return nullptr;
    }
    by_stream_.erase(host.stream.get());
    std::exchange(host.stream, nullptr)->end({ErrorCode::kUnavailable, "replaced by a newer stream of this host"});
  }
  by_stream_.emplace(stream.get(), found);
  return &host;
}

void HostSessions::hello(const Stream& stream, api::CollectorHello hello) {
  if (const SiteShard* const owner = site_ ? site_->collected_by(hello.host) : nullptr;
      owner != nullptr && owner->name != site_->own)
    return stream->end(elsewhere(hello.host, *owner));  // whether it comes to be heard there is to be seen
  if (!refusal_.empty()) return stream->end({ErrorCode::kUnavailable, refusal_});
  const TimePoint now = clock_.now();
  Host* const host = admit(stream, hello, now);
  if (!host) return;
  if (host->view.spool != hello.spool) {
    host->view.spool = hello.spool;
    host->view.sequence = host->view.stored = 0;
    host->unsaved = true;
  }
  host->stream = stream;
  host->moved_to.clear();
  host->heard_elsewhere = kNever;
  host->view.elsewhere.clear();
  host->view.since = now;
  host->view.adapters = 0;  // a copied disk may have brought another machine
  host->view.collector_version = std::move(hello.version);
  host->view.address = std::move(hello.address);
  host->view.interval = hello.interval;
  host->view.heard = now;
  host->view.state = CollectorState::kConnected;
  host->changed = list_changed_ = true;
  rules_.hear(hello.host, hello.interval, now);
  stream->welcome(host->view.stored);
}

void HostSessions::batch(const Stream& stream, HostBatch batch, Duration clock_offset) {
  Host* const host = host_of(stream);
  if (!host) return;  // another stream took over
  const TimePoint now = clock_.now();
  host->view.heard = now;
  host->view.clock_offset = clock_offset;
  rules_.hear(host->view.host, host->view.interval, now);
  const bool late = batch.is_late;
  if (batch.sequence <= host->view.sequence) {
    ++figures_.duplicates;
    if (batch.sequence <= host->view.stored) stream->acknowledge(host->view.stored);
  } else {
    take(*host, std::move(batch));
  }
  host->changed = list_changed_ = true;
  if (late && behind_) {
    ++figures_.held_back;
    waiting_.push_back(stream);
  } else {
    stream->proceed();
  }
}

void HostSessions::take(Host& host, HostBatch batch) {
  HostView& view = host.view;
  if (std::exchange(host.counted_from, true)) view.lost_batches += batch.sequence - view.sequence - 1;
  view.sequence = batch.sequence;
  ++view.batches;
  view.late_batches += batch.is_late;
  host.unsaved = true;
  host.flapped = rules_.take(view.host, batch) || host.flapped;
  if (!batch.reading) return;
  const std::vector<std::string>* const jobs = jobs_of(view);
  host.has_new_jobs = host.has_new_jobs || jobs == nullptr || *jobs != batch.reading->jobs;
  if (hold_) {
    if (!host.moves) host.moves.emplace(*hold_);
    host.moves->update(*batch.reading, clock_.steady());
    view.moved = host.moves->moved();
  }
  // What waited may be on a disk that was copied.
  if (!batch.is_late && batch.reading->inventory &&
      (view.adapters == 0 || !view.reading || view.reading->inventory != batch.reading->inventory))
    host.adapters = view.adapters = adapters_of(*batch.reading->inventory);
  view.is_late = batch.is_late;
  if (!batch.is_late) view.told = view.heard;
  view.reading = std::make_shared<const HostReading>(std::move(*batch.reading));
}

void HostSessions::gone(const Stream& stream) {
  Host* const host = host_of(stream);
  if (!host) return;
  by_stream_.erase(stream.get());
  host->stream.reset();
  host->view.state = CollectorState::kDisconnected;
  host->changed = list_changed_ = true;
}

void HostSessions::set_behind(bool behind) {
  behind_ = behind;
  if (behind) return;
  for (const Stream& stream : std::exchange(waiting_, {})) stream->proceed();
}

void HostSessions::save() {
  const TimePoint now = clock_.now();
  if (writes_.is_writing() || (now >= saved_at_ && now - saved_at_ < kSaveEvery)) return;
  Batch batch;
  for (auto& [name, host] : hosts_) {
    if (!host.unsaved) continue;
    batch.marks.push_back(mark_of(host));
    host.saved_seen = batch.marks.back().last_seen;
    if (host.flapped) batch.marks.back().flaps = rules_.flaps(name);
    if (host.has_new_jobs) batch.marks.back().jobs = host.view.reading->jobs;
    if (host.stored_ports != rules_.seen_revision(name)) batch.marks.back().ports = rules_.ports_seen(name);
    if (host.stored_stays != rules_.modules().revision(name)) batch.marks.back().stays = rules_.modules().stays(name);
  }
  if (batch.marks.empty() && forgotten_.empty()) return;
  batch.forgotten = std::exchange(forgotten_, {});
  // One that has come back must not be deleted.
  std::erase_if(batch.forgotten, [this](const std::string& name) { return hosts_.contains(name); });
  if (auto back = writes_.write(std::move(batch))) {
    forgotten_ = std::move(back->forgotten);  // the lane has no room: until the next call
    return;
  }
  saved_at_ = now;
  for (auto& [name, host] : hosts_) {
    if (host.unsaved) {
      host.stored_ports = rules_.seen_revision(name);
      host.stored_stays = rules_.modules().revision(name);
    }
    host.unsaved = host.flapped = host.has_new_jobs = false;
  }
}

void HostSessions::store_again() {
  for (auto& [name, host] : hosts_) {
    if (!host.view.reading) continue;
    host.has_new_jobs = host.unsaved = true;
    host.stored_ports = host.stored_stays = kNotStored;
  }
}

void HostSessions::saved(Batch batch, const runtime::WriteOutcome& outcome) {
  if (!outcome) {
    if (!std::exchange(is_save_failing_, true))
      logger("store")->error("the collectors' progress cannot be stored: {}", outcome.error.message);
    forgotten_.insert(forgotten_.end(), batch.forgotten.begin(), batch.forgotten.end());
  }
  if (outcome && std::exchange(is_save_failing_, false))
    logger("store")->info("the collectors' progress is stored again");
  for (const store::CollectorMark& mark : batch.marks) {
    const auto found = hosts_.find(mark.host);
    if (found == hosts_.end()) continue;
    Host& host = found->second;
    if (!outcome) {
      host.unsaved = true;
      host.flapped = host.flapped || mark.flaps;
      host.has_new_jobs = host.has_new_jobs || (mark.jobs && host.view.reading);
      if (mark.ports) host.stored_ports = kNotStored;
      if (mark.stays) host.stored_stays = kNotStored;
      continue;
    }
    if (host.view.spool != mark.spool) continue;  // it has begun anew meanwhile
    host.view.stored = mark.sequence;
    host.changed = list_changed_ = true;
    if (host.stream) host.stream->acknowledge(mark.sequence);
  }
}

std::shared_ptr<const HostList> HostSessions::views() {
  if (!std::exchange(list_changed_, false)) return list_;
  auto list = std::make_shared<HostList>();
  list->reserve(hosts_.size());
  for (auto& [name, host] : hosts_) {
    if (std::exchange(host.changed, false)) host.shown = std::make_shared<const HostView>(host.view);
    list->push_back(host.shown);
  }
  list_ = std::move(list);
  return list_;
}

void HostSessions::stop() {
  for (auto& [address, at] : by_stream_)
    std::exchange(at->second.stream, nullptr)->end({ErrorCode::kUnavailable, "weftd is stopping"});
  by_stream_.clear();
  waiting_.clear();
}

}  // namespace weft::daemon
