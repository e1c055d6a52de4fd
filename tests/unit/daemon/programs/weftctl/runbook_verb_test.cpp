// SPDX-License-Identifier: Apache-2.0
// weftctl runbook, and the line that leads to a runbook.

#include <gmock/gmock.h>

#include "daemon/programs/weftctl/runbooks.hpp"
#include "tests/unit/daemon/programs/weftctl/verbs_fixture.hpp"

namespace weft::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class RunbookVerb : public Verbs {
 protected:
  /// INC-4, on a weftd whose page people reach at `page_url`.
  void publish(const std::string& page_url, IncidentKind kind = IncidentKind::kMiscabled) {
    auto incident = std::make_shared<Incident>();
    incident->id = 4;
    incident->finding.kind = kind;
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->incidents = std::make_shared<const std::vector<std::shared_ptr<const Incident>>>(
        std::vector<std::shared_ptr<const Incident>>{incident});
    snapshot->page_url = page_url;
    publication.publish(std::move(snapshot));
  }
};

TEST_F(RunbookVerb, PrintsThatOfAKindWithoutAskingWeftd) {
  server.reset();
  EXPECT_THAT(say(Exit::kGood, show_runbook, std::string("LINK_FLAP")), StartsWith("# LINK_FLAP: "));
  EXPECT_THAT(say(Exit::kGood, show_runbook, std::string("link_flap")), StartsWith("# LINK_FLAP: "));
  EXPECT_THAT(say(Exit::kGood, show_runbook, std::string("weft-itself")), HasSubstr("**WeftDown.**"));
  const Failure unknown = fails(show_runbook, std::string("LINK_FLAPS"));
  EXPECT_EQ(unknown.exit, Exit::kBadNews);
  EXPECT_STREQ(unknown.what(), "no runbook is named LINK_FLAPS: weftctl runbook lists them");
}

TEST_F(RunbookVerb, PrintsThatOfAnIncident) {
  publish("");
  EXPECT_THAT(say(Exit::kGood, show_runbook, std::string("INC-4")), StartsWith("# MISCABLED: "));
  EXPECT_THAT(say(Exit::kGood, show_runbook, std::string("4")), StartsWith("# MISCABLED: "));
  EXPECT_EQ(fails(show_runbook, std::string("INC-5")).exit, Exit::kBadNews);
}

TEST_F(RunbookVerb, HasCommandsForThatIncident) {
  EXPECT_THAT(say(Exit::kGood, show_runbook, std::string("LINK_DOWN")), HasSubstr("`weftctl incident INC-…`"));
  publish("", IncidentKind::kLinkDown);
  const std::string text = say(Exit::kGood, show_runbook, std::string("4"));
  EXPECT_THAT(text, HasSubstr("`weftctl incident INC-4`"));
  EXPECT_THAT(text, Not(HasSubstr("INC-…")));
}

TEST_F(RunbookVerb, ListsAll) {
  const std::string text = say(Exit::kGood, show_runbook, std::string());
  for (const Runbook& one : runbooks()) EXPECT_THAT(text, HasSubstr(std::string(one.title()))) << one.name;
  EXPECT_EQ(json(Exit::kGood, show_runbook, std::string()).size(), runbooks().size());
}

TEST_F(RunbookVerb, EveryKindHasOne) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(IncidentKind::kCount); ++i) {
    const std::string_view kind = to_string(static_cast<IncidentKind>(i));
    EXPECT_THAT(say(Exit::kGood, show_runbook, std::string(kind)), StartsWith("# " + std::string(kind) + ": "));
  }
}

TEST_F(RunbookVerb, TheIncidentLeadsToTheSamePage) {
  publish("https://weft.example");
  EXPECT_THAT(say(Exit::kGood, show_incident, std::string("INC-4")),
              HasSubstr("runbook     https://weft.example/runbooks/MISCABLED (weftctl runbook MISCABLED)\n"));
  EXPECT_EQ(json(Exit::kGood, show_incident, std::string("INC-4"))["runbook"], "/runbooks/MISCABLED");
  publish("");
  EXPECT_THAT(say(Exit::kGood, show_incident, std::string("INC-4")),
              HasSubstr("runbook     /runbooks/MISCABLED on weftd's page (weftctl runbook MISCABLED)\n"));
}

TEST_F(RunbookVerb, ColoursAreForTerminals) {
  std::ostringstream out;
  EXPECT_EQ(show_runbook({.client = *client, .out = out, .colour = true}, "DEADLOCK"), Exit::kGood);
  EXPECT_THAT(out.str(), HasSubstr("\x1b[1mWhat to do\x1b[0m"));
  EXPECT_THAT(out.str(), Not(HasSubstr("**")));
}

}  // namespace
}  // namespace weft::ctl
