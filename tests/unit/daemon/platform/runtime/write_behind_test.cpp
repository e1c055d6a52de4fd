// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/runtime/write_behind.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>

namespace weft::runtime {
namespace {

/// An owner that writes texts, and notes in `story` what happens on its own thread.
class WriteBehindTest : public ::testing::Test {
 protected:
  using Texts = WriteBehind<std::string>;

  void post(std::function<void()> job) {
    const std::lock_guard lock(mutex);
    posted.push_back(std::move(job));
  }
  Result<void> write(const std::string& text) {
    if (text == "block") {
      started.set_value();
      open.get_future().wait();
    }
    if (text == "throw") throw std::runtime_error("no memory");
    if (text == "refuse") return fail(ErrorCode::kResourceExhausted, "disk full");
    disk += text;
    return {};
  }
  /// The lane does what it has, and the owner hears of it.
  void settle() {
    lane.stop();
    for (auto& job : std::exchange(posted, {})) job();
  }
  Texts::Waiter note(const std::string& who) {
    return [this, who](const WriteOutcome& outcome) {
      story.push_back(who + (outcome ? " written" : ": " + outcome.error.message));
    };
  }

  std::mutex mutex;
  std::deque<std::function<void()>> posted;
  std::promise<void> started, open;  ///< of the write of "block"
  std::string disk;
  std::vector<std::string> story;
  std::vector<WriteOutcome> outcomes;
  Lane lane{{.name = "store", .capacity = 2, .when_full = WhenFull::kRefuse}};
  Texts texts{lane, [this](std::function<void()> job) { post(std::move(job)); },
              [this](const std::string& text) { return write(text); },
              [this](std::string text, const WriteOutcome& outcome) {
                story.push_back("done " + text);
                outcomes.push_back(outcome);
              }};
};

TEST_F(WriteBehindTest, WritesOnTheLaneAndTellsItsOwnerAfterwards) {
  EXPECT_FALSE(texts.write("a"));
  EXPECT_TRUE(texts.is_writing());
  EXPECT_TRUE(story.empty());
  settle();
  EXPECT_EQ(disk, "a");
  EXPECT_FALSE(texts.is_writing());
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_TRUE(outcomes[0]);
}

TEST_F(WriteBehindTest, AnswersThoseWhoWaitedWhenTheWriteBeganAndNobodyElse) {
  texts.wait(note("ann"));
  texts.wait(note("bob"));
  EXPECT_TRUE(texts.is_awaited());
  EXPECT_FALSE(texts.write("a"));
  EXPECT_FALSE(texts.is_awaited());
  texts.wait(note("eve"));
  settle();
  EXPECT_EQ(story, (std::vector<std::string>{"done a", "ann written", "bob written"}));
  EXPECT_TRUE(texts.is_awaited());
}

TEST_F(WriteBehindTest, GivesTheBatchBackWithAReasonWhenItWasRefusedOrThrown) {
  texts.wait(note("ann"));
  EXPECT_FALSE(texts.write("refuse"));
  texts.wait(note("bob"));
  EXPECT_FALSE(texts.write("throw"));
  settle();
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[0].end, WriteEnd::kRefused);
  EXPECT_EQ(outcomes[0].error.code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(outcomes[1].end, WriteEnd::kThrown);
  EXPECT_EQ(outcomes[1].error.code, ErrorCode::kUnavailable);
  EXPECT_EQ(story, (std::vector<std::string>{"done refuse", "ann: disk full", "done throw", "bob: no memory"}));
  EXPECT_FALSE(texts.is_writing()) << "the next write may begin";
}

TEST_F(WriteBehindTest, ReturnsTheBatchAndKeepsThoseWhoWaitWhenTheLaneHasNoRoom) {
  EXPECT_FALSE(texts.write("block"));
  started.get_future().wait();
  EXPECT_FALSE(texts.write("a"));
  EXPECT_FALSE(texts.write("b"));
  texts.wait(note("ann"));
  EXPECT_EQ(texts.write("c"), "c");
  EXPECT_TRUE(texts.is_awaited());
  open.set_value();
  settle();
  EXPECT_EQ(disk, "blockab");
  EXPECT_TRUE(texts.is_awaited()) << "it is for the next write";
  EXPECT_FALSE(texts.is_writing());
}

TEST_F(WriteBehindTest, ASecondBatchFollowsTheFirst) {
  EXPECT_FALSE(texts.write("a"));
  EXPECT_FALSE(texts.write("b"));
  settle();
  EXPECT_EQ(disk, "ab");
  EXPECT_EQ(story, (std::vector<std::string>{"done a", "done b"}));
}

TEST_F(WriteBehindTest, AnOwnerAnswersWhereTheOrderMattersAndEachOnce) {
  Texts* own = nullptr;
  Texts ordered(
      lane, [this](std::function<void()> job) { post(std::move(job)); },
      [this](const std::string& text) { return write(text); },
      [&](const std::string&, const WriteOutcome& outcome) {
        story.emplace_back("shown");
        own->answer(outcome);
        story.emplace_back("next");
      });
  own = &ordered;
  ordered.wait(note("ann"));
  EXPECT_FALSE(ordered.write("a"));
  settle();
  EXPECT_EQ(story, (std::vector<std::string>{"shown", "ann written", "next"}));
}

TEST_F(WriteBehindTest, WhoStillWaitsAtTheEndHearsThatItStopped) {
  lane.stop();
  texts.wait(note("ann"));
  EXPECT_EQ(texts.write("a"), "a");
  texts.stop();
  ASSERT_EQ(story.size(), 1U);
  EXPECT_NE(story[0], "ann written");
  EXPECT_FALSE(texts.is_awaited());
}

}  // namespace
}  // namespace weft::runtime
