// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "daemon/programs/weftctl/incident_drawing.hpp"
#include "daemon/programs/weftctl/incident_report.hpp"

namespace weft::ctl {
namespace {

constexpr std::int64_t kOpened = 1'700'000'000;
const TimePoint kNow{std::chrono::seconds(kOpened + 90)};

void set_node(v1::Entity& entity, const std::string& guid, const std::string& label) {
  entity.set_kind(v1::Entity::NODE);
  entity.set_node_guid(guid);
  entity.set_label(label);
  entity.set_identity("node " + guid);
}

void set_port(v1::Entity& entity, const std::string& label) {
  entity.set_kind(v1::Entity::PORT);
  entity.set_label(label);
  entity.set_identity("port " + label);
}

void set_link(v1::Entity& entity, const std::string& label, const std::string& guid, std::uint32_t port,
              const std::string& peer_guid, std::uint32_t peer_port) {
  entity.set_kind(v1::Entity::LINK);
  entity.set_label(label);
  entity.set_node_guid(guid);
  entity.set_port(port);
  entity.set_peer_guid(peer_guid);
  entity.set_peer_port(peer_port);
}

v1::Incident make(v1::Incident::Kind kind) {
  v1::Incident incident;
  incident.set_id("INC-7");
  incident.set_kind(kind);
  incident.set_severity(v1::Incident::WARNING);
  incident.set_state(v1::Incident::OPEN);
  incident.set_summary("it is so");
  incident.set_confidence(0.8);
  incident.mutable_opened()->set_seconds(kOpened);
  return incident;
}

v1::WaitingLink& add_waiting(v1::Incident& incident, const std::string& sender, const std::string& towards,
                             int waits_for, double stall, double utilization) {
  v1::WaitingLink& link = *incident.add_waiting();
  set_port(*link.mutable_sender(), sender);
  link.set_towards(towards);
  if (waits_for >= 0) link.set_waits_for(static_cast<std::uint32_t>(waits_for));
  link.set_stall_ratio(stall);
  link.set_utilization_ratio(utilization);
  incident.set_waiting_total(incident.waiting_total() + (waits_for >= 0 ? 1 : 0));
  return link;
}

/// A receiver, its leaf, a spine, two leaves and a host behind each.
v1::Incident slow_receiver() {
  v1::Incident incident = make(v1::Incident::SLOW_RECEIVER);
  set_port(*incident.mutable_cause(), "h0 port 1");
  add_waiting(incident, "leaf-0 port 2", "h0 port 1", -1, 0.6, 0.35);
  add_waiting(incident, "spine-1 port 1", "leaf-0 port 9", 0, 0.5, 0.4);
  add_waiting(incident, "leaf-1 port 9", "spine-1 port 2", 1, 0.45, 0.4);
  add_waiting(incident, "leaf-2 port 9", "spine-1 port 3", 1, 0.4, 0.3);
  add_waiting(incident, "h17 port 1", "leaf-1 port 1", 2, 0.3, 0.2);
  add_waiting(incident, "h33 port 1", "leaf-2 port 1", 3, 0.25, 0.4);
  v1::Evidence& share = *incident.add_evidence();
  share.set_signal("contributor");
  share.set_description("h33 port 1 contributes traffic");
  share.set_value(160);
  share.set_unit("Gb/s");
  share.mutable_window()->set_seconds(1);
  share.mutable_observed()->set_seconds(kOpened + 60);
  set_port(*share.mutable_where(), "h33 port 1");
  return incident;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

TEST(IncidentDrawing, WhoWaitsForWhomIsATreeFromTheCause) {
  EXPECT_EQ(joined(drawing_of(slow_receiver(), Pen(false))),
            "● leaf-0 port 2 ─▶ h0 port 1  waits 60 %, sends 35 %\n"
            "└─ spine-1 port 1             waits 50 %, sends 40 %\n"
            "   ├─ leaf-1 port 9           waits 45 %, sends 40 %\n"
            "   │  └─ h17 port 1           waits 30 %, sends 20 %\n"
            "   └─ leaf-2 port 9           waits 40 %, sends 30 %\n"
            "      └─ h33 port 1           waits 25 %, sends 40 %: contributes 160 Gb/s\n");
}

TEST(IncidentDrawing, PlainIsAscii) {
  const std::string text = joined(drawing_of(slow_receiver(), Pen(true)));
  EXPECT_NE(text.find("* leaf-0 port 2 -> h0 port 1"), std::string::npos) << text;
  EXPECT_NE(text.find("   |  `- h17 port 1"), std::string::npos) << text;
  EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) << text;
}

TEST(IncidentDrawing, TheWayIsOfAContributorAndEndsAtTheReceiver) {
  const std::vector<std::string> expected{"h33 port 1", "leaf-2 port 9", "spine-1 port 1", "leaf-0 port 2",
                                          "h0 port 1"};
  EXPECT_EQ(path_of(slow_receiver()), expected);
  v1::Incident nobody_known = slow_receiver();
  nobody_known.clear_evidence();
  EXPECT_EQ(path_of(nobody_known).front(), "h17 port 1");
  EXPECT_TRUE(path_of(make(v1::Incident::SLOW_RECEIVER)).empty());
}

TEST(IncidentDrawing, IsCutAndSaysBySoManyWhatIsLeftOut) {
  v1::Incident incident = make(v1::Incident::CONGESTION_INCAST);
  add_waiting(incident, "leaf-0 port 2", "h0 port 1", -1, 0, 1);
  for (int i = 0; i < 40; ++i) add_waiting(incident, "h" + std::to_string(i) + " port 1", "leaf-0 port 3", 0, 0.5, 0.1);
  incident.set_waiting_total(60);
  const auto lines = drawing_of(incident, Pen(true));
  ASSERT_EQ(lines.size(), 25U);
  EXPECT_TRUE(lines[23].starts_with("`- h22 port 1")) << lines[23];
  EXPECT_EQ(lines[24], "and 37 more waiting links");
}

TEST(IncidentDrawing, ACircleSaysThatItIsOne) {
  v1::Incident incident = make(v1::Incident::DEADLOCK);
  for (const char* name : {"leaf-0 port 5", "spine-0 port 2", "leaf-1 port 6", "spine-1 port 1"})
    add_waiting(incident, name, "next", -1, 1, 0);
  add_waiting(incident, "h1 port 1", "leaf-0 port 1", 0, 1, 0);
  const auto lines = drawing_of(incident, Pen(true));
  ASSERT_EQ(lines.size(), 6U) << joined(lines);
  EXPECT_EQ(lines[0], "cycle: each link waits for the next, the last for the first");
  EXPECT_TRUE(lines[2].starts_with("|  `- h1 port 1")) << lines[2];
}

TEST(IncidentDrawing, AServerThatTalksNonsenseDoesNoHarm) {
  v1::Incident incident = make(v1::Incident::CONGESTION_INCAST);
  add_waiting(incident, "a\x1b[2J port 1", "b", 0, -1, 1e300);  // for itself
  add_waiting(incident, "c port 1", "b", 5000, 0.5, 0.1);       // for one that is not there
  EXPECT_EQ(drawing_of(incident, Pen(true)).size(), 4U) << "both as roots, and two that wait elsewhere";
  for (const std::string& line : drawing_of(incident, Pen(true))) EXPECT_EQ(line.find('\x1b'), std::string::npos);
}

TEST(IncidentDrawing, ALinkShowsBothEndsAndWhatIsBehind) {
  v1::Incident incident = make(v1::Incident::LINK_DOWN);
  set_link(*incident.mutable_cause(), "leaf - 1 port 12 - h - 4 mlx5_0 port 1", "0x1", 12, "0x2", 1);
  set_node(*incident.add_affected(), "0x2", "h - 4 mlx5_0");
  EXPECT_EQ(joined(drawing_of(incident, Pen(false))),
            "leaf - 1 port 12 ──✗── h - 4 mlx5_0 port 1\n"
            "└─ h - 4 mlx5_0  cut off\n");
  incident.set_kind(v1::Incident::LINK_ERRORS);
  EXPECT_EQ(drawing_of(incident, Pen(true)).front(), "leaf - 1 port 12 --!-- h - 4 mlx5_0 port 1");
  incident.mutable_cause()->set_label("renamed");
  EXPECT_TRUE(drawing_of(incident, Pen(true)).empty()) << "nothing is better than a wrong drawing";
}

TEST(IncidentDrawing, OnlyWhatIsDownCutsOff) {
  v1::Incident incident = make(v1::Incident::LINK_DOWN);
  set_link(*incident.mutable_cause(), "leaf-1 port 12 - h4 port 1", "0x1", 12, "0x2", 1);
  set_node(*incident.add_affected(), "0x2", "h4");
  incident.set_state(v1::Incident::ACKNOWLEDGED);
  EXPECT_EQ(drawing_of(incident, Pen(true)).back(), "`- h4  cut off");
  for (const auto kind : {v1::Incident::LINK_FLAP, v1::Incident::LINK_DEGRADED, v1::Incident::LINK_ERRORS}) {
    incident.set_kind(kind);
    EXPECT_EQ(drawing_of(incident, Pen(true)).back(), "`- h4  affected");
  }
  incident.set_kind(v1::Incident::LINK_DOWN);
  incident.set_state(v1::Incident::RESOLVED);
  EXPECT_EQ(drawing_of(incident, Pen(true)).back(), "`- h4  was cut off");
  v1::Incident down = make(v1::Incident::SWITCH_DOWN);
  set_node(*down.mutable_cause(), "0x5", "leaf-1");
  set_node(*down.add_affected(), "0x2", "h4");
  down.set_state(v1::Incident::RESOLVED);
  EXPECT_EQ(drawing_of(down, Pen(true)).back(), "`- h4  was cut off");
}

TEST(IncidentDrawing, ASwitchShowsItsCablesFromItsOwnSide) {
  v1::Incident incident = make(v1::Incident::SWITCH_DOWN);
  set_node(*incident.mutable_cause(), "0x5", "spine-1");
  set_link(*incident.add_affected(), "leaf-0 port 9 - spine-1 port 1", "0x1", 9, "0x5", 1);
  set_link(*incident.add_affected(), "spine-1 port 2 - h9 mlx5_0 port 1", "0x5", 2, "0x9", 1);
  set_node(*incident.add_affected(), "0x9", "h9 mlx5_0");
  set_node(*incident.add_affected(), "0xa", "far away");
  EXPECT_EQ(joined(drawing_of(incident, Pen(true))),
            "* spine-1\n"
            "|- port 1 --x-- leaf-0 port 9\n"
            "|- port 2 --x-- h9 mlx5_0 port 1\n"
            "`- far away  cut off\n");
  for (int i = 0; i < 40; ++i)
    set_link(*incident.add_affected(), "spine-1 port 30 - x port 1", "0x5", 30, "0x" + std::to_string(100 + i), 1);
  const auto lines = drawing_of(incident, Pen(true));
  ASSERT_EQ(lines.size(), 13U);
  EXPECT_EQ(lines.back(), "`- and 32 more");
}

TEST(IncidentDrawing, EthernetPortsGoByTheirNames) {
  v1::Incident incident = make(v1::Incident::LINK_DOWN);
  set_link(*incident.mutable_cause(), "leaf01 swp12 - gpu-04 eth2", "0x1", 12, "0x2", 1);
  EXPECT_EQ(joined(drawing_of(incident, Pen(true))), "leaf01 swp12 --x-- gpu-04 eth2\n");
  incident.mutable_cause()->set_label("a - b - c");
  EXPECT_TRUE(drawing_of(incident, Pen(true)).empty()) << "which of the two is between the ends?";
  v1::Incident down = make(v1::Incident::SWITCH_DOWN);
  set_node(*down.mutable_cause(), "0x5", "spine01");
  set_link(*down.add_affected(), "leaf01 swp49 - spine01 swp1", "0x1", 9, "0x5", 1);
  set_link(*down.add_affected(), "spine01 swp2 - leaf02 swp49", "0x5", 2, "0x9", 1);
  EXPECT_EQ(joined(drawing_of(down, Pen(true))),
            "* spine01\n"
            "|- swp1 --x-- leaf01 swp49\n"
            "`- swp2 --x-- leaf02 swp49\n");
}

TEST(IncidentStory, HasWhatAPersonAsksFor) {
  v1::Incident incident = slow_receiver();
  for (int i = 0; i < 11; ++i) set_node(*incident.add_affected(), std::to_string(i), "host-" + std::to_string(i));
  incident.add_jobs("4711");
  v1::Evidence& fact = *incident.add_evidence();
  fact.set_signal("transmit_wait");
  fact.set_description("leaf-0 port 2 has data and no credit 60 % of the time");
  fact.set_value(0.6);
  fact.set_threshold(0.05);
  fact.mutable_window()->set_nanos(500'000'000);
  fact.mutable_observed()->set_seconds(kOpened + 88);
  set_port(*fact.mutable_where(), "leaf-0 port 2");
  std::ostringstream out;
  print_incident(out, incident, kNow, {.plain = true});
  const std::string text = out.str();
  for (const char* part :
       {"INC-7  WARNING  SLOW_RECEIVER  OPEN\n", "cause       h0 port 1\n", "confidence  80.0 %\n",
        "since       2023-11-14 22:13:20 UTC, 1 min ago\n", "host-6, host-7 and 3 more\n", "jobs        4711\n",
        "  leaf-0 port 2 has data and no credit 60 % of the time\n"
        "    transmit_wait = 0.6, threshold 0.05, over 500 ms, at leaf-0 port 2, 2023-11-14 22:14:48 UTC, 2 s ago\n",
        "  h33 port 1 -> leaf-2 port 9 -> spine-1 port 1 -> leaf-0 port 2 -> h0 port 1\n",
        "contributor = 160 Gb/s, over 1 s, at h33 port 1"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "is not in\n" << text;
}

TEST(IncidentStory, SaysWhichPartToTouchFirst) {
  v1::Incident incident = make(v1::Incident::LINK_FLAP);
  std::ostringstream without;
  print_incident(without, incident, kNow, {.plain = true});
  EXPECT_EQ(without.str().find("host, cable or switch"), std::string::npos);
  v1::Advice& advice = *incident.mutable_advice();
  const auto add = [&](v1::Advice::Part part, const char* label, double share) {
    v1::Advice::Suspect& suspect = *advice.add_suspects();
    suspect.set_part(part);
    suspect.mutable_where()->set_label(label);
    suspect.set_share(share);
  };
  add(v1::Advice::SWITCH, "leaf-1", 0.5);
  add(v1::Advice::CABLE, "leaf-1 port 2 - gpu-1 port 1", 0.3);
  add(v1::Advice::HOST, "gpu-1 port 1", 0.15);
  add(v1::Advice::MODULE, "leaf-1 port 2", 0.05);
  advice.set_first("It cannot be told");
  advice.add_reasons("2 of its links");
  advice.add_reasons("a\x1b[31mb");
  std::ostringstream out;
  print_incident(out, incident, kNow, {.plain = true});
  const std::string text = out.str();
  for (const char* part : {"\nhost, cable or switch\n  first       It cannot be told\n",
                           "  how sure    not clear: switch leaf-1 50.0 %, the cable 30.0 %, host gpu-1 port 1 15.0 %, "
                           "the module at leaf-1 "
                           "port 2 5.0 %\n",
                           "  why         2 of its links\n              a"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "is not in\n" << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  advice.set_is_clear(true);
  std::ostringstream clear;
  print_incident(clear, incident, kNow, {.plain = true});
  EXPECT_NE(clear.str().find("  how sure    switch leaf-1 50.0 %, "), std::string::npos) << clear.str();
}

v1::Incident::TimelineEntry& add_entry(v1::Incident& incident, std::int64_t after,
                                       v1::Incident::TimelineEntry::Change change, v1::Incident::Severity severity,
                                       const std::string& text) {
  v1::Incident::TimelineEntry& entry = *incident.add_timeline();
  entry.mutable_at()->set_seconds(kOpened + after);
  entry.set_change(change);
  entry.set_severity(severity);
  entry.set_text(text);
  return entry;
}

std::string printed(const v1::Incident& incident) {
  std::ostringstream out;
  print_incident(out, incident, kNow, {.plain = true});
  return out.str();
}

TEST(IncidentStory, FitsTheTerminal) {
  v1::Incident incident = make(v1::Incident::LINK_DOWN);
  const std::string summary =
      "Link leaf-r2-p01 port 30 - spine-03 port 12 is down, reported by both ends, and carried "
      "the traffic of 16 hosts";
  incident.set_summary(summary);
  v1::Evidence& fact = *incident.add_evidence();
  fact.set_signal("port_state");
  fact.set_description("leaf-r2-p01 port 30 - spine-03 port 12 was active for eleven days before it went down");
  fact.mutable_observed()->set_seconds(kOpened);
  set_port(*fact.mutable_where(), "leaf-r2-p01 port 30");
  add_entry(incident, 0, v1::Incident::TimelineEntry::OPENED, v1::Incident::CRITICAL, summary);
  std::ostringstream narrow, wide;
  print_incident(narrow, incident, kNow, {.plain = true, .columns = 80});
  print_incident(wide, incident, kNow, {.plain = true});
  std::istringstream lines(narrow.str());
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(line.size() <= 80 || line.starts_with("runbook")) << line;
  EXPECT_NE(narrow.str(), wide.str());
  const auto words = [](const std::string& text) {
    std::istringstream all(text);
    return std::vector<std::string>(std::istream_iterator<std::string>(all), {});
  };
  EXPECT_EQ(words(narrow.str()), words(wide.str())) << "no word is lost";
}

TEST(IncidentStory, SaysWhatTheIncidentSaidOverTime) {
  using Entry = v1::Incident::TimelineEntry;
  v1::Incident incident = make(v1::Incident::LINK_DOWN);
  EXPECT_EQ(printed(incident).find("timeline"), std::string::npos) << "an older weftd has none";
  add_entry(incident, 0, Entry::OPENED, v1::Incident::CRITICAL, "it is down");
  add_entry(incident, 20, Entry::ACKNOWLEDGED, v1::Incident::CRITICAL, "").set_who("a\x1b");
  Entry& updated = add_entry(incident, 30, Entry::UPDATED, v1::Incident::WARNING, "3 wait");
  updated.set_left_out(7);
  updated.mutable_numbers_at()->set_seconds(kOpened + 50);
  add_entry(incident, 60, Entry::SILENCED, v1::Incident::WARNING, "for 2 h").set_who("kim");
  add_entry(incident, 70, Entry::FOLDED, v1::Incident::WARNING, "now part of INC-8");
  add_entry(incident, 80, static_cast<Entry::Change>(99), v1::Incident::WARNING, "");
  EXPECT_NE(printed(incident).find("\ntimeline\n"
                                   "  2023-11-14 22:13:20 UTC  opened, CRITICAL: it is down\n"
                                   "  2023-11-14 22:13:40 UTC  acknowledged by a?\n"
                                   "  7 entries are not kept\n"
                                   "  2023-11-14 22:13:50 UTC  updated, WARNING: 3 wait "
                                   "(numbers of 2023-11-14 22:14:10 UTC)\n"
                                   "  2023-11-14 22:14:20 UTC  silenced by kim: for 2 h\n"
                                   "  2023-11-14 22:14:30 UTC  folded: now part of INC-8\n"
                                   "  2023-11-14 22:14:40 UTC  changed\n"),
            std::string::npos)
      << printed(incident);
}

TEST(IncidentStory, OfAReopenedIncidentBeginsWithTheLastOpening) {
  using Entry = v1::Incident::TimelineEntry;
  v1::Incident incident = make(v1::Incident::LINK_DOWN);
  incident.set_occurrences(2);
  incident.add_beginnings()->set_seconds(kOpened - 600);  // an incident before it
  incident.add_beginnings()->set_seconds(kOpened);
  incident.add_beginnings()->set_seconds(kOpened + 54);
  EXPECT_EQ(present_beginning(incident).seconds(), kOpened) << "an older weftd has no timeline";
  add_entry(incident, 0, Entry::OPENED, v1::Incident::CRITICAL, "it is down");
  add_entry(incident, 20, Entry::RESOLVED, v1::Incident::CRITICAL, "");
  add_entry(incident, 54, Entry::REOPENED, v1::Incident::CRITICAL, "it is down");
  add_entry(incident, 60, Entry::ACKNOWLEDGED, v1::Incident::CRITICAL, "").set_who("ada");
  EXPECT_EQ(present_beginning(incident).seconds(), kOpened + 54);
  EXPECT_NE(printed(incident).find("since       2023-11-14 22:14:14 UTC, 36 s ago\n"
                                   "first seen  2023-11-14 22:13:20 UTC, 1 min ago\n"
                                   "occurrences 2\n"
                                   "previously  2023-11-14 22:03:20 UTC\n"),
            std::string::npos)
      << printed(incident);
}

TEST(IncidentStory, IsOfItsWorstOnceItIsOver) {
  v1::Incident incident = make(v1::Incident::LINK_DOWN);
  incident.set_worst_severity(v1::Incident::CRITICAL);
  incident.set_headline("it was worse");
  EXPECT_EQ(printed(incident).find("INC-7  WARNING (worst CRITICAL)  LINK_DOWN  OPEN\nit is so\n"), 0U);
  incident.set_state(v1::Incident::RESOLVED);
  incident.mutable_resolved()->set_seconds(kOpened + 60);
  EXPECT_EQ(printed(incident).find("INC-7  CRITICAL  LINK_DOWN  RESOLVED\nResolved. It was: it was worse\n"), 0U);
  incident.clear_worst_severity();
  incident.clear_headline();
  EXPECT_EQ(printed(incident).find("INC-7  WARNING  LINK_DOWN  RESOLVED\nResolved. It was: it is so\n"), 0U)
      << "of an older weftd";
}

TEST(IncidentList, SaysThatAnIncidentIsSilenced) {
  v1::Incident incident = make(v1::Incident::LINK_DOWN);
  EXPECT_EQ(listed_state(incident, kNow), "OPEN");
  incident.mutable_silenced_until()->set_seconds(kOpened + 3600);
  EXPECT_EQ(listed_state(incident, kNow), "OPEN (silenced until 23:13 UTC)");
  EXPECT_EQ(listed_state(incident, kNow + std::chrono::hours(1)), "OPEN") << "it is over";
  incident.set_state(v1::Incident::RESOLVED);
  EXPECT_EQ(listed_state(incident, kNow), "RESOLVED");
}

TEST(IncidentStory, RoundsTheNumbersOfEvidence) {
  v1::Incident incident = make(v1::Incident::LINK_FLAP);
  const auto add = [&](const char* signal, double value, double threshold, const char* unit) {
    v1::Evidence& fact = *incident.add_evidence();
    fact.set_signal(signal);
    fact.set_value(value);
    if (threshold != 0) fact.set_threshold(threshold);
    fact.set_unit(unit);
    set_port(*fact.mutable_where(), "h1");
  };
  add("flap_penalty_fast", 2995.38494, 2000, "points");
  add("error_rate", 3.21e-11, 1e-12, "errors/bit");
  add("symbol_errors", 3'293'504, 0, "events");
  add("port_state", 0, 0, "");
  add("port_state", 1, 4, "");
  add("port_state", 9, 4, "");
  add("rate", 0, 4, "");
  const std::string text = printed(incident);
  for (const char* part : {"    flap_penalty_fast = 3,000 points, threshold 2,000 points, at h1\n",
                           "    error_rate = 3.21e-11 errors/bit, threshold 1e-12 errors/bit, at h1\n",
                           "    symbol_errors = 3,293,504 events, at h1\n", "    port_state, at h1\n",
                           "    port_state = Down, expected Active, at h1\n",
                           "    port_state = 9, expected Active, at h1\n", "    rate = 0, threshold 4, at h1\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "is not in\n" << text;
}

TEST(IncidentStory, EveryKindHasAMeaning) {
  const auto* kinds = v1::Incident::Kind_descriptor();
  for (int i = 0; i < kinds->value_count(); ++i) {
    if (kinds->value(i)->number() == v1::Incident::KIND_UNSPECIFIED) continue;
    std::ostringstream out;
    print_incident(out, make(static_cast<v1::Incident::Kind>(kinds->value(i)->number())), kNow, {.plain = true});
    EXPECT_EQ(out.str().find("unknown kind"), std::string::npos) << kinds->value(i)->name();
  }
}

}  // namespace
}  // namespace weft::ctl
