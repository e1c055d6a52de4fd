// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/kernel_log.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/collectors/sysfs_tree.hpp"

namespace weft::host {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kLogNow{std::chrono::seconds(1'800'000'000)};
constexpr std::chrono::microseconds kUp = 10h;  ///< the kernel has run for so long

/// A log that is a file, where the kernel's is a device: several records may come at once.
struct LogFile {
  LogFile() : path(tree.at("kmsg").string()) { std::ofstream(path, std::ios::app); }
  void write(std::chrono::microseconds since_boot, const std::string& text, int priority = 3) {
    std::ofstream(path, std::ios::app) << priority << ",1," << since_boot.count() << ",-;" << text
                                       << "\n SUBSYSTEM=pci\n DEVICE=+pci:0000:41:00.0\n";
  }
  std::string fault(std::string_view address = "0000:41:00.0") const { return log.fault_of(address); }
  void read(Duration after = 0s) {
    log.read(kLogNow + after, kUp + std::chrono::duration_cast<std::chrono::microseconds>(after));
  }

  tests::SysfsTree tree;
  std::string path;
  KernelLog log{path};
};

constexpr const char* kCompromised = "mlx5_core 0000:41:00.0: poll_health:471:(pid 0): device's health compromised";
constexpr const char* kAborted = "mlx5_core 0000:41:00.0: health recovery flow aborted, PCI reads still not working";

TEST(KernelLog, ReadsRecords) {
  const auto record = parse_kernel_record("6,339,5140900,-;NET: Registered protocol\n SUBSYSTEM=net");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->since_boot, 5140900us);
  EXPECT_EQ(record->text, "NET: Registered protocol");
  EXPECT_TRUE(parse_kernel_record("3,1,2,c,caller=T1;x")) << "flags and what later kernels add";
  EXPECT_FALSE(parse_kernel_record("11,1,2,-;mlx5_core 0000:41:00.0: device's health compromised"))
      << "written by a program";
  for (const char* const text : {"", ";", "6", "6,1,2", "6,1,2,-", "-6,1,2,-;x", "6,1,,-;x", "x,1,2,-;x"})
    EXPECT_FALSE(parse_kernel_record(text)) << text;
}

TEST(KernelLog, KeepsTheGravestFaultByTheKernelsClock) {
  LogFile file;
  file.read();
  EXPECT_EQ(file.fault(), kNoFault);
  EXPECT_FALSE(file.log.take_changes());
  file.write(kUp - 120s, kCompromised);
  file.write(kUp - 100s, "usb 1-1: new device");
  file.read();
  EXPECT_EQ(file.fault(), "health_compromised 2027-01-15 07:58:00 UTC: " + std::string(kCompromised));
  EXPECT_EQ(file.fault("0000:41:00.1"), kNoFault);
  EXPECT_TRUE(file.log.take_changes());
  file.write(kUp - 60s, kAborted);
  file.write(kUp - 50s, kCompromised);
  file.read();
  EXPECT_TRUE(file.fault().starts_with("recovery_aborted ")) << file.fault();
  file.read(3h);
  EXPECT_TRUE(file.fault().starts_with("recovery_aborted ")) << "dead is dead";
}

TEST(KernelLog, IsOverWhenTheDriverSaysSoOrLong) {
  LogFile file;
  file.write(kUp - 10s, kAborted);
  file.write(kUp - 5s, "mlx5_core 0000:41:00.0: firmware version: 28.39.1002", 6);
  file.read();
  EXPECT_EQ(file.fault(), kNoFault) << "the driver was loaded again";
  file.write(kUp, kCompromised);
  file.read(1s);
  EXPECT_NE(file.fault(), kNoFault);
  file.log.take_changes();
  file.read(61min);
  EXPECT_EQ(file.fault(), kNoFault);
  EXPECT_TRUE(file.log.take_changes());
}

TEST(KernelLog, WhatIsOldWhenTheCollectorBeginsIsNoNews) {
  LogFile file;
  file.write(10s, kCompromised);
  file.read();
  EXPECT_EQ(file.fault(), kNoFault);
}

TEST(KernelLog, ALineAgainAndAgainIsNewsOnceAMinute) {
  LogFile file;
  unsigned changes = 0;
  for (int second = 0; second < 180; ++second) {
    file.write(kUp + std::chrono::seconds(second), kCompromised);
    file.read(std::chrono::seconds(second));
    if (file.log.take_changes()) ++changes;
  }
  EXPECT_EQ(changes, 3U);
}

TEST(KernelLog, WithoutALogNothingIsKnown) {
  KernelLog log("/nowhere/kmsg");
  log.read(kLogNow, kUp);
  EXPECT_EQ(log.fault_of("0000:41:00.0"), "");
  EXPECT_TRUE(log.status().ok);
  EXPECT_NE(log.status().message, "");
}

TEST(KernelLog, WhateverIsInItIsData) {
  LogFile file;
  std::string noise(20'000, 'x');
  for (std::size_t i = 0; i < noise.size(); i += 7) noise[i] = static_cast<char>(i);
  std::ofstream(file.path, std::ios::app) << noise << '\n';
  for (int i = 0; i < 400; ++i)
    file.write(kUp, "mlx5_core 0000:" + std::string(1, "0123456789abcdef"[i / 16 % 16]) + "0123456789abcdef"[i % 16] +
                        ":0" + std::to_string(i % 10) + ".0: health recovery failed");
  for (int i = 0; i < 5; ++i) file.read();
  EXPECT_NE(file.fault("0000:00:00.0"), kNoFault);
}

}  // namespace
}  // namespace weft::host
