// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analyzer/watch.hpp"

namespace weft::analyzer {
namespace {

// Our own port is down: collectors tell of each cable of a switch that was down before.
TEST(OutageParts, ACableOfASwitchThatIsDownIsNoIncidentOfItsOwn) {
  Watch watch(fakes::FabricBuilder::fat_tree(2, 4, 4));
  watch.sweeps(3);
  const LinkKey below = watch.link("leaf-1", "host-1-0 mlx5_0"), elsewhere = watch.link("leaf-2", "host-2-0 mlx5_0");
  const auto tell = [&](const LinkKey& link) {
    Finding finding;
    finding.kind = IncidentKind::kLinkDown;
    finding.cause = {EntityKind::kLink, "test", link.low, link.high, {}};
    watch.book.update("", {finding}, Coverage::blind(), watch.fabric.now());
  };
  watch.fabric.power_off(watch.fabric.find("leaf-1"));
  watch.sweeps(5);
  EXPECT_EQ(watch.only().finding.kind, IncidentKind::kSwitchDown) << watch.describe();
  tell(below);
  EXPECT_EQ(watch.book.all()->size(), 1U) << watch.describe();
  tell(elsewhere);
  EXPECT_EQ(watch.open().size(), 2U) << "it hangs from another one";
  watch.fabric.power_on(watch.fabric.find("leaf-1"));
  for (const char* other :
       {"spine-0", "spine-1", "host-1-0 mlx5_0", "host-1-1 mlx5_0", "host-1-2 mlx5_0", "host-1-3 mlx5_0"})
    watch.fabric.relink(watch.fabric.port_towards("leaf-1", other));
  watch.sweeps(20);
  EXPECT_TRUE(watch.open().empty()) << watch.describe();
  tell(below);
  EXPECT_EQ(link_of(watch.only()), below) << "it fails alone";
}

}  // namespace
}  // namespace weft::analyzer
