// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report of an acceptance as one HTML file: for a browser, light or dark, and for paper.

#include <string>

#include "api/publication/evidence_source.hpp"
#include "weft/v1/acceptance.pb.h"

namespace weft::api {

/// The document; it loads nothing. `source` says who made it.
std::string acceptance_document(const v1::Acceptance& run, const EvidenceSource& source);

/// Of its file, without an ending: "weft-ACC-3"; "weft-acceptance" where the run is not kept.
std::string acceptance_file_name(const v1::Acceptance& run);

}  // namespace weft::api
