// SPDX-License-Identifier: Apache-2.0
#pragma once
// Questions about the past, on a thread of their own.

#include <utility>

#include "api/publication/history_desk.hpp"
#include "daemon/adapters/store/history_reader.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/platform/runtime/lane.hpp"
#include "fabric/clock.hpp"
#include "fabric/number_text.hpp"

namespace weft::daemon {

/// Reads the history beside the store, one question after the other. At most 16 wait.
class HistoryQuestions final : public api::HistoryDesk {
 public:
  /// Of the history that a Store has opened and keeps for `retention`. The clock must live as long.
  HistoryQuestions(store::HistoryPlace place, Duration retention, const Clock& clock)
      : place_(std::move(place)), retention_(retention), clock_(clock) {}
  void read(HistoryQuestion question, Callback callback) override {
    answer(std::move(question), std::move(callback),
           [](const auto& place, const auto& asked) { return store::read_history(place, asked); });
  }
  void read_stall(StallQuestion question, StallCallback callback) override {
    answer(std::move(question), std::move(callback), &store::read_stall);
  }
  /// Answers what waits, and no more.
  void stop() { lane_.stop(); }
  /// For metrics.
  const runtime::Lane& lane() const { return lane_; }

 private:
  template <typename Question, typename Take, typename Look>
  void answer(Question question, Take callback, Look look) {
    // A time that begins at a whole step is longer than what was asked for by up to that.
    if (question.to - question.from > retention_ + 2 * question.step || question.to <= clock_.now() - retention_)
      return callback(fail(ErrorCode::kInvalidArgument, "port history is kept for " + short_duration(retention_) +
                                                            " (store.history_retention), and that is longer ago"));
    const auto refused = callback;
    if (!lane_.post([this, question = std::move(question), callback = std::move(callback), look] {
          callback(look(place_, question));
        }))
      refused(fail(ErrorCode::kResourceExhausted, "too many questions about the past wait: ask again in a moment"));
  }

  const store::HistoryPlace place_;
  const Duration retention_;
  const Clock& clock_;
  runtime::Lane lane_{{.name = "history",
                       .capacity = 16,
                       .when_full = runtime::WhenFull::kRefuse,
                       .on_failure = [](const std::string& what) { logger("history")->error("{}", what); }}};
};

}  // namespace weft::daemon
