// SPDX-License-Identifier: Apache-2.0
#pragma once
// An evidence pack as a document.

#include <string>

#include "weft/v1/evidence.pb.h"

namespace weft::api {

/// One HTML file that needs nothing else: no script, no font, no picture from elsewhere. Light, dark and paper by CSS.
/// All that is text in the pack is escaped but `runbook_steps`, which is weftd's own HTML.
std::string evidence_document(const v1::EvidencePack& pack);

}  // namespace weft::api
