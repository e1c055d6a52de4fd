// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/expected_topology.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <thread>

namespace weft::daemon {
namespace {

/// A file of so many letters plans so many links; one that begins with '!' is no good.
struct ExpectedTopologyFile : testing::Test {
  ExpectedTopologyFile() {
    std::string pattern = testing::TempDir() + "weft-expected-XXXXXX";
    folder = mkdtemp(pattern.data());
    write("abc");
  }
  ~ExpectedTopologyFile() override { std::filesystem::remove_all(folder); }

  std::filesystem::path path() const { return folder / "plan"; }
  void write(const std::string& text) const {
    // A file that is written beside it and moved, as editors and package managers do.
    std::ofstream(folder / "new") << text;
    std::filesystem::rename(folder / "new", path());
  }
  static Result<ExpectedCabling> read(const std::filesystem::path& path) {
    std::ifstream stream(path);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (!stream || text.starts_with('!')) return fail(ErrorCode::kInvalidArgument, "no good: " + text);
    CablePlan plan;
    plan.cables.resize(text.size());
    return ExpectedCabling{nullptr, std::make_shared<const CablePlan>(std::move(plan))};
  }

  std::filesystem::path folder;
};

TEST_F(ExpectedTopologyFile, IsReadAnewWhenItChangedAndIsAtRest) {
  ExpectedTopology file(LinkLayer::kInfiniBand, path(), read);
  ASSERT_TRUE(file.open());
  EXPECT_EQ(file.figures().links, 3U);
  EXPECT_FALSE(file.look());
  write("abcde");
  EXPECT_FALSE(file.look()) << "somebody may still write it";
  auto found = file.look();
  ASSERT_TRUE(found);
  const auto cabling = file.take(std::move(*found));
  ASSERT_TRUE(cabling);
  EXPECT_EQ(cabling->links(), 5U);
  EXPECT_EQ(file.figures().links, 5U);
  EXPECT_FALSE(file.look());
}

TEST_F(ExpectedTopologyFile, ThatIsNoGoodLeavesTheOneBeforeInForce) {
  ExpectedTopology file(LinkLayer::kInfiniBand, path(), read);
  ASSERT_TRUE(file.open());
  const auto after = [&](const std::function<void()>& change) {
    change();
    EXPECT_FALSE(file.look());
    auto found = file.look();
    return found ? file.take(std::move(*found)) : std::nullopt;
  };
  EXPECT_FALSE(after([&] { write("!"); }));
  EXPECT_TRUE(file.figures().refused);
  EXPECT_EQ(file.figures().links, 3U);
  EXPECT_FALSE(file.look()) << "it is read once";
  EXPECT_FALSE(after([&] { std::filesystem::remove(path()); }));
  EXPECT_TRUE(file.figures().refused);
  EXPECT_TRUE(after([&] { write("ab"); }));
  EXPECT_FALSE(file.figures().refused);
  EXPECT_EQ(file.figures().links, 2U);
}

TEST_F(ExpectedTopologyFile, ThatCannotBeReadIsTriedAgain) {
  enum { kReadable, kDenied, kNoMemory } now = kReadable;
  ExpectedTopology file(LinkLayer::kInfiniBand, path(),
                        [&now](const std::filesystem::path& file_path) -> Result<ExpectedCabling> {
                          if (now == kDenied) return fail(ErrorCode::kUnavailable, "permission denied");
                          if (now == kNoMemory) throw std::bad_alloc();
                          return read(file_path);
                        });
  ASSERT_TRUE(file.open());
  for (const auto why : {kDenied, kNoMemory}) {
    now = why;
    write("abcd");
    EXPECT_FALSE(file.look());
    for (int times = 0; times < 2; ++times) {
      auto found = file.look();
      ASSERT_TRUE(found) << times;
      EXPECT_FALSE(file.take(std::move(*found)));
      EXPECT_TRUE(file.figures().refused);
    }
    now = kReadable;
    auto found = file.look();
    ASSERT_TRUE(found);
    EXPECT_TRUE(file.take(std::move(*found)));
    EXPECT_FALSE(file.figures().refused);
    EXPECT_FALSE(file.look());
  }
}

TEST_F(ExpectedTopologyFile, ThatIsThereAgainAsItWasIsReadAgain) {
  ExpectedTopology file(LinkLayer::kInfiniBand, path(),
                        [](const std::filesystem::path& file_path) -> Result<ExpectedCabling> {
                          if (!std::filesystem::exists(file_path)) return fail(ErrorCode::kNotFound, "no such file");
                          return read(file_path);
                        });
  // A link that leads elsewhere for a while changes nothing of the file.
  std::filesystem::rename(path(), folder / "file");
  std::filesystem::create_symlink("file", path());
  ASSERT_TRUE(file.open());
  std::filesystem::remove(path());
  EXPECT_FALSE(file.look());
  auto found = file.look();
  ASSERT_TRUE(found);
  EXPECT_FALSE(file.take(std::move(*found)));
  EXPECT_FALSE(file.look()) << "what is not there is not tried again";
  std::filesystem::create_symlink("file", path());
  EXPECT_FALSE(file.look());
  found = file.look();
  ASSERT_TRUE(found);
  EXPECT_TRUE(file.take(std::move(*found)));
  EXPECT_FALSE(file.figures().refused);
}

TEST_F(ExpectedTopologyFile, IsReadAnewThoughItsSizeAndTimeStayedTheSame) {
  ExpectedTopology file(LinkLayer::kInfiniBand, path(), read);
  ASSERT_TRUE(file.open());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // a file system counts time in ticks
  const auto time = std::filesystem::last_write_time(path());
  std::ofstream(path()) << "!bc";
  std::filesystem::last_write_time(path(), time);
  EXPECT_FALSE(file.look());
  EXPECT_TRUE(file.look());
  EXPECT_FALSE(file.look());
}

TEST_F(ExpectedTopologyFile, MustBeGoodAtStart) {
  write("!");
  ExpectedTopology file(LinkLayer::kInfiniBand, path(), read);
  EXPECT_FALSE(file.open());
}

}  // namespace
}  // namespace weft::daemon
