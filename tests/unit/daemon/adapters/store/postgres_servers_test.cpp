// SPDX-License-Identifier: Apache-2.0
// Which of several servers is asked, and when.
#include "daemon/adapters/store/postgres_servers.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <map>
#include <string>
#include <thread>

#include "daemon/adapters/store/postgres_address.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

using Options = std::map<std::string, std::string>;

TEST(PostgresServers, EachHasItsOwnOfTheLists) {
  const auto servers = each_server({{"host", "db1,db2"}, {"port", "5432"}, {"user", "weft"}});
  ASSERT_EQ(servers.size(), 2U);
  EXPECT_EQ(servers[0], (Options{{"host", "db1"}, {"port", "5432"}, {"user", "weft"}}));
  EXPECT_EQ(servers[1], (Options{{"host", "db2"}, {"port", "5432"}, {"user", "weft"}}));
  EXPECT_EQ(each_server({{"host", "db1,db2"}, {"port", ",5433"}})[1].at("port"), "5433");
}

TEST(PostgresServers, OneThatIsSilentIsAskedLast) {
  const ConnectionHandle silent(PQconnectStart("host=127.0.0.1 port=1"));
  Options options{{"host", "127.0.0.1,127.0.0.1,127.0.0.2"}, {"port", "1,2,"}, {"user", "weft"}};
  ask_last(silent.get(), options);
  EXPECT_EQ(options, (Options{{"host", "127.0.0.1,127.0.0.2,127.0.0.1"}, {"port", "2,,1"}, {"user", "weft"}}));
}

class PostgresServersOf : public OnEachEngine {
 protected:
  const TempDir dir;
};
INSTANTIATE_TEST_SUITE_P(On, PostgresServersOf, ::testing::Values(Engine::kPostgres),
                         [](const auto&) { return "Postgres"; });

TEST_P(PostgresServersOf, OneThatIsNoPostgresIsAskedLast) {
  auto address = parse_postgres_address(url_of(dir.path()));
  ASSERT_TRUE(address);
  const std::string real = address->options["host"], port = address->options["port"];
  const TempDir other;
  const std::string path = (other.path() / (".s.PGSQL." + port)).string();
  sockaddr_un place{.sun_family = AF_UNIX, .sun_path = {}};
  ASSERT_LT(path.size(), sizeof place.sun_path);
  path.copy(place.sun_path, path.size());
  const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(listening, reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
  ASSERT_EQ(::listen(listening, 8), 0);
  std::jthread speaks_http([listening] {
    for (int caller; (caller = ::accept(listening, nullptr, nullptr)) >= 0; ::close(caller)) {
      std::array<char, 64> said{};
      if (::read(caller, said.data(), said.size()) > 0) ::send(caller, "HTTP/1.1 400\r\n\r\n", 16, MSG_NOSIGNAL);
    }
  });
  address->options["host"] = other.path().string() + ',' + real;
  address->options["port"] = port;
  const auto found = connect_to_any(address->options);
  EXPECT_EQ(PQstatus(found.get()), CONNECTION_OK) << PQerrorMessage(found.get());
  EXPECT_EQ(PQhost(found.get()), real);
  ::shutdown(listening, SHUT_RDWR);
  speaks_http.join();
  ::close(listening);
  EXPECT_EQ(PQstatus(connect_to_any(address->options).get()), CONNECTION_OK) << "refused: libpq goes on by itself";
}

}  // namespace
}  // namespace weft::store
