#pragma once
// The head of a metric family in either format.

#include <string>
#include <string_view>

#include "api/metrics/negotiate.hpp"

namespace weft::api {

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
