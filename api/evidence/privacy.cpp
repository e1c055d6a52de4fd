// SPDX-License-Identifier: Apache-2.0
#include "api/evidence/privacy.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/publication/derived.hpp"
#include "api/publication/utf8.hpp"
#include "fabric/host_names.hpp"

namespace weft::api {
namespace {

/// How collectors begin the names of jobs (HostReading::jobs).
constexpr std::array<std::string_view, 2> kJobPrefixes{"slurm:", "kubernetes:"};
/// Accounts whose names are words of their own.
constexpr std::array<std::string_view, 2> kCommonAccounts{"root", "weftd"};

bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || c == '-' || byte >= 0x80;
}

bool is_person(const std::string& who) {
  return !who.empty() && who != kOurselves;
}

/// Texts that must not be seen, and what stands for each; the longest first.
class Hidden {
 public:
  void add(const std::string& text, const char* instead) {
    if (text.empty() || text == instead) return;
    texts_.emplace_back(valid_utf8(text), instead);
  }
  /// A number alone is no job's name wherever it stands.
  void add_job(const std::string& job) {
    const bool is_number = std::ranges::all_of(job, [](unsigned char c) { return std::isdigit(c) != 0; });
    if (!is_number) return add(job, kSomeJob);
    add("job " + job, "job (a job)");
  }
  /// "root (uid 0), for ann": whole, and the names in it.
  void add_person(const std::string& who) {
    if (!is_person(who)) return;
    add(who, kSomePerson);
    constexpr std::string_view kFor = ", for ";
    for (std::size_t begin = 0; begin <= who.size();) {
      const std::size_t end = std::min(who.find(kFor, begin), who.size());
      const std::string part = who.substr(begin, end - begin);
      add_account(part);
      add_account(part.substr(0, part.find(" (")));
      begin = end + kFor.size();
    }
  }
  void sort() {
    std::ranges::stable_sort(texts_, [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  }

  std::string without(std::string text) const {
    for (const auto& [hidden, instead] : texts_)
      for (std::size_t at = text.find(hidden); at != text.npos; at = text.find(hidden, at)) {
        const std::size_t end = at + hidden.size();
        const bool is_whole = (at == 0 || !is_word(text[at - 1]) || !is_word(hidden.front())) &&
                              (end == text.size() || !is_word(text[end]) || !is_word(hidden.back()));
        if (!is_whole) {
          ++at;
          continue;
        }
        text.replace(at, hidden.size(), instead);
        at += std::string_view(instead).size();
      }
    for (const std::string_view prefix : kJobPrefixes)
      for (std::size_t at = text.find(prefix); at != text.npos; at = text.find(prefix, at)) {
        std::size_t end = at + prefix.size();
        while (end < text.size() && is_word(text[end])) ++end;
        if (end == at + prefix.size() || (at > 0 && is_word(text[at - 1]))) {
          at = end;
          continue;
        }
        text.replace(at, end - at, kSomeJob);
        at += std::string_view(kSomeJob).size();
      }
    return text;
  }

 private:
  void add_account(const std::string& name) {
    if (std::ranges::find(kCommonAccounts, name) == kCommonAccounts.end()) add(name, kSomePerson);
  }
  std::vector<std::pair<std::string, const char*>> texts_;
};

/// Every text of the message and of those in it, but those that are the program's own.
void walk(google::protobuf::Message& message, const Hidden& hidden) {
  using Descriptor = google::protobuf::FieldDescriptor;
  if (message.GetDescriptor() == v1::Threshold::descriptor()) return;
  const google::protobuf::Reflection& access = *message.GetReflection();
  std::vector<const Descriptor*> fields;
  access.ListFields(message, &fields);
  for (const Descriptor* field : fields) {
    const int count = field->is_repeated() ? access.FieldSize(message, field) : 1;
    if (field->cpp_type() == Descriptor::CPPTYPE_STRING && field->type() == Descriptor::TYPE_STRING) {
      if (message.GetDescriptor() == v1::EvidencePack::descriptor() && field->name() == "runbook_steps") continue;
      for (int i = 0; i < count; ++i) {
        if (field->is_repeated())
          access.SetRepeatedString(&message, field, i, hidden.without(access.GetRepeatedString(message, field, i)));
        else
          access.SetString(&message, field, hidden.without(access.GetString(message, field)));
      }
    } else if (field->cpp_type() == Descriptor::CPPTYPE_MESSAGE) {
      for (int i = 0; i < count; ++i)
        walk(field->is_repeated() ? *access.MutableRepeatedMessage(&message, field, i)
                                  : *access.MutableMessage(&message, field),
             hidden);
    }
  }
}

/// What a person noted is left out, and found again elsewhere; words that weftd puts there stay.
void hide_note(std::string& text, Hidden& hidden) {
  constexpr std::string_view kRequested = "requested: ";
  if (text.empty() || text == "approved" || text == "rejected") return;
  const bool is_request = text.starts_with(kRequested);
  hidden.add(is_request ? text.substr(kRequested.size()) : text, kSomeText);
  text = (is_request ? std::string(kRequested) : "") + kSomeText;
}

void hide_in(v1::Plan& plan, Hidden& hidden) {
  hidden.add_person(plan.requested_by());
  hidden.add_person(plan.approved_by());
  for (std::string& job : *plan.mutable_jobs()) {
    hidden.add_job(job);
    job = kSomeJob;
  }
  if (is_person(plan.requested_by()) && !plan.reason().empty()) {
    hidden.add(plan.reason(), kSomeText);
    plan.set_reason(kSomeText);
  }
  for (v1::PlanStep& step : *plan.mutable_steps()) {
    hidden.add_person(step.who());
    if (is_person(step.who())) hide_note(*step.mutable_what(), hidden);
  }
  // Who keeps it out, and the reason of those who stopped automation or announced work.
  if (!plan.kept_out().empty()) plan.set_kept_out(kSomeText);
  for (v1::GuardVerdict& guard : *plan.mutable_guards())
    if (guard.result() != v1::GuardVerdict::PASSED &&
        (guard.guard() == v1::GuardVerdict::HANDS_OFF || guard.guard() == v1::GuardVerdict::MAINTENANCE))
      guard.set_explanation(kSomeText);
}

void hide_in(v1::MaintenanceWindow& window, Hidden& hidden) {
  hidden.add_person(window.added_by());
  hidden.add_person(window.ended_by());
  if (window.reason().empty()) return;
  hidden.add(window.reason(), kSomeText);
  window.set_reason(kSomeText);
}

void add_jobs_of(const Snapshot& snapshot, const v1::EvidencePack& pack, Hidden& hidden) {
  for (const std::string& job : pack.incident().jobs()) hidden.add_job(job);
  for (const v1::HistoryMark& mark : pack.marks())
    if (const auto id = mark.kind() == v1::HistoryMark::INCIDENT ? parse_incident_name(mark.id()) : std::nullopt)
      if (const auto incident = find_incident(snapshot, *id))
        for (const std::string& job : incident->finding.jobs) hidden.add_job(job);
  if (!snapshot.hosts) return;
  for (const auto& host : *snapshot.hosts) {
    const auto is_its = [&](const v1::Node& node) { return same_host(node.host(), host->host); };
    if (const auto* jobs = jobs_of(*host); jobs != nullptr && std::ranges::any_of(pack.nodes(), is_its))
      for (const std::string& job : *jobs) hidden.add_job(job);
  }
}

}  // namespace

void hide_people(const Snapshot& snapshot, v1::EvidencePack& pack) {
  Hidden hidden;
  add_jobs_of(snapshot, pack, hidden);
  if (pack.has_incident())
    for (std::string& job : *pack.mutable_incident()->mutable_jobs()) job = kSomeJob;
  hidden.add_person(pack.incident().acknowledged_by());
  for (const v1::Incident::TimelineEntry& entry : pack.incident().timeline()) hidden.add_person(entry.who());
  for (v1::Plan& plan : *pack.mutable_plans()) hide_in(plan, hidden);
  for (v1::MaintenanceWindow& window : *pack.mutable_maintenance()) hide_in(window, hidden);
  if (pack.has_timeline())
    for (v1::TimelineEvent& event : *pack.mutable_timeline()->mutable_events()) {
      hidden.add_person(event.who());
      if (event.source() == v1::TimelineEvent::MAINTENANCE && !event.text().empty()) event.set_text(kSomeText);
      if (event.source() == v1::TimelineEvent::PLAN && is_person(event.who())) hide_note(*event.mutable_text(), hidden);
    }
  // "leaf-1: new firmware": what it says behind the label a person wrote.
  for (v1::HistoryMark& mark : *pack.mutable_marks())
    if (mark.kind() == v1::HistoryMark::MAINTENANCE) mark.set_text(kSomeText);
  hidden.add(snapshot.remedy.hands_off_reason, kSomeText);
  hidden.add(snapshot.remedy.file_brake, kSomeText);
  hidden.sort();
  walk(pack, hidden);
}

}  // namespace weft::api
