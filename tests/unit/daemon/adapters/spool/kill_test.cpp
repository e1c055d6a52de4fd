// SPDX-License-Identifier: Apache-2.0
// The writer dies at any moment, as kill -9 has it, and the reader reads on.

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <random>

#include "tests/unit/daemon/adapters/spool/spool_test_helpers.hpp"

namespace weft::spool {
namespace {

/// What a process that is killed leaves behind.
struct Shared {
  std::atomic<std::uint64_t> appended;
  std::atomic<std::uint64_t> acknowledge;
};

/// Appends until it is killed.
[[noreturn]] void write_for_ever(const std::filesystem::path& folder, Shared& shared, std::uint64_t seed) {
  auto writer = SpoolWriter::open(folder, 4 << 20);
  if (!writer) ::_exit(1);
  std::mt19937_64 random(seed);
  for (std::uint64_t next = shared.appended + 1;; ++next) {
    // Far below the bound: nothing may be dropped.
    while (next > shared.acknowledge + 800) {
      writer->acknowledge(shared.acknowledge);
      ::sched_yield();
    }
    const auto sequence = writer->append(body_of(next, 8 + random() % 3'000), kWhen);
    if (!sequence || *sequence != next) ::_exit(2);
    shared.appended = next;
    writer->acknowledge(shared.acknowledge);
  }
}

TEST(SpoolKill, NothingIsLostOrDoubledWhenTheWriterIsKilled) {
  const Folder folder;
  auto* shared =
      static_cast<Shared*>(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(shared, MAP_FAILED);
  std::mt19937_64 random(1);
  std::optional<SpoolReader> reader;
  std::uint64_t read = 0;
  const auto follow = [&] {
    if (!reader) {
      if (auto opened = SpoolReader::open(folder.path)) reader = std::move(*opened);
      return;
    }
    while (const auto record = reader->next()) {
      ASSERT_EQ(record->sequence, read + 1);
      ASSERT_EQ(number_in(record->body), record->sequence);
      read = record->sequence;
    }
  };
  for (int round = 0; round < 40; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_for_ever(folder.path, *shared, random());
    const std::uint64_t until = shared->appended + random() % 200;
    int status = 0;
    while (shared->appended < until && ::waitpid(child, &status, WNOHANG) == 0) {
      follow();
      if (HasFatalFailure()) break;
      if (read > 50) shared->acknowledge = read - random() % 50;
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself with " << WEXITSTATUS(status);
    if (HasFatalFailure()) break;
    // A reader that is killed as well begins anew.
    if (round % 3 == 0) {
      reader.reset();
      follow();
      ASSERT_TRUE(reader);
      reader->seek(read);
      // What was acknowledged may be gone, the record that was read last too.
      for (auto record = reader->next(); record; record = reader->next()) {
        if (record->sequence < read) continue;
        ASSERT_LE(record->sequence, read + 1);
        read = record->sequence;
        break;
      }
    }
    follow();
    if (HasFatalFailure()) break;
    ASSERT_GE(read, shared->appended) << "what was appended is there";
    shared->appended = read;
    shared->acknowledge = read;
  }
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->corrupt(), 0U);
  EXPECT_GT(read, 1'000U);
  ::munmap(shared, sizeof(Shared));
}

}  // namespace
}  // namespace weft::spool
