// SPDX-License-Identifier: Apache-2.0
#include "api/publication/publication.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "api/publication/age.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/find_ports.hpp"
#include "api/publication/html_text.hpp"
#include "api/publication/utf8.hpp"
#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

TEST(Publication, IsNeverNullAndGivesTheLatest) {
  Publication publication;
  EXPECT_EQ(publication.load()->revision, 0U);
  publication.publish(nullptr);
  ASSERT_NE(publication.load(), nullptr);
  publication.publish(make_snapshot(5, {}));
  EXPECT_EQ(publication.load()->revision, 5U);
}

TEST(Publication, ReadersKeepWhatTheyHold) {
  Publication publication;
  publication.publish(make_snapshot(1, {}));
  const auto held = publication.load();
  publication.publish(make_snapshot(2, {}));
  EXPECT_EQ(held->revision, 1U);
}

TEST(Publication, TellsSubscribersUntilTheyLeave) {
  Publication publication;
  int first = 0;
  int second = 0;
  Subscription one = publication.subscribe([&] { ++first; });
  {
    Subscription two = publication.subscribe([&] { second += static_cast<int>(publication.load()->revision); });
    publication.publish(make_snapshot(3, {}));
  }
  publication.publish(make_snapshot(4, {}));
  Subscription moved = std::move(one);
  publication.publish(make_snapshot(5, {}));
  moved.reset();
  publication.publish(make_snapshot(6, {}));
  EXPECT_EQ(first, 3);
  EXPECT_EQ(second, 3) << "called after the new picture is in place";
}

TEST(Publication, ASubscriptionMayOutliveIt) {
  std::optional<Publication> publication(std::in_place);
  Subscription subscription = publication->subscribe([] {});
  publication.reset();
  subscription.reset();
}

TEST(Publication, ManyThreadsReadWhileOnePublishes) {
  Publication publication;
  std::atomic<bool> stop = false;
  std::atomic<int> calls = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&] {
      std::uint64_t last = 0;
      while (!stop) {
        const auto snapshot = publication.load();
        ASSERT_GE(snapshot->revision, last);
        last = snapshot->revision;
      }
    });
  readers.emplace_back([&] {
    while (!stop) const Subscription coming_and_going = publication.subscribe([&] { ++calls; });
  });
  const Subscription staying = publication.subscribe([&] { ++calls; });
  for (std::uint64_t revision = 1; revision <= 500; ++revision) publication.publish(make_snapshot(revision, {}));
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_GE(calls, 500);
}

TEST(Picture, IsReadyWhenEveryFabricHasASweep) {
  EXPECT_FALSE(is_ready(Snapshot{}));
  SmallFabric fabric;
  EXPECT_TRUE(is_ready(*make_snapshot(1, {fabric.build()})));
  EXPECT_FALSE(is_ready(*make_snapshot(1, {fabric.build(), FabricView{}})));
  FabricView unreachable;
  unreachable.is_unreachable = true;
  EXPECT_TRUE(is_ready(*make_snapshot(1, {fabric.build(), unreachable})));
  EXPECT_FALSE(is_ready(*make_snapshot(1, {unreachable}))) << "nothing is watched";
  EXPECT_EQ(not_ready_text(*make_snapshot(1, {fabric.build()})), "");
  EXPECT_EQ(not_ready_text(*make_snapshot(1, {unreachable})), "a fabric has not been read completely yet");
  Snapshot empty;
  EXPECT_EQ(not_ready_text(empty), "no fabric is monitored yet");
  empty.no_port = "no active InfiniBand port";
  EXPECT_EQ(not_ready_text(empty), "no fabric is monitored yet: no active InfiniBand port");
}

TEST(Picture, FindsNodesByGuidNodeNameAndHostName) {
  SmallFabric fabric(2);
  fabric.nodes[2].name = "host-1 mlx5_1";  // a second adapter of host-1
  const auto snapshot =
      make_snapshot(1, {fabric.build()}, {}, {make_health("host-1", 0x101, HealthVerdict::kDegraded)});
  EXPECT_EQ(find_nodes(*snapshot, "0x101", 9).size(), 1U);
  EXPECT_EQ(find_nodes(*snapshot, "host-1 mlx5_1", 9).size(), 1U);
  EXPECT_EQ(find_nodes(*snapshot, "host-1", 9).size(), 2U);
  EXPECT_EQ(find_nodes(*snapshot, "host-1", 1).size(), 1U);
  EXPECT_TRUE(find_nodes(*snapshot, "nobody", 9).empty());
  for (const char* name : {"host-1", "host-1 mlx5_1", "0x0000000000000101", "101", "HOST-1", "host-1.example.org"}) {
    const NodeHealth* health = find_health(*snapshot, name);
    ASSERT_NE(health, nullptr) << name;
    EXPECT_EQ(health->node, "host-1");
  }
  EXPECT_EQ(find_nodes(*snapshot, "Host-1.example.org", 9).size(), 2U);
  EXPECT_EQ(find_health(*snapshot, "leaf-1"), nullptr);
  EXPECT_EQ(find_health(*snapshot, "host-10.example.org"), nullptr);
}

TEST(Picture, TakesNoOtherFullNameForAHostWhoseCollectorHasToldIts) {
  SmallFabric fabric(2);
  auto snapshot = make_snapshot(1, {fabric.build()}, {}, {make_health("host-1", 0x101, HealthVerdict::kHealthy)});
  auto told = std::make_shared<Snapshot>(*snapshot);
  auto inventory = std::make_shared<HostInventory>();
  inventory->ports.emplace_back().node_guid = NodeGuid{0x101};
  auto reading = std::make_shared<HostReading>();
  reading->inventory = inventory;
  auto host = std::make_shared<HostView>();
  host->host = "host-1.a.org";
  host->reading = reading;
  told->hosts = std::make_shared<const std::vector<std::shared_ptr<const HostView>>>(1, host);
  EXPECT_NE(find_health(*snapshot, "host-1.b.org"), nullptr) << "it may be that";
  EXPECT_EQ(find_health(*told, "host-1.b.org"), nullptr);
  for (const char* name : {"host-1", "host-1.a.org"}) EXPECT_NE(find_health(*told, name), nullptr) << name;
}

TEST(Picture, FindsNoNodeOfANameThatIsTooLong) {
  SmallFabric fabric(2);
  fabric.nodes[1].name = std::string(kLongestNodeName, 'x');
  fabric.nodes[2].name = std::string(kLongestNodeName + 1, 'x');  // which no map of names gives
  const auto snapshot = make_snapshot(1, {fabric.build()});
  EXPECT_EQ(find_nodes(*snapshot, fabric.nodes[1].name, 9).size(), 1U);
  EXPECT_TRUE(find_nodes(*snapshot, fabric.nodes[2].name, 9).empty());
}

TEST(Picture, CountsEachCableOnce) {
  SmallFabric fabric(2);
  SmallFabric::take_down(fabric.ports[1]);
  const FabricCounts counts = count(*fabric.build().sweep->topology);
  EXPECT_EQ(counts.links, 2U);
  EXPECT_EQ(counts.links_up, 1U);
  EXPECT_EQ(counts.nodes[static_cast<std::size_t>(NodeType::kSwitch)], 1U);
  EXPECT_EQ(counts.ports[static_cast<std::size_t>(PortState::kDown)], 2U);
}

TEST(Age, IsAsPeopleSayIt) {
  using namespace std::chrono;
  EXPECT_EQ(age_text(milliseconds(-5)), "just now");
  EXPECT_EQ(age_text(std::chrono::seconds(59)), "59 s ago");
  EXPECT_EQ(age_text(std::chrono::seconds(185)), "3 min ago");
  EXPECT_EQ(age_text(hours(47)), "47 h ago");
  EXPECT_EQ(age_text(hours(24 * 5)), "5 d ago");
}

TEST(Silence, IsSaidWithItsEndWhileItLasts) {
  using namespace std::chrono;
  const TimePoint now{std::chrono::seconds(1'700'000'000)};  // 2023-11-14 22:13:20 UTC
  EXPECT_EQ(silence_text(now + minutes(60), now), " (silenced until 23:13 UTC)");
  EXPECT_EQ(silence_text(now + hours(30), now), " (silenced until 2023-11-16)");
  EXPECT_EQ(silence_text(now, now), "");
  EXPECT_EQ(silence_text(kNever, now), "");
}

TEST(Utf8, BadBytesAreReplaced) {
  EXPECT_EQ(valid_utf8("a\xC3\xA9z"), "a\xC3\xA9z");
  EXPECT_EQ(valid_utf8("\xC3"), "\xEF\xBF\xBD");
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD") << "a surrogate";
  EXPECT_EQ(valid_utf8("\xF0\x9F\x98\x80"), "\xF0\x9F\x98\x80");
  EXPECT_EQ(valid_utf8("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "overlong";
}

TEST(HtmlText, SteersNeitherTheDocumentNorTheDirectionOfItsText) {
  EXPECT_EQ(html_text("<a href=\"x\">&\n"), "&lt;a href=&quot;x&quot;&gt;&amp;\n");
  EXPECT_EQ(html_text("a\x1b\x7f\xff"), "a\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(html_text("leaf\u202e10-fael\u2069 \u061c\u0634 \u4e2d"), "leaf\uFFFD10-fael\uFFFD \uFFFD\u0634 \u4e2d");
}

TEST(NodeNamesIn, WhatMayBeANodeInTheNameOfAPortOrALink) {
  const auto has = [](const std::string& text, const std::string& name) {
    const auto names = node_names_in(text);
    return std::ranges::find(names, name) != names.end();
  };
  for (const char* text : {"leaf-1", "leaf-1:7", "leaf-1 port 7", "leaf-1 port 7 - gpu-4 mlx5_0 port 1", "leaf-1 swp7",
                           "leaf-1:swp7", "leaf-1 swp7 - gpu-4 eth2"})
    EXPECT_TRUE(has(text, "leaf-1")) << text;
  EXPECT_TRUE(has("MF0;leaf01:MQM9700/U1:7", "MF0;leaf01:MQM9700/U1")) << "names of switches have colons";
  EXPECT_TRUE(has("pod 1 - leaf-1:7 - gpu-4:1", "pod 1 - leaf-1")) << "and dashes";
  EXPECT_FALSE(has(":7", ""));
  std::string long_text;
  for (int i = 0; i < 1000; ++i) long_text += "a:1 - ";
  EXPECT_LE(node_names_in(long_text).size(), 64U);
}

TEST(HtmlText, LetsNoNameLookLikeAnotherOne) {
  EXPECT_EQ(html_text("leaf-1 <b> & \"x\""), "leaf-1 &lt;b&gt; &amp; &quot;x&quot;");
  for (const char* mark : {"\u061C", "\u200E", "\u200F", "\u202A", "\u202E", "\u2066", "\u2069"})
    EXPECT_EQ(html_text(std::string("leaf") + mark + "1"), "leaf\uFFFD1") << mark;
  EXPECT_EQ(html_text("\u2010\u202F\u2065\u206A\u00FC\u061B"), "\u2010\u202F\u2065\u206A\u00FC\u061B");
  EXPECT_EQ(html_text("\xE2\x80"), "\uFFFD\uFFFD");
  EXPECT_EQ(html_text("a\x01\x7f"), "a\uFFFD\uFFFD");
}

}  // namespace
}  // namespace weft::api
