// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/history_drawing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "daemon/programs/weftctl/value_format.hpp"
#include "fabric/counters.hpp"
#include "fabric/number_text.hpp"

namespace weft::ctl {
namespace {

constexpr std::size_t kUsualColumns = 80;
constexpr std::size_t kName = 30;       ///< in front of the bars
constexpr std::size_t kShortName = 16;  ///< the same on a narrow terminal
constexpr std::size_t kFigures = 30;    ///< behind them
constexpr std::size_t kGoodBars = 24;   ///< names are shortened before there are fewer
constexpr std::size_t kFewestBars = 12;
constexpr std::size_t kMostBars = 240;

/// Where and how it is drawn. In columns of the terminal.
struct Paper {
  std::ostream& out;
  std::size_t room;  ///< of a line
  std::size_t name;
  std::size_t bars;
  bool plain;
};

constexpr std::array<std::string_view, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kPlainBars = "_-~=+*%#";

const v1::CounterHistory* find(const v1::PortHistory& port, std::string_view counter) {
  const auto found = std::ranges::find(port.counters(), counter, [](const auto& each) { return each.counter(); });
  return found == port.counters().end() ? nullptr : &*found;
}

/// A rate in the unit that people read it in.
std::string value_text(const v1::CounterHistory& counter, double rate) {
  if (counter.unit() == "bytes") return rate_text(rate * 8);
  if (counter.unit() == "seconds") return share_text(rate);  // seconds of waiting in a second
  return short_number(rate) + "/s";
}

std::string total_text(const v1::CounterHistory& counter) {
  const std::string least = counter.at_least() ? ">= " : "";
  if (counter.unit() == "bytes") return least + bits_text(std::strtod(counter.total().c_str(), nullptr) * 8);
  if (counter.unit() == "seconds") return short_number(std::strtod(counter.total().c_str(), nullptr)) + " s";
  return least + count_text(std::strtoull(counter.total().c_str(), nullptr, 10));
}

/// What the picture calls a counter or a gauge, and its name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kTitles{
    {{"sends", "transmit_bytes"},
     {"receives", "receive_bytes"},
     {"stalled", "transmit_wait"},
     {"optical in", "module_receive_power"},
     {"optical out", "module_transmit_power"},
     {"laser bias", "module_bias"},
     {"temperature", "module_temperature"}}};

std::string title_of(const std::string& counter) {
  for (const auto& [title, name] : kTitles)
    if (name == counter) return std::string(title);
  return counter;
}
std::string title_of(const v1::CounterHistory& counter) {
  return title_of(counter.counter());
}

void print_wrapped(std::ostream& out, const std::string& text, std::size_t room) {
  for (const std::string& line : wrapped(text, room)) out << line << '\n';
}

std::string padded(std::string text, std::size_t columns, bool plain) {
  text = shortened(printable(text), columns, plain);
  text.append(columns - std::min(columns, width(text)), ' ');
  return text;
}

std::string bars_of(const v1::CounterHistory& counter, const Paper& paper) {
  return bars({counter.bucket().begin(), counter.bucket().end()}, {counter.peak().begin(), counter.peak().end()},
              paper.bars, paper.plain);
}

/// A line of the picture.
void draw_line(const Paper& paper, const std::string& name, const std::string& bars, const std::string& figures) {
  paper.out << padded(name, paper.name - 2, paper.plain) << "  " << padded(bars, paper.bars, paper.plain) << "  "
            << figures << '\n';
}

double peak_of(const v1::CounterHistory& counter) {
  return counter.peak().empty() ? 0 : *std::ranges::max_element(counter.peak());
}

bool is_traffic(const v1::CounterHistory& counter) {
  return counter.unit() == "bytes" || counter.unit() == "packets" || counter.unit() == "seconds";
}

/// Packets say little beside bytes: they are shown where there is nothing else of a port.
bool is_shown(const v1::PortHistory& port, const v1::CounterHistory& counter) {
  if (counter.unit() != "packets") return true;
  return std::ranges::all_of(port.counters(), [](const auto& each) { return each.unit() == "packets"; });
}

/// How a gauge is drawn and read: power in dBm, where 0 W has no value; bias in mA; temperature in degrees.
struct GaugeScale {
  double least_range;   ///< of the bars: what is steady is drawn so
  bool is_worse_below;  ///< the lowest value of a column is drawn, else the highest
  std::string_view unit;
  std::optional<double> of(double value) const {
    if (unit == "dBm") return value > 0 ? std::optional(10 * std::log10(value * 1e3)) : std::nullopt;
    return unit == "mA" ? value * 1e3 : value;
  }
  std::string text(double value) const {
    const auto scaled = of(value);
    if (!scaled) return "none";
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f", *scaled);
    return text.data();
  }
};

GaugeScale scale_of(const v1::GaugeHistory& gauge, bool plain) {
  if (gauge.unit() == "watts") return {3, true, "dBm"};
  if (gauge.unit() == "amperes") return {2, false, "mA"};
  return {10, false, plain ? "C" : "°C"};
}

/// From the lowest of all values, a low bar, to the highest, a full one; a dot for no light.
std::string gauge_bars(const v1::GaugeHistory& gauge, const GaugeScale& scale, std::size_t columns, bool plain) {
  double bottom = std::numeric_limits<double>::infinity();
  double top = -bottom;
  for (const auto& values : {gauge.low(), gauge.high()})
    for (const double value : values)
      if (const auto scaled = scale.of(value)) {
        bottom = std::min(bottom, *scaled);
        top = std::max(top, *scaled);
      }
  const double range = std::max(top - bottom, scale.least_range);
  const double floor = (top + bottom - range) / 2;
  std::vector<double> heights;
  for (const double value : scale.is_worse_below ? gauge.low() : gauge.high()) {
    const auto scaled = scale.of(value);
    heights.push_back(scaled ? 1 + 7 * (*scaled - floor) / range : 0);
  }
  return bars({gauge.bucket().begin(), gauge.bucket().end()}, heights, columns, plain, 8);
}

/// "-3.1 to -2.0, last -2.1 dBm".
std::string gauge_text(const v1::GaugeHistory& gauge, const GaugeScale& scale) {
  if (gauge.low().empty() || gauge.high().empty() || gauge.last().empty()) return "";
  const std::string low = scale.text(*std::ranges::min_element(gauge.low()));
  const std::string high = scale.text(*std::ranges::max_element(gauge.high()));
  const std::string last = scale.text(*gauge.last().rbegin());
  return (low == high ? last : low + " to " + high + ", last " + last) + ' ' + std::string(scale.unit);
}

void draw_gauge(const Paper& paper, const std::string& name, const v1::GaugeHistory& gauge) {
  const GaugeScale scale = scale_of(gauge, paper.plain);
  draw_line(paper, name, gauge_bars(gauge, scale, paper.bars, paper.plain), gauge_text(gauge, scale));
}

std::string figures_of(const v1::CounterHistory& counter) {
  return is_traffic(counter) ? "peak " + value_text(counter, peak_of(counter)) : total_text(counter);
}

/// Returns the counters that did not move, which have no row.
std::string draw_port(const Paper& paper, const v1::PortHistory& port) {
  std::string still;
  for (const v1::CounterHistory& counter : port.counters()) {
    if (!is_shown(port, counter)) continue;
    if (counter.bucket().empty()) {
      still += (still.empty() ? "" : ", ") + title_of(counter);
      continue;
    }
    draw_line(paper, title_of(counter), bars_of(counter, paper), figures_of(counter));
  }
  for (const v1::GaugeHistory& gauge : port.gauges()) draw_gauge(paper, title_of(gauge.gauge()), gauge);
  return still;
}

/// Errors of all kinds, each port's own. Nothing where there are none; that they were not read is said.
std::string errors_text(const v1::PortHistory& port) {
  std::uint64_t errors = 0;
  bool at_least = false;
  bool is_read = false;
  for (const v1::CounterHistory& counter : port.counters()) {
    const CounterInfo* info = find_counter(counter.counter());
    if (info == nullptr || !info->is_error) continue;
    is_read = true;
    errors += std::strtoull(counter.total().c_str(), nullptr, 10);
    at_least = at_least || counter.at_least();
  }
  if (!is_read) return ", errors not read";
  return errors == 0 ? "" : (at_least ? ", >= " : ", ") + count_text(errors) + " errors";
}

bool is_unread(const v1::PortHistory& port) {
  return port.counters().empty() && port.gauges().empty();
}

void draw_ports(const Paper& paper, const v1::GetPortHistoryResponse& history, bool each_counter) {
  for (const v1::PortHistory& port : history.ports()) {
    const v1::CounterHistory* sends = find(port, "transmit_bytes");
    if (each_counter) {
      for (const v1::CounterHistory& counter : port.counters())
        draw_line(paper, port.label() + ' ' + title_of(counter), bars_of(counter, paper), figures_of(counter));
      for (const v1::GaugeHistory& gauge : port.gauges())
        draw_gauge(paper, port.label() + ' ' + title_of(gauge.gauge()), gauge);
    } else if (sends != nullptr) {
      draw_line(paper, port.label(), bars_of(*sends, paper), figures_of(*sends) + errors_text(port));
    }
    if (each_counter ? is_unread(port) : sends == nullptr)
      paper.out << padded(port.label(), paper.name - 2, paper.plain) << "  not read\n";
  }
}

Duration step_of(const v1::GetPortHistoryResponse& history) {
  return std::chrono::seconds(history.step().seconds()) + Duration(history.step().nanos());
}

/// Where the last bucket ends.
google::protobuf::Timestamp end_of(const v1::GetPortHistoryResponse& history) {
  google::protobuf::Timestamp end = history.from();
  end.set_seconds(end.seconds() + history.step().seconds() * history.buckets());
  return end;
}

/// "10-31 14:00", within an hour or so "14:00:30": the whole date is above the picture.
std::string short_time(const v1::GetPortHistoryResponse& history, const google::protobuf::Timestamp& when) {
  const bool is_short = history.step().seconds() * history.buckets() <= 2 * 3600;
  return is_short ? time_text(when).substr(11, 8) : time_text(when).substr(5, 11);
}

/// Both ends of the time, the later one on a line of its own where the bars are too few for both.
void draw_axis(const Paper& paper, const v1::GetPortHistoryResponse& history) {
  const std::string begin = short_time(history, history.from());
  const std::string end = short_time(history, end_of(history));
  paper.out << std::string(paper.name, ' ') << begin;
  const std::size_t right = paper.bars - std::min(paper.bars, end.size());
  if (right > begin.size())
    paper.out << std::string(right - begin.size(), ' ');
  else
    paper.out << '\n' << std::string(paper.name + right, ' ');
  paper.out << end << '\n';
}

void draw_marks(std::ostream& out, const v1::GetPortHistoryResponse& history, std::size_t columns) {
  for (const v1::HistoryMark& mark : history.marks()) {
    std::string line = time_text(mark.from()).substr(5, 14) + " - " +
                       (mark.has_until() ? time_text(mark.until()).substr(5, 14) : "now") + "  " + mark.id();
    if (mark.kind() == v1::HistoryMark::INCIDENT) line += ' ' + v1::Incident::Severity_Name(mark.severity());
    line += ' ' + printable(mark.text());
    bool first = true;
    for (const std::string& part : wrapped(line, columns - 4)) {
      out << (first ? "" : "    ") << part << '\n';
      first = false;
    }
  }
}

}  // namespace

std::string counter_called(const std::string& title) {
  for (const auto& [known, name] : kTitles)
    if (known == title) return std::string(name);
  return title;
}

std::string bars(const std::vector<std::size_t>& buckets, const std::vector<double>& values, std::size_t columns,
                 bool plain, double top) {
  if (top <= 0) top = values.empty() ? 0 : *std::ranges::max_element(values);
  std::vector<std::string> cells(columns, " ");
  for (std::size_t i = 0; i < buckets.size() && i < values.size(); ++i) {
    if (buckets[i] >= columns) continue;
    if (values[i] <= 0) {
      cells[buckets[i]] = plain ? "." : "·";
      continue;
    }
    const auto height = static_cast<std::size_t>(std::ceil(values[i] / top * 8)) - 1;
    const std::size_t level = std::min<std::size_t>(height, 7);
    cells[buckets[i]] = plain ? std::string(1, kPlainBars[level]) : std::string(kBlocks[level]);
  }
  std::string row;
  for (const std::string& cell : cells) row += cell;
  return row;
}

std::size_t history_columns(std::size_t columns) {
  const std::size_t all = columns == 0 ? kUsualColumns : columns;
  const auto beside = [all](std::size_t name) { return all > name + kFigures ? all - name - kFigures : 0; };
  if (beside(kName) >= kGoodBars) return std::min(beside(kName), kMostBars);
  return std::clamp(beside(kShortName), kFewestBars, kGoodBars);
}

void draw_history(std::ostream& out, const v1::GetPortHistoryResponse& history, TimePoint to, bool each_counter,
                  std::size_t columns, bool plain) {
  const std::size_t room = columns == 0 ? kUsualColumns : columns;
  const std::size_t bars = std::max<std::size_t>(history.buckets(), 1);
  const std::size_t beside = room - std::min(room, bars + kFigures);
  const Paper paper{out, room, std::clamp(beside, kShortName, kName), bars, plain};
  const bool is_one = history.ports_size() == 1;
  if (is_one) {
    const v1::PortHistory& port = history.ports(0);
    const std::string peer = port.peer().empty() ? "" : (plain ? " -- " : " — ") + printable(port.peer());
    print_wrapped(out, printable(port.label()) + peer, room);
  }
  google::protobuf::Timestamp end;
  end.set_seconds(std::chrono::floor<std::chrono::seconds>(to.time_since_epoch()).count());
  print_wrapped(
      out, time_text(history.from()) + " to " + time_text(end) + "; a column is " + short_duration(step_of(history)),
      room);
  if (std::ranges::all_of(history.ports(), is_unread)) {
    out << "Nothing is stored of that time.\n";
  } else {
    const bool shows_gauges = (is_one || each_counter) && std::ranges::any_of(history.ports(), [](const auto& port) {
                                return !port.gauges().empty();
                              });
    print_wrapped(
        out,
        std::string("Each bar: the highest rate within its column; each row has its own scale. A dot: zero. "
                    "Empty: not read.") +
            (is_one || each_counter ? "" : " Shown is what each port sends.") +
            (shows_gauges ? " Of optical power it is the lowest value, of bias and temperature the highest, and "
                            "the scale begins at what was lowest."
                          : ""),
        room);
    out << '\n';
    std::string still;
    if (is_one)
      still = draw_port(paper, history.ports(0));
    else
      draw_ports(paper, history, each_counter);
    draw_axis(paper, history);
    if (!still.empty()) print_wrapped(out, "Did not move: " + still + ".", room);
  }
  if (!history.marks().empty()) {
    out << '\n';
    draw_marks(out, history, room);
  }
}

}  // namespace weft::ctl
