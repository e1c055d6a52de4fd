// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "tests/unit/daemon/adapters/spool/spool_test_helpers.hpp"

namespace weft::spool {
namespace {

void overwrite(const std::filesystem::path& file, std::streamoff at, char byte) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(at, at < 0 ? std::ios::end : std::ios::beg);
  stream.put(byte);
}

TEST(Spool, WhatIsAppendedIsReadInOrder) {
  const Folder folder;
  SpoolWriter writer = open_writer(folder);
  EXPECT_NE(writer.id(), 0U);
  SpoolReader reader = open_reader(folder);
  EXPECT_EQ(reader.id(), writer.id());
  EXPECT_EQ(reader.oldest(), 0U);
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(writer.wants_whole());
  fill(writer, 3, 1);
  EXPECT_FALSE(writer.wants_whole());
  EXPECT_EQ(read_all(reader), from_to(1, 3));
  EXPECT_TRUE(reader.sync());
  fill(writer, 1, 4);
  const auto record = reader.next();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->spooled, kWhen);
  EXPECT_EQ(reader.oldest(), 1U);
  EXPECT_EQ(writer.stats().pending, 4U);
}

TEST(Spool, ASecondWriterIsRefused) {
  const Folder folder;
  const SpoolWriter writer = open_writer(folder);
  EXPECT_EQ(SpoolWriter::open(folder.path, kBound).error().code, ErrorCode::kFailedPrecondition);
}

TEST(Spool, AFolderWithoutSpoolHasNoReader) {
  const Folder folder;
  EXPECT_EQ(SpoolReader::open(folder.path).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(SpoolReader::open(folder.path / "not there").error().code, ErrorCode::kNotFound);
}

TEST(Spool, AWriterThatComesBackGoesOnWhereItWas) {
  const Folder folder;
  std::uint64_t id = 0;
  for (std::uint64_t round = 0; round < 4; ++round) {
    SpoolWriter writer = open_writer(folder);
    EXPECT_TRUE(id == 0 || id == writer.id());
    id = writer.id();
    EXPECT_TRUE(writer.wants_whole()) << "its encoder is a new one";
    fill(writer, 5, 1 + round * 5);
  }
  SpoolReader reader = open_reader(folder);
  EXPECT_EQ(read_all(reader), from_to(1, 20));
  for (int round = 0; round < 5; ++round) open_writer(folder);
  EXPECT_EQ(folder.segments().size(), 5U) << "an empty segment is used again";
}

TEST(Spool, SegmentsFollowEachOtherAndEachBeginsWhole) {
  const Folder folder;
  SpoolWriter writer = open_writer(folder);
  SpoolReader reader = open_reader(folder);
  std::vector<std::uint64_t> whole;
  for (std::uint64_t next = 1; next <= 200; ++next) {
    if (writer.wants_whole()) whole.push_back(next);
    fill(writer, 1, next, 1'000);
  }
  EXPECT_EQ(whole, list_segments(folder.path));
  EXPECT_GT(whole.size(), 2U);
  EXPECT_EQ(read_all(reader), from_to(1, 200));
}

TEST(Spool, AcknowledgedSegmentsGo) {
  const Folder folder;
  SpoolWriter writer = open_writer(folder);
  fill(writer, 200, 1, 1'000);
  const std::vector<std::uint64_t> segments = list_segments(folder.path);
  ASSERT_GT(segments.size(), 2U);
  writer.acknowledge(segments[1] - 2);
  EXPECT_EQ(list_segments(folder.path), segments) << "its last batch is not safe yet";
  writer.acknowledge(segments[1] - 1);
  EXPECT_EQ(list_segments(folder.path).front(), segments[1]);
  writer.acknowledge(200);
  EXPECT_EQ(list_segments(folder.path).size(), 1U) << "the one that is being written stays";
  EXPECT_EQ(writer.stats().pending, 0U);
  EXPECT_EQ(writer.stats().dropped, 0U);
  writer.acknowledge(~std::uint64_t{0});
  EXPECT_EQ(writer.stats().acknowledged, 200U) << "nobody counts so far";
}

TEST(Spool, NumbersThatTheReceiverKnowsAreNotUsedAgainOnADiskThatWasSetBack) {
  const Folder folder;
  SpoolWriter writer = open_writer(folder);
  fill(writer, 3, 1);
  writer.acknowledge(100);
  EXPECT_TRUE(writer.wants_whole());
  EXPECT_EQ(*writer.append(body_of(101), kWhen), 101U);
  EXPECT_EQ(writer.stats().pending, 1U);
}

TEST(Spool, ALargeSegmentEndsWhenAllOfItIsAcknowledged) {
  const Folder folder;
  SpoolWriter writer = open_writer(folder, 64 << 20);
  fill(writer, 300, 1, 1'000);
  writer.acknowledge(299);
  EXPECT_FALSE(writer.wants_whole());
  writer.acknowledge(300);
  EXPECT_TRUE(writer.wants_whole());
  fill(writer, 1, 301);
  writer.acknowledge(301);
  EXPECT_EQ(list_segments(folder.path), (std::vector<std::uint64_t>{301}));
}

TEST(Spool, SeekBeginsAtTheSegmentThatHoldsTheNumber) {
  const Folder folder;
  SpoolWriter writer = open_writer(folder);
  fill(writer, 200, 1, 1'000);
  const std::vector<std::uint64_t> segments = list_segments(folder.path);
  SpoolReader reader = open_reader(folder);
  for (const std::uint64_t wanted : {segments[1], segments[1] + 1, segments[2] - 1}) {
    reader.seek(wanted);
    EXPECT_EQ(reader.next()->sequence, segments[1]) << wanted;
  }
  reader.seek(1);
  EXPECT_EQ(reader.next()->sequence, 1U);
  writer.acknowledge(segments[2]);
  reader.seek(1);
  EXPECT_EQ(reader.next()->sequence, segments[2]) << "the first one that is left";
  reader.seek(100'000);
  EXPECT_EQ(reader.next()->sequence, segments.back());
}

TEST(Spool, PastTheBoundTheOldestGoesFirstAndIsCounted) {
  const Folder folder;
  SpoolWriter writer = open_writer(folder, 256 * 1024);
  fill(writer, 1'000, 1, 1'000);
  EXPECT_LE(writer.stats().bytes, 256U * 1024U);
  std::uintmax_t on_disk = 0;
  for (const auto& file : folder.segments()) on_disk += std::filesystem::file_size(file);
  EXPECT_EQ(on_disk, writer.stats().bytes);
  SpoolReader reader = open_reader(folder);
  const std::vector<std::uint64_t> left = read_all(reader);
  EXPECT_EQ(left, from_to(left.front(), 1'000));
  EXPECT_GT(left.size(), 200U);
  EXPECT_EQ(writer.stats().dropped, left.front() - 1);
  EXPECT_EQ(writer.stats().pending, left.size());
}

TEST(Spool, WhatIsAcknowledgedIsNotCountedAsDropped) {
  const Folder folder;
  SpoolWriter writer = open_writer(folder, 256 * 1024);
  fill(writer, 100, 1, 1'000);
  writer.acknowledge(3);
  fill(writer, 900, 101, 1'000);
  EXPECT_EQ(writer.stats().dropped, list_segments(folder.path).front() - 1 - 3);
}

TEST(Spool, AReaderWhoseSegmentWasTakenAwayReadsItToItsEnd) {
  const Folder folder;
  SpoolWriter writer = open_writer(folder, 256 * 1024);
  fill(writer, 10, 1, 1'000);
  SpoolReader reader = open_reader(folder);
  EXPECT_EQ(reader.next()->sequence, 1U);
  fill(writer, 1'000, 11, 1'000);
  std::vector<std::uint64_t> rest = read_all(reader);
  ASSERT_FALSE(rest.empty());
  EXPECT_EQ(rest.front(), 2U);
  EXPECT_EQ(rest.back(), 1'010U);
  EXPECT_TRUE(std::ranges::is_sorted(rest));
}

TEST(Spool, ATornTailIsCutOff) {
  for (const std::uintmax_t cut : {1U, 50U, 110U, 123U}) {
    const Folder folder;
    std::uint64_t id = 0;
    {
      SpoolWriter writer = open_writer(folder);
      id = writer.id();
      fill(writer, 3, 1);
    }
    const auto file = folder.segments().back();
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - cut);
    SpoolWriter writer = open_writer(folder);
    EXPECT_EQ(writer.id(), id);
    EXPECT_EQ(writer.stats().torn_bytes, 124 - cut);
    fill(writer, 1, 3);
    SpoolReader reader = open_reader(folder);
    EXPECT_EQ(read_all(reader), from_to(1, 3)) << cut;
    EXPECT_EQ(reader.corrupt(), 0U);
  }
}

TEST(Spool, ASegmentThatHasNoWholeHeaderIsForgotten) {
  const Folder folder;
  std::uint64_t id = 0;
  {
    SpoolWriter writer = open_writer(folder);
    id = writer.id();
    fill(writer, 3, 1);
  }
  std::ofstream(folder.path / segment_name(4)) << "weftspl";
  SpoolWriter writer = open_writer(folder);
  EXPECT_EQ(writer.id(), id);
  fill(writer, 1, 4);
  SpoolReader reader = open_reader(folder);
  EXPECT_EQ(read_all(reader), from_to(1, 4));
}

TEST(Spool, NumbersBehindADamagedHeaderAreNotUsedAgain) {
  const Folder folder;
  {
    SpoolWriter first = open_writer(folder);
    fill(first, 3, 1);
  }
  {
    SpoolWriter second = open_writer(folder);
    fill(second, 3, 4);
  }
  overwrite(folder.segments().back(), 0, 'W');
  SpoolWriter writer = open_writer(folder);
  EXPECT_EQ(writer.stats().corrupt, 1U);
  EXPECT_EQ(*writer.append(body_of(7), kWhen), 7U);
  SpoolReader reader = open_reader(folder);
  EXPECT_EQ(read_all(reader), (std::vector<std::uint64_t>{1, 2, 3, 7}));
}

TEST(Spool, ASegmentWithNumbersBeforeItsFirstTakesNoNumberAway) {
  const Folder folder;
  const auto header = encode(SegmentHeader{7, 5});
  const auto record = encode_record(2, kWhen, body_of(2));
  std::ofstream file(folder.path / segment_name(5), std::ios::binary);
  file.write(reinterpret_cast<const char*>(header.data()), static_cast<std::streamsize>(header.size()));
  file.write(reinterpret_cast<const char*>(record.data()), static_cast<std::streamsize>(record.size()));
  file.close();
  SpoolWriter writer = open_writer(folder);
  EXPECT_EQ(fill(writer, 1, 6), 6U);
  SpoolReader reader = open_reader(folder);
  EXPECT_EQ(read_all(reader), (std::vector<std::uint64_t>{2, 6}));
}

TEST(Spool, ADamagedSegmentIsLeftAndTheNextOneReadAndCounted) {
  const Folder folder;
  SpoolWriter writer = open_writer(folder);
  fill(writer, 5, 1);
  writer.rotate();
  fill(writer, 5, 6);
  writer.rotate();
  fill(writer, 5, 11);
  overwrite(folder.segments()[1], static_cast<std::streamoff>(kHeaderSize + 2 * 124 + 60), 'x');
  SpoolReader reader = open_reader(folder);
  std::vector<std::uint64_t> expected = from_to(1, 7);
  for (const std::uint64_t number : from_to(11, 15)) expected.push_back(number);
  EXPECT_EQ(read_all(reader), expected);
  EXPECT_EQ(reader.corrupt(), 1U);
}

TEST(Spool, BehindDamageInTheLastSegmentReadingGoesOnWithTheNext) {
  const Folder folder;
  SpoolWriter writer = open_writer(folder);
  fill(writer, 5, 1);
  overwrite(folder.segments().back(), static_cast<std::streamoff>(kHeaderSize + 2 * 124 + 60), 'x');
  SpoolReader reader = open_reader(folder);
  EXPECT_EQ(read_all(reader), from_to(1, 2));
  EXPECT_EQ(reader.corrupt(), 1U);
  fill(writer, 1, 6);
  EXPECT_FALSE(reader.next());
  writer.rotate();
  fill(writer, 1, 7);
  EXPECT_EQ(read_all(reader), from_to(7, 7));
  EXPECT_EQ(reader.corrupt(), 1U);
}

TEST(Spool, ANonsensicalLengthIsDamage) {
  const Folder folder;
  SpoolWriter writer = open_writer(folder);
  fill(writer, 2, 1);
  overwrite(folder.segments().back(), kHeaderSize + 124 + 3, '\x7f');
  SpoolReader reader = open_reader(folder);
  EXPECT_EQ(read_all(reader), from_to(1, 1));
  EXPECT_EQ(reader.corrupt(), 1U);
}

/// No file of this process may grow beyond `size` while it lives, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t size) : before_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit small{size, limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, before_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  void (*before_)(int);
  rlimit limit_{};
};

TEST(Spool, WhatAFullDiskDoesNotTakeIsAGapAndTheNextOneBeginsWhole) {
  const Folder folder;
  SpoolWriter writer = open_writer(folder);
  fill(writer, 3, 1);
  {
    const FullDisk disk(kHeaderSize + 3 * 124 + 30);
    EXPECT_EQ(writer.append(body_of(4), kWhen).error().code, ErrorCode::kResourceExhausted);
    EXPECT_EQ(writer.append(body_of(5), kWhen).error().code, ErrorCode::kResourceExhausted);
  }
  EXPECT_TRUE(writer.wants_whole());
  EXPECT_EQ(writer.stats().unwritten, 2U);
  EXPECT_EQ(*writer.append(body_of(6), kWhen), 6U);
  SpoolReader reader = open_reader(folder);
  EXPECT_EQ(read_all(reader), (std::vector<std::uint64_t>{1, 2, 3, 6}));
  EXPECT_EQ(reader.corrupt(), 0U);
}

TEST(Spool, AFullDiskAtTheStartIsNoReasonToFail) {
  const Folder folder;
  std::optional<SpoolWriter> writer;
  {
    const FullDisk disk(0);
    writer = open_writer(folder);
    EXPECT_FALSE(writer->append(body_of(1), kWhen));
  }
  EXPECT_EQ(*writer->append(body_of(2), kWhen), 2U);
  SpoolReader reader = open_reader(folder);
  EXPECT_EQ(read_all(reader), from_to(2, 2));
}

TEST(Spool, ABatchThatIsTooLargeIsAGap) {
  const Folder folder;
  SpoolWriter writer = open_writer(folder);
  EXPECT_FALSE(writer.append(std::vector<std::byte>(kLargestBody + 1), kWhen));
  writer.skip();
  EXPECT_EQ(*writer.append(body_of(3), kWhen), 3U);
  EXPECT_EQ(writer.stats().unwritten, 2U);
}

TEST(Segment, NamesAndHeadersAreReadAsTheyAreWritten) {
  EXPECT_EQ(parse_segment_name(segment_name(42)), 42U);
  EXPECT_EQ(parse_segment_name(segment_name(~std::uint64_t{0})), ~std::uint64_t{0});
  for (const char* name : {"", "lock", "0000000000000000004x.spool", "00000000000000000000.spool", "42.spool",
                           "99999999999999999999.spool", "00000000000000000042.spool~"})
    EXPECT_FALSE(parse_segment_name(name)) << name;
  const auto bytes = encode(SegmentHeader{7, 9});
  const auto header = decode_header(bytes);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->spool, 7U);
  EXPECT_EQ(header->first, 9U);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto bent = bytes;
    bent[i] ^= std::byte{1};
    EXPECT_FALSE(decode_header(bent)) << i;
  }
}

}  // namespace
}  // namespace weft::spool
