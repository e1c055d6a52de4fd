// SPDX-License-Identifier: Apache-2.0
#include "api/convert/link_filter.hpp"

#include <gtest/gtest.h>

#include "api/convert/queries.hpp"
#include "tests/fakes/fabric_builder.hpp"

namespace weft::api {
namespace {

LinkWords words(std::string_view text) {
  auto parsed = LinkWords::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? *parsed : LinkWords{};
}

/// A link from port 12 of `a` to port 3 of `b`.
bool fits(std::string_view text, std::string_view a, std::string_view b) {
  const LinkWords wanted = words(text);
  return wanted.fits({wanted.words_of({a}), 12}, LinkWords::End{wanted.words_of({b}), 3});
}

TEST(LinkWords, OneWordIsInTheNameOfEitherEnd) {
  EXPECT_TRUE(fits("", "leaf-1", "spine-0"));
  EXPECT_TRUE(fits("LEAF", "leaf-1", "spine-0"));
  EXPECT_TRUE(fits(" pine-0 ", "leaf-1", "spine-0"));
  EXPECT_FALSE(fits("leaf-2", "leaf-1", "spine-0"));
  EXPECT_FALSE(fits("12", "leaf-1", "spine-0")) << "a number alone is no port";
}

TEST(LinkWords, SeveralAreInBothEndsTogetherAndInNoneAlone) {
  EXPECT_TRUE(fits("leaf-1 spine-0", "leaf-1", "spine-0"));
  EXPECT_TRUE(fits("Spine-0  leaf", "leaf-1", "spine-0"));
  EXPECT_FALSE(fits("leaf-1 spine-1", "leaf-1", "spine-0"));
  EXPECT_TRUE(fits("gpu-01 mlx5_0", "gpu-01 mlx5_0", "leaf-1")) << "it is one name";
  EXPECT_FALSE(fits("mlx5_0 gpu-01", "gpu-01 mlx5_0", "leaf-1")) << "they are one node";
  EXPECT_TRUE(fits("gpu-01 mlx5_0 leaf", "gpu-01 mlx5_0", "leaf-1"));
  const LinkWords wanted = words("leaf-1 spine-0");
  EXPECT_FALSE(wanted.fits({wanted.words_of({"leaf-1"}), 12}, std::nullopt)) << "the far end is not known";
}

TEST(LinkWords, APortIsAtTheEndThatIsNamed) {
  for (const char* text : {"leaf-1:12", "leaf-1 port 12", "LEAF-1 Port 12", "leaf-1 : 12", " leaf-1\tport  12 "})
    EXPECT_TRUE(fits(text, "leaf-1", "spine-0")) << text;
  EXPECT_TRUE(fits("spine-0:3", "leaf-1", "spine-0"));
  EXPECT_TRUE(fits(":3", "leaf-1", "spine-0")) << "of any node";
  EXPECT_FALSE(fits("leaf-1:3", "leaf-1", "spine-0")) << "3 is the other end's";
  EXPECT_FALSE(fits("leaf-1:1", "leaf-1", "spine-0"));
  EXPECT_TRUE(fits("gpu-01 mlx5_0:12", "gpu-01 mlx5_0", "leaf-1"));
  EXPECT_TRUE(fits("MF0;leaf01:MQM9700/U1:12", "MF0;leaf01:MQM9700/U1", "spine-0"));
  // What is no port is words.
  EXPECT_FALSE(fits("leaf-1 port12", "leaf-1", "spine-0"));
  EXPECT_FALSE(fits("leaf-1 export 12", "leaf-1", "spine-0"));
  EXPECT_FALSE(fits("leaf-1:99999999999", "leaf-1", "spine-0"));
  EXPECT_TRUE(fits("port 12", "leaf-port", "spine-12"));
  const LinkWords wanted = words("leaf-1:12");
  EXPECT_TRUE(wanted.fits({wanted.words_of({"leaf-1"}), 12}, std::nullopt));
}

TEST(LinkWords, APortMayHaveAName) {
  const auto fits_named = [](std::string_view text) {
    const LinkWords wanted = words(text);
    return wanted.fits({wanted.words_of({"leaf01"}), 9, "swp1"},
                       LinkWords::End{wanted.words_of({"gpu-01"}), 4, "eth1"});
  };
  for (const char* text : {"leaf01:swp1", "leaf01 swp1", "leaf01 port swp1", "LEAF01:SWP1", "gpu-01:eth1", ":eth1"})
    EXPECT_TRUE(fits_named(text)) << text;
  for (const char* text : {"leaf01:eth1", "gpu-01 swp1", "leaf01:swp", "leaf01 swp12", "leaf02:swp1", "leaf01:"})
    EXPECT_FALSE(fits_named(text)) << text;
  EXPECT_TRUE(fits_named("leaf01 gpu")) << "two nodes";
}

TEST(LinkWords, AreBounded) {
  std::string text = "a:1";
  for (std::size_t i = 1; i < LinkWords::kMost; ++i) text.insert(0, "a ");
  EXPECT_FALSE(fits(text, "leaf", "spine"));
  EXPECT_TRUE(LinkWords::parse(text));
  const auto refused = LinkWords::parse("b " + text);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
}

struct LinksThatContain : testing::Test {
  Result<v1::ListLinksResponse> ask(const std::string& text, int page_size = 0) {
    Snapshot snapshot;
    for (fakes::FabricBuilder* each : {&fabric, &other}) {
      FabricView& view = snapshot.fabrics.emplace_back();
      view.name = each->name();
      view.sweep = std::make_shared<const Sweep>(each->sweep());
      view.absent_links = std::make_shared<const std::vector<AbsentLink>>(absent);
    }
    v1::ListLinksRequest request;
    request.set_contains(text);
    request.set_page_size(page_size);
    v1::ListLinksResponse all;
    do {
      auto page = list_links(snapshot, request);
      if (!page) return page;
      all.MergeFrom(*page);
      request.set_page_token(page->next_page_token());
    } while (!request.page_token().empty());
    return all;
  }
  int count(const std::string& text, int page_size = 0) {
    const auto found = ask(text, page_size);
    EXPECT_TRUE(found) << text;
    return found ? found->links_size() : -1;
  }
  fakes::FabricBuilder fabric = fakes::FabricBuilder::fat_tree(2, 2, 2);
  fakes::FabricBuilder other = fakes::FabricBuilder::fat_tree(1, 1, 1);
  std::vector<AbsentLink> absent;
};

TEST_F(LinksThatContain, AreThoseOfTheirNodesInEachFabric) {
  const PortIndex up = fabric.port_towards("leaf-1", "spine-0");
  const std::shared_ptr<const Topology> topology = fabric.topology();
  const auto only = ask("leaf-1 SPINE-0");
  ASSERT_TRUE(only);
  ASSERT_EQ(only->links_size(), 1);
  EXPECT_EQ(only->links(0).a().node() == "leaf-1" ? only->links(0).b().node() : only->links(0).a().node(), "spine-0");
  EXPECT_EQ(count("leaf-0 spine-0"), 2) << "one in each fabric";
  EXPECT_EQ(count("spine-0"), 2 + 1);
  EXPECT_EQ(count("spine-0", 1), 2 + 1) << "page by page";
  EXPECT_EQ(count("host-1-0"), 1);
  EXPECT_EQ(count("leaf-1:" + std::to_string(topology->port(up).number.value)), 1);
  EXPECT_EQ(count(to_string(topology->node_of(topology->port(up)).guid)), 2 + 2) << "spines and hosts of one leaf";
  EXPECT_EQ(count("host-1-0 MLX5_0"), 1) << "one name of two words";
  EXPECT_EQ(count("leaf-1 mlx5_0"), 2) << "two ends";
  EXPECT_EQ(count("nothing"), 0);
  EXPECT_FALSE(ask("a a a a a a a a a a a a a a a a a a"));
}

TEST_F(LinksThatContain, MayLeadToNodesThatTheGraphDoesNotHave) {
  absent.push_back({.ends = {{{NodeGuid{0x98}, PortNum{7}}, "leaf-8"}, {{NodeGuid{0x97}, PortNum{2}}, "spine-8"}}});
  EXPECT_EQ(count("leaf-8 spine-8"), 2) << "in each fabric";
  EXPECT_EQ(count("leaf-8:7"), 2);
  EXPECT_EQ(count("leaf-8:2"), 0);
}

}  // namespace
}  // namespace weft::api
