// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/spool/writer.hpp"
#include "fabric/result.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <system_error>

namespace weft::spool {
namespace {

constexpr std::uint64_t kSegmentsInBound = 16;  // so much, at most, goes at once when the bound is reached
constexpr std::uint64_t kSmallestSegment = 16 * 1024;
constexpr std::uint64_t kLargestSegment = 4 << 20;
/// A segment of which all is acknowledged ends at this size: the file can go, and a restart reads little.
constexpr std::uint64_t kIdleSegment = 256 * 1024;

/// Nobody gets there by counting.
constexpr std::uint64_t kLastSequence = 1ULL << 60;

std::uint64_t random_id() {
  std::uint64_t id = 0;
  while (id == 0)
    if (::getrandom(&id, sizeof id, 0) != sizeof id) id = 0;
  return id;
}

bool write_at(int fd, std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return true;
}

}  // namespace

Result<SpoolWriter> SpoolWriter::open(const std::filesystem::path& folder, std::uint64_t most_bytes) {
  SpoolWriter spool;
  spool.folder_ = folder;
  spool.most_bytes_ = most_bytes;
  spool.segment_bytes_ = std::clamp(most_bytes / kSegmentsInBound, kSmallestSegment, kLargestSegment);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(ErrorCode::kUnavailable, "cannot create " + folder.string() + ": " + error.message());
  const std::filesystem::path lock = folder / "lock";
  spool.lock_ = runtime::UniqueFd(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640));
  if (!spool.lock_)
    return fail(ErrorCode::kUnavailable, "cannot write to " + folder.string() + ": " + errno_message(errno));
  if (::flock(spool.lock_.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(ErrorCode::kFailedPrecondition, "another process writes to " + folder.string());
  spool.adopt();
  if (!spool.current_) (void)spool.begin_segment();  // a full disk: append() tries again
  return spool;
}

/// Takes over what is in the folder.
void SpoolWriter::adopt() {
  const std::vector<std::uint64_t> found = list_segments(folder_);
  for (auto first = found.rbegin(); first != found.rend(); ++first) {
    const std::filesystem::path file = folder_ / segment_name(*first);
    const auto seen = scan(file);
    if (seen) next_ = std::max(next_, seen->last + 1);
    const bool is_ours =
        seen && seen->header && seen->header->first == *first && (id_ == 0 || seen->header->spool == id_);
    if (!is_ours) {
      // Damaged, cut before its header was written, or of another spool: nobody could read it.
      if (!seen || seen->size > kHeaderSize) ++stats_.corrupt;
      ::unlink(file.c_str());
      continue;
    }
    const bool is_newest = id_ == 0;
    id_ = seen->header->spool;
    if (is_newest) {
      next_ = std::max(next_, *first + (seen->last == 0 ? 0 : 1));  // its name is taken
      stats_.torn_bytes = seen->size - seen->sound_size;
      runtime::UniqueFd fd(::open(file.c_str(), O_RDWR | O_CLOEXEC));
      if (fd && stats_.torn_bytes != 0 && ::ftruncate(fd.get(), static_cast<off_t>(seen->sound_size)) != 0)
        stats_.torn_bytes = 0;  // whoever reads finds the end of the sound part by himself
      if (fd && seen->last == 0) {
        current_ = std::move(fd);
        rotate_ = false;
      }
    }
    segments_.push_back({*first, is_newest ? seen->sound_size : seen->size});
  }
  std::ranges::reverse(segments_);
  if (id_ == 0) {
    id_ = random_id();
    next_ = 1;
  }
}

Result<void> SpoolWriter::begin_segment() {
  const std::filesystem::path file = folder_ / segment_name(next_);
  runtime::UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640));
  if (!fd || !write_at(fd.get(), encode(SegmentHeader{id_, next_}), 0)) {
    const int error = errno;
    if (fd) ::unlink(file.c_str());
    return fail(ErrorCode::kResourceExhausted, "cannot create " + file.string() + ": " + errno_message(error));
  }
  current_ = std::move(fd);
  segments_.push_back({next_, kHeaderSize});
  rotate_ = false;
  whole_ = true;
  return {};
}

tl::unexpected<Error> SpoolWriter::lose(const std::string& what, int error) {
  skip();
  return fail(ErrorCode::kResourceExhausted, what + (error == 0 ? "" : ": " + errno_message(error)));
}

void SpoolWriter::skip() {
  ++next_;
  ++stats_.unwritten;
  whole_ = true;
}

Result<std::uint64_t> SpoolWriter::append(std::span<const std::byte> body, TimePoint now) {
  if (body.size() > kLargestBody) return lose("a batch of " + std::to_string(body.size()) + " bytes is too large", 0);
  if (rotate_ || !current_)
    if (const auto begun = begin_segment(); !begun) return lose(begun.error().message, 0);
  const std::vector<std::byte> record = encode_record(next_, now, body);
  while (segments_.size() > 1 && bytes() + record.size() > most_bytes_) remove_oldest();
  Segment& segment = segments_.back();
  if (!write_at(current_.get(), record, segment.bytes)) {
    const int error = errno;
    // Half a record must not stay. Where it cannot be cut off either, the reader ends this segment there.
    if (::ftruncate(current_.get(), static_cast<off_t>(segment.bytes)) != 0) rotate_ = true;
    return lose("cannot write to " + folder_.string(), error);
  }
  segment.bytes += record.size();
  whole_ = false;
  if (segment.bytes >= segment_bytes_) rotate_ = true;
  return next_++;
}

void SpoolWriter::remove_oldest() {
  const std::uint64_t first = std::max(segments_.front().first, stats_.acknowledged + 1);
  const std::uint64_t end = segments_[1].first;
  if (end > first) stats_.dropped += end - first;
  ::unlink((folder_ / segment_name(segments_.front().first)).c_str());
  segments_.erase(segments_.begin());
}

void SpoolWriter::acknowledge(std::uint64_t sequence) {
  if (sequence <= stats_.acknowledged || sequence > kLastSequence) return;
  if (sequence >= next_) {
    // Somebody set the disk back: numbers that were used since are not used again.
    next_ = sequence + 1;
    rotate_ = true;
  }
  stats_.acknowledged = sequence;
  while (segments_.size() > 1 && segments_[1].first <= sequence + 1) remove_oldest();
  if (sequence + 1 == next_ && !segments_.empty() && segments_.back().bytes >= kIdleSegment) rotate_ = true;
}

std::uint64_t SpoolWriter::bytes() const {
  return std::accumulate(segments_.begin(), segments_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Segment& segment) { return sum + segment.bytes; });
}

SpoolStats SpoolWriter::stats() const {
  SpoolStats stats = stats_;
  stats.bytes = bytes();
  stats.segments = segments_.size();
  const std::uint64_t oldest = segments_.empty() ? next_ : segments_.front().first;
  stats.pending = next_ - std::max(oldest, stats.acknowledged + 1);
  return stats;
}

}  // namespace weft::spool
