// SPDX-License-Identifier: Apache-2.0
#pragma once
// The past of ports as rows of bars, one column for each bucket.

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "fabric/clock.hpp"
#include "weft/v1/history.pb.h"

namespace weft::ctl {

/// One bar for each of `columns` buckets, from 0 to the greatest of `values`; a space where no reading speaks of the
/// bucket. `buckets`: positions of the values, ascending. What is above 0 is never drawn as nothing. `plain`: ASCII.
/// `top`: the value of a full bar; 0: the greatest.
std::string bars(const std::vector<std::size_t>& buckets, const std::vector<double>& values, std::size_t columns,
                 bool plain, double top = 0);

/// Draws one port: traffic, waits and each counter that moved, with its peak or total, optical power, bias and
/// temperature where they are known, and what happened meanwhile. Of several ports a row for each: what it sends, and
/// its errors; with `each_counter` a row for each counter and gauge of each port. `columns`: of the terminal; `to`: the
/// end of what was asked for.
void draw_history(std::ostream& out, const v1::GetPortHistoryResponse& history, TimePoint to, bool each_counter,
                  std::size_t columns, bool plain);

/// The name of a counter that the picture calls so; other texts as they are.
std::string counter_called(const std::string& title);

/// How many buckets draw_history() has room for.
std::size_t history_columns(std::size_t columns);

}  // namespace weft::ctl
