// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which exposition format a scraper asks for.

#include <string_view>

namespace weft::api {

/// An exposition format.
enum class MetricsFormat {
  kText,         ///< Prometheus text format 0.0.4
  kOpenMetrics,  ///< OpenMetrics 1.0.0
};

/// The Content-Type of the answer.
std::string_view content_type(MetricsFormat format);

/// From the request's Accept header (RFC 9110, 12.5.1): OpenMetrics where it is named with at least the weight of
/// text/plain, the text format otherwise, also for an empty or odd header.
MetricsFormat choose_format(std::string_view accept);

/// From the request's Accept-Encoding header (RFC 9110, 12.5.3): whether gzip is welcome.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace weft::api
