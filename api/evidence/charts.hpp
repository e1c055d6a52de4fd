// SPDX-License-Identifier: Apache-2.0
#pragma once
// Charts of an evidence pack as inline SVG, coloured by the classes of the document's style sheet.

#include <string>

#include "weft/v1/evidence.pb.h"

namespace weft::api {

/// Charts of one document at most.
inline constexpr int kMostEvidenceCharts = 48;

/// A chart for each counter of the port that moved, and for each gauge; times in which nothing was read are gaps, and
/// what happened stands above and behind. `left`: how many more charts the document may have, counted down, below zero
/// by those that are not drawn. Empty where nothing moved.
std::string charts_of(const v1::EvidencePack& pack, const v1::EvidencePort& port, int& left);

/// What a chart calls a counter or a gauge: "Symbol errors".
std::string counter_title(const std::string& name);

}  // namespace weft::api
