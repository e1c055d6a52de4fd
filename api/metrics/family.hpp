// SPDX-License-Identifier: Apache-2.0
#pragma once
// The head of a metric family in either format.

#include <string>
#include <string_view>

#include "api/metrics/negotiate.hpp"

namespace weft::api {

/// Writers of series stop after so many bytes and are called again, so that a large page is streamed.
inline constexpr std::size_t kChunk = 64 * 1024;
/// Characters that std::to_chars may need for one value.
inline constexpr std::size_t kLongestNumber = 40;

/// The type that # TYPE names.
enum class MetricType { kGauge, kCounter, kInfo };

/// A family as the text format names it: a counter's name ends in _total, an info's in _info.
struct MetricFamily {
  std::string_view name;
  MetricType type;
  std::string_view help;  ///< one sentence without \ and line ends
};

/// Appends the lines # HELP and # TYPE. OpenMetrics names the family without the suffix that its samples carry.
void append_head(std::string& out, const MetricFamily& family, MetricsFormat format);

}  // namespace weft::api
