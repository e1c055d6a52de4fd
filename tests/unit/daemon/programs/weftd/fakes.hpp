#pragma once
// What the tests of weftd's rooms put in the place of the world.

#include <chrono>
#include <cstdint>
#include <optional>

#include "api/publication/telemetry_sink.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::daemon {

/// A clock that stands where a test puts it.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(TimePoint start = TimePoint{std::chrono::seconds(1'700'000'000)}) : time(start) {}
  TimePoint now() const override { return time; }
  TimePoint time;
};

/// A collector's stream that remembers what it was told.
class FakeStream final : public api::CollectorStream {
 public:
  void welcome(std::uint64_t sequence) override { welcomed = sequence; }
  void acknowledge(std::uint64_t sequence) override { acknowledged = sequence; }
  void proceed() override { ++proceeded; }
  void end(Error why) override { ended = why; }

  std::optional<std::uint64_t> welcomed;
  std::uint64_t acknowledged = 0;
  int proceeded = 0;
  std::optional<Error> ended;
};

}  // namespace weft::daemon
