// SPDX-License-Identifier: Apache-2.0
// Two ports on one subnet, and sweepers that do not end when they are asked to.

#include "daemon/programs/weftd/subnet_watchers.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <fstream>
#include <functional>

#include "daemon/programs/sweeper/frame.hpp"
#include "tests/unit/daemon/programs/weftd/core_fixture.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

// In the place of weft-sweeper: lists two ports; of each it sends the frames of a file, and then is deaf.
constexpr const char* kDeafSweeper = R"(#!/bin/sh
cd "${0%/*}" || exit 1
if [ "$1" = --list ]; then
  printf 'mlx5_0:1\tInfiniBand\tActive\nmlx5_1:1\tInfiniBand\tActive\n'
  exit
fi
trap '' TERM
echo $$ >"$2.pid.new" && mv "$2.pid.new" "$2.pid"
cat "$2.frames" >&3
exec sleep 1000
)";
constexpr std::array<const char*, 2> kFabrics{"mlx5_0-1", "mlx5_1-1"};

class SubnetWatchersTest : public CoreTest {
 protected:
  SubnetWatchersTest() {
    char name[] = "/tmp/weft-watchers-XXXXXX";
    place = ::mkdtemp(name);
    config.state_dir = place / "state";
    config.infiniband.sweeper = place / "sweeper";
    std::ofstream(config.infiniband.sweeper) << kDeafSweeper;
    std::filesystem::permissions(config.infiniband.sweeper, std::filesystem::perms::owner_all);
    for (std::size_t i = 0; i < kFabrics.size(); ++i) {
      fabric.set_local_port(fabric.key_of(fabric.port_of("host-" + std::to_string(i) + "-0 mlx5_0", 1)));
      write_sweep(kFabrics[i]);
    }
    start();
  }
  ~SubnetWatchersTest() override {
    for (const char* name : kFabrics)
      if (is_running(name)) ::kill(sweeper_of(name), SIGKILL);
    std::error_code ignored;
    std::filesystem::remove_all(place, ignored);
  }

  void write_sweep(const std::string& name) {
    std::ofstream file(place / (name + ".frames"), std::ios::binary);
    Sweep sweep = fabric.sweep();
    sweep.fabric = name;
    clock.time = sweep.finished;
    sweeper::FrameWriter writer([&file](std::span<const std::byte> piece) {
      file.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
      return file.good();
    });
    ASSERT_TRUE(writer.write(sweep));
  }
  pid_t sweeper_of(const std::string& name) const {
    pid_t pid = -1;
    std::ifstream(place / (name + ".pid")) >> pid;
    return pid;
  }
  bool is_running(const std::string& name) const {
    const pid_t pid = sweeper_of(name);
    return pid > 0 && ::kill(pid, 0) == 0;
  }
  bool turn_until(const std::function<bool()>& is_so) {
    for (const auto end = std::chrono::steady_clock::now() + 30s; !is_so();) {
      const auto began = std::chrono::steady_clock::now();
      if (began > end) return false;
      main.run_one_for(50ms);
      run_posted();
      longest_turn = std::max<Duration>(longest_turn, std::chrono::steady_clock::now() - began);
    }
    return true;
  }

  std::filesystem::path place;
  boost::asio::io_context main;
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stays_open{main.get_executor()};
  Duration longest_turn{};
};

TEST_F(SubnetWatchersTest, AStandbyWhoseSweeperDoesNotEndHoldsNothingUp) {
  SubnetWatchers watchers(main, config, *core, *remedies, {});
  watchers.start();
  ASSERT_TRUE(turn_until([&] { return watchers.figures().size() == 2; }));
  ASSERT_TRUE(turn_until([&] { return watchers.figures().size() == 1; })) << "one of them is enough";
  const std::string kept = watchers.figures().begin()->first;
  const std::string standby = kept == kFabrics[0] ? kFabrics[1] : kFabrics[0];
  EXPECT_TRUE(core->is_watching(kept));
  EXPECT_FALSE(core->is_watching(standby));
  EXPECT_TRUE(turn_until([&] { return !is_running(standby); })) << "it is killed, and no zombie is left";
  EXPECT_LT(longest_turn, 1s) << "the standby's sweeper is not waited for";
  EXPECT_TRUE(is_running(kept));
  ::kill(sweeper_of(kept), SIGKILL);
  watchers.stop();
}

TEST_F(SubnetWatchersTest, StoppingEndsASweeperThatIsJustLeavingToo) {
  SubnetWatchers watchers(main, config, *core, *remedies, {});
  watchers.start();
  ASSERT_TRUE(turn_until([&] { return watchers.figures().size() == 2; }));
  ASSERT_TRUE(turn_until([&] { return watchers.figures().size() == 1; }));
  watchers.stop();
  for (const char* name : kFabrics) EXPECT_FALSE(is_running(name)) << name;
}

// The list of ports may take ten seconds.
TEST_F(SubnetWatchersTest, StopDoesNotWaitForAListOfPortsThatHangs) {
  std::ofstream(config.infiniband.sweeper, std::ios::trunc) << "#!/bin/sh\ntrap '' TERM\nexec sleep 1000\n";
  SubnetWatchers watchers(main, config, *core, *remedies, {});
  watchers.start();
  turn_until([until = std::chrono::steady_clock::now() + 500ms] { return std::chrono::steady_clock::now() > until; });
  const auto began = std::chrono::steady_clock::now();
  watchers.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
}

}  // namespace
}  // namespace weft::daemon
