// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a person may do about a plan, or about a guard that refuses it, by which command.

#include <ostream>
#include <string>
#include <string_view>

#include "daemon/programs/weftctl/plan_report.hpp"
#include "weft/v1/remedy.pb.h"

namespace weft::ctl {

/// What to read or do when a guard refuses, to follow its words: "BUDGET: maximum of …". Empty: no guard begins them.
std::string next_step(std::string_view refusal);

/// "weftctl restore leaf-1:7": what brings back what the plan holds.
std::string return_command(const v1::Plan& plan);

/// Of a return that is over, and of what others took out meanwhile: no plan among `plans` holds its target. False where
/// there are none, as where nobody asked.
bool is_let_go(const v1::Plan& plan, const google::protobuf::RepeatedPtrField<v1::Plan>& plans);

/// The commands for what may be done about the plan now.
void print_next(std::ostream& out, const v1::Plan& plan, const PlanPage& page);

}  // namespace weft::ctl
