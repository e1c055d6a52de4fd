// SPDX-License-Identifier: Apache-2.0
#pragma once
// What to send next, and what is safe: the logic of weft-uplink between the spool and a stream. No sockets, no waiting.

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "api/telemetry/batch_codec.hpp"
#include "daemon/adapters/spool/reader.hpp"
#include "daemon/programs/uplink/report.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::uplink {

/// Limits of what is under way.
struct ShipperOptions {
  Duration interval = std::chrono::seconds(1);  ///< between readings
  /// Most batches without acknowledgement. While weftd's database is away it acknowledges none, and goes on judging:
  /// more than an hour of them. They are kept in the spool alone.
  std::size_t window = 4096;
  std::size_t window_bytes = 32 << 20;  ///< most bytes of their bodies, beyond the first
};

/// A batch to be sent.
struct Outgoing {
  std::uint64_t sequence = 0;
  bool late = false;
  std::vector<std::byte> body;
  std::optional<std::vector<std::byte>> neighbours{};  ///< of its reading; none: as before, or none at all
  TimePoint neighbours_at = kNever;                    ///< kNever: as before
  std::optional<std::vector<std::byte>> facts{};       ///< the same of how ports and adapters are set up
  TimePoint facts_at = kNever;                         ///< kNever: as before
};

/// Bodies in the spool refer to those before them in the spool, bodies on a stream to those before them on the stream:
/// each batch is decoded and encoded anew.
class Shipper {
 public:
  Shipper(spool::SpoolReader& spool, const ShipperOptions& options) : spool_(spool), options_(options) {}

  /// A stream was opened: what is in the spool now has waited, and is late.
  void begin();
  /// All up to `sequence` is safe: the rest is sent, oldest first.
  void welcome(std::uint64_t sequence);
  /// The analyzer has all batches up to `sequence` on disk.
  void acknowledge(std::uint64_t sequence);
  /// The stream ended. A batch that the analyzer calls wrong is found by sending what was under way again, one at a
  /// time; then it is left out. Returns its sequence number when it was found.
  std::optional<std::uint64_t> end(const Error& why);

  /// The next batch, which counts as sent; nullopt when there is none or the window is full. sync() the spool before
  /// it really is sent.
  std::optional<Outgoing> next(TimePoint now);

  /// Whether batches were sent that are not acknowledged.
  bool is_waiting() const { return !in_flight_.empty(); }

  /// Its counts; `connected`, `analyzer`, `failures`, `probes` and `sync_failures` are for others to fill.
  const UplinkReport& report() const { return report_; }

 private:
  struct InFlight {
    std::uint64_t sequence = 0;
    std::size_t bytes = 0;
  };
  bool window_is_full() const;
  bool is_late(const spool::SpoolRecord& record, TimePoint now) const;
  void add_tables(const HostReading& reading, Outgoing& outgoing);

  spool::SpoolReader& spool_;
  ShipperOptions options_;
  api::BatchDecoder decoder_;
  api::BatchEncoder encoder_;
  std::shared_ptr<const NeighbourTable> neighbours_;  ///< as they were told on this stream
  TimePoint neighbours_at_ = kNever;
  std::shared_ptr<const FactTable> facts_;  ///< as they were told on this stream
  TimePoint facts_at_ = kNever;
  std::deque<InFlight> in_flight_;
  std::size_t in_flight_bytes_ = 0;
  std::uint64_t waited_ = 0;  ///< sequence number of the last batch that was there when the stream was opened
  bool is_welcome_ = false;
  std::uint64_t last_ = 0;           ///< sequence number of the last batch of this stream that was sent or is safe
  std::uint64_t highest_ = 0;        ///< ever sent
  std::uint64_t careful_until_ = 0;  ///< one at a time up to this one: a wrong one is among them
  std::set<std::uint64_t> wrong_;    ///< not to be sent again
  UplinkReport report_;
};

}  // namespace weft::uplink
