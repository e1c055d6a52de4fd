// SPDX-License-Identifier: Apache-2.0
#include "api/metrics/daemon_metrics.hpp"

#include <prometheus/collectable.h>
#include <prometheus/text_serializer.h>

#include <iterator>

namespace weft::api {
namespace {

/// OpenMetrics wants a counter's head without _total; the samples, their _total kept, are the same in both formats. A
/// counter whose name lacks _total is none in OpenMetrics.
void to_open_metrics(prometheus::MetricFamily& family, std::string& text) {
  constexpr std::string_view kTotal = "_total";
  if (family.type != prometheus::MetricType::Counter) return;
  const bool named_well = family.name.ends_with(kTotal);
  const std::string base = named_well ? family.name.substr(0, family.name.size() - kTotal.size()) : family.name;
  const auto replace = [&](const std::string& from, const std::string& to) {
    if (const auto at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  };
  replace("# HELP " + family.name + " ", "# HELP " + base + " ");
  replace("# TYPE " + family.name + " counter", "# TYPE " + base + (named_well ? " counter" : " unknown"));
}

}  // namespace

void append_daemon_metrics(std::string& out, const Collectables& collectables, MetricsFormat format) {
  const prometheus::TextSerializer serializer;
  for (const auto& collectable : collectables) {
    for (prometheus::MetricFamily& family : collectable->Collect()) {
      if (family.metric.empty()) continue;
      std::string text = serializer.Serialize({family});
      if (format == MetricsFormat::kOpenMetrics) to_open_metrics(family, text);
      out += text;
    }
  }
}

}  // namespace weft::api
