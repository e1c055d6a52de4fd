// SPDX-License-Identifier: Apache-2.0
// weftctl evidence: two files that are whole, new and their owner's, or none.

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/daemon/programs/weftctl/verbs_fixture.hpp"

namespace weft::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class EvidenceVerb : public Verbs {
 protected:
  EvidenceVerb() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-evidence-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary directory";
    place = name;
    publication.publish(
        api::make_snapshot(1, {api::SmallFabric(2).build()}, {api::make_incident(1, IncidentState::kResolved)}));
  }
  ~EvidenceVerb() override {
    std::error_code ignored;
    std::filesystem::remove_all(place, ignored);
  }
  EvidenceWish wish(const std::string& what, const std::string& folder = "case") const {
    return {
        .what = what, .from = api::kNow - std::chrono::hours(1), .to = api::kNow, .folder = (place / folder).string()};
  }
  std::vector<std::string> names(const std::string& folder = "case") const {
    std::vector<std::string> found;
    if (std::filesystem::exists(place / folder))
      for (const auto& entry : std::filesystem::directory_iterator(place / folder))
        found.push_back(entry.path().filename());
    return found;
  }
  std::string text_of(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(place / "case" / name).rdbuf();
    return text.str();
  }

  std::filesystem::path place;
};

TEST_F(EvidenceVerb, WritesADocumentAndWhatItWasMadeFromAndSaysWhatItCouldNotTell) {
  const std::string said = say(Exit::kGood, write_evidence, wish("1"));
  EXPECT_THAT(names(), UnorderedElementsAre("weft-INC-1.html", "weft-INC-1.json"));
  EXPECT_THAT(said, HasSubstr("weft-INC-1.html: the document, "));
  EXPECT_THAT(said, HasSubstr("There are no charts: this weftd keeps no history."));
  EXPECT_THAT(said, HasSubstr("are not in it; --with-jobs puts them in.\n"));
  EXPECT_THAT(text_of("weft-INC-1.html"), HasSubstr("<!DOCTYPE html>"));
  const auto data = nlohmann::json::parse(text_of("weft-INC-1.json"));
  EXPECT_EQ(data["incident"]["id"], "INC-1");
  EXPECT_EQ(data["html"], "");
  struct stat status {};
  ASSERT_EQ(stat((place / "case" / "weft-INC-1.html").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(EvidenceVerb, OfAPortAndAsJson) {
  const auto said = json(Exit::kGood, write_evidence, wish("leaf-1:2"));
  EXPECT_EQ(said["title"], "leaf-1 port 2");
  EXPECT_THAT(names(), UnorderedElementsAre("weft-leaf-1-port-2.html", "weft-leaf-1-port-2.json"));
}

TEST_F(EvidenceVerb, WithJobsItSaysSo) {
  EvidenceWish wanted = wish("INC-1");
  wanted.with_jobs = true;
  EXPECT_THAT(say(Exit::kGood, write_evidence, wanted), HasSubstr("ARE in it (--with-jobs): not for a vendor."));
}

TEST_F(EvidenceVerb, ReplacesNothing) {
  std::filesystem::create_directory(place / "case");
  std::ofstream(place / "case" / "weft-INC-1.html") << "mine";
  const Failure refused = fails(write_evidence, wish("INC-1"));
  EXPECT_EQ(refused.exit, Exit::kWrongUsage);
  EXPECT_THAT(refused.what(), HasSubstr("weft-INC-1.html is there already"));
  EXPECT_THAT(names(), UnorderedElementsAre("weft-INC-1.html")) << "and the other one has no name";
  EXPECT_EQ(text_of("weft-INC-1.html"), "mine");
}

TEST_F(EvidenceVerb, WithForceItReplacesFilesAndFollowsNoLink) {
  std::filesystem::create_directory(place / "case");
  std::ofstream(place / "case" / "weft-INC-1.html") << "mine";
  std::ofstream(place / "secret") << "mine";
  std::filesystem::create_symlink(place / "secret", place / "case" / "weft-INC-1.json");
  EXPECT_THAT(fails(write_evidence, wish("INC-1")).what(), HasSubstr("or replace it with --force"));
  EvidenceWish wanted = wish("INC-1");
  wanted.force = true;
  say(Exit::kGood, write_evidence, wanted);
  EXPECT_THAT(text_of("weft-INC-1.html"), HasSubstr("<!DOCTYPE html>"));
  EXPECT_THAT(text_of("weft-INC-1.json"), HasSubstr("INC-1"));
  std::ostringstream secret;
  secret << std::ifstream(place / "secret").rdbuf();
  EXPECT_EQ(secret.str(), "mine");
  EXPECT_THAT(names(), UnorderedElementsAre("weft-INC-1.html", "weft-INC-1.json"));
  // A folder of that name is no file.
  std::filesystem::remove(place / "case" / "weft-INC-1.html");
  std::filesystem::create_directory(place / "case" / "weft-INC-1.html");
  EXPECT_THAT(fails(write_evidence, wanted).what(), HasSubstr("cannot be written: Is a directory"));
}

TEST_F(EvidenceVerb, WhereItFailsNothingIsLeft) {
  EXPECT_THAT(fails(write_evidence, wish("INC-9")).what(), HasSubstr("no incident INC-9"));
  EXPECT_FALSE(std::filesystem::exists(place / "case"));
  EXPECT_THAT(fails(write_evidence, wish("nobody")).what(), HasSubstr("unknown node or port nobody"));
  std::ofstream(place / "file") << "mine";
  const Failure refused = fails(write_evidence, wish("INC-1", "file"));
  EXPECT_EQ(refused.exit, Exit::kWrongUsage);
  EXPECT_THAT(refused.what(), HasSubstr("is no folder"));
  EvidenceWish wanted = wish("INC-1");
  wanted.has_time = true;
  EXPECT_EQ(fails(write_evidence, wanted).exit, Exit::kWrongUsage);
  EXPECT_THAT(names(), IsEmpty());
}

}  // namespace
}  // namespace weft::ctl
