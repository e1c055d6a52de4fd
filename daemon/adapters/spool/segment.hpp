// SPDX-License-Identifier: Apache-2.0
#pragma once
// One file of the spool, and the folder of them.
//
//   header   "weftspl1", id of the spool, first sequence number, CRC-32 of these 24 bytes
//   record   length of the body (4 bytes), CRC-32 of all that follows, sequence number, time when it was spooled (ns
//            since 1970, both 8 bytes), body
//
// Numbers have their lowest byte first. A file is called by its first sequence number: "00000000000000000042.spool".
// The first body of a file refers to nothing, so that every file can be read without those before it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::spool {

inline constexpr std::size_t kHeaderSize = 28;
inline constexpr std::size_t kRecordHeadSize = 24;
inline constexpr std::size_t kLargestBody = 1 << 20;

/// What the header of a file says.
struct SegmentHeader {
  std::uint64_t spool = 0;
  std::uint64_t first = 0;
};
/// The header as bytes, with its checksum.
std::array<std::byte, kHeaderSize> encode(const SegmentHeader& header);
/// nullopt when it is none, or damaged.
std::optional<SegmentHeader> decode_header(std::span<const std::byte> bytes);

/// What stands in front of a record's body.
struct RecordHead {
  std::uint32_t length = 0;
  std::uint32_t checksum = 0;
  std::uint64_t sequence = 0;
  TimePoint spooled = kNever;
};
/// The whole record.
std::vector<std::byte> encode_record(std::uint64_t sequence, TimePoint spooled, std::span<const std::byte> body);
/// Of kRecordHeadSize bytes.
RecordHead decode_head(std::span<const std::byte> bytes);
/// Of a whole record: whether its checksum says that it is what was written.
bool is_sound(std::span<const std::byte> record);

/// The file name of the segment that begins with sequence number `first`.
std::string segment_name(std::uint64_t first);
/// nullopt when it is no segment's name.
std::optional<std::uint64_t> parse_segment_name(std::string_view name);
/// First sequence numbers of the segments in `folder`, lowest first. Empty also when the folder cannot be read.
std::vector<std::uint64_t> list_segments(const std::filesystem::path& folder);

/// What is in a file, read from its beginning to the first thing that is no sound record.
struct SegmentScan {
  std::optional<SegmentHeader> header;
  std::uint64_t last = 0;        ///< sequence number of the last sound record; 0 without any
  std::uint64_t sound_size = 0;  ///< bytes up to the end of that record
  std::uint64_t size = 0;        ///< of the file
};
/// kUnavailable when it cannot be read.
Result<SegmentScan> scan(const std::filesystem::path& file);

/// Reads `wanted` at `offset` as far as the file goes; the number of bytes read, or -1 with errno.
std::ptrdiff_t read_at(int fd, std::span<std::byte> wanted, std::uint64_t offset);

}  // namespace weft::spool
