#pragma once
// What the analyzer must remember across a restart. The types stand in fabric, because the store keeps them and knows
// nothing of the analyzer.

#include "fabric/analyzer_state.hpp"

namespace weft::analyzer {

using weft::AnalyzerState;
using weft::ErrorState;
using weft::FlapState;
using weft::KnownEnd;
using weft::KnownLink;

}  // namespace weft::analyzer
