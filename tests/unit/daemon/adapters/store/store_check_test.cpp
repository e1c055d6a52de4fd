// SPDX-License-Identifier: Apache-2.0
// What --check-config and --check-upgrade find of a real PostgreSQL before a start does.

#include "daemon/adapters/store/store_check.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "daemon/adapters/store/postgres_address.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

using testing::HasSubstr;
using testing::Not;

class StoreCheck : public OnEachEngine {
 protected:
  /// Why neither the check nor the start takes it: they say the same.
  static std::string refused(const std::filesystem::path& directory, const StoreOptions& options) {
    const auto checked = check_store(directory, options);
    const auto opened = open_store(directory, options);
    EXPECT_FALSE(checked) << *checked;
    EXPECT_FALSE(opened);
    if (checked || opened) return "";
    EXPECT_EQ(checked.error().message, opened.error().message);
    return checked.error().message;
  }
  static std::string replaced(std::string text, const std::string& part, const std::string& by) {
    const std::size_t at = text.find(part);
    return at == std::string::npos ? text : text.replace(at, part.size(), by);
  }

  const PostgresServer& server = PostgresServer::shared();
  const TempDir dir;
};
INSTANTIATE_TEST_SUITE_P(On, StoreCheck, ::testing::Values(Engine::kPostgres), [](const auto&) { return "Postgres"; });

TEST_P(StoreCheck, AShardIsRefusedADatabaseThatKeepsNoUtf8) {
  server.run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  EXPECT_THAT(refused(dir.path(), {.url = server.database_url("latin"), .shard = "north"}),
              HasSubstr("does not keep texts as UTF-8"));
}

TEST_P(StoreCheck, TablesThatOnlyOthersMayReadAreOthersAllTheSame) {
  server.have_plain_role();
  server.run("CREATE SCHEMA plain AUTHORIZATION plain");
  const std::string url = replaced(server.url("plain"), "user=weft", "user=plain");
  EXPECT_TRUE(check_store(dir.path(), {.url = url}));
  for (const char* table : {"plan", "photos"}) {
    server.run(std::string("CREATE TABLE plain.") + table + " (name TEXT)");
    EXPECT_THAT(refused(dir.path(), {.url = url}), HasSubstr("contains tables of another program")) << table;
    server.run(std::string("DROP TABLE plain.") + table);
  }
  // What an extension brings is nobody's.
  server.run("CREATE EXTENSION pg_buffercache SCHEMA plain");
  EXPECT_TRUE(check_store(dir.path(), {.url = url}));
  server.run("DROP SCHEMA plain CASCADE");
  server.run("DROP ROLE plain");
}

TEST_P(StoreCheck, ATableThatAStartWouldWaitForIsNamed) {
  must_open(dir.path());
  Database blocker = by_hand(dir.path());
  blocker.run("BEGIN; SET application_name = 'the blocker'; LOCK TABLE incident");
  const auto checked = check_store(dir.path(), {.url = url_of(dir.path())});
  ASSERT_FALSE(checked) << *checked;
  EXPECT_THAT(checked.error().message, HasSubstr("its tables are in use: the blocker, process "));
}

TEST_P(StoreCheck, AShardThatWasNotStartedYetIsMadeThen) {
  const StoreOptions options{.url = server.database_url("upgraded"), .shard = "north"};
  const auto versions = database_versions(dir.path(), options);
  ASSERT_TRUE(versions) << versions.error().message;
  EXPECT_EQ(versions->front().found, 0U);
  EXPECT_THAT(versions->front().name, HasSubstr("/upgraded (schema weft_shard_north)"));
  ASSERT_TRUE(open_store(dir.path(), options));
  EXPECT_EQ(database_versions(dir.path(), options)->front().found, versions->front().known);
}

TEST_P(StoreCheck, TheSchemaThatIsMissingIsNamed) {
  const std::string url = server.database_url("other");
  const auto with_path = [&](const std::string& path) { return url + "&options=-csearch_path%3D" + path; };
  const std::string missing = refused(dir.path(), {.url = with_path("team_weft")});
  EXPECT_THAT(missing, HasSubstr("the schema team_weft, which search_path names, is not there"));
  EXPECT_THAT(missing, HasSubstr("CREATE SCHEMA team_weft AUTHORIZATION weft"));
  EXPECT_THAT(refused(dir.path(), {.url = with_path("%22Team-two%22,b")}),
              HasSubstr("CREATE SCHEMA \"Team-two\" AUTHORIZATION weft"));
  EXPECT_THAT(refused(dir.path(), {.url = with_path("%22$user%22")}), HasSubstr("CREATE SCHEMA weft AUTHORIZATION"));
}

TEST_P(StoreCheck, EachServerIsTriedAndWhatCannotBeUsedIsSaid) {
  const std::string url = url_of(dir.path());
  const std::size_t begin = url.find("host=") + 5;
  const std::string host = url.substr(begin, url.find('&') - begin);
  const auto with = [&](const std::string& hosts, const std::string& more) {
    return replaced(url, "host=" + host, "host=" + hosts) + more;
  };
  const auto alone = check_store(dir.path(), {.url = url});
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_THAT(*alone, Not(HasSubstr("cannot be used")));
  const auto both = check_store(dir.path(), {.url = with(host + ',' + host, "")});
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_THAT(*both, Not(HasSubstr("cannot be used")));
  const auto begun = std::chrono::steady_clock::now();
  const auto one = check_store(dir.path(), {.url = with(host + ",127.0.0.1", "&port=,1")});
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_THAT(*one, HasSubstr("; its server 127.0.0.1:1 cannot be used: the database is not reachable: "));
  EXPECT_THAT(*one, HasSubstr("Connection refused"));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
  const std::string several = replaced(server.database_url("several"), "host=" + host, "host=" + host + ",127.0.0.1");
  const auto shard = check_store(dir.path(), {.url = several + "&port=,1", .shard = "north"});
  ASSERT_TRUE(shard) << shard.error().message;
  EXPECT_THAT(*shard, HasSubstr("its server 127.0.0.1:1 cannot be used"));
}

// They take connections, and say nothing.
TEST_P(StoreCheck, ServersThatHangAreWaitedForTogetherAndNoneIsLeftOut) {
  must_open(dir.path());
  const std::string url = url_of(dir.path());
  const std::size_t begin = url.find("host=") + 5;
  const std::string host = url.substr(begin, url.find('&') - begin);
  std::string hosts = host, ports = "&port=";
  std::vector<int> sockets;
  for (int i = 0; i < 5; ++i) {
    sockets.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    ASSERT_EQ(::bind(sockets.back(), reinterpret_cast<sockaddr*>(&address), length), 0);
    ASSERT_EQ(::listen(sockets.back(), 5), 0);
    ASSERT_EQ(::getsockname(sockets.back(), reinterpret_cast<sockaddr*>(&address), &length), 0);
    hosts += ",127.0.0.1";
    ports += ',' + std::to_string(ntohs(address.sin_port));
  }
  const auto begun = std::chrono::steady_clock::now();
  const auto found = check_store(dir.path(), {.url = replaced(url, "host=" + host, "host=" + hosts) + ports});
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(9)) << "3 s, and what a busy machine adds";
  for (const int socket : sockets) ::close(socket);
  ASSERT_TRUE(found) << found.error().message;
  std::size_t hanging = 0;
  for (std::size_t at = found->find("cannot be used"); at != std::string::npos;
       at = found->find("cannot be used", at + 1))
    ++hanging;
  EXPECT_EQ(hanging, 5U) << *found;
}

TEST(StoreUrl, AValueThatLibpqDoesNotTakeIsAMistake) {
  const auto refused = [](const std::string& address) {
    const auto parsed = parse_postgres_address(address);
    return parsed ? "" : parsed.error().message;
  };
  const std::string url = "postgresql://weft@127.0.0.1,localhost/weft?";
  EXPECT_EQ(refused(url + "sslmode=requir"), "has sslmode=requir, which libpq does not know");
  EXPECT_EQ(refused(url + "target_session_attrs=any-thing"),
            "has target_session_attrs=any-thing, which libpq does not know");
  EXPECT_EQ(refused(url + "connect_timeout=3s"), "has connect_timeout=3s, which is not a whole number");
  for (const char* port : {"x", "0", "65536", "5432x"})
    EXPECT_EQ(refused(url + "port=" + port), "has a port that is not a number from 1 to 65535");
  // What may be a password is not shown: here a slash of it ends the host.
  EXPECT_EQ(refused("postgresql://weft:sec/ret@127.0.0.1/weft"), "has a port that is not a number from 1 to 65535");
  EXPECT_EQ(refused(url + "sslmode=Sec@ret"), "has sslmode with a value, which libpq does not know");
  EXPECT_EQ(refused(url + "port=1,2,3"), "has 3 values of port for 2 hosts");
  EXPECT_EQ(refused(url + "hostaddr=127.0.0.1"), "has 1 value of hostaddr for 2 hosts");
  for (const char* fine :
       {"port=", "port=5432", "port=,5433", "connect_timeout=0", "sslmode=disable", "hostaddr=127.0.0.1,127.0.0.1"})
    EXPECT_TRUE(parse_postgres_address(url + fine)) << fine;
}

}  // namespace
}  // namespace weft::store
