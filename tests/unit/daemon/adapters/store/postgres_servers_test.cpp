// SPDX-License-Identifier: Apache-2.0
// Which of several servers is asked, and when.
#include "daemon/adapters/store/postgres_servers.hpp"

#include <gtest/gtest.h>
#include <poll.h>
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

// Takes connections where a server of that port would.
class Listening {
 public:
  explicit Listening(const std::string& port) {
    const std::string path = (directory_.path() / (".s.PGSQL." + port)).string();
    sockaddr_un place{.sun_family = AF_UNIX, .sun_path = {}};
    EXPECT_LT(path.size(), sizeof place.sun_path);
    path.copy(place.sun_path, sizeof place.sun_path - 1);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
    EXPECT_EQ(::listen(socket_, 8), 0);
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  ~Listening() { ::close(socket_); }

  std::string host() const { return directory_.path().string(); }
  int socket() const { return socket_; }
  /// How many have called and were not answered, since it was last asked.
  int count_callers() const {
    int count = 0;
    for (pollfd one{socket_, POLLIN, 0}; ::poll(&one, 1, 0) == 1; ++count) ::close(::accept(socket_, nullptr, nullptr));
    return count;
  }

 private:
  const TempDir directory_;
  const int socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
};

TEST_P(PostgresServersOf, OneThatIsNoPostgresIsAskedLastAndASilentOneOnce) {
  auto address = parse_postgres_address(url_of(dir.path()));
  ASSERT_TRUE(address);
  Options& options = address->options;
  const std::string real = options["host"], port = options["port"].empty() ? "5432" : options["port"];
  const Listening silent(port), web(port);
  std::jthread speaks_http([&web] {
    for (int caller; (caller = ::accept(web.socket(), nullptr, nullptr)) >= 0; ::close(caller)) {
      std::array<char, 64> said{};
      if (::read(caller, said.data(), said.size()) > 0) ::send(caller, "HTTP/1.1 400\r\n\r\n", 16, MSG_NOSIGNAL);
    }
  });
  options["host"] = silent.host() + ',' + web.host() + ',' + real;
  options["port"] = port + ',' + port + ',' + port;
  options["connect_timeout"] = "2";
  std::string said;
  const auto found = connect_to_any(options, said);
  EXPECT_EQ(PQstatus(found.get()), CONNECTION_OK) << PQerrorMessage(found.get());
  EXPECT_EQ(PQhost(found.get()), real);
  EXPECT_EQ(silent.count_callers(), 1);
  EXPECT_EQ(options["host"], real + ',' + silent.host() + ',' + web.host());
  EXPECT_EQ(PQstatus(connect_to_any(options, said).get()), CONNECTION_OK);
  EXPECT_EQ(silent.count_callers(), 0) << "the next connection does not wait for it";

  options["host"] = web.host() + ',' + silent.host();
  options["port"] = port + ',' + port;
  EXPECT_NE(PQstatus(connect_to_any(options, said).get()), CONNECTION_OK);
  EXPECT_NE(said.find(web.host()), std::string::npos) << said;
  EXPECT_NE(said.find(silent.host()), std::string::npos) << said;
  ::shutdown(web.socket(), SHUT_RDWR);
  speaks_http.join();
  options["host"] = web.host() + ',' + real;
  EXPECT_EQ(PQstatus(connect_to_any(options, said).get()), CONNECTION_OK) << "refused: libpq goes on by itself";
}

}  // namespace
}  // namespace weft::store
