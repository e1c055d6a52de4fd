// SPDX-License-Identifier: Apache-2.0
#pragma once
// One question to the RAS port of NCCL, on the thread that owns the io_context.

#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>

#include "daemon/config/values.hpp"
#include "fabric/result.hpp"
#include "fabric/stuck_ranks.hpp"

namespace weft::collector {

/// Gets what NCCL answered, parse_ras_answer(); or why there is no answer.
using RasAnswered = std::function<void(Result<StuckRanks>)>;

/// Asks once, and calls `answered` once, later. NCCL asks all processes of the job, which takes it ten seconds at most
/// (RAS_COLLECTIVE_LEG_TIMEOUT_SEC and RAS_COLLECTIVE_EXTRA_TIMEOUT_SEC); after twenty it is given up: kUnavailable.
/// More than kMostRasBytes are not read: kResourceExhausted. Nothing waits.
void ask_ras(boost::asio::io_context& context, const config::Address& address, RasAnswered answered);

}  // namespace weft::collector
