// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/store_mark.hpp"

#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

class StoreMark : public OnEachEngine {
 protected:
  /// Why the store of `directory` cannot be opened; empty when it can.
  static std::string refusal(const std::filesystem::path& directory, const std::string& url) {
    const auto checked = check_store(directory, {.url = url});
    const auto opened = open_store(directory, {.url = url});
    EXPECT_EQ(checked.has_value(), opened.has_value()) << "--check-config says what the start says";
    if (!opened && !checked) {
      EXPECT_EQ(checked.error().message, opened.error().message);
    }
    return opened ? "" : opened.error().message;
  }
  static bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
  const TempDir dir, other;
};
INSTANTIATE_TEST_SUITE_P(On, StoreMark, ::testing::Values(Engine::kPostgres), [](const auto&) { return "Postgres"; });

TEST_P(StoreMark, ADirectoryStaysWithItsDatabase) {
  const std::string url = url_of(dir.path());
  EXPECT_EQ(refusal(dir.path(), url), "");
  EXPECT_EQ(refusal(dir.path(), url), "") << "again";
  const std::string lost = refusal(dir.path(), "");
  EXPECT_TRUE(holds(lost, "goes with the database postgresql://weft@")) << lost;
  EXPECT_FALSE(std::filesystem::exists(dir.path() / "weft.db"));
  const std::string empty = refusal(dir.path(), url_of(other.path()));
  EXPECT_TRUE(holds(empty, "is empty: correct store.url")) << empty;
  EXPECT_EQ(refusal(other.path(), url_of(other.path())), "");
  const std::string wrong = refusal(dir.path(), url_of(other.path()));
  EXPECT_TRUE(holds(wrong, "is installation ")) << wrong;
  std::filesystem::remove(dir.path() / "store");
  EXPECT_EQ(refusal(dir.path(), ""), "") << "on purpose";
}

TEST_P(StoreMark, IncidentsInAFileAreNotLeftBehind) {
  ASSERT_TRUE(SqlStore::open(dir.path(), {}));
  const std::string left = refusal(dir.path(), url_of(dir.path()));
  EXPECT_TRUE(holds(left, "holds incidents that ")) << left;
  EXPECT_EQ(by_hand(dir.path()).number("SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"), 0);
  ASSERT_TRUE(SqlStore::open(other.path(), {.url = url_of(dir.path())}));
  EXPECT_TRUE(holds(refusal(dir.path(), url_of(dir.path())), "holds incidents that "));
  std::filesystem::rename(dir.path() / "weft.db", dir.path() / "aside");
  EXPECT_EQ(refusal(dir.path(), url_of(dir.path())), "");
}

}  // namespace
}  // namespace weft::store
