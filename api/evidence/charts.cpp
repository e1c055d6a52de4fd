// SPDX-License-Identifier: Apache-2.0
#include "api/evidence/charts.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "api/convert/times.hpp"
#include "api/publication/html_text.hpp"
#include "fabric/minute_text.hpp"
#include "fabric/number_text.hpp"

namespace weft::api {
namespace {

// Of the picture, in its own units; CSS scales it.
constexpr double kWidth = 760;
constexpr double kHeight = 130;
constexpr double kLeft = 84;
constexpr double kRight = kWidth - 10;
constexpr double kTop = 14;
constexpr double kBottom = kHeight - 20;
constexpr double kLane = 5;        ///< of marks, above the picture
constexpr double kThinnest = 1.5;  ///< what is there is seen
/// Marks of one chart at most: the newest.
constexpr int kMostChartMarks = 40;

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

/// The time of the charts, as places in the picture.
class Axis {
 public:
  explicit Axis(const v1::EvidencePack& pack)
      : from_(from_timestamp(pack.charts_from())),
        step_(from_duration(pack.charts_step())),
        buckets_(std::max(pack.charts_buckets(), 1U)) {}
  double at_bucket(double bucket) const { return kLeft + (kRight - kLeft) * bucket / buckets_; }
  double at(TimePoint when) const {
    const double bucket = seconds(when - from_) / std::max(seconds(step_), 1e-9);
    return at_bucket(std::clamp(bucket, 0.0, static_cast<double>(buckets_)));
  }
  TimePoint time_at(double share) const {
    return from_ + Duration(static_cast<std::int64_t>(static_cast<double>(step_.count()) * buckets_ * share));
  }
  Duration step() const { return step_; }
  std::uint32_t buckets() const { return buckets_; }

 private:
  TimePoint from_;
  Duration step_;
  std::uint32_t buckets_;
};

/// One value, or a stretch from the lowest to the highest, in each bucket that was read.
struct Bar {
  std::uint32_t bucket = 0;
  double low = 0;
  double high = 0;
};

struct Chart {
  std::string title;
  std::string figures;  ///< of the whole time
  std::vector<Bar> bars;
  double bottom = 0;  ///< of the scale
  double top = 1;
  std::string bottom_text;
  std::string top_text;
  const char* colour = "events";  ///< class of its bars
};

std::string rectangle(const char* style, double x, double y, double width, double height, const std::string& title) {
  return std::string("<rect class=\"") + style + "\" x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" +
         number(std::max(width, kThinnest)) + "\" height=\"" + number(height) + "\">" +
         (title.empty() ? "" : "<title>" + html_text(title) + "</title>") + "</rect>";
}

std::string words(double x, double y, const char* anchor, const std::string& text) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\">" + html_text(text) +
         "</text>";
}

/// Times of which nothing is known.
std::string gaps_of(const Axis& axis, const v1::EvidencePort& port) {
  std::string svg;
  std::uint32_t next = 0;
  const auto add = [&](std::uint32_t until) {
    if (until > next)
      svg += rectangle("gap", axis.at_bucket(next), kTop, axis.at_bucket(until) - axis.at_bucket(next), kBottom - kTop,
                       "not read");
  };
  for (const std::uint32_t bucket : port.read_bucket()) {
    if (bucket >= axis.buckets()) break;
    add(bucket);
    next = bucket + 1;
  }
  add(axis.buckets());
  return svg;
}

const char* style_of(const v1::HistoryMark& mark) {
  if (mark.kind() == v1::HistoryMark::PLAN) return "plan";
  if (mark.kind() == v1::HistoryMark::MAINTENANCE) return "maintenance";
  switch (mark.severity()) {
    case v1::Incident::CRITICAL:
      return "critical";
    case v1::Incident::WARNING:
      return "warning";
    default:
      return "info";
  }
}

std::string marks_in(const Axis& axis, const v1::EvidencePack& pack) {
  std::string svg;
  for (int i = std::max(0, pack.marks_size() - kMostChartMarks); i < pack.marks_size(); ++i) {
    const v1::HistoryMark& mark = pack.marks(i);
    const double from = axis.at(from_timestamp(mark.from()));
    const double until = mark.has_until() ? axis.at(from_timestamp(mark.until())) : kRight;
    const std::string style = style_of(mark);
    svg += rectangle(("shade " + style).c_str(), from, kTop, until - from, kBottom - kTop, "");
    svg += rectangle(("lane " + style).c_str(), from, kTop - kLane - 2, until - from, kLane,
                     mark.id() + ' ' + mark.text());
  }
  return svg;
}

/// Bars beside each other are one path.
std::string bars_in(const Axis& axis, const Chart& chart) {
  const auto height_of = [&](double value) {
    const double share = (value - chart.bottom) / std::max(chart.top - chart.bottom, 1e-300);
    return kBottom - (kBottom - kTop) * std::clamp(share, 0.0, 1.0);
  };
  std::string path;
  const double width = std::max(axis.at_bucket(1) - axis.at_bucket(0), kThinnest);
  for (const Bar& bar : chart.bars) {
    if (bar.bucket >= axis.buckets()) continue;
    const double bottom = height_of(bar.low);
    const double top = std::min(height_of(bar.high), bottom - kThinnest);
    path += 'M' + number(axis.at_bucket(bar.bucket)) + ' ' + number(bottom) + 'V' + number(top) + 'h' + number(width) +
            'V' + number(bottom) + 'z';
  }
  return "<path class=\"bars " + std::string(chart.colour) + "\" d=\"" + path + "\"/>";
}

std::string draw(const v1::EvidencePack& pack, const v1::EvidencePort& port, const Chart& chart) {
  const Axis axis(pack);
  const std::string label = chart.title + " of " + port.label() + ": " + chart.figures;
  std::string svg = "<figure><figcaption><b>" + html_text(chart.title) + "</b> <span class=\"muted\">" +
                    html_text(chart.figures) + "</span></figcaption><svg viewBox=\"0 0 " + number(kWidth) + ' ' +
                    number(kHeight) + "\" role=\"img\" aria-label=\"" + html_text(label) + "\">";
  svg += gaps_of(axis, port) + marks_in(axis, pack);
  for (const double share : {0.0, 0.5, 1.0}) {
    const double y = kBottom - (kBottom - kTop) * share;
    svg += "<path class=\"grid\" d=\"M" + number(kLeft) + ' ' + number(y) + 'H' + number(kRight) + "\"/>";
  }
  svg += bars_in(axis, chart);
  svg += words(kLeft - 6, kTop + 4, "end", chart.top_text) + words(kLeft - 6, kBottom + 4, "end", chart.bottom_text);
  for (const auto& [share, anchor] : {std::pair{0.0, "start"}, {0.5, "middle"}, {1.0, "end"}})
    svg += words(kLeft + (kRight - kLeft) * share, kHeight - 5, anchor, minute_text(axis.time_at(share)));
  return svg + "</svg></figure>\n";
}

/// The value of a counter in a bucket: what people count, or the rate that they read it in.
Chart chart_of(const v1::CounterHistory& counter, const Axis& axis) {
  Chart chart;
  chart.title = counter_title(counter.counter());
  const std::string& unit = counter.unit();
  const bool is_rate = unit == "bytes" || unit == "packets" || unit == "seconds";
  const double factor = unit == "bytes" ? 8 : is_rate ? 1 : seconds(axis.step());
  const double total = std::strtod(counter.total().c_str(), nullptr);
  double most = 0;
  for (int i = 0; i < std::min(counter.bucket_size(), counter.rate_size()); ++i) {
    // A bar of which only a part was read has no more than there is in all.
    const double value =
        is_rate || counter.at_least() ? counter.rate(i) * factor : std::min(counter.rate(i) * factor, total);
    if (value <= 0) continue;
    chart.bars.push_back({counter.bucket(i), 0, value});
    most = std::max(most, value);
  }
  chart.top = most;
  chart.bottom_text = "0";
  const auto text_of = [&](double value) {
    if (unit == "bytes") return rate_text(value);
    if (unit == "seconds") return share_text(value);
    return short_number(value) + (unit == "packets" ? "/s" : "");
  };
  chart.top_text = text_of(most);
  const std::string least = counter.at_least() ? "at least " : "";
  if (unit == "bytes")
    chart.figures = least + bits_text(total * 8) + " in all";
  else if (unit == "seconds")
    chart.figures = short_number(total) + " s in all";
  else
    chart.figures = least + count_text(std::strtoull(counter.total().c_str(), nullptr, 10)) + " in all";
  chart.figures += ", most in one bar " + chart.top_text + "; a bar is " + short_duration(axis.step());
  if (is_rate) chart.colour = "traffic";
  return chart;
}

/// Optical power in dBm, which 0 W has none of; current in mA.
std::optional<double> scaled(const std::string& unit, double value) {
  if (unit == "watts") return value > 0 ? std::optional(10 * std::log10(value * 1e3)) : std::nullopt;
  return unit == "amperes" ? value * 1e3 : value;
}

std::string gauge_value(const std::string& unit, double value) {
  return number(value) + (unit == "watts" ? " dBm" : unit == "amperes" ? " mA" : " °C");
}

std::optional<Chart> chart_of(const v1::GaugeHistory& gauge, const Axis& axis) {
  Chart chart;
  chart.title = counter_title(gauge.gauge());
  chart.colour = "gauge";
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  int dark = 0;
  for (int i = 0; i < std::min({gauge.bucket_size(), gauge.low_size(), gauge.high_size()}); ++i) {
    const auto low = scaled(gauge.unit(), gauge.low(i));
    const auto high = scaled(gauge.unit(), gauge.high(i));
    if (!low) ++dark;
    if (!high) continue;
    chart.bars.push_back({gauge.bucket(i), low.value_or(*high), *high});
    least = std::min(least, low.value_or(*high));
    most = std::max(most, *high);
  }
  if (chart.bars.empty() && dark == 0) return std::nullopt;
  if (chart.bars.empty()) least = most = 0;
  const double room = std::max((most - least) * 0.1, 0.5);
  chart.bottom = least - room;
  chart.top = most + room;
  chart.bottom_text = gauge_value(gauge.unit(), chart.bottom);
  chart.top_text = gauge_value(gauge.unit(), chart.top);
  chart.figures = gauge_value(gauge.unit(), least) + " to " + gauge_value(gauge.unit(), most);
  if (dark > 0) chart.figures += ", no light in " + std::to_string(dark) + " bars";
  chart.figures += "; a bar is " + short_duration(axis.step()) + ", from the lowest to the highest value";
  return chart;
}

}  // namespace

std::string counter_title(const std::string& name) {
  std::string title = name;
  std::ranges::replace(title, '_', ' ');
  if (!title.empty()) title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return title;
}

std::string charts_of(const v1::EvidencePack& pack, const v1::EvidencePort& port, int& left) {
  if (!port.has_history() || !pack.has_charts_step()) return {};
  const Axis axis(pack);
  std::string html;
  const auto add = [&](const Chart& chart) {
    if (left > 0) html += draw(pack, port, chart);
    --left;
  };
  // Errors before traffic.
  for (const bool traffic : {false, true})
    for (const v1::CounterHistory& counter : port.history().counters()) {
      const bool is_traffic = counter.unit() == "bytes" || counter.unit() == "packets" || counter.unit() == "seconds";
      if (is_traffic == traffic && counter.bucket_size() > 0) add(chart_of(counter, axis));
    }
  for (const v1::GaugeHistory& gauge : port.history().gauges())
    if (const auto chart = chart_of(gauge, axis)) add(*chart);
  return html;
}

}  // namespace weft::api
