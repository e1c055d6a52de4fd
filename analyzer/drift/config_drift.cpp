// SPDX-License-Identifier: Apache-2.0
#include "analyzer/drift/config_drift.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analyzer/drift/drift_findings.hpp"

namespace weft::analyzer {
namespace {

/// Between two rounds of votes while something goes on changing.
constexpr Duration kHoldEvery = std::chrono::seconds(5);
/// Ballots that are counted in one judgement; the rest of the round follows in the next ones. 90,000 take 60 ms.
constexpr std::size_t kBallotsAtOnce = 100'000;
/// Links move without anybody's configuration.
constexpr Duration kLookAtLinksEvery = std::chrono::seconds(60);
/// Incidents of this kind at one time; the report counts the rest.
constexpr std::size_t kMostFindings = 64;
/// Stands for all hosts in what an incident waits for: it affected more than it lists.
constexpr const char* kEveryHost = "";

struct Voter {
  const std::string* host;
  const DriftHost* of;
  const DriftMember* member;
};

bool has_passed(TimePoint now, TimePoint since, Duration span) {
  return since == kNever || now < since || now - since >= span;
}

std::string places_text(const Vote& vote) {
  if (vote.places.empty()) return {};
  std::string text = "at " + std::string(vote.places.front());
  if (vote.places.size() > 1) text += " and " + std::to_string(vote.places.size() - 1) + " more places";
  return text;
}

HeldVote held(const Vote& vote, std::span<const Ballot> ballots, std::span<const Voter> voters) {
  HeldVote result;
  result.state = vote.state;
  result.stem = vote.stem;
  result.places = places_text(vote);
  if (!vote.places.empty()) result.first_place = vote.places.front();
  result.ballots = vote.ballots;
  result.hosts = vote.hosts;
  const std::size_t listed = std::min(vote.values.size(), kMostDriftValues);
  for (std::size_t i = 0; i < vote.values.size(); ++i) {
    if (i < listed)
      result.values.push_back({std::string(vote.values[i].value), vote.values[i].ballots});
    else
      result.values_left_out += vote.values[i].ballots;
  }
  for (const std::uint32_t i : vote.differing)
    result.deviants.push_back({{*voters[i].host, voters[i].member->device, voters[i].member->number},
                               std::string(ballots[i].value),
                               ballots[i].since});
  return result;
}

/// Is a difference of that state an incident once it is no rollout any more?
bool is_told_when_old(ConfigDriftState state) {
  return state == ConfigDriftState::kDiffers || state == ConfigDriftState::kNotAsExpected;
}

Entity entity_of_holder(const Hosts& hosts, const FactHolder& one) {
  const auto host = hosts.find(one.host);
  const PortWatch* const port = host == hosts.end() ? nullptr : find_port(host->second, one.device, one.number);
  if (port) return told_by(host->second, place_of(host->second, *port));
  Entity entity{.kind = EntityKind::kHostPort, .fabric = {}, .port = {}, .peer = {}, .label = {}};
  entity.host = one.host;
  entity.device = one.device;
  entity.port.port = PortNum{one.number};
  entity.label = one.host + ' ' + port_name(one.device, one.number);
  return entity;
}

DriftDifference difference_of(const Cohort& cohort, ConfigFact fact, const HeldVote& vote) {
  DriftDifference difference;
  difference.fact = fact;
  difference.group = group_text(cohort, vote);
  difference.members = vote.ballots;
  difference.hosts = vote.hosts;
  difference.values = vote.values;
  difference.values_left_out = vote.values_left_out;
  difference.differing = static_cast<std::uint32_t>(vote.deviants.size());
  difference.state = vote.state == VoteState::kTooFew       ? ConfigDriftState::kTooFew
                     : vote.state == VoteState::kNoMajority ? ConfigDriftState::kNoMajority
                     : vote.is_expected                     ? ConfigDriftState::kNotAsExpected
                                                            : ConfigDriftState::kDiffers;
  if (vote.is_expected) difference.expected = vote.values.front().value;
  return difference;
}

}  // namespace

void ConfigDrift::remember(const Incident& incident) {
  if (incident.finding.kind != IncidentKind::kConfigDrift || !incident.is_open()) return;
  std::set<std::string>& hosts = awaited_[incident.finding.cause.identity()];
  for (const Entity& entity : incident.finding.affected) hosts.insert(entity.host);
  told_before_[incident.finding.cause.identity()] = hosts;
  if (incident.finding.affected.size() >= kMostAffected) hosts.insert(kEveryHost);
}

void ConfigDrift::take(const std::string& host, const HostReading& reading) {
  if (limits_.enabled) cohorts_.take(host, reading);
}

void ConfigDrift::forget(const std::string& host) {
  cohorts_.forget(host);
}

ConfigDrift::Votes ConfigDrift::hold(std::uint32_t number, ConfigFact fact, const Votes& before, TimePoint now) const {
  const bool of_adapter = row_of(fact).scope == FactScope::kAdapter;
  std::vector<Ballot> ballots;
  std::vector<Voter> voters;
  for (const auto& [name, host] : cohorts_.hosts()) {
    for (const DriftMember& member : host.members) {
      if ((of_adapter ? member.of_adapters : member.of_ports) != number || (!of_adapter && !member.was_up)) continue;
      const FactValue* const told = find_fact(*member.facts, fact);
      if (!told) continue;
      const auto at = static_cast<std::size_t>(told - member.facts->facts.data());
      if (member.is_expected(at)) continue;
      ballots.push_back({told->value, host.stem, member.place, host.number, member.since[at]});
      voters.push_back({&name, &host, &member});
    }
  }
  Votes votes;
  for (const Vote& vote : hold_votes(ballots, limits_)) {
    HeldVote now_held = held(vote, ballots, voters);
    now_held.majority_since = now;
    const auto same = std::ranges::find_if(before, [&](const HeldVote& old) {
      return old.stem == now_held.stem && old.first_place == now_held.first_place;
    });
    if (same != before.end() && same->values.front().value == now_held.values.front().value)
      now_held.majority_since = std::min(same->majority_since, now);
    votes.push_back(std::move(now_held));
  }
  return votes;
}

void ConfigDrift::hold(TimePoint now) {
  std::vector<Cohort>& cohorts = cohorts_.all();
  std::size_t counted = 0;
  for (std::uint32_t number = 0; number < cohorts.size(); ++number) {
    std::uint64_t& changed = cohorts[number].changed;
    for (std::size_t i = 0; changed != 0 && i < kConfigFacts; ++i) {
      if ((changed >> i & 1U) == 0) continue;
      if (counted > kBallotsAtOnce) {
        round_goes_on_ = true;
        return;
      }
      changed &= ~(std::uint64_t{1} << i);
      const std::pair key(number, static_cast<ConfigFact>(i));
      Votes votes = hold(number, key.second, votes_[key], now);
      for (const HeldVote& vote : votes) counted += vote.ballots;
      if (votes.empty())
        votes_.erase(key);
      else
        votes_[key] = std::move(votes);
    }
  }
  profile_votes_ = hold_profiles(cohorts_);
  round_goes_on_ = false;
  cohorts_.held();
}

/// May what `host` has be a rollout? If so it is looked at again when it is none any more.
bool ConfigDrift::is_young(const std::string& cause, const std::string& host, TimePoint old_at, TimePoint now) {
  if (now >= old_at) return false;
  if (const auto before = told_before_.find(cause); before != told_before_.end() && before->second.contains(host))
    return false;
  if (due_ == kNever || old_at < due_) due_ = old_at;
  return true;
}

/// Hosts that told since weftd was started and do not differ: when they differ again, that is new.
void ConfigDrift::forget_repaired(const std::string& cause, const std::set<std::string>& differing) {
  if (const auto before = told_before_.find(cause); before != told_before_.end())
    std::erase_if(before->second, [&](const std::string& host) {
      return !differing.contains(host) && cohorts_.hosts().contains(host);
    });
}

/// Tells of votes that are one cause: of hosts that are called alike.
void ConfigDrift::tell_cause(const Cohort& cohort, ConfigFact fact, std::span<const HeldVote> votes, const Hosts& hosts,
                             TimePoint now, DriftReport& report) {
  std::vector<DriftDifference> old;
  bool is_undecided = false;
  const Entity cause = drift_cause(cohort, fact, votes.front().stem);
  const std::string identity = cause.identity();
  std::set<std::string> differing;
  for (const HeldVote& vote : votes) {
    ++report.groups;
    if (vote.values.size() < 2) {
      ++(vote.state == VoteState::kTooFew ? report.small : report.agreed);
      continue;
    }
    DriftDifference difference = difference_of(cohort, fact, vote);
    std::vector<DriftHolder> young;
    for (const Deviant& one : vote.deviants) {
      const bool is_new = is_young(identity, one.port.host, vote.old_at(one, limits_.rollout), now);
      differing.insert(one.port.host);
      difference.young += is_new ? 1 : 0;
      std::vector<DriftHolder>& list = is_new ? young : difference.holders;
      if (!is_new) told_.emplace(fact, one.port);
      if (list.size() < kMostDriftHolders)
        list.push_back({entity_of_holder(hosts, one.port), one.value, one.since, is_new});
    }
    const bool is_told = difference.young < difference.differing;
    for (DriftHolder& holder : young)
      if (difference.holders.size() < kMostDriftHolders) difference.holders.push_back(std::move(holder));
    if (is_told_when_old(difference.state) && !is_told) difference.state = ConfigDriftState::kRollingOut;
    if (is_told_when_old(difference.state))
      old.push_back(difference);
    else
      is_undecided = true;
    report.differences.push_back(std::move(difference));
  }
  if (!is_undecided || !old.empty()) forget_repaired(identity, differing);
  if (!old.empty())
    findings_.push_back(drift_finding(cause, fact, old, now));
  else if (is_undecided)
    undecided_.insert(identity);
}

void ConfigDrift::tell_votes(const Hosts& hosts, TimePoint now, DriftReport& report) {
  for (const ProfileVote& one : profile_votes_) {
    const std::string name = "profile " + one.profile->name;
    tell_cause({name, name, 0}, one.fact, {&one.vote, 1}, hosts, now, report);
  }
  for (const auto& [key, votes] : votes_) {
    for (std::size_t first = 0; first < votes.size();) {
      std::size_t last = first;
      while (last < votes.size() && votes[last].stem == votes[first].stem) ++last;
      tell_cause(cohorts_.all()[key.first], key.second, std::span(votes).subspan(first, last - first), hosts, now,
                 report);
      first = last;
    }
  }
}

void ConfigDrift::tell_links(TimePoint now, DriftReport& report) {
  const std::vector<EndsDiffer>& ends = ends_.differing();
  for (std::size_t first = 0; first < ends.size();) {
    std::vector<EndsDiffer> old;
    bool has_young = false;
    std::size_t last = first;
    for (; last < ends.size() && ends[last].link.same_as(ends[first].link); ++last) {
      const EndsDiffer& one = ends[last];
      // Its end differs from all others of its make: told once is enough.
      if (told_.contains({one.fact, one.low_port}) || told_.contains({one.fact, one.high_port})) continue;
      const bool is_new = is_young(one.link.identity(), one.low.host, one.since + limits_.rollout, now);
      has_young = has_young || is_new;
      if (!is_new) old.push_back(one);
      DriftDifference difference;
      difference.fact = one.fact;
      difference.state = is_new ? ConfigDriftState::kRollingOut : ConfigDriftState::kEndsDiffer;
      difference.group = one.link.label;
      difference.members = 2;
      difference.hosts = 2;
      difference.values = {{one.low_value, 1}, {one.high_value, 1}};
      difference.differing = 2;
      difference.young = is_new ? 2 : 0;
      difference.holders = {{one.low, one.low_value, one.since, is_new}, {one.high, one.high_value, one.since, is_new}};
      report.differences.push_back(std::move(difference));
    }
    if (!old.empty())
      findings_.push_back(ends_finding(old, now));
    else if (has_young)
      undecided_.insert(ends[first].link.identity());
    first = last;
  }
}

void ConfigDrift::tell(const Hosts& hosts, TimePoint now) {
  findings_.clear();
  told_.clear();
  undecided_.clear();
  due_ = kNever;
  auto report = std::make_shared<DriftReport>();
  report->is_enabled = limits_.enabled;
  report->hosts = static_cast<std::uint32_t>(cohorts_.hosts().size());
  tell_votes(hosts, now, *report);
  tell_links(now, *report);
  for (const auto& [name, host] : cohorts_.hosts())
    for (const DriftMember& member : host.members) {
      report->unjudged += member.of_ports == kNoCohort ? 1 : 0;
      report->untold += member.untold;
    }
  const auto rank = [](const DriftDifference& one) {
    return std::tuple(!is_incident(one.state), one.fact, std::string_view(one.group));
  };
  std::ranges::stable_sort(report->differences,
                           [&](const DriftDifference& a, const DriftDifference& b) { return rank(a) < rank(b); });
  if (report->differences.size() > kMostDriftDifferences) {
    report->left_out = static_cast<std::uint32_t>(report->differences.size() - kMostDriftDifferences);
    report->differences.resize(kMostDriftDifferences);
  }
  if (findings_.size() > kMostFindings) {
    for (std::size_t i = kMostFindings; i < findings_.size(); ++i) undecided_.insert(findings_[i].cause.identity());
    findings_.resize(kMostFindings);
  }
  report_ = std::move(report);
}

void ConfigDrift::judge(const Hosts& hosts, const IsSwitch& is_switch, TimePoint now, std::vector<Finding>& findings) {
  const bool changed = cohorts_.has_changed() && (round_goes_on_ || has_passed(now, held_at_, kHoldEvery));
  const bool due = due_ != kNever && now >= due_;
  if (!report_ || changed || due || has_passed(now, held_at_, kLookAtLinksEvery)) {
    if (changed || !report_) hold(now);
    ends_.look(hosts, cohorts_, is_switch, now);
    held_at_ = now;
    tell(hosts, now);
  }
  findings.insert(findings.end(), findings_.begin(), findings_.end());
}

bool ConfigDrift::observed(const Entity& cause, const Hosts& hosts) const {
  if (!report_ || cohorts_.has_changed()) return false;
  const std::string identity = cause.identity();
  if (undecided_.contains(identity)) return false;
  const auto is_awaited = [](const HostWatch& host) { return !host.has_reading; };
  if (const auto awaited = awaited_.find(identity); awaited != awaited_.end()) {
    for (const std::string& name : awaited->second) {
      if (name == kEveryHost && std::ranges::any_of(hosts, [&](const auto& entry) { return is_awaited(entry.second); }))
        return false;
      const auto host = hosts.find(name);
      if (host != hosts.end() && is_awaited(host->second)) return false;
    }
  }
  return cause.kind != EntityKind::kLink || ends_.is_known(cause);
}

}  // namespace weft::analyzer
