// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the RAS subsystem of NCCL answers (NCCL 2.24 and later; docs/userguide/source/troubleshooting/ras.rst and
// src/ras/client_support.cc of github.com/NVIDIA/nccl). Whoever has the port says what he wants: bounded, and refused
// where it is none.

#include <cstddef>
#include <string>
#include <string_view>

#include "fabric/result.hpp"
#include "fabric/stuck_ranks.hpp"

namespace weft::collector {

/// A status as JSON takes some 700 bytes for each rank of each communicator; more is not read.
inline constexpr std::size_t kMostRasBytes = 16 << 20;

/// The commands of a status query, for one write. What comes back begins with one line for each of the first three. A
/// server before 2.28.7 refuses JSON, and answers with text.
std::string ras_query();

/// The ranks that NCCL has no news of, or has given up, and those that have launched fewer collectives than others of
/// their communicator (if they are fewer than half of it): JSON, or text, behind the lines that answer the commands
/// before. Of each host the worst. kProtocol for what is no such answer or is incomplete.
Result<StuckRanks> parse_ras_answer(std::string_view answer);

}  // namespace weft::collector
