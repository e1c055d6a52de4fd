// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/load.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace weft::config {
namespace {

using namespace std::chrono_literals;

TEST(Load, NothingSaidMeansDefaults) {
  const LoadOutcome outcome = load(std::nullopt);
  EXPECT_EQ(print(outcome.errors), "");
  EXPECT_EQ(outcome.config.state_dir, "/var/lib/weft");
  EXPECT_EQ(outcome.config.listen.grpc, (Address{"127.0.0.1", 9641}));
  EXPECT_EQ(outcome.config.infiniband.sweep_interval, 1s);
  EXPECT_TRUE(outcome.config.infiniband.ports.automatic);
}

TEST(Load, ReadsEveryTypeOfValue) {
  const LoadOutcome outcome = load_text(R"(
state_dir = "/tmp/weft"
listen = { http = "[::1]:80" }
[infiniband]
enabled = false
ports = ["compute=mlx5_0:1", "mlx5_1:1"]
timeout = "1.5s"
window = 64
service_level = 3
[analyzer]
error_rate_limit = 1e-15
flap_fast.suppress = 2500
[store]
max_history_bytes = "1GiB"
)",
                                        "weftd.toml");
  EXPECT_EQ(print(outcome.errors), "");
  const WeftdConfig& config = outcome.config;
  EXPECT_EQ(config.state_dir, "/tmp/weft");
  EXPECT_EQ(config.listen.http, (Address{"::1", 80}));
  EXPECT_FALSE(config.infiniband.enabled);
  EXPECT_EQ(config.infiniband.ports.named.size(), 2U);
  EXPECT_EQ(config.infiniband.timeout, 1500ms);
  EXPECT_EQ(config.infiniband.window, 64U);
  EXPECT_EQ(config.infiniband.service_level, 3U);
  EXPECT_EQ(config.analyzer.error_rate_limit, 1e-15);
  EXPECT_EQ(config.analyzer.flap_fast.suppress, 2500);
  EXPECT_EQ(config.store.max_history_bytes.value, 1ULL << 30);
}

TEST(Load, AWordStandsForNone) {
  const LoadOutcome outcome =
      load_text("[infiniband]\nservice_level = \"path\"\npkey_index = \"auto\"\n", "weftd.toml");
  EXPECT_EQ(print(outcome.errors), "");
  EXPECT_EQ(outcome.config.infiniband.service_level, std::nullopt);
}

TEST(Load, EveryErrorIsReportedAtOnceWithItsLine) {
  const LoadOutcome outcome = load_text(R"(log_level = "loud"
state_dir = 7
sweep_interval = "1s"
[infiniband]
windw = 3
window = 100000
timeout = 5
retries = -1
ports = ["mlx5_0"]
service_level = "paths"
[infinband]
enabled = true
[nothing.like.this.at.all.anywhere]
)",
                                        "weftd.toml");
  EXPECT_EQ(
      print(outcome.errors),
      "weftd.toml:1: log_level: \"loud\" is not known; allowed: trace, debug, info, warn, error, critical, off\n"
      "weftd.toml:2: state_dir: must be a path such as \"/var/lib/weft\", not a whole number\n"
      "weftd.toml:3: sweep_interval: unknown key; did you mean infiniband.sweep_interval?\n"
      "weftd.toml:5: infiniband.windw: unknown key; did you mean infiniband.window?\n"
      "weftd.toml:6: infiniband.window: 100000 is too large; allowed: 1 to 4096\n"
      "weftd.toml:7: infiniband.timeout: must be a duration such as \"200ms\", not a whole number\n"
      "weftd.toml:8: infiniband.retries: \"-1\" is not a whole number from 0 upwards\n"
      "weftd.toml:9: infiniband.ports: \"mlx5_0\" is not a port; use \"auto\", \"mlx5_0:1\" or \"NAME=mlx5_0:1\"\n"
      "weftd.toml:10: infiniband.service_level: must be a whole number or word such as \"path\", not a text\n"
      "weftd.toml:12: infinband.enabled: unknown key; did you mean infiniband.enabled?\n"
      "weftd.toml:13: nothing.like.this.at.all.anywhere: unknown key; weftd --config-reference lists them\n");
}

TEST(Load, SyntaxErrorsDoNotHideTheRest) {
  const LoadOutcome outcome =
      load_text("state_dir = /tmp\nlog_level = \"loud\"\n[store]\nhistory_interval = \"1s\n", "x.toml");
  ASSERT_EQ(outcome.errors.size(), 3U) << print(outcome.errors);
  EXPECT_EQ(outcome.errors[0].line, 1U);
  EXPECT_NE(outcome.errors[0].message.find("invalid TOML"), std::string::npos);
  EXPECT_EQ(outcome.errors[1].key, "log_level");
  EXPECT_EQ(outcome.errors[2].line, 4U);
}

TEST(Load, AnEthernetFabricHasANameOfItsOwnAndAPatternThatIsOne) {
  const LoadOutcome outcome = load_text(R"([infiniband]
ports = ["compute=mlx5_0:1"]
[ethernet]
cabling = "/etc/ptm.d/topology.dot"
fabric = "compute"
switch_port_pattern = "("
)",
                                        "x.toml");
  ASSERT_EQ(outcome.errors.size(), 2U) << print(outcome.errors);
  EXPECT_EQ(outcome.errors[0].line, 5U);
  EXPECT_NE(outcome.errors[0].message.find("is a fabric of infiniband.ports already"), std::string::npos);
  EXPECT_EQ(outcome.errors[1].key, "ethernet.switch_port_pattern");
  EXPECT_EQ(load_text("[ethernet]\nfabric = \"a b\"\n", "x.toml").errors.size(), 1U);
  EXPECT_TRUE(load_text("[ethernet]\ncabling = \"/x\"\nfabric = \"roce\"\n", "x.toml").config.ethernet.is_watched());
}

TEST(Load, ErrorsBetweenKeysComeWithThoseOfValues) {
  const LoadOutcome outcome = load_text(R"([security]
certificate = "/c"
certificate_roles = ["a=b"]
[metrics]
scrape_interval = "2h"
)",
                                        "x.toml");
  std::set<std::string> keys;
  for (const ConfigError& error : outcome.errors) keys.insert(error.key);
  EXPECT_EQ(keys, (std::set<std::string>{"metrics.scrape_interval", "security.certificate",
                                         "security.certificate_roles", "security.key"}))
      << print(outcome.errors);
  EXPECT_TRUE(outcome.doubts.within("security."));
  EXPECT_TRUE(outcome.doubts.within("metrics."));
  EXPECT_FALSE(outcome.doubts.within("infiniband."));
}

TEST(Load, WhatDependsOnAValueThatWasNotUnderstoodIsNotJudged) {
  // Without certificate and without tokens_file the rest would be in contradiction.
  const std::string rest = "key = \"/k\"\n[listen]\ngrpc = \"0.0.0.0:9641\"\n";
  for (const char* broken :
       {"certificate = 7\ntokens_file = \"/t\"\n", "certificat = \"/c\"\ntokens_file = \"/t\"\n",
        "certificate = \"/c\"\ntokens_file = [\"/t\"]\n", "certificate = /c\ntokens_file = \"/t\"\n"}) {
    const LoadOutcome outcome = load_text(std::string("[security]\n") + broken + rest, "x.toml");
    EXPECT_EQ(outcome.errors.size(), 1U) << print(outcome.errors);
    EXPECT_TRUE(outcome.doubts.within("security.")) << broken;
    EXPECT_FALSE(outcome.doubts.all);
  }
  const LoadOutcome section = load_text("security = 3\n[listen]\ngrpc = \"0.0.0.0:9641\"\n", "x.toml");
  EXPECT_EQ(section.errors.size(), 1U) << print(section.errors);
  const LoadOutcome end = load_text("[listen]\ngrpc = \"0.0.0.0:9641\"\n[security\ncertificate = \"/c\"\n", "x.toml");
  EXPECT_EQ(end.errors.size(), 1U) << print(end.errors);
  EXPECT_TRUE(end.doubts.all);
}

/// Each key of a file that is good, when its value is of a wrong type, is the only one that is told of: what is said of
/// others names it.
template <typename Config>
void expect_only_the_broken_key(const std::string& good) {
  ASSERT_EQ(print(load_text<Config>(good, "x.toml").errors), "");
  std::vector<std::string> lines;
  for (std::istringstream stream(good); stream;)
    if (std::string line; std::getline(stream, line)) lines.push_back(line);
  std::size_t broken = 0;
  for (std::string& line : lines) {
    const std::size_t equals = line.find(" = ");
    if (equals == std::string::npos) continue;
    const std::string kept = line;
    line = line.substr(0, equals) + " = {}";
    std::string text;
    for (const std::string& each : lines) text += each + '\n';
    const auto outcome = load_text<Config>(text, "x.toml");
    EXPECT_EQ(outcome.errors.size(), 1U) << kept << '\n' << print(outcome.errors);
    line = kept;
    ++broken;
  }
  EXPECT_GT(broken, 0U);
}

TEST(Load, AMessageBetweenKeysNamesAllOfThem) {
  const std::string security =
      "[listen]\ngrpc = \"0.0.0.0:9641\"\nhttp = \"0.0.0.0:9640\"\n[security]\ncertificate = \"/c\"\nkey = \"/k\"\n";
  expect_only_the_broken_key<WeftdConfig>("[listen]\ngrpc = \"0.0.0.0:1\"\n[security]\nallow_plain_text = true\n");
  expect_only_the_broken_key<WeftdConfig>(security + "tokens_file = \"/t\"\n");
  expect_only_the_broken_key<WeftdConfig>(security +
                                          "client_authorities = \"/a\"\ncertificate_roles = [\"a=viewer\"]\n"
                                          "require_client_certificate = true\n");
  expect_only_the_broken_key<WeftdConfig>(
      security + "client_authorities = \"/a\"\n[security.enroll]\ncertificate = \"/c\"\nkey = \"/k\"\n");
  for (const char* proxy : {"certificates = [\"p\"]\n", "secret_file = \"/s\"\n"})
    for (const char* roles : {"group_roles = [\"g=viewer\"]\n", "default_role = \"viewer\"\n"})
      expect_only_the_broken_key<WeftdConfig>(security + "client_authorities = \"/a\"\n[security.proxy]\n" + proxy +
                                              roles);
  expect_only_the_broken_key<WeftdConfig>(
      "[store]\nurl = \"postgresql://weft@db/weft\"\nhistory_shared = true\nhistory_interval = \"2h\"\n"
      "history_retention = \"3h\"\n[infiniband]\nsweep_interval = \"1h\"\ndetail_interval = \"2h\"\n[site]\n"
      "shard = \"a\"\naddress = \"a.example:1\"\ncollectors = [\"x*\"]\nauthorities = \"/a\"\ncertificate = \"/c\"\n"
      "key = \"/k\"\ntoken_file = \"/t\"\n");
  expect_only_the_broken_key<WeftdConfig>("[events]\nurls = [\"https://a\"]\nkey_file = \"/k\"\n");
  expect_only_the_broken_key<WeftdConfig>(
      "[remedy.ufm]\nurl = \"https://u\"\ncredentials_file = \"/c\"\n[remedy.webhook]\nurl = \"https://w\"\n"
      "status_url = \"https://w/s\"\nkey_file = \"/k\"\nactions = [\"drain_node\"]\n");
  expect_only_the_broken_key<CollectorConfig>(
      "[analyzer]\naddress = \"weft.example:1\"\nauthorities = \"/a\"\ncertificate = \"/c\"\nkey = \"/k\"\n"
      "token_file = \"/t\"\n");
  expect_only_the_broken_key<CollectorConfig>("node_name = \"n\"\n[analyzer]\nenroll_token_file = \"/t\"\n");
}

TEST(Load, ANameIsFoundAsAWholeOnly) {
  EXPECT_TRUE(names("cannot read /etc/weft/ca: no", "/etc/weft/ca"));
  EXPECT_TRUE(names("set security.key.", "security.key"));
  EXPECT_TRUE(names("/a/b, /a", "/a"));
  EXPECT_FALSE(names("/etc/weft/ca.crt", "/etc/weft/ca"));
  EXPECT_FALSE(names("security.enroll.certificate", "enroll.certificate"));
  EXPECT_FALSE(names("security.certificate_roles", "security.certificate"));
}

TEST(Load, TheSameKeyTwiceIsAnError) {
  const LoadOutcome outcome = load_text("log_level = \"info\"\nlog_level = \"warn\"\n", "x.toml");
  ASSERT_EQ(outcome.errors.size(), 1U) << print(outcome.errors);
  EXPECT_EQ(outcome.errors[0].line, 2U);
}

TEST(Load, FlagsWinOverTheFile) {
  const std::vector<FlagSetting> flags{{"infiniband.sweep_interval", "5s"},
                                       {"infiniband.ports", "a=mlx5_0:1,b=mlx5_1:1"}};
  const LoadOutcome outcome = load_text("[infiniband]\nsweep_interval = \"2s\"\nwindow = 9\n", "x.toml", flags);
  EXPECT_EQ(print(outcome.errors), "");
  EXPECT_EQ(outcome.config.infiniband.sweep_interval, 5s);
  EXPECT_EQ(outcome.config.infiniband.window, 9U);
  EXPECT_EQ(outcome.config.infiniband.ports.named.size(), 2U);
}

TEST(Load, WrongFlagsAreReportedBesideTheFilesErrors) {
  const std::vector<FlagSetting> flags{{"listen.http", "9640"}, {"infiniband.windows", "1"}};
  const LoadOutcome outcome = load_text("log_level = 1\n", "x.toml", flags);
  ASSERT_EQ(outcome.errors.size(), 3U) << print(outcome.errors);
  EXPECT_EQ(to_string(outcome.errors[1]),
            "command line: listen.http: \"9640\" is not an address; use a numeric address and a port, such as "
            "\"127.0.0.1:9640\" or \"[::1]:9640\"");
  EXPECT_EQ(outcome.errors[2].message, "unknown key; did you mean infiniband.window?");
}

TEST(Load, APatternOfPlacesIsRead) {
  EXPECT_EQ(print(load_text("[infiniband]\npod_pattern = \"pod\"\nrail_pattern = \"mlx5_([0-9]\"\n", "x.toml").errors)
                .substr(0, 90),
            "x.toml:2: infiniband.pod_pattern: needs exactly one group in parentheses, the name; write ");
  EXPECT_TRUE(load_text("[infiniband]\nrail_pattern = \"mlx5_([0-9]+)\"\n", "x.toml").errors.empty());
}

TEST(Load, KeysThatContradictEachOtherAreFound) {
  const LoadOutcome outcome = load_text(
      "[listen]\nhttp = \"127.0.0.2:9641\"\ngrpc = \"127.0.0.2:9641\"\n[analyzer.flap_fast]\nreuse = 5000\n"
      "[store]\nhistory_retention = \"10m\"\nhistory_interval = \"20m\"\n",
      "x.toml");
  EXPECT_EQ(print(outcome.errors),
            "x.toml:3: listen.grpc: 127.0.0.2:9641 is listen.http already\n"
            "x.toml:7: store.history_retention: 10m is shorter than store.history_interval, which is 20m\n"
            "x.toml:5: analyzer.flap_fast.reuse: must be below analyzer.flap_fast.suppress, or it never ends\n");
}

TEST(Load, AHistoryIsSharedInADatabaseAlone) {
  const std::string shared = "[store]\nhistory_shared = true\n";
  EXPECT_EQ(print(load_text(shared, "x.toml").errors), "x.toml:2: store.history_shared: needs store.url\n");
  EXPECT_TRUE(load_text(shared + "url = \"postgresql://weft@127.0.0.1/weft\"\n", "x.toml").errors.empty());
}

TEST(Load, WithoutAFileNoFileIsNamed) {
  const std::vector<FlagSetting> flags{{"store.history_shared", "true"}};
  EXPECT_EQ(print(load<WeftdConfig>(std::nullopt, flags).errors),
            "command line: store.history_shared: needs store.url\n");
  const std::vector<FlagSetting> pair{{"security.certificate", "/c"}};
  EXPECT_EQ(print(load<WeftdConfig>(std::nullopt, pair).errors).find("security.key: must be set too"), 0U);
}

TEST(Load, AFileThatCannotBeReadIsAnErrorWithItsReason) {
  EXPECT_EQ(print(load("/nowhere/weftd.toml").errors),
            "/nowhere/weftd.toml: cannot be read: No such file or directory\n");
  EXPECT_EQ(print(load("/tmp").errors), "/tmp: cannot be read: it is a directory\n");
  const LoadOutcome binary = load_text(std::string("a = \"\xff\xfe\0\"", 9), "x.toml");
  EXPECT_FALSE(binary.errors.empty());
}

TEST(Load, ReadsAFile) {
  const auto path = std::filesystem::temp_directory_path() / ("weft-config-" + std::to_string(::getpid()) + ".toml");
  std::ofstream(path) << "log_level = \"debug\"\n";
  const LoadOutcome outcome = load(path);
  std::filesystem::remove(path);
  EXPECT_EQ(print(outcome.errors), "");
  EXPECT_EQ(outcome.config.log_level, "debug");
}

TEST(Load, TheCollectorsFileIsReadTheSameWay) {
  const auto outcome = load_text<CollectorConfig>(R"(
node_name = "gpu-0001"
[analyzer]
address = "weft.example:9641"
[reading]
interval = "100ms"
[jobs]
slurm = true
)",
                                                  "weft-collector.toml");
  EXPECT_EQ(print(outcome.errors), "");
  EXPECT_EQ(outcome.config.analyzer.address, (std::vector{Peer{"weft.example", 9641}}));
  EXPECT_EQ(outcome.config.reading.interval, 100ms);
  EXPECT_TRUE(outcome.config.jobs.slurm);
  const std::vector<FlagSetting> flags{{"reading.interval", "1us"}};
  EXPECT_EQ(
      print(load_text<CollectorConfig>("interval = \"1s\"\n[analyzer]\naddress = \"weft\"\nno = 1\n", "c.toml", flags)
                .errors),
      "c.toml:1: interval: unknown key; did you mean reading.interval?\n"
      "c.toml:3: analyzer.address: \"weft\" is not a host and a port; examples: \"weft.example:9641\", "
      "\"192.0.2.1:9641\" or \"[2001:db8::1]:9641\"\n"
      "c.toml:4: analyzer.no: unknown key; weft-collector --config-reference lists them\n"
      "command line: reading.interval: 1us is too small; allowed: 10ms to 1h\n");
}

TEST(Load, AddressesOfTheAnalyzerAreAListOrOneText) {
  const std::vector<Peer> both{{"weft1", 9641}, {"2001:db8::2", 9641}};
  for (const char* value : {R"(["weft1:9641", "[2001:db8::2]:9641"])", R"("weft1:9641, [2001:db8::2]:9641")"}) {
    const auto outcome = load_text<CollectorConfig>("[analyzer]\naddress = " + std::string(value), "c.toml", {});
    EXPECT_EQ(print(outcome.errors), "") << value;
    EXPECT_EQ(outcome.config.analyzer.address, both) << value;
  }
  const std::vector<FlagSetting> flags{{"analyzer.address", "weft3:9641,weft4:9641"}};
  const auto flagged = load_text<CollectorConfig>("[analyzer]\naddress = \"weft1:9641\"", "c.toml", flags);
  EXPECT_EQ(flagged.config.analyzer.address, (std::vector<Peer>{{"weft3", 9641}, {"weft4", 9641}}));
  for (const char* none : {"[]", "\"\""}) {
    const auto outcome = load_text<CollectorConfig>("[analyzer]\naddress = " + std::string(none), "c.toml", {});
    EXPECT_EQ(print(outcome.errors), "") << none;
    EXPECT_TRUE(outcome.config.analyzer.address.empty()) << none;
  }
  EXPECT_EQ(print(load_text<CollectorConfig>("[analyzer]\naddress = 9641\n", "c.toml", {}).errors),
            "c.toml:2: analyzer.address: must be a list of addresses such as [], not a whole number\n");
}

TEST(Load, AFolderThatIsNeededIsNamedOrLeftToTheDefault) {
  EXPECT_EQ(print(load_text<WeftdConfig>("state_dir = \"\"\n[infiniband]\nnode_name_map = \"\"\n", "w.toml").errors),
            "w.toml:1: state_dir: must not be empty\n");
}

}  // namespace
}  // namespace weft::config
