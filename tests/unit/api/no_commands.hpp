// SPDX-License-Identifier: Apache-2.0
#pragma once
// A daemon that has no incidents and no planned work.

#include "api/publication/commands.hpp"

namespace weft::api {

class NoCommands final : public Commands {
 public:
  void acknowledge(std::uint64_t, std::string, Callback callback) override { callback(nothing()); }
  void silence(std::uint64_t, TimePoint, std::string, Callback callback) override { callback(nothing()); }
  void add_maintenance(MaintenanceWindow, MaintenanceCallback callback) override { callback(nothing()); }
  void end_maintenance(std::uint64_t, std::string, MaintenanceCallback callback) override { callback(nothing()); }
  void start_acceptance(AcceptanceRun, AcceptanceCallback callback) override { callback(nothing()); }
  void end_acceptance(std::uint64_t, std::string, AcceptanceCallback callback) override { callback(nothing()); }
  void judge_acceptance(AcceptanceRun, AcceptanceCallback callback) override { callback(nothing()); }

 private:
  static tl::unexpected<Error> nothing() { return fail(ErrorCode::kNotFound, "there is nothing"); }
};

}  // namespace weft::api
