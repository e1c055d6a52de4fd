// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/webhook.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "daemon/adapters/actuate/webhook_memory.hpp"
#include "daemon/adapters/actuate/webhook_message.hpp"
#include "tests/fakes/ethernet_fabric.hpp"

namespace weft::actuate {
namespace {

TEST(WebhookSignature, IsWhatOpensslSays) {
  // printf '1790000000.{"a":1}' | openssl dgst -sha256 -hmac 0123456789abcdef
  EXPECT_EQ(webhook_signature("0123456789abcdef", 1790000000, "{\"a\":1}"),
            "v1=d569e4518fe6f4620fd6639233427e7df5e5394d8f14c85c1063b8d90a724dcb");
  EXPECT_NE(webhook_signature("0123456789abcdef", 1790000001, "{\"a\":1}"),
            webhook_signature("0123456789abcdef", 1790000000, "{\"a\":1}"));
}

class WebhookOrder : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(directory_ / "key") << "0123456789abcdef0123456789abcdef";
    ::chmod((directory_ / "key").c_str(), 0600);
    webhook_ = make_webhook_actuator({.url = "http://127.0.0.1:1/hook",
                                      .status_url = {},
                                      .key_file = directory_ / "key",
                                      .memory_file = {},
                                      .certificate_authorities = {}},
                                     clock_);
    ASSERT_TRUE(webhook_) << webhook_.error().message;
  }
  ~WebhookOrder() override { std::filesystem::remove_all(directory_); }
  // What a receiver would be told, but for its signature.
  nlohmann::json told(const RemedyOrder& order) {
    const auto text = (*webhook_)->dry_run(order);
    EXPECT_TRUE(text) << text.error().message;
    return text ? nlohmann::json::parse(text->substr(text->find('{'))) : nlohmann::json();
  }

 private:
  std::string place_ = "/tmp/weft-webhook-XXXXXX";
  std::filesystem::path directory_ = ::mkdtemp(place_.data());
  SystemClock clock_;
  Result<std::unique_ptr<Actuator>> webhook_ = fail(ErrorCode::kUnavailable, "not made");
};

TEST_F(WebhookOrder, OfAnEthernetLinkNamesTheInterfacesAndNotOurNumbers) {
  const auto fabric = fakes::EthernetFabric::leaf_spine(2, 2, 1);
  RemedyOrder order;
  order.plan = 7;
  order.action = RemedyAction::kIsolateLink;
  order.sweep = std::make_shared<const Sweep>(fabric.sweep());
  const PortIndex port = fakes::EthernetFabric::find(*order.sweep->topology, "leaf01 swp49");
  const LinkKey link = *order.sweep->topology->link_of(port);
  order.target = {EntityKind::kLink, "ethernet", link.low, link.high, "leaf01 swp49 - spine01 swp1"};
  const auto target = told(order).at("target");
  EXPECT_EQ(target.at("node"), "leaf01");
  EXPECT_EQ(target.at("interface"), "swp49");
  EXPECT_EQ(target.at("peer_node"), "spine01");
  EXPECT_EQ(target.at("peer_interface"), "swp1");
  EXPECT_FALSE(target.contains("port")) << "the 49th port may have another number with us";
  EXPECT_FALSE(target.contains("peer_port"));
}

TEST_F(WebhookOrder, OfAnotherPlanOfTheSameNumberHasAnotherKey) {
  const auto key_of = [&](const RemedyOrder& each) { return told(each).at("idempotency_key").get<std::string>(); };
  RemedyOrder order;
  order.plan = 7;
  order.action = RemedyAction::kDrainNode;
  order.owner.installation = "1c9e0b7a5d3f2468";
  order.created = TimePoint(std::chrono::seconds(1'700'000'000));
  order.target.kind = EntityKind::kHost;
  order.target.host = order.target.label = "n1";
  const std::string key = key_of(order);
  EXPECT_THAT(key, testing::MatchesRegex("PLAN-7\\.1c9e0b7a5d3f2468\\.DRAIN_NODE\\.[0-9a-f]+"));
  RemedyOrder again = order;
  again.permit = ActPermit{4, {}};
  again.reason = "another leader sends it again";
  EXPECT_EQ(key_of(again), key);
  RemedyOrder other = order;
  other.target.host = other.target.label = "n2";
  EXPECT_NE(key_of(other), key) << "the database was restored, and the number given to another host's plan";
  RemedyOrder later = order;
  later.created += std::chrono::seconds(1);
  EXPECT_NE(key_of(later), key) << "the same host, drained once more after a backup was restored";
}

class Memory : public testing::Test {
 protected:
  Memory() {
    char name[] = "/tmp/weft-memory-XXXXXX";
    place_ = ::mkdtemp(name);
    file_ = place_ / "told.json";
  }
  ~Memory() override { std::filesystem::remove_all(place_); }
  std::filesystem::path place_;
  std::filesystem::path file_;
};

const Told kDoubt{7, RemedyAction::kDrainNode, false};
const Told kTaken{7, RemedyAction::kDrainNode, true};

TEST_F(Memory, OutlivesItsProcess) {
  {
    auto memory = WebhookMemory::open(file_);
    ASSERT_TRUE(memory) << memory.error().message;
    EXPECT_FALSE(memory->find("host:n1"));
    ASSERT_TRUE(memory->set("host:n1", kDoubt));
    ASSERT_TRUE(memory->set("host:n2", kTaken));
    ASSERT_TRUE(memory->set("host:n3", kTaken));
    ASSERT_TRUE(memory->set("host:n3", std::nullopt));
  }
  const auto memory = WebhookMemory::open(file_);
  ASSERT_TRUE(memory) << memory.error().message;
  EXPECT_EQ(memory->find("host:n1"), kDoubt);
  EXPECT_EQ(memory->find("host:n2"), kTaken);
  EXPECT_FALSE(memory->find("host:n3"));
}

TEST_F(Memory, ThatIsDamagedIsNotTakenForEmpty) {
  for (const char* text : {"", "{", "[]", "{\"version\":2,\"told\":{}}", "{\"version\":1}",
                           R"({"version":1,"told":{"x":{"plan":1,"action":"FLY","acknowledged":true}}})",
                           R"({"version":1,"told":{"x":{"plan":-1,"action":"DRAIN_NODE","acknowledged":true}}})"}) {
    std::ofstream(file_) << text;
    EXPECT_EQ(WebhookMemory::open(file_).error().code, ErrorCode::kCorrupt) << text;
  }
}

TEST_F(Memory, ThatCannotBeWrittenStaysAsItWas) {
  auto memory = WebhookMemory::open(place_ / "missing" / "told.json");
  ASSERT_TRUE(memory);
  EXPECT_FALSE(memory->set("host:n1", kDoubt));
  EXPECT_FALSE(memory->find("host:n1"));
}

TEST_F(Memory, OptionsThatAreWrongAreRefusedAtOnce) {
  const SystemClock clock;
  const auto code = [&clock](const WebhookOptions& options) {
    return make_webhook_actuator(options, clock).error().code;
  };
  const std::filesystem::path key = place_ / "key";
  std::ofstream(key) << "0123456789abcdef";
  ::chmod(key.c_str(), 0600);
  WebhookOptions options;
  options.key_file = key;
  options.url = "https://example.org/weft";
  EXPECT_TRUE(make_webhook_actuator(options, clock));
  options.url = "file:///etc/passwd";
  EXPECT_EQ(code(options), ErrorCode::kInvalidArgument);
  options.url = "https://example.org/weft";
  options.status_url = "gopher://x";
  EXPECT_EQ(code(options), ErrorCode::kInvalidArgument);
  options.status_url.clear();
  ::chmod(key.c_str(), 0644);
  EXPECT_EQ(code(options), ErrorCode::kFailedPrecondition);
  ::chmod(key.c_str(), 0600);
  std::ofstream(key) << "short";
  EXPECT_EQ(code(options), ErrorCode::kInvalidArgument);
  options.key_file = place_ / "none";
  EXPECT_EQ(code(options), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace weft::actuate
