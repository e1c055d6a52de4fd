// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/spool/reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "daemon/adapters/spool/segment.hpp"

namespace weft::spool {
namespace {

std::optional<SegmentHeader> read_header(int fd) {
  std::array<std::byte, kHeaderSize> bytes{};
  if (read_at(fd, bytes, 0) != static_cast<std::ptrdiff_t>(kHeaderSize)) return std::nullopt;
  return decode_header(bytes);
}

}  // namespace

Result<SpoolReader> SpoolReader::open(const std::filesystem::path& folder) {
  SpoolReader reader;
  reader.folder_ = folder;
  reader.directory_ = runtime::UniqueFd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::vector<std::uint64_t> found = list_segments(folder);
  // The newest one says which spool it is; what is of another the writer is about to remove.
  for (auto first = found.rbegin(); first != found.rend() && reader.id_ == 0; ++first) {
    const runtime::UniqueFd fd(::open((folder / segment_name(*first)).c_str(), O_RDONLY | O_CLOEXEC));
    if (const auto header = fd ? read_header(fd.get()) : std::nullopt) reader.id_ = header->spool;
  }
  if (!reader.directory_ || reader.id_ == 0) return fail(ErrorCode::kNotFound, "no spool in " + folder.string());
  return reader;
}

std::uint64_t SpoolReader::oldest() const {
  for (const std::uint64_t first : list_segments(folder_)) {
    const runtime::UniqueFd fd(::open((folder_ / segment_name(first)).c_str(), O_RDONLY | O_CLOEXEC));
    std::array<std::byte, kRecordHeadSize> head{};
    if (fd && read_at(fd.get(), head, kHeaderSize) == static_cast<std::ptrdiff_t>(head.size()))
      return decode_head(head).sequence;
  }
  return 0;
}

std::uint64_t SpoolReader::newest() const {
  auto reader = open(folder_);
  if (!reader) return 0;
  reader->seek(std::numeric_limits<std::uint64_t>::max());
  std::uint64_t newest = 0;
  while (const auto record = reader->next()) newest = record->sequence;
  return newest == 0 && reader->current_ ? reader->first_ - 1 : newest;
}

void SpoolReader::seek(std::uint64_t sequence) {
  current_.reset();
  is_unsynced_ = false;  // what was not sent may be read again
  first_ = 0;
  for (const std::uint64_t first : list_segments(folder_))
    if (first <= sequence) first_ = first - 1;  // open_after() takes the one behind it
}

/// Opens the oldest segment that begins after `first`; false when there is none that can be read yet.
bool SpoolReader::open_after(std::uint64_t first) {
  const std::vector<std::uint64_t> found = list_segments(folder_);
  for (auto next = std::ranges::upper_bound(found, first); next != found.end(); ++next) {
    runtime::UniqueFd fd(::open((folder_ / segment_name(*next)).c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) continue;  // the bound took it away just now
    const auto header = read_header(fd.get());
    if (!header || header->spool != id_) {
      if (next + 1 == found.end()) return false;  // it is just being made
      ++corrupt_;
      continue;
    }
    if (is_unsynced_)
      if (const auto synced = sync(); !synced) sync_trouble_ = synced.error();
    current_ = std::move(fd);
    first_ = *next;
    offset_ = kHeaderSize;
    last_ = 0;
    is_damaged_ = false;
    is_unsynced_ = false;
    is_new_directory_ = true;
    return true;
  }
  return false;
}

std::optional<SpoolRecord> SpoolReader::read_record(bool& is_damaged) {
  std::vector<std::byte> bytes(kRecordHeadSize);
  std::ptrdiff_t got = read_at(current_.get(), bytes, offset_);
  is_damaged = got < 0;
  if (got < static_cast<std::ptrdiff_t>(bytes.size())) return std::nullopt;
  const RecordHead head = decode_head(bytes);
  is_damaged = head.length > kLargestBody || head.sequence <= last_;
  if (is_damaged) return std::nullopt;
  bytes.resize(kRecordHeadSize + head.length);
  got = read_at(current_.get(), bytes, offset_);
  is_damaged = got < 0;
  if (got < static_cast<std::ptrdiff_t>(bytes.size())) return std::nullopt;
  is_damaged = !is_sound(bytes);
  if (is_damaged) return std::nullopt;
  offset_ += bytes.size();
  last_ = head.sequence;
  bytes.erase(bytes.begin(), bytes.begin() + kRecordHeadSize);
  return SpoolRecord{head.sequence, head.spooled, std::move(bytes)};
}

std::optional<SpoolRecord> SpoolReader::next() {
  for (;;) {
    if (!current_ && !open_after(first_)) return std::nullopt;
    if (auto record = read_on()) return record;
    const std::vector<std::uint64_t> found = list_segments(folder_);
    if (found.empty() || found.back() <= first_) return std::nullopt;
    // What was written before the next segment began is all there by now.
    if (auto record = read_on()) return record;
    if (!is_damaged_ && ::lseek(current_.get(), 0, SEEK_END) > static_cast<off_t>(offset_)) leave_damaged();
    if (!open_after(first_)) return std::nullopt;
  }
}

std::optional<SpoolRecord> SpoolReader::read_on() {
  if (is_damaged_) return std::nullopt;
  bool is_damaged = false;
  auto record = read_record(is_damaged);
  if (record) is_unsynced_ = true;
  if (is_damaged) leave_damaged();
  return record;
}

void SpoolReader::leave_damaged() {
  is_damaged_ = true;
  ++corrupt_;
}

Result<void> SpoolReader::sync() {
  if (sync_trouble_) {
    auto trouble = tl::unexpected(std::move(*sync_trouble_));
    sync_trouble_.reset();
    return trouble;
  }
  if (!is_unsynced_) return {};
  is_unsynced_ = false;
  const bool failed = ::fdatasync(current_.get()) != 0 || (is_new_directory_ && ::fsync(directory_.get()) != 0);
  is_new_directory_ = false;
  if (!failed) return {};
  return fail(ErrorCode::kUnavailable, "cannot sync " + folder_.string() + ": " + errno_message(errno));
}

}  // namespace weft::spool
