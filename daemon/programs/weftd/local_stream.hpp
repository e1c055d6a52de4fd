// SPDX-License-Identifier: Apache-2.0
#pragma once
// A collector's stream that is made here: of a switch that weftd reads itself, or whose metrics are pushed.

#include <cstdint>
#include <optional>
#include <utility>

#include "api/publication/telemetry_sink.hpp"

namespace weft::daemon {

/// Nothing waits for an acknowledgement: what is not stored is told anew. Of one thread.
class LocalStream final : public api::CollectorStream {
 public:
  void welcome(std::uint64_t) override {}
  void acknowledge(std::uint64_t) override {}
  void proceed() override {}
  void end(Error why) override { ended_ = std::move(why); }

  /// Why it has ended; nullopt while it has not.
  const std::optional<Error>& ended() const { return ended_; }
  /// Of the next batch.
  std::uint64_t next_sequence() { return ++sequence_; }
  /// A random identity of what its batches are kept in; not 0.
  static std::uint64_t new_spool();

 private:
  std::optional<Error> ended_;
  std::uint64_t sequence_ = 0;
};

}  // namespace weft::daemon
