// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/switches/credentials.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace weft::switches {
namespace {

struct CredentialsTest : ::testing::Test {
  CredentialsTest() {
    char pattern[] = "/tmp/weft-test-XXXXXX";
    place = ::mkdtemp(pattern);
  }
  ~CredentialsTest() override { std::filesystem::remove_all(place); }
  void write(const std::string& name, const std::string& text, std::filesystem::perms mode = kPrivate) const {
    std::ofstream(place / name) << text;
    std::filesystem::permissions(place / name, mode);
  }
  Result<Credentials> read(const std::string& name) const {
    TargetLine line{.name = "leaf01", .address = "192.0.2.1:1"};
    line.credentials = name;
    return read_credentials(place, line);
  }

  static constexpr auto kPrivate = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  std::filesystem::path place;
};

TEST_F(CredentialsTest, TheFilesOfANameAreRead) {
  write("a.ca", "CA");
  write("a.crt", "CERTIFICATE");
  write("a.key", "KEY");
  write("a.login", "admin\nsecret word\n");
  const auto found = read("a");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->authorities, "CA");
  EXPECT_EQ(found->certificate, "CERTIFICATE");
  EXPECT_EQ(found->key, "KEY\n");
  EXPECT_EQ(found->user, "admin");
  EXPECT_EQ(found->password, "secret word");
}

TEST_F(CredentialsTest, WithoutFilesTheDefaultIsNoneAndAnotherNameIsAMistake) {
  ASSERT_TRUE(read("default"));
  EXPECT_TRUE(read("default")->authorities.empty());
  EXPECT_EQ(read("spines").error().code, ErrorCode::kNotFound);
}

TEST_F(CredentialsTest, HalvesAndOpenSecretsAreRefused) {
  write("a.crt", "CERTIFICATE");
  EXPECT_NE(read("a").error().message.find("a certificate needs its key"), std::string::npos);
  write("b.login", "admin\nsecret\n", kPrivate | std::filesystem::perms::others_read);
  EXPECT_EQ(read("b").error().code, ErrorCode::kFailedPrecondition);
  for (const auto text : {"admin", "admin\n", "ad\tmin\nsecret\n", "admin\nsec\x7Fret\n"}) {
    write("c.login", text);
    EXPECT_FALSE(read("c")) << text;
  }
}

TEST(BasicAuthorization, IsAsRfc7617HasIt) {
  EXPECT_EQ(basic_authorization("Aladdin", "open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  EXPECT_EQ(basic_authorization("a", "b"), "Basic YTpi");
  EXPECT_EQ(basic_authorization("a", "bc"), "Basic YTpiYw==");
}

}  // namespace
}  // namespace weft::switches
