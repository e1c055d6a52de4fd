// SPDX-License-Identifier: Apache-2.0
#include "api/metrics/negotiate.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>

namespace weft::api {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

/// Takes what stands before the next `separator` from the front of `rest`.
std::string_view take(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return trimmed(part);
}

/// Calls `each(name, weight)` for every element, the name in lower case.
template <typename Each>
void for_each_weighted(std::string_view header, Each&& each) {
  while (!header.empty()) {
    std::string_view element = take(header, ',');
    const std::string name = lower(take(element, ';'));
    double weight = 1;
    while (!element.empty()) {
      std::string_view parameter = take(element, ';');
      if (lower(take(parameter, '=')) != "q") continue;
      const auto [end, error] = std::from_chars(parameter.data(), parameter.data() + parameter.size(), weight);
      if (error != std::errc{}) weight = 0;
    }
    each(name, weight);
  }
}

}  // namespace

std::string_view content_type(MetricsFormat format) {
  return format == MetricsFormat::kText ? "text/plain; version=0.0.4; charset=utf-8"
                                        : "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

MetricsFormat choose_format(std::string_view accept) {
  double open_metrics = 0;
  double text = 0;
  for_each_weighted(accept, [&](const std::string& name, double weight) {
    if (name == "application/openmetrics-text") open_metrics = std::max(open_metrics, weight);
    if (name == "text/plain") text = std::max(text, weight);
  });
  return open_metrics > 0 && open_metrics >= text ? MetricsFormat::kOpenMetrics : MetricsFormat::kText;
}

bool accepts_gzip(std::string_view accept_encoding) {
  double gzip = -1;
  double any = 0;
  for_each_weighted(accept_encoding, [&](const std::string& name, double weight) {
    if (name == "gzip" || name == "x-gzip") gzip = weight;
    if (name == "*") any = weight;
  });
  return gzip >= 0 ? gzip > 0 : any > 0;
}

}  // namespace weft::api
