// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers, counts, rates and durations as people read them, in every sentence and table alike.

#include <cstdint>
#include <string>
#include <string_view>

#include "fabric/clock.hpp"

namespace weft {

/// A number rounded to three significant digits: "0", "0.25", "12.3", "3,000", "1,230,000". Below 0.0001 and from 10^12
/// on scientific, as error rates are written: "3.2e-11", "4e12".
std::string short_number(double value);
/// A count, exactly: "3,293,504".
std::string count_text(std::uint64_t count);
/// A data rate with an SI prefix, three significant digits: "400 Gb/s", "2.5 Mb/s"; "0" for none, and for what is no
/// rate.
std::string rate_text(double bits_per_second);
/// An amount of data with an SI prefix, three significant digits: "4.1 Tbit", "12 bit".
std::string bits_text(double bits);
/// A share of one: "12.3 %", "0.25 %".
std::string share_text(double ratio);
/// "2 d 5 h", "2 h", "12 s": the two largest units, the second one only where there is any of it.
std::string short_duration(Duration duration);
/// A value with the unit of Evidence: "400 Gb/s", "3,000 points", "3.2e-11 errors/bit", "500 ms", "2 h 5 min". Whole
/// numbers of things that are counted ("events", "packets") are exact; everything else is rounded.
std::string quantity_text(double value, std::string_view unit);

}  // namespace weft
