// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/incident_report.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <string>
#include <vector>

#include "api/publication/age.hpp"
#include "daemon/programs/weftctl/incident_drawing.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "fabric/number_text.hpp"
#include "fabric/topology.hpp"

namespace weft::ctl {
namespace {

constexpr std::size_t kMostNamed = 8;
constexpr const char* kIndent = "            ";

/// What such trouble is, for somebody who sees it for the first time.
const char* meaning_of(v1::Incident::Kind kind) {
  switch (kind) {
    case v1::Incident::LINK_DOWN:
      return "a cable that carried traffic is down";
    case v1::Incident::LINK_FLAP:
      return "link flapping: it goes down and up repeatedly";
    case v1::Incident::LINK_DEGRADED:
      return "link below its supported width or speed";
    case v1::Incident::LINK_ERRORS:
      return "bit error rate of a link above the limit";
    case v1::Incident::SWITCH_DOWN:
      return "switch unreachable, all its links down";
    case v1::Incident::NODE_DOWN:
      return "host unreachable, all its links down";
    case v1::Incident::CONGESTION_INCAST:
      return "incast: many senders saturate the link of one receiver";
    case v1::Incident::CONGESTION_UNEVEN_LOAD:
      return "uneven load: one of several parallel links is saturated, the others are not";
    case v1::Incident::CONGESTION_OVERSUBSCRIBED:
      return "oversubscription: the offered load exceeds a switch's uplinks";
    case v1::Incident::SLOW_RECEIVER:
      return "slow receiver: a host drains its link too slowly and causes backpressure";
    case v1::Incident::PFC_STORM:
      return "PFC storm: a port sends pause frames continuously";
    case v1::Incident::DEADLOCK:
      return "credit loop (InfiniBand) or PFC deadlock (Ethernet): a cycle of blocked links";
    case v1::Incident::SILENT_LOSS:
      return "silent packet loss: retransmits without drop counters";
    case v1::Incident::RDMA_ERRORS:
      return "RDMA operations fail at a host";
    case v1::Incident::STRAGGLER:
      return "straggler: a host is slower than the others of its job";
    case v1::Incident::MISCABLED:
      return "miscabling: a cable is not where the expected topology has it";
    case v1::Incident::DUPLICATE_GUID:
      return "duplicate GUID on two devices";
    case v1::Incident::COUNTER_STUCK:
      return "a counter of a port cannot be trusted";
    case v1::Incident::TELEMETRY_LOST:
      return "no telemetry from a part of the fabric";
    case v1::Incident::LINKS_NOT_ACTIVATED:
      return "links are trained, but the subnet manager does not activate them";
    case v1::Incident::CONFIG_DRIFT:
      return "configuration drift: ports that should be set up alike are not";
    case v1::Incident::HOST_DEGRADED:
      return "a host's adapter, or its slot, works worse than it could";
    case v1::Incident::MODULE_DEGRADED:
      return "a port's module is outside of its own limits";
    case v1::Incident::JOB_HANG:
      return "a job hangs: all its hosts are silent";
    default:
      return "unknown kind: this weftctl is older than weftd";
  }
}

/// One after the other in lines of bearable length, the first few of them.
void print_names(std::ostream& out, const char* head, const std::vector<std::string>& names) {
  if (names.empty()) return;
  constexpr std::size_t kLine = 100;
  std::string line;
  const auto end_line = [&] {
    out << head << line << '\n';
    head = kIndent;
    line.clear();
  };
  for (std::size_t i = 0; i < names.size() && i < kMostNamed; ++i) {
    const bool last = i + 1 == names.size() || i + 1 == kMostNamed;
    if (!line.empty() && line.size() + names[i].size() > kLine) end_line();
    line += (line.empty() ? "" : " ") + names[i] + (last ? "" : ",");
  }
  if (names.size() > kMostNamed) line += " and " + std::to_string(names.size() - kMostNamed) + " more";
  end_line();
}

void print_victims(std::ostream& out, const v1::Incident& incident) {
  std::vector<std::string> nodes, others, jobs;
  for (const v1::Entity& victim : incident.affected())
    (victim.kind() == v1::Entity::NODE ? nodes : others).push_back(label_of(victim));
  for (const std::string& job : incident.jobs()) jobs.push_back(printable(job));
  print_names(out, "affected    ", nodes);
  print_names(out, nodes.empty() ? "affected    " : kIndent, others);
  print_names(out, "jobs        ", jobs);
}

/// The times before the present one, the newest of them. Of a reopened incident its first opening is told elsewhere.
void print_beginnings(std::ostream& out, const v1::Incident& incident) {
  std::vector<std::string> before;
  const std::string first = incident.occurrences() > 1 ? time_text(incident.opened()) : "";
  for (int i = incident.beginnings_size() - 2; i >= 0; --i)
    if (std::string text = time_text(incident.beginnings(i)); text != first) before.push_back(std::move(text));
  print_names(out, "previously  ", before);
}

/// The fabric of its cause and the shard that it belongs to; neither is there of a host outside all fabrics of a weftd
/// that is no part of a site.
std::string place_of(const v1::Incident& incident) {
  std::string place = printable(incident.cause().fabric());
  if (incident.shard().empty()) return place;
  return place + (place.empty() ? "none, of shard " : ", of shard ") + printable(incident.shard());
}

/// "Down": the state that has that number; another number stays one.
std::string port_state_text(double value) {
  for (const PortState state :
       {PortState::kUnknown, PortState::kDown, PortState::kInitialize, PortState::kArmed, PortState::kActive})
    if (value == static_cast<double>(state)) return to_string(state);
  return quantity_text(value, "");
}

/// "the cable", "host gpu-1 mlx5_0 port 1".
std::string suspect_text(const v1::Advice::Suspect& suspect) {
  switch (suspect.part()) {
    case v1::Advice::HOST:
      return "host " + label_of(suspect.where());
    case v1::Advice::CABLE:
      return "the cable";
    case v1::Advice::MODULE:
      return "the module at " + label_of(suspect.where());
    case v1::Advice::SWITCH:
      return "switch " + label_of(suspect.where());
    default:
      return label_of(suspect.where());  // this weftctl is older than weftd
  }
}

void print_advice(std::ostream& out, const v1::Incident& incident, std::size_t columns) {
  if (!incident.has_advice()) return;
  const v1::Advice& advice = incident.advice();
  out << "\nhost, cable or switch\n";
  print_hanging(out, "  first       ", printable(advice.first()), columns);
  std::string shares;
  for (const v1::Advice::Suspect& suspect : advice.suspects())
    shares += (shares.empty() ? "" : ", ") + suspect_text(suspect) + " " + percent_text(suspect.share());
  print_hanging(out, "  how sure    ", (advice.is_clear() ? "" : "not clear: ") + shares, columns);
  const char* head = "  why         ";
  for (const std::string& reason : advice.reasons()) {
    print_hanging(out, head, printable(reason), columns);
    head = "              ";
  }
}

void print_evidence(std::ostream& out, const v1::Incident& incident, TimePoint now, std::size_t columns) {
  if (incident.evidence().empty()) return;
  out << "\nevidence\n";
  for (const v1::Evidence& fact : incident.evidence()) {
    print_hanging(out, "  ", printable(fact.description()), columns);
    std::string text = printable(fact.signal());
    // A fact that is no number has none of these.
    const bool has_value = fact.value() != 0 || fact.has_threshold() || !fact.unit().empty();
    if (fact.signal() == "port_state" && fact.has_threshold()) {
      text += " = " + port_state_text(fact.value()) + ", expected " + port_state_text(fact.threshold());
    } else {
      if (has_value) text += " = " + printable(quantity_text(fact.value(), fact.unit()));
      if (fact.has_threshold()) text += ", threshold " + printable(quantity_text(fact.threshold(), fact.unit()));
    }
    if (fact.has_window())
      text += ", over " + seconds_text(static_cast<double>(fact.window().seconds()) +
                                       static_cast<double>(fact.window().nanos()) / 1e9);
    text += ", at " + label_of(fact.where());
    if (fact.has_observed()) text += ", " + time_text(fact.observed()) + ", " + age_text(true, fact.observed(), now);
    print_hanging(out, "    ", text, columns);
  }
}

/// "opened", "severity changed".
std::string change_text(v1::Incident::TimelineEntry::Change change) {
  if (change == v1::Incident::TimelineEntry::CHANGE_UNSPECIFIED || !v1::Incident::TimelineEntry::Change_IsValid(change))
    return "changed";  // this weftctl is older than weftd
  std::string text = v1::Incident::TimelineEntry::Change_Name(change);
  for (char& c : text) c = c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Does the entry tell severity and summary?
bool says(v1::Incident::TimelineEntry::Change change) {
  using Entry = v1::Incident::TimelineEntry;
  return change == Entry::OPENED || change == Entry::REOPENED || change == Entry::UPDATED ||
         change == Entry::SEVERITY_CHANGED;
}

void print_timeline(std::ostream& out, const v1::Incident& incident, std::size_t columns) {
  if (incident.timeline().empty()) return;
  out << "\ntimeline\n";
  for (const v1::Incident::TimelineEntry& entry : incident.timeline()) {
    if (entry.left_out() > 0) out << "  " << entry.left_out() << " entries are not kept\n";
    std::string text = change_text(entry.change());
    if (says(entry.change())) text += ", " + v1::Incident::Severity_Name(entry.severity());
    if (!entry.who().empty()) text += " by " + printable(entry.who());
    if (!entry.text().empty()) text += ": " + printable(entry.text());
    if (entry.has_numbers_at()) text += " (numbers of " + time_text(entry.numbers_at()) + ")";
    print_hanging(out, "  " + time_text(entry.at()) + "  ", text, columns);
  }
}

}  // namespace

std::string listed_severity(const v1::Incident& incident) {
  const v1::Incident::Severity worst = std::max(incident.severity(), incident.worst_severity());
  if (incident.state() == v1::Incident::RESOLVED || worst == incident.severity())
    return v1::Incident::Severity_Name(worst);
  return v1::Incident::Severity_Name(incident.severity()) + " (worst " + v1::Incident::Severity_Name(worst) + ")";
}

const std::string& listed_summary(const v1::Incident& incident) {
  const bool is_known = !incident.headline().empty();
  return incident.state() == v1::Incident::RESOLVED && is_known ? incident.headline() : incident.summary();
}

std::string listed_state(const v1::Incident& incident, TimePoint now) {
  const std::string& state = v1::Incident::State_Name(incident.state());
  if (incident.state() == v1::Incident::RESOLVED || !incident.has_silenced_until()) return state;
  return state + api::silence_text(TimePoint(std::chrono::seconds(incident.silenced_until().seconds())), now);
}

const google::protobuf::Timestamp& present_beginning(const v1::Incident& incident) {
  using Entry = v1::Incident::TimelineEntry;
  const auto newest = std::find_if(incident.timeline().rbegin(), incident.timeline().rend(), [](const Entry& entry) {
    return entry.change() == Entry::OPENED || entry.change() == Entry::REOPENED;
  });
  return newest == incident.timeline().rend() ? incident.opened() : newest->at();
}

void print_incident(std::ostream& out, const v1::Incident& incident, TimePoint now, const IncidentPage& page) {
  const auto when = [&](const char* head, const google::protobuf::Timestamp& at) {
    out << head << time_text(at) << ", " << age_text(true, at, now) << '\n';
  };
  out << incident.id() << "  " << listed_severity(incident) << "  " << v1::Incident::Kind_Name(incident.kind()) << "  "
      << v1::Incident::State_Name(incident.state()) << '\n';
  // The summary is of the time when it was open.
  print_hanging(out, incident.has_resolved() ? "Resolved. It was: " : "", printable(listed_summary(incident)),
                page.columns);
  out << '\n';
  print_hanging(out, "meaning     ", meaning_of(incident.kind()), page.columns);
  print_hanging(out, "cause       ", label_of(incident.cause()), page.columns);
  if (const std::string place = place_of(incident); !place.empty()) out << "fabric      " << place << '\n';
  out << "confidence  " << percent_text(incident.confidence()) << '\n';
  when("since       ", present_beginning(incident));
  if (incident.has_updated()) when("updated     ", incident.updated());
  if (incident.has_resolved()) when("resolved    ", incident.resolved());
  if (incident.occurrences() > 1) {
    when("first seen  ", incident.opened());
    out << "occurrences " << incident.occurrences() << '\n';
  }
  print_beginnings(out, incident);
  if (!incident.acknowledged_by().empty()) out << "acked by    " << printable(incident.acknowledged_by()) << '\n';
  if (incident.has_silenced_until()) out << "silenced    until " << time_text(incident.silenced_until()) << '\n';
  print_victims(out, incident);
  if (incident.kind() != v1::Incident::KIND_UNSPECIFIED && v1::Incident::Kind_IsValid(incident.kind())) {
    out << "runbook     ";
    // An older weftd serves none.
    if (!incident.runbook().empty())
      out << printable(page.url + incident.runbook()) << (page.url.empty() ? " on weftd's page " : " ");
    out << "(weftctl runbook " << v1::Incident::Kind_Name(incident.kind()) << ")\n";
  }

  const Pen pen(page.plain);
  if (const auto lines = drawing_of(incident, pen); !lines.empty()) {
    out << (incident.waiting().empty() ? "\nlocation\n" : "\nwaiting links\n");
    for (const std::string& line : lines) out << "  " << line << '\n';
  }
  if (const auto path = path_of(incident); path.size() > 2) {
    out << "\npath of a waiting flow\n  ";
    for (std::size_t i = 0; i < path.size(); ++i) out << (i == 0 ? "" : pen.step) << path[i];
    out << '\n';
  }
  print_advice(out, incident, page.columns);
  print_evidence(out, incident, now, page.columns);
  print_timeline(out, incident, page.columns);
}

}  // namespace weft::ctl
