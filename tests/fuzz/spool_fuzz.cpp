// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "daemon/adapters/spool/reader.hpp"
#include "daemon/adapters/spool/segment.hpp"
#include "daemon/adapters/spool/writer.hpp"
#include "fuzz.hpp"

namespace {

namespace fs = std::filesystem;
using namespace weft::spool;
using weft::fuzz::demand;

constexpr std::uint64_t kBound = 1 << 20;
constexpr std::size_t kMostSegments = 4;

/// Gone at the end.
class Folder {
 public:
  Folder() {
    std::string place = fs::temp_directory_path() / "weft-fuzz-XXXXXX";
    demand(::mkdtemp(place.data()) != nullptr, "a folder can be made");
    path_ = place;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const fs::path& path() const { return path_; }
  void empty() const {
    for (const auto& entry : fs::directory_iterator(path_)) fs::remove(entry.path());
  }
  void write(std::uint64_t first, const std::vector<std::byte>& bytes) const {
    std::ofstream(path_ / segment_name(first), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

 private:
  fs::path path_;
};

using Segments = std::map<std::uint64_t, std::vector<std::byte>>;  // by the number in the file's name

/// Behind checksums the fuzzer would hardly come: its input says what to write, and what of it to spoil.
class Script {
 public:
  explicit Script(std::span<const std::uint8_t> input) : rest_(input) {}

  Segments run() {
    while (!rest_.empty()) {
      switch (byte() % 4) {
        case 0:
          begin_segment();
          break;
        case 1:
          append(encode_record(next(), weft::kNever, take(byte())));
          break;
        case 2:
          append(take(byte()));
          break;
        default:
          append(spoilt(encode_record(next(), weft::kNever, take(byte()))));
      }
    }
    return std::move(segments_);
  }

 private:
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }
  std::vector<std::byte> take(std::size_t size) {
    const auto part = std::as_bytes(rest_.first(std::min(size, rest_.size())));
    rest_ = rest_.subspan(part.size());
    return {part.begin(), part.end()};
  }
  /// Mostly one more; at times a gap, at times the same or an older one.
  std::uint64_t next() {
    const std::uint8_t step = byte();
    return sequence_ =
               step < 250 ? sequence_ + 1 + step / 50 : sequence_ - std::min<std::uint64_t>(sequence_, step - 250U);
  }
  void begin_segment() {
    if (segments_.size() == kMostSegments) return;
    const std::uint64_t first = sequence_ + 1;
    const std::uint8_t how = byte();
    const auto header = encode(SegmentHeader{(how & 1) != 0 ? 2U : 1U, (how & 2) != 0 ? first + 3 : first});
    current_ = &segments_[first];
    current_->assign(header.begin(), header.end());
    if ((how & 4) != 0) *current_ = spoilt(std::move(*current_));
  }
  void append(const std::vector<std::byte>& bytes) {
    if (!current_) begin_segment();
    current_->insert(current_->end(), bytes.begin(), bytes.end());
  }
  std::vector<std::byte> spoilt(std::vector<std::byte> bytes) {
    bytes[byte() % bytes.size()] ^= static_cast<std::byte>(byte());
    return bytes;
  }

  std::span<const std::uint8_t> rest_;
  Segments segments_;
  std::vector<std::byte>* current_ = nullptr;
  std::uint64_t sequence_ = 0;
};

struct Read {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  SpoolRecord last;
};

Read read_all(SpoolReader& reader, std::uint64_t most_bytes) {
  Read read;
  while (auto record = reader.next()) {
    demand(record->sequence != 0, "every record has a number");
    ++read.records;
    read.bytes += kRecordHeadSize + record->body.size();
    read.last = std::move(*record);
    demand(read.bytes <= most_bytes, "nothing is read twice");
  }
  return read;
}

/// Whatever is there: it is read without harm, and the scan of a file and the reading of it agree.
void check_reading(const Folder& folder, const Segments& segments) {
  std::uint64_t bytes = 0;
  for (const auto& [first, content] : segments) bytes += content.size();
  auto reader = SpoolReader::open(folder.path());
  if (!reader) return;
  demand(reader->id() != 0, "a spool has a number");
  const Read read = read_all(*reader, bytes);
  demand(reader->corrupt() <= segments.size(), "a segment is damaged once");
  demand(!reader->next(), "the end stays the end");
  if (segments.size() != 1) return;
  const auto seen = scan(folder.path() / segment_name(segments.begin()->first));
  demand(seen && seen->header && seen->size == bytes, "what can be opened has a header");
  demand(seen->last == read.last.sequence, "both end at the same record");
  demand(seen->sound_size == kHeaderSize + read.bytes, "and at the same place");
  reader->seek(read.last.sequence);
  demand(read_all(*reader, bytes).records == read.records, "it can be read again");
}

/// Whatever was there: a writer goes on behind it, and what it writes is read.
void check_going_on(const Folder& folder) {
  auto writer = SpoolWriter::open(folder.path(), kBound);
  demand(writer.has_value(), "a folder of garbage can be taken over");
  const std::vector<std::byte> body(7, std::byte{42});
  const auto sequence = writer->append(body, weft::kNever);
  demand(sequence.has_value(), "and written to");
  auto reader = SpoolReader::open(folder.path());
  demand(reader && reader->id() == writer->id(), "its reader knows whose it is");
  const Read read = read_all(*reader, kBound);
  demand(read.last.sequence == *sequence && read.last.body == body, "and comes to what was written last");
}

}  // namespace

// The input is a segment's file as it is, or else a script that makes some.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  folder.empty();
  const auto bytes = std::as_bytes(std::span(data, size));
  const bool is_file = weft::fuzz::text_of(data, size).starts_with("weftspl1");
  const Segments segments = is_file ? Segments{{1, {bytes.begin(), bytes.end()}}} : Script({data, size}).run();
  for (const auto& [first, content] : segments) folder.write(first, content);
  check_reading(folder, segments);
  check_going_on(folder);
  return 0;
}
