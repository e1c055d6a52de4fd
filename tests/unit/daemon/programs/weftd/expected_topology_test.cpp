// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/expected_topology.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>

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
  ExpectedTopology file(path(), read);
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
  ExpectedTopology file(path(), read);
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

TEST_F(ExpectedTopologyFile, MustBeGoodAtStart) {
  write("!");
  ExpectedTopology file(path(), read);
  EXPECT_FALSE(file.open());
}

}  // namespace
}  // namespace weft::daemon
