// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/spool/segment.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include "daemon/platform/runtime/unique_fd.hpp"

namespace weft::spool {
namespace {

constexpr std::string_view kMagic = "weftspl1";
constexpr std::string_view kSuffix = ".spool";
constexpr std::size_t kDigits = 20;

void put(std::span<std::byte> place, std::uint64_t value) {
  for (std::byte& byte : place) {
    byte = static_cast<std::byte>(value);
    value >>= 8;
  }
}
std::uint64_t get(std::span<const std::byte> place) {
  std::uint64_t value = 0;
  for (std::size_t i = place.size(); i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(place[i]);
  return value;
}
std::uint32_t checksum(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

}  // namespace

std::array<std::byte, kHeaderSize> encode(const SegmentHeader& header) {
  std::array<std::byte, kHeaderSize> bytes{};
  const std::span all(bytes);
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  put(all.subspan(8, 8), header.spool);
  put(all.subspan(16, 8), header.first);
  put(all.subspan(24, 4), checksum(all.first(24)));
  return bytes;
}

std::optional<SegmentHeader> decode_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderSize || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0 ||
      get(bytes.subspan(24, 4)) != checksum(bytes.first(24)))
    return std::nullopt;
  const SegmentHeader header{get(bytes.subspan(8, 8)), get(bytes.subspan(16, 8))};
  if (header.spool == 0 || header.first == 0) return std::nullopt;
  return header;
}

std::vector<std::byte> encode_record(std::uint64_t sequence, TimePoint spooled, std::span<const std::byte> body) {
  std::vector<std::byte> record(kRecordHeadSize + body.size());
  const std::span all(record);
  put(all.subspan(0, 4), body.size());
  put(all.subspan(8, 8), sequence);
  put(all.subspan(16, 8), static_cast<std::uint64_t>(spooled.time_since_epoch().count()));
  std::ranges::copy(body, record.begin() + kRecordHeadSize);
  put(all.subspan(4, 4), checksum(all.subspan(8)));
  return record;
}

RecordHead decode_head(std::span<const std::byte> bytes) {
  return {static_cast<std::uint32_t>(get(bytes.subspan(0, 4))), static_cast<std::uint32_t>(get(bytes.subspan(4, 4))),
          get(bytes.subspan(8, 8)), TimePoint(Duration(static_cast<std::int64_t>(get(bytes.subspan(16, 8)))))};
}

bool is_sound(std::span<const std::byte> record) {
  const RecordHead head = decode_head(record);
  return head.sequence != 0 && record.size() == kRecordHeadSize + head.length &&
         head.checksum == checksum(record.subspan(8));
}

std::string segment_name(std::uint64_t first) {
  std::string digits = std::to_string(first);
  return std::string(kDigits - digits.size(), '0') + digits + std::string(kSuffix);
}

std::optional<std::uint64_t> parse_segment_name(std::string_view name) {
  if (name.size() != kDigits + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
  std::uint64_t first = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + kDigits, first);
  if (error != std::errc{} || end != name.data() + kDigits || first == 0) return std::nullopt;
  return first;
}

std::vector<std::uint64_t> list_segments(const std::filesystem::path& folder) {
  std::vector<std::uint64_t> found;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(folder, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    if (const auto first = parse_segment_name(entry->path().filename().native())) found.push_back(*first);
  std::ranges::sort(found);
  return found;
}

std::ptrdiff_t read_at(int fd, std::span<std::byte> wanted, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < wanted.size()) {
    const ssize_t got = ::pread(fd, wanted.data() + done, wanted.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return static_cast<std::ptrdiff_t>(done);
}

Result<SegmentScan> scan(const std::filesystem::path& file) {
  const auto unreadable = [&] {
    return fail(ErrorCode::kUnavailable, "cannot read " + file.string() + ": " + errno_message(errno));
  };
  const runtime::UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return unreadable();
  std::array<std::byte, kHeaderSize> header{};
  SegmentScan result;
  const std::ptrdiff_t got = read_at(fd.get(), header, 0);
  const off_t end = ::lseek(fd.get(), 0, SEEK_END);
  if (got < 0 || end < 0) return unreadable();
  result.size = static_cast<std::uint64_t>(end);
  result.header = decode_header(std::span(header).first(static_cast<std::size_t>(got)));
  result.sound_size = std::min<std::uint64_t>(kHeaderSize, result.size);
  std::vector<std::byte> record;
  for (std::uint64_t offset = kHeaderSize; offset + kRecordHeadSize <= result.size; offset = result.sound_size) {
    record.resize(kRecordHeadSize);
    if (read_at(fd.get(), record, offset) != static_cast<std::ptrdiff_t>(record.size())) break;
    const RecordHead head = decode_head(record);
    if (head.length > kLargestBody || head.length > result.size - offset - kRecordHeadSize) break;
    record.resize(kRecordHeadSize + head.length);
    if (read_at(fd.get(), record, offset) != static_cast<std::ptrdiff_t>(record.size())) break;
    if (!is_sound(record) || head.sequence <= result.last) break;
    result.last = head.sequence;
    result.sound_size = offset + record.size();
  }
  return result;
}

}  // namespace weft::spool
