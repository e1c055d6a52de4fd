// SPDX-License-Identifier: Apache-2.0
// History of nodes that no fabric has any more, by their GUIDs.

#include "daemon/adapters/store/history_reader.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

using namespace std::chrono_literals;

constexpr NodeGuid kOld{0x8000000000000001};  // GUIDs are kept bit by bit
constexpr NodeGuid kNew{2};

HistoryQuestion question_of(PortKey gone, std::string fabric = "") {
  HistoryQuestion question{std::move(fabric), {}, {CounterId::kSymbolErrors}, at_second(0), at_second(100'000), 60s};
  question.gone = gone;
  return question;
}

class GoneHistory : public OnEachEngine {
 protected:
  void SetUp() override {
    OnEachEngine::SetUp();
    if (IsSkipped()) return;
    place.state_dir = dir.path();
    if (GetParam() == Engine::kPostgres) place.url = url_of(dir.path());
    auto store = must_open(dir.path(), {.shares_history = GetParam() == Engine::kPostgres});
    for (int second = 0; second <= 360; second += 60)
      ASSERT_TRUE(store->append_history(
          share(make_sweep(at_second(second), 100U * static_cast<unsigned>(second), 4, second <= 180 ? kOld : kNew))));
  }
  const TempDir dir;
  HistoryPlace place;
};

TEST_P(GoneHistory, ASwitchThatWasReplacedIsFoundByItsGuid) {
  const auto port = read_history(place, question_of({kOld, {2}}));
  ASSERT_TRUE(port) << port.error().message;
  EXPECT_EQ(port->fabric, "compute");
  ASSERT_EQ(port->ports.size(), 1U);
  EXPECT_EQ(port->ports[0].port, (PortKey{kOld, {2}}));
  EXPECT_EQ(port->ports[0].counters.at(0).total, 180U);
  const auto all = read_history(place, question_of({kOld, {}}, "compute"));
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_GE(all->ports.size(), 4U);
  for (const PortHistory& each : all->ports) EXPECT_EQ(each.port.node, kOld);
}

TEST_P(GoneHistory, WhatWasNeverThereIsNotFound) {
  for (const auto& question :
       {question_of({NodeGuid{77}, {}}), question_of({kOld, {77}}), question_of({kOld, {2}}, "storage")}) {
    const auto answer = read_history(place, question);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kNotFound);
  }
  EXPECT_EQ(read_history(place, question_of({NodeGuid{77}, {}})).error().message,
            "0x000000000000004d is in no fabric, and nothing is stored of it");
}

TEST_P(GoneHistory, TooMuchIsRefused) {
  HistoryQuestion question = question_of({kOld, {}});
  question.step = 1s;
  question.counters.clear();
  EXPECT_EQ(read_history(place, question).error().code, ErrorCode::kInvalidArgument);
}

INSTANTIATE_ON_EACH_ENGINE(GoneHistory);

}  // namespace
}  // namespace weft::store
