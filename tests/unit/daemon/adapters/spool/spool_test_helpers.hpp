// SPDX-License-Identifier: Apache-2.0
#pragma once
// A folder of its own for each test, and bodies that can be told apart.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "daemon/adapters/spool/reader.hpp"
#include "daemon/adapters/spool/segment.hpp"
#include "daemon/adapters/spool/writer.hpp"

namespace weft::spool {

inline constexpr std::uint64_t kBound = 1 << 20;
inline constexpr TimePoint kWhen{std::chrono::seconds(1'700'000'000)};

class Folder {
 public:
  Folder() {
    std::string place = (std::filesystem::temp_directory_path() / "weft-spool-XXXXXX").string();
    path = ::mkdtemp(place.data()) == nullptr ? "" : place;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path path;
  std::vector<std::filesystem::path> segments() const {
    std::vector<std::filesystem::path> files;
    for (const std::uint64_t first : list_segments(path)) files.push_back(path / segment_name(first));
    return files;
  }
};

/// The body of that batch: its number, and some bytes behind it.
inline std::vector<std::byte> body_of(std::uint64_t sequence, std::size_t size = 100) {
  std::vector<std::byte> body(std::max(size, sizeof sequence), static_cast<std::byte>(sequence * 7));
  std::memcpy(body.data(), &sequence, sizeof sequence);
  return body;
}
inline std::uint64_t number_in(const std::vector<std::byte>& body) {
  std::uint64_t number = 0;
  std::memcpy(&number, body.data(), sizeof number);
  return number;
}

inline SpoolWriter open_writer(const Folder& folder, std::uint64_t bound = kBound) {
  auto writer = SpoolWriter::open(folder.path, bound);
  EXPECT_TRUE(writer) << (writer ? "" : writer.error().message);
  return std::move(*writer);
}
inline SpoolReader open_reader(const Folder& folder) {
  auto reader = SpoolReader::open(folder.path);
  EXPECT_TRUE(reader) << (reader ? "" : reader.error().message);
  return std::move(*reader);
}

/// Appends so many; the number of the last.
inline std::uint64_t fill(SpoolWriter& writer, int count, std::uint64_t next, std::size_t size = 100) {
  for (int i = 0; i < count; ++i, ++next) {
    const auto sequence = writer.append(body_of(next, size), kWhen);
    EXPECT_TRUE(sequence) << sequence.error().message;
    EXPECT_EQ(sequence.value_or(0), next);
  }
  return next - 1;
}

/// The sequence numbers of all records that are there now; each must be what was written under its number.
inline std::vector<std::uint64_t> read_all(SpoolReader& reader) {
  std::vector<std::uint64_t> numbers;
  while (const auto record = reader.next()) {
    EXPECT_EQ(number_in(record->body), record->sequence);
    numbers.push_back(record->sequence);
  }
  return numbers;
}

inline std::vector<std::uint64_t> from_to(std::uint64_t first, std::uint64_t last) {
  std::vector<std::uint64_t> numbers;
  for (; first <= last; ++first) numbers.push_back(first);
  return numbers;
}

}  // namespace weft::spool
