// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/runtime/regular_file.hpp"

#include <gmock/gmock.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace weft::runtime {
namespace {

using testing::HasSubstr;

class RegularFile : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }

  const std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) / ("weft-regular-file-" + std::to_string(::getpid()));
};

TEST_F(RegularFile, IsReadWhole) {
  for (const std::size_t size : {0UL, 1UL, 65'536UL, 200'000UL}) {
    const std::string text(size, 'x');
    write(text);
    const auto read = read_regular(path_, 200'000);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(*read == text) << size;
  }
}

TEST_F(RegularFile, ThatIsTooLargeIsRefused) {
  write(std::string(1001, 'x'));
  EXPECT_TRUE(read_regular(path_, 1001));
  const auto read = read_regular(path_, 1000);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(read.error().message, path_.string() + " is larger than 1000 bytes");
}

TEST_F(RegularFile, IsNoPipeDeviceOrDirectory) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  for (const std::string& path : {path_.string(), std::string("/dev/zero"), std::string("/")}) {
    const auto read = read_regular(path, 1000);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message, path + " is not a regular file");
  }
}

TEST_F(RegularFile, ThatIsNotThereIsNotFound) {
  const auto read = read_regular(path_, 1000);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(read.error().message, HasSubstr("cannot read " + path_.string()));
}

TEST_F(RegularFile, OfProcIsReadAlthoughItSaysThatItIsEmpty) {
  const auto read = read_regular("/proc/self/status", 1 << 20);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(*read, HasSubstr("Pid:"));
}

TEST_F(RegularFile, MayBeRefusedByItsMode) {
  write("secret");
  const auto read = read_regular(path_, 1000, [](const struct stat& info) -> Result<void> {
    return fail(ErrorCode::kFailedPrecondition, "its size is " + std::to_string(info.st_size));
  });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "its size is 6");
}

TEST_F(RegularFile, ThatMayNotBeReadNamesTheUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  write("text");
  ASSERT_EQ(::chmod(path_.c_str(), 0600), 0);
  const passwd* const nobody = ::getpwnam("nobody");
  ASSERT_NE(nobody, nullptr);
  ASSERT_EQ(::seteuid(nobody->pw_uid), 0);
  const auto read = read_regular(path_, 100);
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("Permission denied for user nobody, as which this program runs"));
}

}  // namespace
}  // namespace weft::runtime
