// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/module_memory.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace weft::analyzer {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

/// Hosts with one port each, of which modules are told.
struct ModuleMemoryTest : testing::Test {
  HostWatch& host(const std::string& name) {
    HostWatch& known = hosts[name];
    if (!known.ports.empty()) return known;
    known.name = name;
    PortWatch& port = add_port(known, "mlx5_0", 1, slots);
    port.label = name + " mlx5_0 port 1";
    port.place.emplace();
    set_far(name, {{99}, {static_cast<std::uint16_t>(hosts.size())}}, "leaf-1 port " + std::to_string(hosts.size()));
    return known;
  }
  void set_far(const std::string& name, PortKey far, const std::string& label) {
    SubnetPlace& place = *hosts[name].ports[0].place;
    place.port = {.kind = EntityKind::kPort, .fabric = "f", .port = {{1}, {1}}, .peer = {}, .label = name};
    place.link = {
        .kind = EntityKind::kLink, .fabric = "f", .port = {{1}, {1}}, .peer = far, .label = name + " - " + label};
  }
  void plug(const std::string& name, const std::string& serial, const std::string& part = "MMA4Z00-NS") {
    auto table = std::make_shared<FactTable>();
    table->ports.push_back({"mlx5_0",
                            1,
                            {{ConfigFact::kModuleVendor, FactSource::kEthtool, "ACME"},
                             {ConfigFact::kModulePart, FactSource::kEthtool, part},
                             {ConfigFact::kModuleSerial, FactSource::kEthtool, serial}}});
    facts[name] = table;
    memory.take(host(name), table, now);
  }
  void unplug(const std::string& name) { memory.take(host(name), facts[name] = std::make_shared<FactTable>(), now); }
  void recable(const std::string& name, PortKey far, const std::string& label) {
    set_far(name, far, label);
    pass(minutes(1));
    memory.take(host(name), facts[name], now);
  }
  void trouble(const std::string& name) { memory.note_trouble(host(name), hosts[name].ports[0], now); }
  PortPast past(const std::string& name) { return memory.past(host(name), hosts[name].ports[0], now); }
  void pass(Duration time) { now += time; }
  /// The process dies and another takes over.
  void restart() {
    ModuleMemory next;
    for (const auto& [name, known] : hosts) next.restore(name, memory.stays(name));
    memory = std::move(next);
  }

  TimePoint now{hours(400'000)};
  PortSlots slots;
  std::map<std::string, HostWatch> hosts;
  std::map<std::string, std::shared_ptr<const FactTable>> facts;
  ModuleMemory memory;
};

TEST(ModuleName, NamesOnlyWhatIsOne) {
  EXPECT_EQ(module_name("ACME ", " P-1", "MT2318FT00042"), "ACME P-1 serial MT2318FT00042");
  for (const char* serial : {"", "   ", "N/A", "NA", "none", "0000000000", "FFFFFFFF", "----", "Unknown", "123"})
    EXPECT_EQ(module_name("ACME", "P-1", serial), "") << serial;
}

TEST(ModuleName, TellsCablesWithFixedModules) {
  EXPECT_TRUE(has_fixed_cable(module_name("NVIDIA", "MCP4Y10-N001", "MT1234X5678")));
  EXPECT_TRUE(has_fixed_cable(module_name("Mellanox", "MFS1S00-H010V", "MT1234X5678")));
  EXPECT_FALSE(has_fixed_cable(module_name("NVIDIA", "MMA4Z00-NS", "MT1234X5678")));
  EXPECT_FALSE(has_fixed_cable(""));
}

TEST_F(ModuleMemoryTest, TroubleStaysWithThePort) {
  plug("gpu-1", "MT0001");
  pass(hours(1));
  trouble("gpu-1");
  pass(hours(1));
  EXPECT_FALSE(past("gpu-1").replaced);
  plug("gpu-1", "MT0002");
  pass(minutes(1));
  trouble("gpu-1");
  EXPECT_FALSE(past("gpu-1").replaced->goes_on) << "whoever changes a module makes the link go down";
  pass(hours(1));
  trouble("gpu-1");
  const PortPast known = past("gpu-1");
  ASSERT_TRUE(known.replaced);
  EXPECT_TRUE(known.replaced->goes_on);
  EXPECT_EQ(known.replaced->before, "ACME MMA4Z00-NS serial MT0001");
  EXPECT_EQ(known.module, "ACME MMA4Z00-NS serial MT0002");
  EXPECT_FALSE(known.moved);
}

TEST_F(ModuleMemoryTest, ASwapOfAPortWithoutTroubleSaysNothing) {
  plug("gpu-1", "MT0001");
  pass(hours(1));
  plug("gpu-1", "MT0002");
  pass(hours(1));
  trouble("gpu-1");
  EXPECT_FALSE(past("gpu-1").replaced);
}

TEST_F(ModuleMemoryTest, OldTroubleSaysNothing) {
  plug("gpu-1", "MT0001");
  pass(hours(1));
  trouble("gpu-1");
  pass(hours(24 * 20));
  plug("gpu-1", "MT0002");
  pass(hours(1));
  trouble("gpu-1");
  EXPECT_FALSE(past("gpu-1").replaced);
}

TEST_F(ModuleMemoryTest, TroubleMovesWithTheModule) {
  plug("gpu-1", "MT0001");
  plug("gpu-2", "MT0002");
  pass(hours(1));
  trouble("gpu-1");
  plug("gpu-1", "MT0002");
  plug("gpu-2", "MT0001");
  pass(hours(1));
  trouble("gpu-2");
  const PortPast known = past("gpu-2");
  ASSERT_TRUE(known.moved);
  EXPECT_EQ(known.moved->from, "gpu-1 mlx5_0 1");
  EXPECT_TRUE(known.moved->left_well);
  EXPECT_FALSE(past("gpu-1").moved) << "its module comes from a port without trouble";
  trouble("gpu-1");
  EXPECT_FALSE(past("gpu-2").moved->left_well);
}

TEST_F(ModuleMemoryTest, ASerialNumberThatManyHaveIsNoIdentity) {
  for (const char* name : {"gpu-1", "gpu-2", "gpu-3", "gpu-4"}) plug(name, "SAME01");
  pass(hours(1));
  trouble("gpu-1");
  plug("gpu-1", "MT0001");
  plug("gpu-5", "SAME01");
  pass(hours(1));
  trouble("gpu-5");
  EXPECT_FALSE(past("gpu-5").moved);
}

TEST_F(ModuleMemoryTest, AnEmptyPortIsNoSwap) {
  plug("gpu-1", "MT0001");
  pass(hours(1));
  trouble("gpu-1");
  unplug("gpu-1");
  pass(hours(1));
  plug("gpu-1", "MT0001");
  pass(hours(1));
  trouble("gpu-1");
  EXPECT_FALSE(past("gpu-1").replaced) << "it was reseated";
  EXPECT_EQ(memory.stays("gpu-1").size(), 1U);
}

TEST_F(ModuleMemoryTest, KnowsWhereTheCableLed) {
  plug("gpu-1", "MT0001");
  pass(hours(1));
  trouble("gpu-1");
  recable("gpu-1", {{98}, {4}}, "leaf-2 port 4");
  pass(hours(1));
  trouble("gpu-1");
  const PortPast known = past("gpu-1");
  ASSERT_TRUE(known.recabled);
  EXPECT_TRUE(known.recabled->goes_on);
  EXPECT_EQ(known.recabled->before, "leaf-1 port 1");
  EXPECT_FALSE(known.replaced);
}

TEST_F(ModuleMemoryTest, SurvivesARestart) {
  plug("gpu-1", "MT0001");
  plug("gpu-2", "MT0002");
  pass(hours(1));
  trouble("gpu-1");
  restart();
  plug("gpu-1", "MT0002");
  plug("gpu-2", "MT0001");
  pass(hours(1));
  restart();
  trouble("gpu-2");
  EXPECT_TRUE(past("gpu-2").moved);
}

TEST_F(ModuleMemoryTest, IsBounded) {
  for (int i = 0; i < 20; ++i) {
    plug("gpu-1", "MT000" + std::to_string(i));
    pass(hours(1));
  }
  EXPECT_EQ(memory.stays("gpu-1").size(), ModuleMemory::kMostStays);
  EXPECT_EQ(memory.stays("gpu-1").back().module, "ACME MMA4Z00-NS serial MT00019");
  EXPECT_GT(memory.revision("gpu-1"), 19U);
  memory.forget("gpu-1");
  EXPECT_TRUE(memory.stays("gpu-1").empty());
}

}  // namespace
}  // namespace weft::analyzer
