// SPDX-License-Identifier: Apache-2.0
// weftctl backup: the file is whole, new and its owner's, or it is not there.

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "api/publication/backup_desk.hpp"
#include "tests/unit/daemon/programs/weftctl/verbs_fixture.hpp"

namespace weft::ctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Gives the same copy to whoever asks.
class ReadyDesk final : public api::BackupDesk {
 public:
  void make(Callback callback) override {
    ++asked;
    callback(api::OpenBackup{.file = std::make_unique<std::istringstream>(content),
                             .size = size,
                             .audit_records = 12,
                             .audit_hash = std::string(64, 'a')});
  }
  std::string content = std::string(600'000, 'b');
  std::uint64_t size = content.size();
  std::atomic<int> asked = 0;
};

class BackupVerb : public Verbs {
 protected:
  BackupVerb() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-backup-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary directory";
    folder = name;
    file = folder / "copy.db";
    api::GrpcOptions options;
    options.port = 0;
    options.backups = &desk;
    auto started = api::GrpcServer::start(options, publication, commands, remedies, sink, clock);
    if (started) server = std::move(*started);
    client = std::make_unique<Client>("127.0.0.1:" + std::to_string(server->port()));
  }
  ~BackupVerb() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) found.push_back(entry.path().filename());
    return found;
  }

  ReadyDesk desk;
  std::filesystem::path folder, file;
};

TEST_F(BackupVerb, WritesTheCopyForItsOwnerAloneAndSaysHowToGoBack) {
  const std::string said = say(Exit::kGood, back_up, file.string());
  EXPECT_THAT(said, HasSubstr("copy.db: incidents, plans, maintenance and the audit trail, 600000 bytes, checked.\n"));
  EXPECT_THAT(said, HasSubstr("Audit trail: 12 records, last hash " + std::string(64, 'a') + ".\n"));
  EXPECT_THAT(said, HasSubstr("weftd store restore " + file.string() + " STATE_DIR\n"));
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  EXPECT_TRUE(text.str() == desk.content);
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_THAT(names(), ElementsAre("copy.db"));
}

TEST_F(BackupVerb, AsJson) {
  const auto said = json(Exit::kGood, back_up, file.string());
  EXPECT_EQ(said.at("size"), "600000");
  EXPECT_EQ(said.at("auditRecords"), "12");
  EXPECT_EQ(said.value("data", ""), "") << "that is in the file";
}

TEST_F(BackupVerb, OverwritesNothingNotEvenALinkToNowhere) {
  std::ofstream(file) << "mine";
  Failure refused = fails(back_up, file.string());
  EXPECT_EQ(refused.exit, Exit::kWrongUsage);
  EXPECT_THAT(refused.what(), HasSubstr("copy.db is there already: name a new file"));
  EXPECT_EQ(std::filesystem::file_size(file), 4U);
  std::filesystem::remove(file);
  std::filesystem::create_symlink(folder / "elsewhere", file);
  refused = fails(back_up, file.string());
  EXPECT_EQ(refused.exit, Exit::kWrongUsage);
  EXPECT_THAT(names(), ElementsAre("copy.db"));
  EXPECT_EQ(desk.asked, 0) << "no copy is made for nothing";
}

TEST_F(BackupVerb, WhatIsNotWholeIsNotKept) {
  desk.size += 1;
  EXPECT_NE(fails(back_up, file.string()).exit, Exit::kGood);
  EXPECT_THAT(names(), IsEmpty());
  desk.content.clear();
  desk.size = 0;
  EXPECT_THAT(fails(back_up, file.string()).what(), HasSubstr("the backup is not whole"));
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(BackupVerb, AFolderThatIsNotThereIsSaid) {
  const Failure refused = fails(back_up, (folder / "none" / "copy.db").string());
  EXPECT_EQ(refused.exit, Exit::kBadNews);
  EXPECT_THAT(refused.what(), HasSubstr("copy.db cannot be written: No such file or directory"));
}

}  // namespace
}  // namespace weft::ctl
