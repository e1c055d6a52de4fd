// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/input_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace weft::daemon {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class InputFiles : public testing::Test {
 protected:
  InputFiles() {
    fs::create_directory(place_);
    fs::permissions(place_, fs::perms(0755));
  }
  ~InputFiles() override { fs::remove_all(place_); }

  fs::path file(const fs::path& name, unsigned mode) {
    fs::create_directories((place_ / name).parent_path());
    std::ofstream(place_ / name) << "text\n";
    fs::permissions(place_ / name, fs::perms(mode));
    return place_ / name;
  }

  // Other accounts may enter it, and the unit does not hide it.
  fs::path place_ = "/dev/shm/weft-input-files-" + std::to_string(::getpid());
};

TEST_F(InputFiles, AreThoseThatAStartReads) {
  config::WeftdConfig config;
  EXPECT_TRUE(input_files(config).empty());
  config.security.key = "/k";
  config.remedy.slurm.rest_token_file = "/t";  // but Slurm is off
  config.security.enroll.key = "/e";           // but nothing is signed
  ASSERT_EQ(input_files(config).size(), 1U);
  EXPECT_EQ(input_files(config).front().key, "security.key");
}

TEST_F(InputFiles, ThatCannotBeOpenedAreAllNamedWithTheirKeys) {
  const auto found = unreadable({{"security.key", place_ / "none"},
                                 {"site.key", file("there", 0600)},
                                 {"drift.profiles_file", place_ / "there" / "below"}});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].error.message,
            "security.key: cannot read " + found[0].path.string() + ": No such file or directory");
  EXPECT_EQ(found[0].error.code, ErrorCode::kNotFound);
  EXPECT_THAT(found[1].error.message, HasSubstr("drift.profiles_file: cannot read "));
}

TEST_F(InputFiles, ThatAnotherAccountMayNotReadAreToldToRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const auto tokens = file("tokens", 0600);
  const auto key = file("closed/server.key", 0644);
  const std::vector<InputFile> files{{"security.tokens_file", tokens},
                                     {"security.key", key},
                                     {"drift.profiles_file", file("open", 0644)},
                                     {"site.key", place_ / "none"}};
  fs::permissions(key.parent_path(), fs::perms(0700));
  const auto told = unreadable_to("nobody", files);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0], "security.tokens_file: user nobody, as which the unit runs weftd, may not read " +
                         tokens.string() + "; let it: chgrp nobody " + tokens.string() + " && chmod 640 " +
                         tokens.string());
  EXPECT_THAT(told[1], HasSubstr("because it may not enter " + key.parent_path().string() + "; let it: "));
  EXPECT_TRUE(unreadable_to("no-such-account-here", files).empty());
  // Whatever its mode is, the unit's weftd would not find it.
  const fs::path hidden = "/tmp/weft-input-file-" + std::to_string(::getpid());
  std::ofstream(hidden) << "x";
  const auto of_hidden = unreadable_to("nobody", {{"security.key", hidden}});
  fs::remove(hidden);
  ASSERT_EQ(of_hidden.size(), 1U);
  EXPECT_EQ(of_hidden[0], "security.key: the unit hides " + hidden.string() +
                              " from weftd (ProtectHome, PrivateTmp): move it to /etc/weft");
}

}  // namespace
}  // namespace weft::daemon
