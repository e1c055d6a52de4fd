// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/hands_off_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <future>
#include <stdexcept>

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class HandsOffFileTest : public ::testing::Test {
 protected:
  HandsOffFileTest() {
    std::string made = (std::filesystem::temp_directory_path() / "weft-hands-off-XXXXXX").string();
    if (!mkdtemp(made.data())) throw std::runtime_error("no temporary folder");
    folder = made;
    file = folder / "hands-off";
  }
  ~HandsOffFileTest() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder, file;
};

TEST_F(HandsOffFileTest, StopsWhileItIsThere) {
  HandsOffFile brake(file);
  EXPECT_EQ(brake.look().why, "");
  std::ofstream(file) << "";
  const auto look = brake.look();
  EXPECT_EQ(look.why, file.string() + " exists");
  std::filesystem::remove(file);
  EXPECT_EQ(brake.look().why, "");
  EXPECT_EQ(brake.look().number, look.number + 2);
}

TEST_F(HandsOffFileTest, AFolderThatIsNotThereHoldsNoFile) {
  EXPECT_EQ(probe_hands_off_file(folder / "none" / "hands-off"), "");
}

TEST_F(HandsOffFileTest, StopsWhateverTheFileIs) {
  std::filesystem::create_symlink("nowhere", file);
  EXPECT_THAT(probe_hands_off_file(file), HasSubstr("exists")) << "a link to what is gone is there itself";
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  EXPECT_THAT(probe_hands_off_file(file), HasSubstr("exists"));
}

TEST_F(HandsOffFileTest, StopsWhenItCannotBeLookedAt) {
  std::filesystem::create_symlink("loop", folder / "loop");
  EXPECT_THAT(probe_hands_off_file(folder / "loop" / "hands-off"), HasSubstr("cannot be looked at"));
  std::ofstream(folder / "plain") << "";
  EXPECT_THAT(probe_hands_off_file(folder / "plain" / "hands-off"), HasSubstr("cannot be looked at"));
  EXPECT_THAT(probe_hands_off_file(folder / std::string(300, 'x')), HasSubstr("cannot be looked at"));
}

TEST_F(HandsOffFileTest, NoFileIsNoBrake) {
  HandsOffFile brake({});
  EXPECT_FALSE(brake.is_configured());
  EXPECT_EQ(brake.look().why, "");
}

TEST_F(HandsOffFileTest, AFileSystemThatHangsStopsAndHoldsUpNobody) {
  const auto hangs = std::make_shared<std::promise<void>>();
  {
    HandsOffFile brake(file, 50ms, [open = hangs->get_future().share()](const std::filesystem::path&) {
      open.wait();
      return std::string();
    });
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THAT(brake.look().why, HasSubstr("did not answer within 50 ms"));
    EXPECT_THAT(brake.look().why, HasSubstr("did not answer within 50 ms"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  }  // it is left behind
  hangs->set_value();
}

TEST_F(HandsOffFileTest, AnAnswerFromBeforeTheQuestionDoesNotCount) {
  std::promise<void> begun, open;
  int looks = 0;
  HandsOffFile brake(file, 10s, [&](const std::filesystem::path&) {
    if (++looks > 1) return std::string("exists now");
    begun.set_value();
    open.get_future().wait();
    return std::string();
  });
  auto first = std::async(std::launch::async, [&] { return brake.look().why; });
  begun.get_future().wait();
  auto second = std::async(std::launch::async, [&] { return brake.look().why; });
  EXPECT_EQ(second.wait_for(50ms), std::future_status::timeout);
  open.set_value();
  EXPECT_EQ(second.get(), "exists now") << "the look under way began before it was asked for";
  first.wait();
}

}  // namespace
}  // namespace weft::daemon
