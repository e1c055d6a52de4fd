// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/compare_cabling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/fakes/fabric_builder.hpp"

namespace weft::analyzer {
namespace {

using fakes::FabricBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::string text(const NamedPort& port) {
  return port.node + ':' + std::to_string(port.key.port.value);
}

std::vector<std::string> text(const std::vector<NamedLink>& links) {
  std::vector<std::string> list;
  for (const NamedLink& link : links) list.push_back(text(link.a) + " - " + text(link.b));
  return list;
}

struct CompareCabling : testing::Test {
  void plug(const std::string& a, std::uint8_t a_port, const std::string& b, std::uint8_t b_port) {
    fabric.connect(fabric.port_of(a, a_port), fabric.port_of(b, b_port));
  }
  CablingDifferences compare() { return compare_cabling(*expected, *fabric.topology()); }

  FabricBuilder fabric;
  std::shared_ptr<const Topology> expected;
};

TEST_F(CompareCabling, TellsEachDifferenceApart) {
  for (const char* name : {"a", "b", "c"}) fabric.add_switch(name, 8);
  plug("a", 1, "b", 1);
  plug("a", 2, "b", 2);
  plug("a", 3, "b", 3);
  expected = fabric.topology();
  EXPECT_TRUE(compare().empty());
  EXPECT_EQ(compare().planned_links, 3U);
  EXPECT_EQ(compare().compared_links, 3U);

  FabricBuilder other;
  for (const char* name : {"a", "b", "c"}) other.add_switch(name, 8);
  fabric = std::move(other);
  plug("a", 1, "b", 1);
  plug("a", 2, "c", 2);
  plug("a", 7, "b", 7);
  const CablingDifferences found = compare();
  EXPECT_THAT(text(found.missing), ElementsAre("a:3 - b:3"));
  EXPECT_THAT(text(found.unplanned), ElementsAre("a:7 - b:7"));
  ASSERT_THAT(found.misled, SizeIs(1));
  EXPECT_EQ(text(found.misled[0].found.b), "c:2");
  ASSERT_TRUE(found.misled[0].a_expects);
  EXPECT_EQ(text(*found.misled[0].a_expects), "b:2");
  EXPECT_FALSE(found.misled[0].b_expects);
  EXPECT_THAT(found.absent_nodes, IsEmpty());
  EXPECT_FALSE(found.empty());
}

TEST_F(CompareCabling, NamesThePlannedNodesThatAreNotThere) {
  for (const char* name : {"a", "z", "b"}) fabric.add_switch(name, 8);
  plug("a", 1, "b", 1);
  plug("a", 2, "z", 1);
  expected = fabric.topology();
  fabric = FabricBuilder();
  fabric.add_switch("a", 8);
  const CablingDifferences found = compare();
  EXPECT_THAT(found.absent_nodes, ElementsAre("b", "z"));
  EXPECT_THAT(text(found.missing), ElementsAre("a:1 - b:1", "a:2 - z:1"));
}

TEST_F(CompareCabling, ALinkThatIsDownIsThereAndToldAsDown) {
  for (const char* name : {"a", "b"}) fabric.add_switch(name, 8);
  plug("a", 1, "b", 1);
  expected = fabric.topology();
  const PortIndex end = fabric.port_of("a", 1);
  fabric.unlink(end);
  CablingDifferences found = compare();
  EXPECT_THAT(text(found.down), ElementsAre("a:1 - b:1"));
  EXPECT_THAT(found.missing, IsEmpty());
  EXPECT_FALSE(found.empty());
  EXPECT_EQ(found.compared_links, 0U);
  fabric.relink(end, PortState::kInitialize);
  EXPECT_THAT(compare().down, SizeIs(1)) << "it carries nothing";
  fabric.relink(end);
  fabric.port(fabric.port_of("b", 1)).state = PortState::kDown;
  EXPECT_TRUE(compare().empty()) << "the ends disagree: it is up at one of them";
  for (const char* name : {"a", "b"}) fabric.port(fabric.port_of(name, 1)).state = PortState::kUnknown;
  EXPECT_TRUE(compare().empty()) << "nobody knows";
}

TEST_F(CompareCabling, ALinkWhoseOldCableLedElsewhereAndIsDownIsNotThere) {
  for (const char* name : {"a", "b", "c"}) fabric.add_switch(name, 8);
  plug("a", 1, "b", 1);
  expected = fabric.topology();
  FabricBuilder other;
  for (const char* name : {"a", "b", "c"}) other.add_switch(name, 8);
  fabric = std::move(other);
  plug("a", 1, "c", 1);
  EXPECT_THAT(compare().misled, SizeIs(1));
  fabric.unlink(fabric.port_of("a", 1));
  EXPECT_THAT(text(compare().missing), ElementsAre("a:1 - b:1"));
}

TEST_F(CompareCabling, OfWhatIsNotPlannedNothingIsExpected) {
  for (const char* name : {"a", "b"}) fabric.add_switch(name, 8);
  plug("a", 1, "b", 1);
  expected = fabric.topology();
  fabric.add_switch("c", 8);
  plug("a", 5, "c", 1);
  EXPECT_TRUE(compare().empty());
}

}  // namespace
}  // namespace weft::analyzer
