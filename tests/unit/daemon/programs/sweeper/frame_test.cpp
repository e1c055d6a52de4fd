// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/sweeper/frame.hpp"

#include <gtest/gtest.h>
#include <infiniband/mad.h>

#include <algorithm>
#include <cstring>

#include "collectors/infiniband/sweeper.hpp"
#include "tests/fakes/fake_mad_port.hpp"

namespace weft::sweeper {
namespace {

// What a real sweeper sends of a small subnet, two sweeps long, with a duplicate GUID in it.
struct Recording {
  std::vector<std::byte> bytes;
  std::vector<Sweep> sent;  // the tables are the sweeper's own: only the last one's are meaningful

  Recording() {
    port.add_adapter(0x100, "self mlx5_0");
    const std::size_t hub = port.add_switch(0x200, "leaf \"1\"", 8);
    port.connect(0, 1, hub, 1);
    for (std::uint8_t p = 2; p <= 4; ++p)
      port.connect(port.add_adapter(p < 4 ? 0x300U + p : 0x302U, "host"), 1, hub, p);
    port.port(hub, 2).counters = {{IB_PC_ERR_SYM_F, 0xFFFF}, {IB_PC_LINK_DOWNED_F, 3}};
    port.node(hub).forwarding.assign(100, 255);
    port.node(hub).forwarding[5] = 3;
    infiniband::SweeperOptions options;
    options.fabric = "test";
    options.names[{0x302}] = "gpu-1 mlx5_0";
    options.service_level = 0;
    options.engine.timeout = std::chrono::milliseconds(20);
    sweeper = std::make_unique<infiniband::Sweeper>(port, options);
    FrameWriter writer([this](std::span<const std::byte> piece) {
      bytes.insert(bytes.end(), piece.begin(), piece.end());
      return true;
    });
    for (int i = 0; i < 2; ++i) {
      sent.push_back(sweeper->sweep().value());
      EXPECT_TRUE(writer.write(sent.back()));
    }
    EXPECT_TRUE(writer.write(Trouble{"the adapter is gone"}));
  }
  fakes::FakeMadPort port;
  std::unique_ptr<infiniband::Sweeper> sweeper;
};

ByteSource source(std::span<const std::byte> bytes, std::size_t& position) {
  return [bytes, &position](std::span<std::byte> wanted) {
    if (bytes.size() - position < wanted.size()) return false;
    std::memcpy(wanted.data(), bytes.data() + position, wanted.size());
    position += wanted.size();
    return true;
  };
}

TEST(Frames, WhoActsIsToldOnceAndStays) {
  std::vector<std::byte> bytes;
  FrameWriter writer([&](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    return true;
  });
  const ActingWeftds acting{
      true, "slow", true, {{"ffff0b7a5d3f2468", PortGuid{0x401}}}, "too many", ManagerSign::kSilent};
  EXPECT_TRUE(writer.write(acting));
  const std::size_t once = bytes.size();
  EXPECT_TRUE(writer.write(acting));
  EXPECT_EQ(bytes.size(), once) << "nothing is new";
  EXPECT_TRUE(writer.write(Trouble{"over"}));
  std::size_t position = 0;
  FrameReader reader(source(bytes, position));
  EXPECT_EQ(reader.acting(), ActingWeftds{});
  ASSERT_TRUE(reader.read());
  EXPECT_EQ(reader.acting(), acting);
}

TEST(Frames, WhatWasSentIsWhatIsRead) {
  Recording recording;
  std::size_t position = 0;
  FrameReader reader(source(recording.bytes, position));
  Sweep got;
  for (const Sweep& sent : recording.sent) {
    auto message = reader.read();
    ASSERT_TRUE(message) << message.error().message;
    got = std::get<Sweep>(*message);
    EXPECT_EQ(got.fabric, "test");
    EXPECT_EQ(got.number, sent.number);
    EXPECT_EQ(got.finished, sent.finished);
    EXPECT_EQ(got.local_port, sent.local_port);
    EXPECT_EQ(got.subnet_manager, sent.subnet_manager);
    EXPECT_EQ(got.state_read_at, sent.state_read_at);
    EXPECT_EQ(got.statistics.requests, sent.statistics.requests);
    EXPECT_EQ(got.topology->epoch(), sent.topology->epoch());
    EXPECT_TRUE(std::equal(got.topology->duplicates().begin(), got.topology->duplicates().end(),
                           sent.topology->duplicates().begin(), sent.topology->duplicates().end()));
    for (NodeIndex i = 0; i < sent.topology->nodes().size(); ++i) {
      EXPECT_EQ(got.topology->node(i).guid, sent.topology->node(i).guid);
      EXPECT_EQ(got.topology->node(i).name, sent.topology->node(i).name);
      EXPECT_EQ(got.topology->node(i).name_is_given, got.topology->node(i).guid == NodeGuid{0x302});
    }
  }
  const Sweep& last = recording.sent.back();
  const auto same = [](auto a, auto b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); };
  EXPECT_TRUE(same(got.counters->raw_values(), last.counters->raw_values()));
  EXPECT_TRUE(same(got.counters->raw_present(), last.counters->raw_present()));
  EXPECT_TRUE(same(got.counters->raw_saturated(), last.counters->raw_saturated()));
  EXPECT_TRUE(same(got.counters->raw_read_at(), last.counters->raw_read_at()));
  ASSERT_EQ(got.topology->ports().size(), last.topology->ports().size());
  for (PortIndex p = 0; p < last.topology->ports().size(); ++p) {
    EXPECT_EQ(got.topology->port(p).peer, last.topology->port(p).peer);
    EXPECT_EQ(got.topology->port(p).state, last.topology->port(p).state);
  }
  ASSERT_TRUE(last.routes && got.routes);
  const NodeIndex hub = last.topology->find_node({0x200});
  for (std::uint16_t lid = 0; lid < 200; ++lid)
    EXPECT_EQ(got.routes->egress(hub, Lid{lid}), last.routes->egress(hub, Lid{lid})) << lid;
  auto trouble = reader.read();
  ASSERT_TRUE(trouble);
  EXPECT_EQ(std::get<Trouble>(*trouble).message, "the adapter is gone");
  EXPECT_EQ(reader.read().error().code, ErrorCode::kUnavailable) << "the end of the stream";
}

TEST(Frames, OfTheRoutesOnlyWhatChangedIsSent) {
  Recording recording;
  std::vector<std::byte> bytes;
  FrameWriter writer([&](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    return true;
  });
  const auto size_of = [&](const Sweep& sweep) {
    const std::size_t before = bytes.size();
    EXPECT_TRUE(writer.write(sweep));
    return bytes.size() - before;
  };
  Sweep sweep = recording.sent.back();
  const NodeIndex hub = sweep.topology->find_node({0x200});
  RouteTables book(sweep.topology->epoch());
  book.set_top(hub, Lid{0xBFFF});
  RouteBlock block{};
  for (std::uint16_t number = 0; number < kMostRouteBlocks; ++number) book.set_block(hub, number, block);
  sweep.routes = book.publish();
  size_of(sweep);
  const std::size_t without = size_of(sweep);
  block[7] = 1;
  book.set_block(hub, 3, block);
  sweep.routes = book.publish();
  EXPECT_LT(size_of(sweep), without + 100) << "one block";
  book.set_top(hub, Lid{63});
  sweep.routes = book.publish();
  EXPECT_LT(size_of(sweep), without + 100) << "a shorter table";
  std::size_t position = 0;
  FrameReader reader(source(bytes, position));
  Sweep got;
  for (int i = 0; i < 4; ++i) {
    got = std::get<Sweep>(reader.read().value());
    const auto expected = i < 2 ? PortNum{0} : i == 2 ? PortNum{1} : kNoEgress;
    EXPECT_EQ(got.routes->egress(hub, Lid{3 * 64 + 7}), expected) << i;
  }
}

TEST(Frames, AStreamCutAnywhereEndsAsAnEndNotAsData) {
  Recording recording;
  for (std::size_t length = 0; length < recording.bytes.size(); length += 7) {
    std::size_t position = 0;
    FrameReader reader(source(std::span(recording.bytes).first(length), position));
    std::size_t read = 0;
    while (auto message = reader.read()) ASSERT_LE(++read, 2U);
  }
}

TEST(Frames, ANodeOfMorePortsThanASubnetsIsRefused) {
  for (const std::uint16_t count : {std::uint16_t{254}, std::uint16_t{255}, std::uint16_t{300}}) {
    Node node;
    node.guid = NodeGuid{1};
    node.type = NodeType::kSwitch;
    node.port_count = count;
    std::vector<Port> ports(node.port_entries());
    for (std::size_t i = 0; i < ports.size(); ++i) {
      ports[i].node = 0;
      ports[i].number = PortNum{static_cast<std::uint16_t>(i)};
    }
    Sweep sweep;
    sweep.counters =
        std::make_shared<const SampleTable>(SampleTable::of_group(CounterGroup::kEverySweep, ports.size()));
    sweep.topology = std::make_shared<const Topology>(1, std::vector{node}, ports, std::vector<DuplicateGuid>{});
    std::vector<std::byte> bytes;
    FrameWriter writer([&bytes](std::span<const std::byte> piece) {
      bytes.insert(bytes.end(), piece.begin(), piece.end());
      return true;
    });
    ASSERT_TRUE(writer.write(sweep));
    std::size_t position = 0;
    FrameReader reader(source(bytes, position));
    const auto message = reader.read();
    if (count <= kMostSubnetPorts) {
      ASSERT_TRUE(message) << message.error().message;
      EXPECT_EQ(std::get<Sweep>(*message).topology->node(0).port_count, count);
    } else {
      ASSERT_FALSE(message);
      EXPECT_NE(message.error().message.find("a node of " + std::to_string(count) + " ports"), std::string::npos)
          << message.error().message;
    }
  }
}

TEST(Frames, ChangedBytesNeverGiveAContradictoryGraph) {
  Recording recording;
  for (std::size_t at = 0; at < std::min<std::size_t>(recording.bytes.size(), 4000); ++at) {
    auto broken = recording.bytes;
    broken[at] ^= std::byte{0xFF};
    std::size_t position = 0;
    FrameReader reader(source(broken, position));
    for (int i = 0; i < 3; ++i) {
      auto message = reader.read();
      if (!message) break;
      if (const auto* sweep = std::get_if<Sweep>(&*message)) {
        ASSERT_EQ(Topology::validate(sweep->topology->nodes(), sweep->topology->ports()), "") << "byte " << at;
        ASSERT_EQ(sweep->counters->rows(), sweep->topology->ports().size());
      }
    }
  }
}

}  // namespace
}  // namespace weft::sweeper
