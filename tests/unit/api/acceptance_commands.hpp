// SPDX-License-Identifier: Apache-2.0
#pragma once
// A daemon that takes every acceptance as the third one, without judging it.

#include <memory>
#include <string>
#include <utility>

#include "api/publication/commands.hpp"

namespace weft::api {

class AcceptanceCommands : public Commands {
 public:
  void start_acceptance(AcceptanceRun run, AcceptanceCallback callback) override {
    run.id = 3;
    run.started = TimePoint(std::chrono::hours(1));
    callback(run);
  }
  void end_acceptance(std::uint64_t id, std::string who, AcceptanceCallback callback) override {
    if (id != 3) return callback(fail(ErrorCode::kNotFound, "no acceptance"));
    AcceptanceRun run;
    run.id = id;
    run.ended = TimePoint(std::chrono::hours(2));
    run.ended_by = std::move(who);
    callback(run);
  }
  void judge_acceptance(AcceptanceRun run, AcceptanceCallback callback) override {
    AcceptanceReport report;
    report.verdict = AcceptanceVerdict::kIncomplete;
    run.report = std::make_shared<const AcceptanceReport>(report);
    callback(run);
  }
};

}  // namespace weft::api
