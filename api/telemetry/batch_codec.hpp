// SPDX-License-Identifier: Apache-2.0
#pragma once
// The body of a Batch (telemetry.proto) and of a record of the collector's spool: a HostBatch, packed. Sequence and
// lateness are not in it: they are the envelope's.
//
// Names go once and values after: a body tells only what differs from the body before. A body that *refers to nothing*
// can be understood alone; the first one of an encoder is such a one. In the body:
//
//   varint      7 bits an byte, the lowest first, the top bit set on all but the last; at most 10 bytes
//   difference  now minus before, modulo 2^64, zig-zag ((d << 1) ^ (d >> 63)), as a varint
//   text        varint: k > 0 is the k-th text of this body, the first being the empty one; 0 is a new text: varint
//               length, bytes
//   count       varint
//
//   byte 1                        the format
//   byte                          what follows: bit 0 refers to nothing, 1 ports, 2 series, 3 reading, 4 sources,
//                                  5 jobs, 6 events, 7 neighbours and facts. Bits 1, 2, 4, 5 and 7 only together with
//                                  bit 3. Bit 7 is in the spool alone: older analyzers refuse it
//   ports     count, and for each  text device, byte number, text netdev, text bond, text PCI address, text driver,
//                                  text firmware, byte flags (bits 0-1 link layer, 2 virtual function, 3 set down by
//                                  somebody, 4 has a board), [text board id, text device type], 8 bytes node GUID, 8
//                                  bytes port GUID (lowest first), varint LID, byte state, byte physical state, varint
//                                  bit/s, text why it is down
//   series    count, and for each  text device, byte port, text name, byte flags (bit 0 raw, 1-2 direction, 3-4
//                                  behaviour, 5 has a priority, 6 has a lane, 7 has a source), byte bits,
//                                  [byte priority], [byte lane], [byte source: 2 RDMA, 3 netdev]. What follows refers
//                                  to values of 0 that are absent
//   reading                        difference of `taken` in ns from the last reading's (0 without one); then runs over
//                                  all series in order, each a varint (length - 1) * 4 + kind. Kind 0: as in the last
//                                  reading. Kind 1: absent (and 0 for whoever refers to it). Kind 2: present, and for
//                                  each value its difference from the last reading's
//   sources   count, and for each  text name, byte well, text message
//   jobs      count, and for each  text
//   neighbours                     byte flags (bit 0 another table, 1 none but facts, 2 facts, 3 another table of
//   facts);
//                                  without bit 1 [varint length, a table of neighbour_codec.hpp], difference of the
//                                  reading's `taken` in ns from when they were read; with bit 2 the same of facts, with
//                                  a table of fact_codec.hpp
//   events    count, and for each  difference of `at` in ns from the event before, for the first one from the last
//                                  reading's `taken`; text device, byte port, text netdev, byte flags (bit 0 up,
//                                  1 set by somebody, 2 has an up count, 3 has a down count), [varint up count],
//                                  [varint down count], text reason

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "api/telemetry/series_pool.hpp"
#include "fabric/host.hpp"
#include "fabric/result.hpp"

namespace weft::api {

/// What a body may hold. Both sides need the same ones, or the receiver the larger.
struct BatchLimits {
  std::size_t bytes = 1 << 20;      ///< of the whole body
  std::size_t ports = 2'048;        ///< enough for a switch of 1,024 ports with as many interfaces beside them
  std::size_t series = 65'536;      ///< 32 for each port
  std::size_t sources = 32;         ///<
  std::size_t jobs = 64;            ///<
  std::size_t events = 1'024;       ///<
  std::size_t name_length = 128;    ///< bytes of the names of devices, drivers and series, of addresses and versions
  std::size_t text_length = 1'024;  ///< bytes of messages, reasons and jobs
};

/// Packs batches. What goes over the limits is left out: further ports, series and so on are not told, longer texts
/// are cut, and control characters in names are replaced by '?'.
class BatchEncoder {
 public:
  /// `with_tables`: neighbours and facts are in its bodies.
  explicit BatchEncoder(const BatchLimits& limits = {}, bool with_tables = false)
      : limits_(limits), with_tables_(with_tables) {}

  /// The body of `batch`, which must be the one after the last that was encoded. kResourceExhausted when it would be
  /// longer than the limit, kInternal when the reading has not one value for each series; the batch counts as never
  /// encoded then.
  Result<std::vector<std::byte>> encode(const HostBatch& batch);
  /// The next body refers to nothing.
  void restart();

 private:
  BatchLimits limits_;
  bool with_tables_;
  bool fresh_ = true;
  std::optional<HostReading> last_;
};

/// Unpacks batches, whoever made them. Keeps the last reading: at most the inventory (some 3 MB when all limits are
/// reached) and nine bytes for each series. A body needs at least one byte for each thing it makes us keep.
class BatchDecoder {
 public:
  /// With a `pool` its readings share their lists of series with those of others.
  explicit BatchDecoder(const BatchLimits& limits = {}, std::shared_ptr<SeriesPool> pool = nullptr)
      : limits_(limits), pool_(std::move(pool)) {}

  /// The batch in `body`, without sequence and lateness. A reading has an inventory with one value for each series;
  /// ports are sorted and differ, and so do series. kInvalidArgument when a limit is passed or a value is none of the
  /// field's, kProtocol when it is no such body, or refers to one that was not there. After an error only a body that
  /// refers to nothing is understood.
  Result<HostBatch> decode(std::span<const std::byte> body);

 private:
  BatchLimits limits_;
  std::shared_ptr<SeriesPool> pool_;
  bool lost_ = true;  ///< what the next body refers to is not there
  std::optional<HostReading> last_;
};

}  // namespace weft::api
