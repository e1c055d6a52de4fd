// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analyzer/acceptance/accepting.hpp"

namespace weft::analyzer {
namespace {

using enum AcceptanceVerdict;

struct OfHosts : Accepting {
  OfHosts() { run.targets = {{AcceptanceTargetKind::kHost, "host-0-0"}}; }

  /// A collector tells of these settings and of this temperature of the module.
  void tell(std::vector<FactValue> facts, std::int64_t milli_celsius = 45'000) {
    sweeps(61);
    const Port& port = fabric.ports()[fabric.port_of("host-0-0 mlx5_0", 1)];
    auto inventory = std::make_shared<HostInventory>();
    HostPort& own = inventory->ports.emplace_back();
    own.device = "mlx5_0";
    own.number = 1;
    own.port_guid = port.guid;
    inventory->series = std::vector<HostSeries>{{.device = "mlx5_0", .port = 1, .name = "module_temperature"}};
    auto reading = std::make_shared<HostReading>();
    reading->taken = fabric.now();
    reading->inventory = inventory;
    reading->values = {static_cast<std::uint64_t>(milli_celsius)};
    reading->present = {1};
    reading->facts = std::make_shared<const FactTable>(tidy({{{"mlx5_0", 1, std::move(facts)}}}));
    auto view = std::make_shared<HostView>();
    view->host = "host-0-0";
    view->state = CollectorState::kConnected;
    view->reading = reading;
    view->interval = std::chrono::seconds(1);
    hosts = std::make_shared<const std::vector<std::shared_ptr<const HostView>>>(
        std::vector<std::shared_ptr<const HostView>>{view});
  }
  static std::vector<FactValue> slot(const std::string& speed, const std::string& width) {
    return {{ConfigFact::kPcieSpeed, FactSource::kSysfs, speed},
            {ConfigFact::kPcieWidth, FactSource::kSysfs, width},
            {ConfigFact::kPcieSpeedMost, FactSource::kSysfs, "32.0 GT/s PCIe"},
            {ConfigFact::kPcieWidthMost, FactSource::kSysfs, "16"},
            {ConfigFact::kBoard, FactSource::kSysfs, "MT_0000000838"}};
  }
};

TEST_F(OfHosts, LostLanesAndALowSpeedFail) {
  tell(slot("32.0 GT/s PCIe", "8"));
  AcceptanceCheck failed = check(AcceptanceKind::kPcie);
  EXPECT_EQ(failed.verdict, kFail);
  EXPECT_TRUE(names(failed, "host-0-0 mlx5_0"));
  EXPECT_EQ(failed.ports.front().told, "runs at 8 lanes of 32.0 GT/s PCIe, of 16 lanes of 32.0 GT/s PCIe");
  EXPECT_EQ(of_host("host-0-0"), kFail);
  tell(slot("8.0 GT/s PCIe", "16"));
  EXPECT_EQ(check(AcceptanceKind::kPcie).verdict, kFail);
  tell(slot("32.0 GT/s PCIe", "16"));
  EXPECT_EQ(check(AcceptanceKind::kPcie).verdict, kPass);
  auto facts = slot("32.0 GT/s PCIe", "16");
  facts.erase(facts.begin() + 1);
  tell(facts);
  EXPECT_EQ(check(AcceptanceKind::kPcie).verdict, kNotMeasured) << "the width is not read";
}

TEST_F(OfHosts, AHotModuleFails) {
  tell({}, 71'500);
  const AcceptanceCheck failed = check(AcceptanceKind::kTemperature);
  EXPECT_EQ(failed.verdict, kFail);
  EXPECT_TRUE(names(failed, label(fabric.port_of("host-0-0 mlx5_0", 1))));
  EXPECT_EQ(failed.ports.front().told, "its module has 71.5 degrees Celsius");
  EXPECT_EQ(failed.unmeasured, 1U) << "the switch's end";
  tell({}, 69'000);
  EXPECT_EQ(check(AcceptanceKind::kTemperature).failed, 0U);
}

TEST_F(OfHosts, AnOldReadingTellsNoTemperature) {
  tell({}, 71'500);
  fabric.advance(std::chrono::seconds(20));
  EXPECT_EQ(check(AcceptanceKind::kTemperature).verdict, kNotMeasured);
}

TEST_F(OfHosts, ASettingThatMostDoNotHaveFails) {
  tell(slot("32.0 GT/s PCIe", "16"));
  auto told = std::make_shared<DriftReport>();
  told->hosts = 6;
  drift = told;
  EXPECT_EQ(check(AcceptanceKind::kConfiguration).verdict, kPass);
  DriftDifference& difference = told->differences.emplace_back();
  difference.fact = ConfigFact::kFirmware;
  difference.group = "board MT_0000000838";
  difference.values = {{"28.41.1000", 5}, {"28.39.1002", 1}};
  difference.differing = 1;
  DriftHolder& holder = difference.holders.emplace_back();
  holder.where.host = "host-0-0";
  holder.where.label = "host-0-0 mlx5_0";
  holder.value = "28.39.1002";
  const AcceptanceCheck failed = check(AcceptanceKind::kConfiguration);
  EXPECT_EQ(failed.verdict, kFail);
  EXPECT_TRUE(names(failed, "host-0-0 mlx5_0"));
  EXPECT_EQ(failed.ports.front().told, "firmware is 28.39.1002, most have 28.41.1000 (board MT_0000000838)");
  holder.is_young = true;
  EXPECT_EQ(check(AcceptanceKind::kConfiguration).verdict, kNotYet);
  holder.where.host = "host-5-5";
  EXPECT_EQ(check(AcceptanceKind::kConfiguration).verdict, kPass);
  told->hosts = 1;
  EXPECT_EQ(check(AcceptanceKind::kConfiguration).verdict, kNotMeasured) << "nobody to compare with";
}

}  // namespace
}  // namespace weft::analyzer
