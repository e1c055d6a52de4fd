// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/webhook.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "daemon/adapters/actuate/webhook_memory.hpp"
#include "daemon/adapters/actuate/webhook_message.hpp"

namespace weft::actuate {
namespace {

TEST(WebhookSignature, IsWhatOpensslSays) {
  // printf '1790000000.{"a":1}' | openssl dgst -sha256 -hmac 0123456789abcdef
  EXPECT_EQ(webhook_signature("0123456789abcdef", 1790000000, "{\"a\":1}"),
            "v1=d569e4518fe6f4620fd6639233427e7df5e5394d8f14c85c1063b8d90a724dcb");
  EXPECT_NE(webhook_signature("0123456789abcdef", 1790000001, "{\"a\":1}"),
            webhook_signature("0123456789abcdef", 1790000000, "{\"a\":1}"));
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
