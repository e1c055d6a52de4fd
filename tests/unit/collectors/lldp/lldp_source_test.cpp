// SPDX-License-Identifier: Apache-2.0
#include "collectors/lldp/lldp_source.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include "collectors/lldp/lldpctl_interface.hpp"

namespace weft::lldp {
namespace {

using namespace std::chrono_literals;

/// An lldpd that does nothing: tests/collector/test_lldp_fabric.py has real ones.
struct LldpSourceTest : ::testing::Test {
  LldpSourceTest() {
    char pattern[] = "/tmp/weft-test-XXXXXX";
    place = ::mkdtemp(pattern);
  }
  ~LldpSourceTest() override {
    if (listener >= 0) ::close(listener);
    std::filesystem::remove_all(place);
  }
  void SetUp() override {
    if (::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL) == nullptr) GTEST_SKIP() << "lldpd is not installed";
  }
  std::string path() const { return place + "/lldpd.socket"; }
  void listen() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path().data(), path().size());
    listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(listener, 1), 0);
  }
  /// One reading in each second.
  void read(LldpSource& source, int seconds) {
    for (int i = 0; i < seconds; ++i) {
      const auto before = std::chrono::steady_clock::now();
      source.read(now += 1s);
      longest = std::max(longest, std::chrono::steady_clock::now() - before);
    }
  }

  std::string place;
  int listener = -1;
  TimePoint now{1'700'000'000s};
  std::chrono::steady_clock::duration longest{};
};

TEST_F(LldpSourceTest, WithoutADaemonNothingIsMissedAndItSaysSo) {
  LldpSource source({path(), 5s});
  read(source, 12);
  EXPECT_EQ(source.table(), nullptr);
  EXPECT_EQ(source.status(), (SourceStatus{"lldp", true, "lldpd does not run (" + path() + ")"}));
}

TEST_F(LldpSourceTest, ADaemonThatHangsHoldsNoReadingUp) {
  listen();
  LldpSource source({path(), 5s});
  read(source, 200);  // its backlog is full after a few of them
  EXPECT_EQ(source.status().message, "lldpd does not answer");
  EXPECT_LT(longest, 1s);  // of some 20 ms, on a machine that may be busy
}

TEST_F(LldpSourceTest, ADaemonThatTellsNonsenseIsTroubleAndNothingElse) {
  listen();
  LldpSource source({path(), 1s});
  std::jthread liar([this] {
    for (int i = 0; i < 2; ++i) {
      const int client = ::accept(listener, nullptr, nullptr);
      const std::string nonsense(4096, '\xEE');
      (void)::send(client, nonsense.data(), nonsense.size(), MSG_NOSIGNAL);
      ::close(client);
    }
  });
  for (int i = 0; i < 200 && source.status().message.empty(); ++i) {
    read(source, 1);
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_NE(source.status().message, "");
  EXPECT_EQ(source.table(), nullptr);
  ::shutdown(listener, SHUT_RDWR);
}

TEST_F(LldpSourceTest, AClockThatIsSetBackStopsNothing) {
  LldpSource source({path(), 3600s});
  read(source, 1);
  listen();
  now -= 24h;
  read(source, 15);
  EXPECT_EQ(source.status().message, "lldpd does not answer");
}

}  // namespace
}  // namespace weft::lldp
