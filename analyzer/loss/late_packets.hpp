// SPDX-License-Identifier: Apache-2.0
#pragma once
// What receivers count as out of order, brought down to lost packets.

#include <span>

#include "analyzer/loss/loss_finder.hpp"

namespace weft::analyzer {

/// Divides what each end received out of order by the packets that one loss makes out of order. With go-back-N that is
/// everything under way behind the lost packet, 5 to 20 us of its flow; an adapter that counts NAKs, or repeats
/// selectively, counts one (mlx5 out_of_sequence counts packets, packet_seq_err NAKs: NVIDIA, "Understanding mlx5 Linux
/// Counters"). Senders count a NAK for each loss either way, so that in a job the sums of both sides tell how many;
/// ends without a job are judged by all ends. Never multiplies. Pure; O(ends and their jobs).
void weigh_late_packets(std::span<LossEnd> ends);

}  // namespace weft::analyzer
