// SPDX-License-Identifier: Apache-2.0
#pragma once
// Several answers to wait for.

#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "api/site/merge.hpp"
#include "fabric/result.hpp"

namespace weft::api {

/// The answers of several shards, until the last is there.
template <typename Response>
class Gathering {
 public:
  /// In the order of the shards that were asked.
  using Answers = std::vector<ShardAnswer<Response>>;

  /// `done` is called once, on the thread that brings the last of `count` answers.
  Gathering(std::size_t count, std::function<void(Answers)> done)
      : left_(count), answers_(count, {{}, fail(ErrorCode::kInternal, "not asked"), true}), done_(std::move(done)) {}
  /// `place` is below the count, and each is taken once.
  void take(std::size_t place, ShardAnswer<Response> answer) {
    {
      const std::lock_guard lock(mutex_);
      answers_[place] = std::move(answer);
      if (--left_ > 0) return;
    }
    done_(std::move(answers_));
  }

 private:
  std::mutex mutex_;
  std::size_t left_;
  Answers answers_;
  std::function<void(Answers)> done_;
};

}  // namespace weft::api
