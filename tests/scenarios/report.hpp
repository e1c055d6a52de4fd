// SPDX-License-Identifier: Apache-2.0
#pragma once
// The figures of many outcomes: a table for people, JSON for programs, a plot.

#include <string>
#include <string_view>
#include <vector>

#include "fabric/result.hpp"
#include "tests/scenarios/judge.hpp"
#include "tests/scenarios/statistics.hpp"

namespace weft::scenarios {

struct Row {
  std::string group;
  std::uint64_t scenarios = 0;
  Share precision;                  ///< justified alarms of all alarms
  Share recall;                     ///< truths that were found
  Share culprit;                    ///< of those, the first one blamed was a culprit
  Share kind;                       ///< of those, the right kind was said
  std::vector<double> delays;       ///< sweeps, of all found truths
  std::vector<double> hard_delays;  ///< of those that are plain to see
  std::uint64_t false_alarms = 0;
  std::uint64_t unplanted = 0;       ///< alarms of congestion that nobody planted and that was real: neither of both
  std::uint64_t without_effect = 0;  ///< planted congestion that held up nobody: not among the truths
  double port_days = 0;
  Share joint;                      ///< truths, unplanted ones too, of which the first alarm said all that is right
  Share wrong_blame;                ///< planted truths of which the first alarm named what was healthy
  Share unplanted_found;            ///< lasting congestion that nobody planted, and that was named
  Share plain_losses;               ///< planted losses of at least 1e-6 of the packets that were found
  Share advice;                     ///< links in trouble of which the right part was named first
  Share clear;                      ///< advice that was clear
  Share clear_right;                ///< clear advice that was right
  Share strict;                     ///< alarms that are right and say nothing twice, of all of them
  Share hangs;                      ///< jobs that hang and are named by what is at fault
  Share wrong_hangs;                ///< those that are named by anything else
  Share single_hangs;               ///< those of which no second incident tells
  std::vector<double> hang_delays;  ///< seconds until they are named
  std::uint64_t repeated = 0;       ///< alarms about a truth that had been told already
  std::uint64_t alarms_about = 0;   ///< alarms about truths that were found

  /// Alarms for each truth that was found; NaN for none.
  double alarms_per_truth() const;
  /// False alarms per 100,000 port-days and the exact interval of it.
  double alarm_rate() const;
  Interval alarm_interval() const;
};

struct Report {
  std::vector<Row> rows;  ///< by group, in the order of groups()
  Row all;
  std::string seeds;  ///< "1-40"
};

Report summarise(const std::vector<Outcome>& outcomes, std::string seeds);
/// Many lines, each with its end.
std::string table(const Report& report);
/// Of which links in trouble the right part was named, in Markdown; empty where no scenario asks.
std::string advice_table(const Report& report);
/// Which jobs that hang were named with what is at fault, in Markdown; empty where no scenario asks.
std::string hang_table(const Report& report);
/// The same as table() in Markdown, with all figures that the README keeps.
/// `before`: what to_json() said of an earlier run, whose joint success, alarms told once and false alarms stand in
/// columns of their own; kInvalidArgument when it is not such a text. Empty: none.
Result<std::string> markdown(const Report& report, std::string_view before);
/// "precision=… recall=… culprit=… kind=… delay_samples=… false_alarms_per_100k_port_days=… scenarios=…"; the delay is
/// the median over the hard faults. A figure of which there is none is nan.
std::string last_line(const Report& report);
std::string to_json(const Report& report, const std::vector<Outcome>& outcomes);
/// Recall, right culprit and right kind of each group, with their intervals.
std::string to_svg(const Report& report);

}  // namespace weft::scenarios
