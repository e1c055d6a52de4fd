// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <sstream>

#include "daemon/platform/cli/spelling.hpp"
#include "daemon/programs/weftctl/live.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/usage_errors.hpp"
#include "daemon/programs/weftctl/value_format.hpp"

namespace weft::ctl {
namespace {

TEST(Text, DurationsAreReadAsPeopleWriteThem) {
  using namespace std::chrono;
  EXPECT_EQ(parse_duration("90s"), Duration(std::chrono::seconds(90)));
  EXPECT_EQ(parse_duration("1h30m"), Duration(minutes(90)));
  EXPECT_EQ(parse_duration("1d"), Duration(hours(24)));
  EXPECT_EQ(parse_duration("1.5h"), Duration(minutes(90)));
  EXPECT_EQ(parse_duration("3650d"), Duration(hours(24 * 3650)));
  EXPECT_FALSE(parse_duration("3651d")) << "more than ten years";
  for (const char* bad : {"", "2", "h", "-1h", "1h-", "2w", "99999999999h", "100000000d", "9000000d9000000d"})
    EXPECT_FALSE(parse_duration(bad)) << bad;
}

TEST(Text, TimesAreReadInUtcOrFromNowOn) {
  const TimePoint now{std::chrono::seconds(1'700'000'000)};
  EXPECT_EQ(parse_time("2023-11-14 22:13:20", now), now);
  EXPECT_EQ(parse_time("2023-11-14T22:13:20Z", now), now);
  EXPECT_EQ(parse_time("2023-11-14 22:13", now), now - std::chrono::seconds(20));
  EXPECT_EQ(parse_time("2h", now), now + std::chrono::hours(2));
  for (const char* bad : {"", "tomorrow", "2023-11-14", "2023-02-30 10:00", "2023-11-14 24:00", "2023-11-14 22:13x",
                          "2023-11-14 2:13", "-023-11-14 22:13"})
    EXPECT_FALSE(parse_time(bad, now)) << bad;
}

TEST(Text, RatesAndRatios) {
  EXPECT_EQ(percent_text(0.1234), "12.3 %");
}

TEST(Text, NamesCannotSteerTheTerminal) {
  EXPECT_EQ(printable("a\x1b[2Jb\x7f"), "a?[2Jb?");
  EXPECT_EQ(printable("x\xC2\x9By"), "x?y") << "the eight-bit CSI";
  EXPECT_EQ(printable("caf\xC3\xA9"), "caf\xC3\xA9");
}

TEST(Table, ColumnsLineUpByCharacters) {
  Table table({"NODE", "STATE"});
  table.add({"caf\xC3\xA9", "up"});
  table.add({"n", "down"});
  std::ostringstream out;
  table.print(out);
  EXPECT_EQ(out.str(), "NODE  STATE\ncaf\xC3\xA9  up\nn     down\n");
}

TEST(Table, NumbersStandAtTheRight) {
  Table table({"NODE", number("PORTS"), "FABRIC"});
  table.add({"a", "1", "x"});
  table.add({"b", "128", "y"});
  std::ostringstream out;
  table.print(out);
  EXPECT_EQ(out.str(), "NODE  PORTS  FABRIC\na         1  x\nb       128  y\n");
}

TEST(Table, WideCharactersTakeTwoColumns) {
  EXPECT_EQ(width("\u6a5f"), 2U);
  EXPECT_EQ(width("e\u0301"), 1U) << "an accent that combines";
  EXPECT_EQ(width("\xff\xfe"), 2U) << "not UTF-8";
  Table table({"NODE", "STATE"});
  table.add({"\u6a5f\u68b0", "up"});
  table.add({"abcd", "up"});
  std::ostringstream out;
  table.print(out);
  EXPECT_EQ(out.str(), "NODE  STATE\n\u6a5f\u68b0  up\nabcd  up\n");
}

TEST(Table, NarrowTerminalsWrapSentencesAndLeaveOutWhatCanBeSpared) {
  Table table({"NODE", spare("GUID"), "PEER", story("WHAT")});
  table.add({"gpu-0001 mlx5_0", "0x0ec0000000001000", "leaf-01 port 12345", "a cable that carries nothing since noon"});
  const auto at = [&table](std::size_t columns) {
    std::ostringstream out;
    table.print(Sheet{.out = out, .columns = columns, .plain = true});
    return out.str();
  };
  EXPECT_EQ(at(0),
            "NODE             GUID                PEER                WHAT\n"
            "gpu-0001 mlx5_0  0x0ec0000000001000  leaf-01 port 12345  a cable that carries nothing since noon\n");
  EXPECT_EQ(at(86),
            "NODE             GUID                PEER                WHAT\n"
            "gpu-0001 mlx5_0  0x0ec0000000001000  leaf-01 port 12345  a cable that carries nothing\n"
            "                                                         since noon\n");
  EXPECT_EQ(at(64),
            "NODE             PEER                WHAT\n"
            "gpu-0001 mlx5_0  leaf-01 port 12345  a cable that carries\n"
            "                                     nothing since noon\n"
            "Columns left out: GUID.\n");
  EXPECT_EQ(at(56),
            "NODE             PEER           WHAT\n"
            "gpu-0001 mlx5_0  leaf-0..12345  a cable that carries\n"
            "                                nothing since noon\n"
            "Columns left out: GUID.\n");
}

TEST(Table, SentencesStandBelowTheirRowsWhereNothingElseFits) {
  Table table({"ID", whole("ACTION"), judged("STATE"), link("TARGET"), spare("INCIDENT"), story("REASON")});
  table.add({"PLAN-5", "ISOLATE_LINK", "PROPOSED (refused: RAIL_CAPACITY)", "leaf-r2-p01 port 32 - spine-04 port 12",
             "INC-7", "Link leaf-r2-p01 port 32 - spine-04 port 12 is flapping; reported by both of its ends"});
  table.add({"PLAN-6", "ISOLATE_LINK", "COMMITTED", "leaf-r3-p01 port 1 - spine-04 port 1", "INC-8", ""});
  const auto at = [&table](std::size_t columns) {
    std::ostringstream out;
    table.print(Sheet{.out = out, .columns = columns, .plain = true});
    return out.str();
  };
  EXPECT_EQ(at(80),
            "ID      ACTION        STATE                     TARGET\n"
            "    REASON\n"
            "PLAN-5  ISOLATE_LINK  PROPOSED                  leaf-r2-p01 port 32 - spin..t 12\n"
            "                      (refused: RAIL_CAPACITY)\n"
            "    Link leaf-r2-p01 port 32 - spine-04 port 12 is flapping; reported by both of\n"
            "    its ends\n"
            "PLAN-6  ISOLATE_LINK  COMMITTED                 leaf-r3-p01 port 1 - spine..rt 1\n"
            "Columns left out: INCIDENT.\n");
  for (std::size_t columns = 72; columns < 200; ++columns) {
    std::istringstream lines(at(columns));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(width(line), columns) << line;
    for (const char* is_whole :
         {"PLAN-5", "ISOLATE_LINK", "leaf-r2-p01 port 32", "(refused: RAIL_CAPACITY)", "COMMITTED"})
      EXPECT_NE(at(columns).find(is_whole), std::string::npos) << columns << '\n' << at(columns);
  }
}

TEST(Table, SeveralSentencesBelowARowSayWhatTheyAre) {
  Table table({"ID", whole("SINCE"), story("REASON"), story("COMES BACK")});
  table.add({"PLAN-1", "2026-11-24 03:08:27 UTC", "it is slow", "weftctl restore"});
  std::ostringstream out;
  table.print(Sheet{.out = out, .columns = 40, .plain = true});
  EXPECT_EQ(out.str(),
            "ID      SINCE\n"
            "PLAN-1  2026-11-24 03:08:27 UTC\n"
            "    REASON: it is slow\n"
            "    COMES BACK: weftctl restore\n");
}

TEST(Table, OfALinkTheFirstEndStaysAndTimesAreWhole) {
  Table table({"ID", link("TARGET"), whole("SINCE")});
  table.add({"PLAN-1", "leaf-r7-p01 port 30 - spine-r7-s02 port 30", "2026-11-24 03:08:27 UTC"});
  std::ostringstream out;
  table.print(Sheet{.out = out, .columns = 56, .plain = true});
  EXPECT_EQ(out.str(),
            "ID      TARGET                   SINCE\n"
            "PLAN-1  leaf-r7-p01 port 30 ..   2026-11-24 03:08:27 UTC\n");
  std::ostringstream wider;
  table.print(Sheet{.out = wider, .columns = 64, .plain = true});
  EXPECT_NE(wider.str().find("PLAN-1  leaf-r7-p01 port 30 - spin.. 30  2026-11-24"), std::string::npos) << wider.str();
}

TEST(Table, ColourIsOnlyWhereItIsTaken) {
  Table table({"NODE", judged("STATE")});
  table.add({"up", "DOWN"});
  std::ostringstream plain, coloured;
  table.print(Sheet{.out = plain});
  EXPECT_EQ(plain.str().find('\x1b'), std::string::npos);
  table.print(Sheet{.out = coloured, .colour = true});
  EXPECT_NE(coloured.str().find("up    \x1b[1;31mDOWN\x1b[0m\n"), std::string::npos) << coloured.str();
  EXPECT_EQ(tone_of("ACTIVE (stale)"), Tone::kWarning);
}

TEST(Table, ChangedRowsAreMarkedForAWhile) {
  RowMemory memory;
  const auto page = [&memory](std::vector<std::vector<std::string>> rows, int second) {
    memory.begin(TimePoint(std::chrono::seconds(1000 + second)));
    Table table({"NODE", "STATE", age("AGE")});
    for (auto& row : rows) table.add(row);
    std::ostringstream out;
    table.print(Sheet{.out = out, .memory = &memory});
    return out.str();
  };
  EXPECT_EQ(page({{"a", "up", "1 s"}}, 0), "  NODE  STATE  AGE\n  a     up     1 s\n");
  EXPECT_EQ(page({{"a", "up", "3 s"}}, 2), "  NODE  STATE  AGE\n  a     up     3 s\n") << "an age marks nothing";
  EXPECT_EQ(page({{"a", "down", "5 s"}, {"b", "up", "0 s"}}, 4),
            "  NODE  STATE  AGE\n> a     down   5 s\n> b     up     0 s\n");
  EXPECT_EQ(page({{"a", "down", "7 s"}}, 6), "  NODE  STATE  AGE\n> a     down   7 s\n");
  EXPECT_EQ(memory.gone(), 1U);
  EXPECT_EQ(page({{"a", "down", "9 s"}}, 20), "  NODE  STATE  AGE\n  a     down   9 s\n");
}

TEST(Live, WordsAndPages) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(with_interval({"weftctl", "ports", "--watch", "leaf-1"}),
            (Words{"weftctl", "ports", "--watch=2", "leaf-1"}));
  EXPECT_EQ(with_interval({"weftctl", "links", "--watch", "0.5"}), (Words{"weftctl", "links", "--watch=0.5"}));
  EXPECT_EQ(wanted_interval("0.5"), Duration(std::chrono::milliseconds(500)));
  for (const char* bad : {"", "0", "x", "1x", "7200", "1.2.3"}) EXPECT_THROW(wanted_interval(bad), Failure) << bad;
  EXPECT_EQ(command_text({"weftctl", "--server", "a:1", "links", "--watch=2", "--down"}), "weftctl links --down");
  EXPECT_EQ(cut_to_height("1\n2\n3\n4\n", 3), "1\n2\nand 2 more lines\n");
  EXPECT_EQ(cut_to_height("1\n2\n", 3), "1\n2\n");
  EXPECT_EQ(one_line("{\n  \"a\": [\n    1\n  ]\n}\n"), "{\"a\": [1]}");
}

TEST(Mistakes, SayWhatMayHaveBeenMeant) {
  usage::Command program, incidents, status;
  program.name = "weftctl";
  incidents.name = "incidents";
  status.name = "status";
  status.options.emplace_back().names = {"--watch"};
  program.verbs = {incidents, status};
  EXPECT_EQ(complaint(program, {}, {"incidnets"}), "unknown verb \"incidnets\"; did you mean \"incidents\"?");
  EXPECT_EQ(complaint(program, {}, {"frobnicate"}), "unknown verb \"frobnicate\"; weftctl --help lists all");
  EXPECT_EQ(complaint(program, {"status"}, {"--wacth"}),
            "weftctl status has no option --wacth; did you mean \"--watch\"?");
  EXPECT_EQ(complaint(program, {"status"}, {"--watch"}), "--watch stands behind its verb: weftctl status --watch");
  EXPECT_EQ(usage::nearest("inc", std::vector<std::string>{"incident", "incidents"}), "");
}

}  // namespace
}  // namespace weft::ctl
