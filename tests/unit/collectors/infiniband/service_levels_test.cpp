// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/service_levels.hpp"

#include <functional>

#include "tests/unit/collectors/infiniband/small_subnet.hpp"

namespace weft::infiniband {
namespace {

// A switch with 60 adapters more; the subnet manager runs on the first host.
class ServiceLevelSweep : public SmallSubnet {
 protected:
  ServiceLevelSweep() {
    const std::size_t hub = port.add_switch(0x500, "hub", 64);
    port.connect(right, 8, hub, 64);
    for (std::uint8_t i = 1; i <= 60; ++i) {
      adapters.push_back(port.add_adapter(0x1000U + i, "gpu mlx5_0"));
      port.connect(hub, i, adapters.back(), 1);
    }
    port.subnet_manager_lid = port.port(host, 1).lid;
    options.service_level.reset();
  }
  std::uint64_t questions(const Sweep& sweep, MadResult result) {
    return sweep.statistics.path_records[static_cast<std::size_t>(result)];
  }
  /// The administrator answers a question for the path to a LID with the status that `status_of` says.
  void answer_with_status() {
    port.tamper = [this](const MadAddress& to, FakeMadPort::Reply& reply) {
      if (to.mad_class == MadClass::kSubnetAdministration) {
        const Lid asked{static_cast<std::uint16_t>(mad_get_field(reply.data(), IB_SA_DATA_OFFS, IB_SA_PR_DLID_F))};
        mad_set_field(reply.data(), 0, IB_MAD_STATUS_F, status_of(asked));
      }
      return reply.size();
    };
  }
  static constexpr std::uint32_t kNoRecords = 0x0300;
  std::function<std::uint32_t(Lid)> status_of;
  std::vector<std::size_t> adapters;
};

TEST_F(ServiceLevelSweep, WhereAllPathsHaveOneLevelFewAreAskedFor) {
  port.path_service_level = 3;
  Sweeper sweeper(port, options);
  Sweep last;
  for (int i = 0; i < 20; ++i) last = sweep(sweeper);
  EXPECT_LE(port.path_records, ServiceLevels::kSample + 1);
  EXPECT_EQ(questions(last, MadResult::kOk), port.path_records);
  port.service_levels.clear();
  sweep(sweeper);
  EXPECT_EQ(port.service_levels, std::set<std::uint8_t>{3}) << "all agents are asked at it";
}

TEST_F(ServiceLevelSweep, WhereTheyDifferEachPathHasItsOwn) {
  for (const std::size_t adapter : adapters)
    port.path_service_levels[port.port(adapter, 1).lid] = static_cast<std::uint8_t>(adapter % 2 + 1);
  Sweeper sweeper(port, options);
  for (int i = 0; i < 40; ++i) sweep(sweeper);
  EXPECT_EQ(port.path_records, 65U) << "each node once";
  port.service_levels.clear();
  sweep(sweeper);
  EXPECT_EQ(port.service_levels, (std::set<std::uint8_t>{0, 1, 2}));
}

TEST_F(ServiceLevelSweep, AnOddPathThatTheSampleMissedIsFound) {
  Sweeper sweeper(port, options);
  for (int i = 0; i < 10; ++i) sweep(sweeper);
  const std::uint64_t sampled = port.path_records;
  for (const std::size_t adapter : adapters) port.path_service_levels[port.port(adapter, 1).lid] = 5;
  for (int i = 0; i < 450; ++i) sweep(sweeper);
  EXPECT_GT(port.path_records, sampled);
  port.service_levels.clear();
  sweep(sweeper);
  EXPECT_TRUE(port.service_levels.contains(5));
}

TEST_F(ServiceLevelSweep, APathWithoutARecordKeepsNoOtherAtLevelZero) {
  port.path_service_level = 3;
  std::optional<Lid> first;
  status_of = [&](Lid to) -> std::uint32_t {
    if (!first) first = to;
    return to == *first ? kNoRecords : 0;
  };
  answer_with_status();
  Sweeper sweeper(port, options);
  for (int i = 0; i < 20; ++i) sweep(sweeper);
  EXPECT_LE(port.path_records, ServiceLevels::kSample + 1);
  port.service_levels.clear();
  sweep(sweeper);
  EXPECT_EQ(port.service_levels, std::set<std::uint8_t>{3});
}

TEST_F(ServiceLevelSweep, WhereMostPathsHaveNoRecordTheOthersAreFound) {
  port.path_service_level = 3;
  status_of = [&](Lid to) -> std::uint32_t { return to.value > find_lid(adapters[1]).value ? kNoRecords : 0; };
  answer_with_status();
  Sweeper sweeper(port, options);
  for (int i = 0; i < 100; ++i) sweep(sweeper);
  EXPECT_LE(port.path_records, 2 * 65U);
  port.service_levels.clear();
  sweep(sweeper);
  EXPECT_EQ(port.service_levels, std::set<std::uint8_t>{3});
}

TEST_F(ServiceLevelSweep, AnAdministratorWithoutRecordsIsSparedAndAskedAgain) {
  port.path_service_level = 3;
  bool is_starting = true;
  status_of = [&](Lid) -> std::uint32_t { return is_starting ? kNoRecords : 0; };
  answer_with_status();
  Sweeper sweeper(port, options);
  for (int i = 0; i < 130; ++i) sweep(sweeper);
  EXPECT_LE(port.path_records, 6 * ServiceLevels::kFewestAtOnce) << "one set after 8, 16, 32 … sweeps";
  is_starting = false;
  for (int i = 0; i < 140; ++i) sweep(sweeper);
  port.service_levels.clear();
  sweep(sweeper);
  EXPECT_EQ(port.service_levels, std::set<std::uint8_t>{3});
}

TEST_F(ServiceLevelSweep, ABusyAdministratorIsSpared) {
  port.administrator_hangs = true;
  options.engine.timeout = std::chrono::milliseconds(1);
  Sweeper sweeper(port, options);
  Sweep last;
  for (int i = 0; i < 300; ++i) last = sweep(sweeper);
  EXPECT_LE(port.path_records, 8U) << "one question after 8, 16, 32 … sweeps";
  EXPECT_EQ(questions(last, MadResult::kTimeout), port.path_records);
  EXPECT_EQ(last.statistics.nodes_backed_off, 0U);
  EXPECT_NE(last.counters->read_at(last.topology->find_port({{0x100}, {1}})), kNever) << "others are read meanwhile";
  port.administrator_hangs = false;
  port.path_service_level = 4;
  for (int i = 0; i < 300; ++i) sweep(sweeper);
  port.service_levels.clear();
  sweep(sweeper);
  EXPECT_EQ(port.service_levels, std::set<std::uint8_t>{4});
}

}  // namespace
}  // namespace weft::infiniband
