// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ports in an evidence document: what identifies them, how they are, and what they counted.

#include <string>

#include "weft/v1/evidence.pb.h"

namespace weft::api {

/// Ports of a pack that stand beside each other; more stand below each other.
inline constexpr int kMostBeside = 2;

/// Identity and state of each port, as a section of HTML. What is not known says so.
std::string ends_of(const v1::EvidencePack& pack);
/// How the ports are set up, each setting with where it was read. Empty where no collector tells, and of many ports.
std::string settings_of(const v1::EvidencePack& pack);
/// Of CONFIG_DRIFT: which values there are, and who differs; else empty.
std::string differences_of(const v1::EvidencePack& pack);
/// Of two ends every counter as last read; of many ports the errors that are not zero.
std::string counters_of(const v1::EvidencePack& pack);

}  // namespace weft::api
