// SPDX-License-Identifier: Apache-2.0
#pragma once
// The reading end of the spool: follows it while it is written, and needs nothing of the writer but its folder.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "daemon/platform/runtime/unique_fd.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::spool {

/// One batch as it lies in the spool.
struct SpoolRecord {
  std::uint64_t sequence = 0;
  TimePoint spooled = kNever;
  std::vector<std::byte> body;
};

/// Reads the records of a spool in order.
class SpoolReader {
 public:
  /// Stands before the oldest record. kNotFound while the folder has no segment.
  static Result<SpoolReader> open(const std::filesystem::path& folder);

  /// The id of the spool.
  std::uint64_t id() const { return id_; }
  /// Sequence number of the oldest record that can be read; 0 when there is none.
  std::uint64_t oldest() const;
  /// Sequence number of the newest record that can be read now; of the one before the first where there is none yet. It
  /// reads the newest segment; next() goes on where it was.
  std::uint64_t newest() const;
  /// next() begins with the segment that holds `sequence`, or with the first one after it: records before `sequence`
  /// may come first, since later ones refer to them.
  void seek(std::uint64_t sequence);
  /// The next record, or nullopt when there is none yet. A segment that is damaged is left at the first record that is
  /// not sound. Whoever sees corrupt() grow asks the writer for a new segment: behind the damage of the last segment
  /// nothing is read until one begins.
  std::optional<SpoolRecord> next();
  /// Puts on disk what next() gave: only then may it be sent, lest a power cut take back a sequence number that the
  /// receiver knows, and it be used again.
  Result<void> sync();
  /// Segments that were left before their end, so far.
  std::uint64_t corrupt() const { return corrupt_; }

 private:
  SpoolReader() = default;
  bool open_after(std::uint64_t first);
  std::optional<SpoolRecord> read_on();
  std::optional<SpoolRecord> read_record(bool& is_damaged);
  void leave_damaged();

  std::filesystem::path folder_;
  runtime::UniqueFd directory_;
  runtime::UniqueFd current_;
  std::uint64_t id_ = 0;
  std::uint64_t first_ = 0;  ///< of the current segment; or the one before the next
  std::uint64_t offset_ = 0;
  std::uint64_t last_ = 0;  ///< sequence number that came last of the current segment
  std::uint64_t corrupt_ = 0;
  bool is_damaged_ = false;       ///< nothing more comes of the current segment
  bool is_unsynced_ = false;      ///< the current segment gave records that may not be on disk
  bool is_new_directory_ = true;  ///< the current segment's name may not be on disk
  std::optional<Error> sync_trouble_;
};

}  // namespace weft::spool
