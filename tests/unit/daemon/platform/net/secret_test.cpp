// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/net/secret.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace weft::net {
namespace {

class Secret : public testing::Test {
 protected:
  Secret() {
    char name[] = "/tmp/weft-secret-XXXXXX";
    place_ = ::mkdtemp(name);
  }
  ~Secret() override { std::filesystem::remove_all(place_); }
  std::filesystem::path file(const std::string& text, mode_t mode) {
    const std::filesystem::path path = place_ / "key";
    std::filesystem::remove(path);
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  std::filesystem::path place_;
};

TEST_F(Secret, IsReadWithoutTheSpaceRoundIt) {
  EXPECT_EQ(*read_secret(file(" s3cret value\r\n", 0600)), "s3cret value");
  EXPECT_EQ(*read_secret(file("x", 0640)), "x");
  EXPECT_EQ(*read_secret(file("x", 0400)), "x");
}

TEST_F(Secret, ThatOthersMayReadOrWriteIsRefused) {
  for (const mode_t mode : {0644U, 0604U, 0660U, 0602U, 0777U}) {
    const auto secret = read_secret(file("x", mode));
    ASSERT_FALSE(secret) << mode;
    EXPECT_EQ(secret.error().code, ErrorCode::kFailedPrecondition);
    EXPECT_EQ(secret.error().message.find("x "), std::string::npos);
  }
  EXPECT_TRUE(read_secret(file("x", 0644), SecretMode::kMounted));
  EXPECT_FALSE(read_secret(file("x", 0646), SecretMode::kMounted));
}

TEST_F(Secret, ThatIsNoneSaysWhy) {
  EXPECT_EQ(read_secret(place_ / "none").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(read_secret(place_).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(read_secret(file(" \n", 0600)).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(read_secret(file("12345", 0600), SecretMode::kPrivate, 4).error().code, ErrorCode::kInvalidArgument);
  ASSERT_EQ(::mkfifo((place_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(read_secret(place_ / "fifo").error().code, ErrorCode::kInvalidArgument);  // and does not hang
}

TEST_F(Secret, ThatBelongsToSomebodyElseIsRefused) {
  const std::filesystem::path path = file("x", 0600);
  if (::geteuid() != 0 || ::chown(path.c_str(), 4321, 4321) != 0) GTEST_SKIP() << "only root can give a file away";
  EXPECT_EQ(read_secret(path).error().code, ErrorCode::kFailedPrecondition);
}

}  // namespace
}  // namespace weft::net
