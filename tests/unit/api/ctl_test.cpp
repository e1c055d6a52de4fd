#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "daemon/ctl/completion.hpp"
#include "daemon/ctl/table.hpp"
#include "daemon/ctl/text.hpp"

namespace weft::ctl {
namespace {

TEST(Text, DurationsAreReadAsPeopleWriteThem) {
  using namespace std::chrono;
  EXPECT_EQ(parse_duration("90s"), Duration(std::chrono::seconds(90)));
  EXPECT_EQ(parse_duration("1h30m"), Duration(minutes(90)));
  EXPECT_EQ(parse_duration("1d"), Duration(hours(24)));
  for (const char* bad : {"", "2", "h", "-1h", "1h-", "2w", "1.5h", "99999999999h", "100000000d", "9000000d9000000d"})
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
  EXPECT_EQ(bits_per_second_text(400e9), "400 Gb/s");
  EXPECT_EQ(bits_per_second_text(2.5e6), "2.5 Mb/s");
  EXPECT_EQ(bits_per_second_text(0), "0");
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

TEST(Completion, KnowsThreeShells) {
  for (const char* shell : {"bash", "zsh", "fish"}) EXPECT_TRUE(completion_script(shell)) << shell;
  EXPECT_FALSE(completion_script("csh"));
}

TEST(Completion, EveryShellKnowsEveryVerb) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = completion_script(shell).value_or("");
    for (const char* verb :
         {"status",     "nodes",   "ports",       "links",   "topology",  "path",    "incidents", "health",  "incident",
          "collectors", "watch",   "acknowledge", "silence", "plans",     "plan",    "audit",     "approve", "reject",
          "isolate",    "restore", "drain",       "undrain", "hands-off", "breaker", "completion"})
      EXPECT_TRUE(std::regex_search(script, std::regex(std::string("(n|'| -a |\\$')") + verb + "(\\\\n|'|:| -d )")))
          << shell << ' ' << verb;
  }
}

}  // namespace
}  // namespace weft::ctl
