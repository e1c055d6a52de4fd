// SPDX-License-Identifier: Apache-2.0
#pragma once
// The writing end of the spool: a bounded queue on disk between the process that reads the host and the one that sends.
//
// Every batch goes into it before it is sent and stays until it is acknowledged, so that the death of any process loses
// and doubles nothing: what write() took is in the kernel's hands. The writer never waits for the disk. A power cut may
// take the last half minute of what was not sent yet, as the kernel's writeback has it; what was sent is never taken,
// since the reader syncs before it sends (see SpoolReader::sync): no sequence number is ever used twice.

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "daemon/adapters/spool/segment.hpp"
#include "daemon/platform/runtime/unique_fd.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::spool {

/// Figures of the spool, since it was opened unless a comment says otherwise.
struct SpoolStats {
  std::uint64_t bytes = 0;         ///< on disk now, all segments
  std::uint64_t segments = 0;      ///<
  std::uint64_t pending = 0;       ///< batches that wait for their acknowledgement
  std::uint64_t acknowledged = 0;  ///< sequence number of the last one that is safe
  std::uint64_t dropped = 0;       ///< batches that went unacknowledged because the bound was reached
  std::uint64_t unwritten = 0;     ///< batches that the disk did not take
  std::uint64_t torn_bytes = 0;    ///< cut off behind the last whole record when the spool was opened
  std::uint64_t corrupt = 0;       ///< segments without a sound header, removed when the spool was opened
};

/// Writes batches into the spool, and removes them when they are acknowledged.
class SpoolWriter {
 public:
  /// Takes the folder, which is made when missing, and goes on behind what is in it. A folder without any segment
  /// becomes a new spool with a random id. `most_bytes` bounds all segments together. kFailedPrecondition when another
  /// process writes it, kUnavailable when it cannot be used at all; a full disk is no reason to fail.
  static Result<SpoolWriter> open(const std::filesystem::path& folder, std::uint64_t most_bytes);

  /// Random, never zero: which row of sequence numbers this is.
  std::uint64_t id() const { return id_; }
  /// Whether the body of the next append() must refer to nothing: a new segment begins, or the body before is missing.
  bool wants_whole() const { return whole_ || rotate_; }
  /// Appends and gives the sequence number. When the disk does not take it: kResourceExhausted, and the number is
  /// used up, so that the receiver sees a gap.
  Result<std::uint64_t> append(std::span<const std::byte> body, TimePoint now);
  /// Uses up a number for a batch that could not be made a body.
  void skip();
  /// The batch of that number and all before it are safe: segments that hold nothing else are removed. A
  /// number that was not given yet was given before the disk was set back to an older state: the next one follows it.
  void acknowledge(std::uint64_t sequence);
  /// The next append() begins a new segment.
  void rotate() { rotate_ = true; }
  /// The figures as of now.
  SpoolStats stats() const;

 private:
  struct Segment {
    std::uint64_t first = 0;
    std::uint64_t bytes = 0;
  };

  SpoolWriter() = default;
  void adopt();
  Result<void> begin_segment();
  void remove_oldest();
  std::uint64_t bytes() const;
  tl::unexpected<Error> lose(const std::string& what, int error);

  std::filesystem::path folder_;
  std::uint64_t most_bytes_ = 0;
  std::uint64_t segment_bytes_ = 0;
  runtime::UniqueFd lock_;
  runtime::UniqueFd current_;  ///< the last of segments_; none when it could not be made
  std::vector<Segment> segments_;
  std::uint64_t id_ = 0;
  std::uint64_t next_ = 1;
  bool whole_ = true;
  bool rotate_ = true;
  SpoolStats stats_;
};

}  // namespace weft::spool
