// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

CollectorMark make_mark(const std::string& host) {
  CollectorMark mark;
  mark.host = host;
  mark.spool = 0xF000000000000001;
  mark.sequence = 8;
  mark.batches = 7;
  mark.late = 2;
  mark.lost = 1;
  mark.first_seen = at_second(1);
  mark.last_seen = at_second(9);
  mark.adapters = 0xE000000000000007;
  return mark;
}

HostFlapState make_flap(const std::string& device, std::uint8_t port) {
  HostFlapState flap;
  flap.device = device;
  flap.port = port;
  flap.state.fast = 1234.5;
  flap.state.slow = 0.25;
  flap.state.updated = at_second(3);
  flap.state.slow_counted = at_second(2);
  flap.state.last_flap = at_second(3);
  flap.state.flaps = 7;
  flap.state.suppressed = true;
  return flap;
}

std::vector<CollectorMark> restored(Store& store) {
  const auto all = store.restore(kNever);
  EXPECT_TRUE(all) << all.error().message;
  return all->collectors;
}

using Collectors = OnEachEngine;
INSTANTIATE_ON_EACH_ENGINE(Collectors);

TEST_P(Collectors, ComeBackAsTheyWere) {
  const TempDir dir;
  const std::vector marks{make_mark("gpu-1"), make_mark("gpu-2")};
  ASSERT_TRUE(must_open(dir.path())->save_collectors(marks, {}));
  EXPECT_EQ(restored(*must_open(dir.path())), marks);
}

TEST_P(Collectors, FlapPenaltiesAreReplacedHostByHost) {
  const TempDir dir;
  auto store = must_open(dir.path());
  std::vector marks{make_mark("gpu-1"), make_mark("gpu-2")};
  marks[0].flaps = {make_flap("eth9", 0), make_flap("mlx5_0", 1)};
  marks[1].flaps = {make_flap("mlx5_0", 1)};
  ASSERT_TRUE(store->save_collectors(marks, {}));
  EXPECT_EQ(restored(*store), marks);
  // A mark that does not speak of them leaves them as they are.
  CollectorMark later = make_mark("gpu-1");
  later.sequence = 9;
  ASSERT_TRUE(store->save_collectors(std::vector{later}, {}));
  EXPECT_EQ(restored(*store)[0].sequence, 9U);
  EXPECT_EQ(restored(*store)[0].flaps, marks[0].flaps);
  marks[0].flaps = {make_flap("mlx5_1", 1)};
  ASSERT_TRUE(store->save_collectors(std::span(marks).first(1), {}));
  EXPECT_EQ(restored(*store), marks);
  marks[1].flaps.emplace();
  ASSERT_TRUE(store->save_collectors(std::span(marks).last(1), {}));
  EXPECT_EQ(restored(*store)[1].flaps, std::nullopt);
}

TEST_P(Collectors, TheJobsOfTheirHostsAreKept) {
  const TempDir dir;
  auto store = must_open(dir.path());
  std::vector marks{make_mark("gpu-1"), make_mark("gpu-2"), make_mark("gpu-3")};
  marks[0].jobs = {"slurm:1234", "train-1"};
  marks[1].jobs.emplace();  // none runs there
  ASSERT_TRUE(store->save_collectors(marks, {}));
  EXPECT_EQ(restored(*store), marks);
  // A mark that does not speak of them leaves them as they are.
  ASSERT_TRUE(store->save_collectors(std::vector{make_mark("gpu-1")}, {}));
  EXPECT_EQ(restored(*store), marks);
  marks[0].jobs = {"slurm:1235"};
  ASSERT_TRUE(store->save_collectors(marks, {}));
  EXPECT_EQ(restored(*store), marks);
}

TEST_P(Collectors, ThePortsThatWereUpAreKept) {
  const TempDir dir;
  auto store = must_open(dir.path());
  std::vector marks{make_mark("gpu-1"), make_mark("gpu-2"), make_mark("gpu-3")};
  marks[0].ports = {{"mlx5_0", 1, "eth2", PortGuid{0xFFFF'0000'0000'0001}, 400'000'000'000, NodeGuid{7}},
                    {"eno1", 0, "eno1", {}, 0}};
  marks[1].ports.emplace();  // none was
  marks[0].stays = {{"mlx5_0",
                     1,
                     "ACME P-1 serial X",
                     {NodeGuid{0xFFFF'0000'0000'0001}, PortNum{3}},
                     "leaf-1 port 3",
                     at_second(5),
                     at_second(50),
                     at_second(7),
                     at_second(9)},
                    {"mlx5_0", 1, "", {}, "", at_second(50)}};
  ASSERT_TRUE(store->save_collectors(marks, {}));
  EXPECT_EQ(restored(*store), marks);
  // A mark that does not speak of them leaves them as they are.
  ASSERT_TRUE(store->save_collectors(std::vector{make_mark("gpu-1")}, {}));
  EXPECT_EQ(restored(*store), marks);
  marks[0].ports = {{"a device\tor\ntwo", 1, "", {}, 1}, {"ib 0", 2, "", {}, 1}, {"", 1, "", {}, 1}};
  ASSERT_TRUE(store->save_collectors(marks, {}));
  marks[0].ports->erase(marks[0].ports->begin());
  marks[0].ports->pop_back();
  EXPECT_EQ(restored(*store), marks);
}

TEST_P(Collectors, WhoIsForgottenLeavesNothing) {
  const TempDir dir;
  auto store = must_open(dir.path());
  CollectorMark mark = make_mark("gpu-1");
  mark.flaps = {make_flap("mlx5_0", 1)};
  mark.jobs = {"train-1"};
  ASSERT_TRUE(store->save_collectors(std::vector{mark}, {}));
  ASSERT_TRUE(store->save_collectors({}, std::vector<std::string>{"gpu-1"}));
  EXPECT_TRUE(restored(*store).empty());
  mark.flaps.reset();
  mark.jobs.reset();
  ASSERT_TRUE(store->save_collectors(std::vector{mark}, {}));
  EXPECT_EQ(restored(*store), std::vector{mark}) << "nor is it there when it comes again";
}

}  // namespace
}  // namespace weft::store
