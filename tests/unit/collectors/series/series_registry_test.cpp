// SPDX-License-Identifier: Apache-2.0
#include "collectors/series/series_registry.hpp"

#include <gtest/gtest.h>

#include "collectors/series/answer_slots.hpp"

namespace weft {
namespace {

HostSeries series(const char* name, bool is_raw = false) {
  HostSeries made;
  made.device = "mlx5_0";
  made.port = 1;
  made.name = name;
  made.is_raw = is_raw;
  return made;
}

TEST(SeriesRegistry, LeavesASeriesToTheFirstSource) {
  SeriesRegistry book;
  book.begin_source(CounterSource::kNetdev);
  EXPECT_EQ(book.enter(series("cnp_sent")), 0U);
  book.begin_source(CounterSource::kNetdev);
  EXPECT_EQ(book.enter(series("cnp_sent")), std::nullopt);
  EXPECT_EQ(book.enter(series("cnp_handled")), 1U);
  EXPECT_EQ(book.series().size(), 2U);
}

TEST(SeriesRegistry, KeepsASeriesOfEachSourceWhereTheCatalogueTellsThemApart) {
  SeriesRegistry book;
  book.begin_source(CounterSource::kRdma);
  EXPECT_EQ(book.enter(series("receive_errors")), 0U);
  EXPECT_EQ(book.enter(series("receive_bytes")), 1U);
  book.begin_source(CounterSource::kNetdev);
  EXPECT_EQ(book.enter(series("receive_errors")), 2U);
  EXPECT_EQ(book.enter(series("receive_bytes")), std::nullopt) << "traffic is told once";
  book.begin_source(CounterSource::kNetdev);
  EXPECT_EQ(book.enter(series("receive_errors")), std::nullopt) << "the interface told it already";
  ASSERT_EQ(book.series().size(), 3U);
  EXPECT_EQ(book.series()[0].source, CounterSource::kRdma);
  EXPECT_EQ(book.series()[1].source, CounterSource::kUnknown);
  EXPECT_EQ(book.series()[2].source, CounterSource::kNetdev);
}

TEST(SeriesRegistry, AddsUpPartsOfOneSource) {
  SeriesRegistry book;
  book.begin_source(CounterSource::kNetdev);
  EXPECT_EQ(book.enter(series("retransmit")), 0U);
  EXPECT_EQ(book.enter(series("retransmit")), 0U);
  EXPECT_EQ(book.parts()[0], 2);
  std::vector<std::uint64_t> values(1);
  std::vector<std::uint8_t> read(1);
  ValueSink sink(values, read);
  sink.put(0, 30);
  EXPECT_EQ(read[0], 1);
  sink.put(0, 12);
  EXPECT_EQ(values[0], 42U);
  EXPECT_EQ(read[0], 2);
}

TEST(SeriesRegistry, TakesARepeatedRawNameOnce) {
  SeriesRegistry book;
  book.begin_source(CounterSource::kNetdev);
  EXPECT_TRUE(book.enter(series("rx_0", true)));
  EXPECT_FALSE(book.enter(series("rx_0", true)));
}

TEST(AnswerSlots, LearnOnceAndFindAgain) {
  AnswerSlots slots;
  int asked = 0;
  const auto wanted = [&]() -> std::optional<HostSeries> {
    ++asked;
    return series(asked == 1 ? "first" : "second");
  };
  const auto unwanted = [&]() -> std::optional<HostSeries> {
    ++asked;
    return std::nullopt;
  };
  const auto answer = [&](ValueSink* sink, std::initializer_list<const char*> names) {
    slots.begin(sink);
    std::uint64_t value = 10;
    for (const char* name : names) {
      const bool is_wanted = std::string_view(name) != "no";
      if (is_wanted)
        slots.put({name}, value++, wanted);
      else
        slots.put({name}, value++, unwanted);
    }
  };
  answer(nullptr, {"a", "no", "b"});
  EXPECT_TRUE(slots.has_new());
  SeriesRegistry book;
  book.begin_source(CounterSource::kNetdev);
  slots.enter(book);
  EXPECT_FALSE(slots.has_new());
  ASSERT_EQ(book.series().size(), 2U);
  std::vector<std::uint64_t> values(2);
  std::vector<std::uint8_t> read(2);
  ValueSink sink(values, read);
  answer(&sink, {"no", "b", "a"});  // in another order
  EXPECT_EQ(values[0], 12U);
  EXPECT_EQ(values[1], 11U);
  EXPECT_EQ(asked, 3);
  EXPECT_FALSE(slots.has_new());
  // What appears later is learnt, and read once it is entered.
  answer(&sink, {"a", "no", "b", "c"});
  EXPECT_TRUE(slots.has_new());
}

TEST(AnswerSlots, AValueThatTheAnswerDoesNotHaveIsAbsent) {
  AnswerSlots slots;
  const auto wanted = [] { return std::optional(series("a")); };
  slots.begin(nullptr);
  slots.skip({"a"}, wanted);
  EXPECT_TRUE(slots.has_new()) << "it may have it next time";
  SeriesRegistry book;
  book.begin_source(CounterSource::kRdma);
  slots.enter(book);
  std::vector<std::uint64_t> values(1);
  std::vector<std::uint8_t> read(1);
  ValueSink sink(values, read);
  slots.begin(&sink);
  slots.skip({"a"}, wanted);
  EXPECT_EQ(read[0], 0);
  slots.begin(&sink);
  slots.put({"a"}, 7, wanted);
  EXPECT_EQ(read[0], 1);
  EXPECT_EQ(values[0], 7U);
}

TEST(SeriesRegistry, IsBounded) {
  SeriesRegistry book;
  book.begin_source(CounterSource::kNetdev);
  for (std::size_t i = 0; i < SeriesRegistry::kMostSeries; ++i)
    ASSERT_TRUE(book.enter(series(std::to_string(i).c_str())));
  EXPECT_TRUE(book.is_full());
  EXPECT_FALSE(book.enter(series("one too many")));
}

}  // namespace
}  // namespace weft
