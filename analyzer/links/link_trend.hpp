// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a link ages, against its own past, whoever reads it: its error correction repairs ever more, or its light fades.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/links/link_findings.hpp"
#include "analyzer/ports/drift.hpp"
#include "analyzer/thresholds/thresholds.hpp"
#include "fabric/analyzer_state.hpp"

namespace weft::analyzer {

/// One figure of one receiving end.
class LinkTrend {
 public:
  /// What is followed.
  enum class Figure : std::uint8_t {
    kRepaired,      ///< log10 of what error correction repaired per bit received
    kReceivePower,  ///< −dBm of the light received
  };

  LinkTrend() = default;
  /// A figure without a past.
  explicit LinkTrend(Figure figure) : figure_(figure) {}
  Figure figure() const { return figure_; }  ///< what is followed

  /// The link was down since the last call of take().
  void note_down() { was_down_ = true; }
  /// So much was repaired since the last call; nullopt: nobody knows how much, as the counter is new or was reset.
  void add_repaired(std::optional<std::uint64_t> count);
  /// The link runs at `rate` bit/s at that moment; 0: it is down, or nobody knows. What was repaired is made a figure
  /// once `spacing` has passed since the last one; so is `nanowatts`, the light, when that is followed.
  void take(TimePoint at, double rate, Duration spacing, std::uint64_t nanowatts, const Thresholds& thresholds);
  /// When take() last made a figure, or began one.
  TimePoint taken() const { return taken_; }

  /// What is worth remembering; nullopt before there is any. The port is the caller's.
  std::optional<FecBaseline> baseline() const;
  /// Goes on from a baseline. What was repaired since is not known.
  void restore(const FecBaseline& baseline);

  /// It has become worse, by so much that it is of interest.
  bool is_worse(const Thresholds& thresholds) const;

  /// How the figure is shown.
  struct Words {
    std::string label;               ///< of the end: "leaf-1 port 3"
    std::string_view unit = "bits";  ///< what is repaired: "bits", "symbols"
    std::string lane{};              ///< " on lane 0", or empty
    Entity where{};                  ///< of the evidence
  };
  /// Adds the figure to the link's LINK_DEGRADED, or makes one.
  void report(const ReportedLink& link, const Words& words, const Thresholds& thresholds, TimePoint now,
              std::vector<Finding>& findings) const;

 private:
  Severity severity(const Thresholds& thresholds) const;
  Evidence evidence(const Words& words, const Thresholds& thresholds, TimePoint now) const;

  Figure figure_ = Figure::kRepaired;
  bool was_down_ = false;       ///< since `taken_`
  bool is_unknown_ = false;     ///< how much was repaired since `taken_`
  TimePoint taken_ = kNever;    ///< when the drift last got a figure
  std::uint64_t repaired_ = 0;  ///< since then
  double rate_ = 0;             ///< bit/s, then
  Drift drift_;
};

}  // namespace weft::analyzer
