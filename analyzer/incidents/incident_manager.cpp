// SPDX-License-Identifier: Apache-2.0
#include "analyzer/incidents/incident_manager.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/incidents/evidence.hpp"
#include "analyzer/incidents/planned_work.hpp"
#include "analyzer/incidents/timeline.hpp"
#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

constexpr std::size_t kLongestName = 256;
/// Links that an incident of the subnet manager lists; more are folded in and only counted.
constexpr std::size_t kMostLinksListed = 1024;
/// Ends the key of planned work.
constexpr const char* kPlannedKey = "|planned";

/// "1st", "2nd", "11th".
std::string ordinal(std::size_t number) {
  const bool teen = number % 100 / 10 == 1;
  const char* ending = teen ? "th" : number % 10 == 1 ? "st" : number % 10 == 2 ? "nd" : number % 10 == 3 ? "rd" : "th";
  return std::to_string(number) + ending;
}

std::string in_words(Duration window) {
  constexpr std::chrono::hours kDay{24};
  if (window >= kDay && window % kDay == Duration::zero()) return std::to_string(window / kDay) + " days";
  return short_duration(window);
}

/// Kinds that are part of something greater only where that says so of the very kind.
bool is_part(IncidentKind kind) {
  return kind == IncidentKind::kRdmaErrors || kind == IncidentKind::kLinkErrors || kind == IncidentKind::kLinkFlap ||
         kind == IncidentKind::kLinkDegraded || kind == IncidentKind::kCounterStuck ||
         kind == IncidentKind::kSilentLoss;
}

}  // namespace

std::string IncidentManager::key_of(IncidentKind kind, const Entity& cause) {
  return std::string(to_string(kind)) + '|' + cause.identity();
}

std::string IncidentManager::key_of(const Finding& finding) {
  return key_of(finding.kind, finding.cause) + (finding.maintenance != 0 ? kPlannedKey : "");
}

IncidentManager::IncidentManager(IncidentPolicy policy, std::vector<Incident> restored, IdSeries ids)
    : policy_(policy), ids_(ids) {
  policy_.evidence_limit = std::max(2U, policy_.evidence_limit);
  std::ranges::sort(restored, {}, &Incident::id);
  entries_.reserve(restored.size());
  for (Incident& incident : restored) {
    ids_.skip(incident.id);
    Entry entry;
    entry.key = key_of(incident.finding);
    // One that was stored before beginnings were noted.
    if (incident.beginnings.empty() && incident.opened != kNever && incident.finding.maintenance == 0)
      incident.beginnings.push_back(incident.opened);
    entry.incident = std::make_shared<const Incident>(std::move(incident));
    newest_[entry.key] = entry.incident->id;
    entries_.push_back(std::move(entry));
  }
}

std::size_t IncidentManager::position(std::uint64_t id) const {
  const auto found = std::ranges::lower_bound(entries_, id, {}, [](const Entry& e) { return e.incident->id; });
  if (found == entries_.end() || found->incident->id != id) return entries_.size();
  return static_cast<std::size_t>(found - entries_.begin());
}

IncidentPtr IncidentManager::find(std::uint64_t id) const {
  const std::size_t at = position(id);
  return at < entries_.size() ? entries_[at].incident : nullptr;
}

std::shared_ptr<const IncidentList> IncidentManager::all() const {
  if (!all_) {
    auto list = std::make_shared<IncidentList>();
    list->reserve(entries_.size());
    for (const Entry& entry : entries_) list->push_back(entry.incident);
    all_ = std::move(list);
  }
  return all_;
}

void IncidentManager::change(Entry& entry, Incident next, TimePoint now, Changed& changed) {
  ++next.revision;
  next.updated = now;
  entry.incident = std::make_shared<const Incident>(std::move(next));
  all_.reset();
  const auto twice = std::ranges::find(changed, entry.incident->id, &Incident::id);
  if (twice != changed.end())
    *twice = *entry.incident;
  else
    changed.push_back(*entry.incident);
}

std::string IncidentManager::summary_of(const Finding& finding, const Incident& incident) const {
  const std::size_t count = incident.beginnings.size();
  if (count < policy_.repeat_count) return finding.summary;
  return finding.summary + "; the " + ordinal(count) + " time" + (count < kMostBeginnings ? "" : " or more") + " in " +
         in_words(policy_.repeat_window);
}

/// A link that is down since a moment ago may be up in another: it pages nobody before IncidentPolicy::link_down_hold
/// is over, unless it hurts a job. It is for the record alone where most ways are left, for links retrain, and where no
/// job runs on the host, for somebody may have restarted it or its driver. Such a host may need the subnet manager to
/// come back: while that has time to activate its links, nothing is known to be wrong.
void IncidentManager::hold_back(Finding& finding, TimePoint now) const {
  const auto shows = [&](std::string_view signal) {
    return std::ranges::find(finding.evidence, signal, &Evidence::signal) != finding.evidence.end();
  };
  const bool is_idle = shows(kNoJobSignal);
  // Its silence is a WARNING in any case.
  const bool is_cut_off = finding.severity == Severity::kCritical && has_dead_links(finding);
  if ((finding.kind != IncidentKind::kLinkDown && !is_idle && !is_cut_off) || !finding.jobs.empty()) return;
  const auto known = newest_.find(key_of(finding));
  const IncidentPtr incident = known == newest_.end() ? nullptr : find(known->second);
  TimePoint began = now;
  if (incident && incident->is_open()) {
    if (!incident->finding.jobs.empty()) return;  // it ended the jobs
    if (!incident->beginnings.empty()) began = incident->beginnings.back();
  }
  // What began ahead of a clock that was set back is not new.
  if ((began <= now && now - began < policy_.link_down_hold) || (is_idle && shows(kWaitsForManagerSignal)))
    finding.severity = is_idle || finding.severity < Severity::kCritical ? Severity::kInfo : Severity::kWarning;
}

/// The finding as the newest one of the incident; evidence and jobs add up. What is down and stays down keeps the times
/// of its beginning.
void IncidentManager::apply(Incident& incident, const Finding& finding) const {
  Finding before = std::exchange(incident.finding, finding);
  merge_evidence(before.evidence, finding.evidence, policy_.evidence_limit, is_outage_or_blindness(finding.kind));
  merge_jobs(before.jobs, finding.jobs);
  if (finding.advice.suspects.empty()) incident.finding.advice = std::move(before.advice);
  incident.finding.evidence = std::move(before.evidence);
  incident.finding.jobs = std::move(before.jobs);
  incident.finding.summary = summary_of(finding, incident);
}

/// Applies the finding with which it begins now, and says so where it does so again and again.
void IncidentManager::begin(Incident& incident, const Finding& finding, TimePoint now) {
  apply(incident, finding);
  merge_evidence(incident.finding.evidence, finding.evidence, policy_.evidence_limit,
                 false);                 // of this time, not before
  if (finding.maintenance != 0) return;  // maintenance is no repetition
  ++opened_[static_cast<std::size_t>(finding.kind)];
  // A clock that was set back makes a past that lies ahead.
  std::erase_if(incident.beginnings, [&](TimePoint at) { return at > now || now - at > policy_.repeat_window; });
  incident.beginnings.push_back(now);
  if (incident.beginnings.size() > kMostBeginnings) incident.beginnings.erase(incident.beginnings.begin());
  incident.finding.summary = summary_of(finding, incident);
  const std::size_t count = incident.beginnings.size();
  if (count < policy_.repeat_count) return;
  const Evidence repeated{.signal = "beginnings",
                          .description = "the same incident occurred " + std::to_string(count) +
                                         (count < kMostBeginnings ? "" : " or more") + " times in " +
                                         in_words(policy_.repeat_window),
                          .value = static_cast<double>(count),
                          .threshold = static_cast<double>(policy_.repeat_count),
                          .unit = "times",
                          .observed = now,
                          .where = finding.cause,
                          .window = policy_.repeat_window};
  merge_evidence(incident.finding.evidence, {repeated}, policy_.evidence_limit, false);
}

void IncidentManager::open(const Finding& finding, std::string key, std::vector<TimePoint> beginnings, TimePoint now,
                           Changed& changed) {
  Incident incident;
  incident.id = ids_.take();
  incident.opened = now;
  incident.beginnings = std::move(beginnings);
  begin(incident, finding, now);
  note_beginning(incident, now);
  newest_[key] = incident.id;
  Entry& entry = entries_.emplace_back();
  entry.key = std::move(key);
  entry.evidence_shown = now;
  entry.seen_in = updates_;
  change(entry, std::move(incident), now, changed);
}

void IncidentManager::reopen(Entry& entry, const Finding& finding, TimePoint now, Changed& changed) {
  Incident next = *entry.incident;
  next.state = IncidentState::kOpen;
  next.resolved = kNever;
  next.acknowledged_by.clear();
  ++next.occurrences;
  next.finding.jobs.clear();
  begin(next, finding, now);
  note_beginning(next, now);
  entry.evidence_shown = now;
  change(entry, std::move(next), now, changed);
}

void IncidentManager::refresh(Entry& entry, const Finding& finding, TimePoint now, Changed& changed) {
  const Finding& shown = entry.incident->finding;
  const EvidenceNews news = compare_evidence(shown.evidence, finding.evidence);
  std::vector<std::string> jobs = shown.jobs;
  const bool material = merge_jobs(jobs, finding.jobs) || shown.severity != finding.severity ||
                        shown.summary != summary_of(finding, *entry.incident) ||
                        std::abs(shown.confidence - finding.confidence) >= 0.1 ||
                        !std::ranges::equal(shown.affected, finding.affected,
                                            [](const Entity& a, const Entity& b) { return a.same_as(b); });
  // New evidence can be pushed out by still newer one: it too is shown at a bounded pace.
  // A time ahead of now is one from before the clock was set back.
  const bool due = entry.evidence_shown > now || now - entry.evidence_shown >= policy_.evidence_refresh;
  const bool moved_on = news.fresh || news.numbers || !same_tree(shown.waiting, finding.waiting) ||
                        (!finding.advice.suspects.empty() && !same_advice(shown.advice, finding.advice));
  if (!material && !(moved_on && due)) return;
  Incident next = *entry.incident;
  apply(next, finding);
  note_update(next, now);
  entry.evidence_shown = now;
  change(entry, std::move(next), now, changed);
}

std::vector<std::pair<std::uint64_t, TimePoint>> IncidentManager::last_evidence() const {
  std::vector<std::pair<std::uint64_t, TimePoint>> all;
  for (const Entry& entry : entries_) {
    if (!entry.incident->is_open()) continue;
    TimePoint newest = entry.evidence_seen;
    for (const Evidence& evidence : entry.incident->finding.evidence) newest = std::max(newest, evidence.observed);
    all.emplace_back(entry.incident->id, newest);
  }
  return all;
}

std::uint64_t IncidentManager::ingest(const Finding& finding, TimePoint now, Changed& changed) {
  std::string key = key_of(finding);
  const auto known = newest_.find(key);
  const std::size_t at = known == newest_.end() ? entries_.size() : position(known->second);
  if (at < entries_.size()) {
    Entry& entry = entries_[at];
    if (entry.incident->is_open()) {
      // A second finding of the same trouble in one sweep adds nothing.
      if (entry.seen_in != updates_) refresh(entry, finding, now, changed);
    } else if (entry.incident->resolved > clock_.before(now, policy_.reopen_window)) {
      reopen(entry, finding, now, changed);
    } else {
      open(finding, std::move(key), entry.incident->beginnings, now, changed);
      return entries_.back().incident->id;
    }
    entry.clean_sweeps = 0;
    entry.seen_in = updates_;
    for (const Evidence& evidence : finding.evidence)
      entry.evidence_seen = std::max(entry.evidence_seen, evidence.observed);
    return entry.incident->id;
  }
  open(finding, std::move(key), {}, now, changed);
  return entries_.back().incident->id;
}

void IncidentManager::resolve(Entry& entry, const std::string& why, TimePoint now, Changed& changed,
                              bool part_of_another) {
  Incident next = *entry.incident;
  next.state = IncidentState::kResolved;
  next.resolved = now;
  if (!why.empty()) {
    next.finding.summary += " (" + why + ")";
    next.headline += " (" + why + ")";
  }
  note_change(next, part_of_another ? IncidentChange::kFolded : IncidentChange::kResolved, why, {}, now);
  // A link is no repeated offender for having hung from a switch that went down.
  if (part_of_another && !next.beginnings.empty()) next.beginnings.pop_back();
  entry.clean_sweeps = 0;
  change(entry, std::move(next), now, changed);
}

/// The incident of that key, where this update had it.
IncidentPtr IncidentManager::seen(const std::string& key) const {
  const auto known = newest_.find(key);
  const std::size_t at = known == newest_.end() ? entries_.size() : position(known->second);
  return at < entries_.size() && entries_[at].seen_in == updates_ ? entries_[at].incident : nullptr;
}

void IncidentManager::close(std::string_view fabric, const std::unordered_map<std::string, std::uint64_t>& wholes,
                            const Coverage& coverage, TimePoint now, Changed& changed) {
  for (Entry& entry : entries_) {
    const Incident& incident = *entry.incident;
    const Finding& known = incident.finding;
    if (!incident.is_open() || entry.seen_in == updates_ || !coverage.reaches(known.cause.fabric, fabric)) continue;
    if (const IncidentPtr alarm = known.maintenance != 0 ? seen(key_of(known.kind, known.cause)) : nullptr) {
      resolve(entry, over_text(known.maintenance) + "; it continues as " + incident_name(alarm->id), now, changed);
      continue;
    }
    const bool foldable = is_outage_or_blindness(known.kind);
    if ((foldable || is_part(known.kind)) && !wholes.empty()) {
      auto whole = foldable ? wholes.find(known.cause.identity()) : wholes.end();
      if (whole == wholes.end()) whole = wholes.find(key_of(known.kind, known.cause));
      if (whole != wholes.end()) {
        // What alarms does not vanish in what does not: it waits until the work is done.
        if (known.maintenance == 0 && find(whole->second)->finding.maintenance != 0) continue;
        resolve(entry, "now part of " + incident_name(whole->second), now, changed, true);
        continue;
      }
    }
    const auto is_told = [&](const Entity& node) {
      const std::string own = key_of(known.kind, node);
      return seen(own) || seen(own + kPlannedKey);
    };
    if (!coverage.observed(known.kind, known.cause) || !coverage.counters_observed(known, is_told)) continue;
    if (++entry.clean_sweeps >= policy_.resolve_sweeps) resolve(entry, {}, now, changed);
  }
}

std::vector<Incident> IncidentManager::update(std::string_view fabric, std::vector<Finding> findings,
                                              const Coverage& coverage, TimePoint now) {
  ++updates_;
  Changed changed;
  if (windows_ && !windows_->empty()) {
    const auto began_before = [this](const Finding& finding) {
      const auto known = newest_.find(key_of(finding.kind, finding.cause));
      const IncidentPtr incident = known == newest_.end() ? nullptr : find(known->second);
      return incident && incident->is_open();
    };
    mark_planned(findings, *windows_, *all(), began_before, now);
  }
  leave_out_parts(findings, fabric);
  // What the greater troubles of this sweep contain: entity → incident.
  std::unordered_map<std::string, std::uint64_t> wholes;
  for (Finding& finding : findings) {
    hold_back(finding, now);
    std::vector<Entity> unlisted;
    if (finding.kind == IncidentKind::kLinksNotActivated && finding.affected.size() > kMostLinksListed) {
      unlisted.assign(finding.affected.begin() + kMostLinksListed, finding.affected.end());
      finding.affected.resize(kMostLinksListed);
    }
    const std::uint64_t id = ingest(finding, now, changed);
    for (const Entity& part : unlisted) wholes.emplace(part.identity(), id);
    const bool whole = is_node_outage(finding.kind) || finding.kind == IncidentKind::kLinksNotActivated;
    if (whole || finding.kind == IncidentKind::kLinkFlap) wholes.emplace(finding.cause.identity(), id);
    if (whole || finding.kind == IncidentKind::kLinkDown)
      for (const Entity& part : finding.affected) wholes.emplace(part.identity(), id);
    // Transfers that fail because of it, or together with others, are no trouble of their own.
    if (finding.kind == IncidentKind::kSilentLoss ||
        (finding.kind == IncidentKind::kRdmaErrors && finding.cause.kind == EntityKind::kFabric))
      for (const Entity& part : finding.affected) wholes.emplace(key_of(IncidentKind::kRdmaErrors, part), id);
    // Counters that are not to be believed have told of many links.
    if (finding.kind == IncidentKind::kCounterStuck && finding.cause.kind == EntityKind::kFabric)
      for (const Entity& part : finding.affected)
        for (const IncidentKind kind :
             {IncidentKind::kLinkErrors, IncidentKind::kLinkFlap, IncidentKind::kLinkDegraded,
              IncidentKind::kCounterStuck, IncidentKind::kRdmaErrors, IncidentKind::kSilentLoss})
          wholes.emplace(key_of(kind, part), id);
    // A node that is merely out of sight behind another is no trouble of its own, but one that is down stays down.
    if (finding.kind == IncidentKind::kTelemetryLost)
      for (const Entity& part : finding.affected) wholes.emplace(key_of(finding.kind, part), id);
  }
  close(fabric, wholes, coverage, now, changed);
  expire(now);
  return changed;
}

std::vector<Incident> IncidentManager::give_up(std::string_view fabric, const std::string& why, TimePoint now) {
  Changed changed;
  for (Entry& entry : entries_)
    if (entry.incident->is_open() && entry.incident->finding.cause.fabric == fabric) resolve(entry, why, now, changed);
  return changed;
}

std::vector<Incident> IncidentManager::rename(std::string_view from, const std::string& to, TimePoint now,
                                              const std::function<bool(const Entity&)>& is_meant) {
  Changed changed;
  const auto rename = [&](Entity& entity) {
    if (entity.fabric != from) return;
    entity.fabric = to;
    if (entity.kind == EntityKind::kFabric) entity.label = to;
  };
  for (Entry& entry : entries_) {
    if (!entry.incident->is_open()) continue;
    if (entry.incident->finding.cause.fabric != from) {
      // Of a GUID in two subnets the evidence names the other one.
      const auto is_told = [&](const Evidence& evidence) { return evidence.where.fabric == from; };
      if (is_meant || std::ranges::none_of(entry.incident->finding.evidence, is_told)) continue;
      Incident next = *entry.incident;
      for (Evidence& evidence : next.finding.evidence) rename(evidence.where);
      change(entry, std::move(next), now, changed);
      continue;
    }
    if (is_meant && !is_meant(entry.incident->finding.cause)) continue;
    Incident next = *entry.incident;
    rename(next.finding.cause);
    std::ranges::for_each(next.finding.affected, rename);
    for (Evidence& evidence : next.finding.evidence) rename(evidence.where);
    for (WaitingLink& link : next.finding.waiting.links) rename(link.sender);
    for (Suspect& suspect : next.finding.advice.suspects) rename(suspect.where);
    std::string key = key_of(next.finding);
    const auto known = newest_.find(key);
    if (const IncidentPtr other = known == newest_.end() ? nullptr : find(known->second); other && other->is_open()) {
      // People know the one that was told first.
      const bool is_older = entry.incident->id < other->id;
      resolve(is_older ? entries_[position(other->id)] : entry,
              "it continues as " + incident_name(is_older ? entry.incident->id : other->id), now, changed);
      if (!is_older) continue;
    }
    if (const auto newest = newest_.find(entry.key); newest != newest_.end() && newest->second == entry.incident->id)
      newest_.erase(newest);
    newest_[key] = next.id;
    entry.key = std::move(key);
    entry.clean_sweeps = 0;
    change(entry, std::move(next), now, changed);
  }
  return changed;
}

void IncidentManager::expire(TimePoint now) {
  const TimePoint forgotten = clock_.before(now, policy_.retention);
  std::vector<std::pair<TimePoint, std::uint64_t>> kept;
  std::unordered_set<std::uint64_t> gone;
  for (const Entry& entry : entries_) {
    if (entry.incident->is_open()) continue;
    if (entry.incident->resolved < forgotten)
      gone.insert(entry.incident->id);
    else
      kept.emplace_back(entry.incident->resolved, entry.incident->id);
  }
  // Too many: those that have been over for longest, whenever they were opened.
  if (kept.size() > policy_.retained_incidents) {
    const std::size_t surplus = kept.size() - policy_.retained_incidents;
    std::ranges::nth_element(kept, kept.begin() + static_cast<std::ptrdiff_t>(surplus - 1));
    for (std::size_t i = 0; i < surplus; ++i) gone.insert(kept[i].second);
  }
  if (gone.empty()) return;
  std::erase_if(entries_, [&](const Entry& entry) {
    if (!gone.contains(entry.incident->id)) return false;
    const auto newest = newest_.find(entry.key);
    if (newest != newest_.end() && newest->second == entry.incident->id) newest_.erase(newest);
    return true;
  });
  all_.reset();
}

Result<Incident> IncidentManager::acknowledge(std::uint64_t id, std::string_view who, TimePoint now) {
  const std::size_t at = position(id);
  if (at == entries_.size()) return fail(ErrorCode::kNotFound, "no incident " + incident_name(id));
  if (who.empty()) return fail(ErrorCode::kInvalidArgument, "an acknowledgement needs a name");
  Entry& entry = entries_[at];
  if (!entry.incident->is_open())
    return fail(ErrorCode::kFailedPrecondition, incident_name(id) + " is already resolved");
  const std::string_view name = who.substr(0, kLongestName);
  if (entry.incident->state == IncidentState::kAcknowledged && entry.incident->acknowledged_by == name)
    return *entry.incident;
  Incident next = *entry.incident;
  next.state = IncidentState::kAcknowledged;
  next.acknowledged_by = name;
  note_change(next, IncidentChange::kAcknowledged, {}, std::string(name), now);
  Changed changed;
  change(entry, std::move(next), now, changed);
  return *entry.incident;
}

Result<Incident> IncidentManager::take_back_acknowledgement(std::uint64_t id, std::string why, TimePoint now) {
  const std::size_t at = position(id);
  if (at == entries_.size()) return fail(ErrorCode::kNotFound, "no incident " + incident_name(id));
  Entry& entry = entries_[at];
  if (entry.incident->state != IncidentState::kAcknowledged) return *entry.incident;
  Incident next = *entry.incident;
  next.state = IncidentState::kOpen;
  next.acknowledged_by.clear();
  note_change(next, IncidentChange::kUpdated, std::move(why), {}, now);
  Changed changed;
  change(entry, std::move(next), now, changed);
  return *entry.incident;
}

Result<Incident> IncidentManager::silence(std::uint64_t id, TimePoint until, TimePoint now, std::string_view who) {
  const std::size_t at = position(id);
  if (at == entries_.size()) return fail(ErrorCode::kNotFound, "no incident " + incident_name(id));
  if (!entries_[at].incident->is_open())
    return fail(ErrorCode::kFailedPrecondition, incident_name(id) + " is already resolved: nobody is paged for it");
  Incident next = *entries_[at].incident;
  next.silenced_until = until > now ? until : kNever;
  note_silence(next, until, std::string(who.substr(0, kLongestName)), now);
  Changed changed;
  change(entries_[at], std::move(next), now, changed);
  return *entries_[at].incident;
}

}  // namespace weft::analyzer
