// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/uplink/shipper.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "daemon/adapters/spool/writer.hpp"

namespace weft::uplink {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1'700'000'000s};

/// A spool that is filled as weft-collector does it, and what an analyzer would understand of what is shipped.
class ShipperTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string place = (std::filesystem::temp_directory_path() / "weft-ship-XXXXXX").string();
    folder_ = ::mkdtemp(place.data());
    writer_.emplace(std::move(*spool::SpoolWriter::open(folder_, 1 << 20)));
    reader_.emplace(std::move(*spool::SpoolReader::open(folder_)));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Batches with the values 1, 2, … like their sequence numbers.
  void spool(int count, TimePoint at = kStart) {
    for (int i = 0; i < count; ++i) {
      HostBatch batch;
      HostReading reading;
      reading.taken = at;
      reading.inventory = inventory_;
      reading.values = {++value_};
      reading.present = {1};
      batch.reading = std::move(reading);
      if (writer_->wants_whole()) encoder_.restart();
      ASSERT_TRUE(writer_->append(*encoder_.encode(batch), at));
    }
  }
  Shipper make(std::size_t window = 64) { return Shipper(*reader_, {1s, window, 4 << 20}); }
  /// A new stream: nothing that was said on another is known.
  void open(Shipper& shipper, std::uint64_t safe) {
    shipper.begin();
    shipper.welcome(safe);
    decoder_ = api::BatchDecoder();
  }
  /// What goes out now; each batch must be the one that was spooled under its number.
  std::vector<std::uint64_t> ship(Shipper& shipper, TimePoint now = kStart) {
    std::vector<std::uint64_t> numbers;
    late_.clear();
    while (const auto outgoing = shipper.next(now)) {
      const auto batch = decoder_.decode(outgoing->body);
      EXPECT_TRUE(batch) << batch.error().message;
      if (!batch) return numbers;
      EXPECT_EQ(batch->reading->values, std::vector{outgoing->sequence});
      numbers.push_back(outgoing->sequence);
      late_.push_back(outgoing->late);
    }
    return numbers;
  }
  using Numbers = std::vector<std::uint64_t>;

  static std::shared_ptr<HostInventory> one_series() {
    auto inventory = std::make_shared<HostInventory>();
    inventory->series.push_back({.device = "mlx5_0", .port = 1, .name = "cnp_sent"});
    return inventory;
  }

  std::filesystem::path folder_;
  std::optional<spool::SpoolWriter> writer_;
  std::optional<spool::SpoolReader> reader_;
  std::shared_ptr<const HostInventory> inventory_ = one_series();
  api::BatchEncoder encoder_;
  api::BatchDecoder decoder_;
  std::uint64_t value_ = 0;
  std::vector<bool> late_;
};

TEST_F(ShipperTest, NothingGoesBeforeTheWelcome) {
  spool(3);
  Shipper shipper = make();
  EXPECT_EQ(ship(shipper), Numbers{});
  shipper.begin();
  EXPECT_EQ(ship(shipper), Numbers{});
  open(shipper, 0);
  EXPECT_EQ(ship(shipper), (Numbers{1, 2, 3}));
  EXPECT_EQ(ship(shipper), Numbers{});
  spool(1);
  EXPECT_EQ(ship(shipper), (Numbers{4}));
}

TEST_F(ShipperTest, WhatIsSafeIsSkippedAndTheRestSentAgain) {
  spool(6);
  Shipper shipper = make();
  open(shipper, 0);
  ship(shipper);
  shipper.acknowledge(2);
  EXPECT_EQ(shipper.report().acknowledged, 2U);
  EXPECT_EQ(shipper.end({ErrorCode::kUnavailable, ""}), std::nullopt);
  open(shipper, 4);
  EXPECT_EQ(ship(shipper), (Numbers{5, 6}));
  EXPECT_EQ(shipper.report().resent, 2U);
  EXPECT_EQ(shipper.report().acknowledged, 4U);
}

TEST_F(ShipperTest, TheWindowBoundsWhatIsUnderWay) {
  spool(10);
  Shipper shipper = make(4);
  open(shipper, 0);
  EXPECT_FALSE(shipper.is_waiting());
  EXPECT_EQ(ship(shipper), (Numbers{1, 2, 3, 4}));
  EXPECT_TRUE(shipper.is_waiting());
  shipper.acknowledge(2);
  EXPECT_EQ(ship(shipper), (Numbers{5, 6}));
  shipper.acknowledge(6);
  EXPECT_FALSE(shipper.is_waiting());
  EXPECT_EQ(ship(shipper), (Numbers{7, 8, 9, 10}));
}

TEST_F(ShipperTest, WhatWaitedIsLate) {
  spool(1, kStart - 10ms);
  Shipper shipper = make();
  open(shipper, 0);
  spool(1, kStart + 1s);
  ship(shipper, kStart + 1s);
  EXPECT_EQ(late_, (std::vector<bool>{true, false})) << "one was spooled before the stream began";
  spool(2, kStart + 2s);
  ship(shipper, kStart + 4900ms);
  EXPECT_EQ(late_, (std::vector<bool>{false, false}));
  spool(1, kStart + 2s);
  ship(shipper, kStart + 6s);
  EXPECT_EQ(late_, (std::vector<bool>{true})) << "the analyzer was slow to take what came before";
}

TEST_F(ShipperTest, AClockThatWasSetMakesNothingLate) {
  Shipper shipper = make();
  open(shipper, 0);
  for (const Duration step : {-25s, -600s, -3600s, 3600s}) {
    spool(1, kStart);
    const TimePoint now = kStart + step;
    spool(2, now);
    ship(shipper, now + 100ms);
    EXPECT_EQ(late_, (std::vector<bool>{true, false, false})) << "how long the first waited nobody can tell";
    spool(1, now + 1s);
    ship(shipper, now + 1100ms);
    EXPECT_EQ(late_, (std::vector<bool>{false}));
  }
  spool(2, kStart);
  writer_->rotate();
  open(shipper, 0);
  spool(1, kStart);
  ship(shipper, kStart);
  std::vector<bool> waited(late_.size(), true);
  waited.back() = false;
  EXPECT_EQ(late_, waited) << "all that lay there when the stream was opened, in whatever segment";
}

TEST_F(ShipperTest, AWrongBatchIsFoundOneAtATimeAndLeftOut) {
  spool(6);
  const Error wrong{ErrorCode::kInvalidArgument, "no"};
  Shipper shipper = make();
  open(shipper, 0);
  EXPECT_EQ(ship(shipper).size(), 6U);
  EXPECT_EQ(shipper.end(wrong), std::nullopt) << "any of six";
  open(shipper, 1);
  EXPECT_EQ(ship(shipper), (Numbers{2}));
  shipper.acknowledge(2);
  EXPECT_EQ(ship(shipper), (Numbers{3}));
  EXPECT_EQ(shipper.end(wrong), 3U);
  open(shipper, 2);
  EXPECT_EQ(ship(shipper), (Numbers{4}));
  EXPECT_EQ(shipper.end(wrong), 4U) << "its neighbour, too";
  open(shipper, 2);
  EXPECT_EQ(ship(shipper), (Numbers{5}));
  shipper.acknowledge(5);
  EXPECT_EQ(ship(shipper), (Numbers{6}));
  EXPECT_EQ(shipper.report().refused, 2U);
}

TEST_F(ShipperTest, AnEndWithoutWelcomeBlamesNoBatch) {
  spool(1);
  Shipper shipper = make();
  shipper.begin();
  EXPECT_EQ(shipper.end({ErrorCode::kInvalidArgument, "no such host name"}), std::nullopt);
  open(shipper, 0);
  EXPECT_EQ(ship(shipper), (Numbers{1}));
}

TEST_F(ShipperTest, WhatCannotBeUnderstoodIsLeftOutUntilABatchThatRefersToNothing) {
  spool(2);
  ASSERT_TRUE(writer_->append(std::vector<std::byte>(9), kStart));
  ++value_;
  spool(1);  // refers to what is not understood
  writer_->rotate();
  spool(2);
  Shipper shipper = make();
  open(shipper, 0);
  EXPECT_EQ(ship(shipper), (Numbers{1, 2, 5, 6}));
  EXPECT_EQ(shipper.report().unreadable, 2U);
}

}  // namespace
}  // namespace weft::uplink
