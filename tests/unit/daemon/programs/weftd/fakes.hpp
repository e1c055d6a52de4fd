// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the tests of weftd's rooms put in the place of the world.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/publication/telemetry_sink.hpp"
#include "daemon/adapters/store/store.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::daemon {

/// A clock that stands where a test puts it.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(TimePoint start = TimePoint{std::chrono::seconds(1'700'000'000)}) : time(start) {}
  TimePoint now() const override { return time; }
  Duration steady() const override { return time.time_since_epoch() - set_forward + unseen.load(); }
  TimePoint time;
  Duration set_forward{};                    ///< how much of `time` did not pass
  std::atomic<Duration> unseen{Duration{}};  ///< passed, and `time` does not say so
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

/// A store that takes everything and keeps nothing. Tests override what they look at.
class IdleStore : public store::Store {
 public:
  Result<store::Restored> restore(TimePoint) override { return store::Restored{}; }
  Result<void> save_incidents(std::span<const Incident>, std::span<const store::Event>) override { return {}; }
  Result<std::vector<store::Event>> events(std::uint64_t) override { return std::vector<store::Event>{}; }
  Result<void> save_maintenance(const MaintenanceWindow&) override { return {}; }
  Result<void> save_acceptance(const AcceptanceRun&, std::span<const std::uint64_t>) override { return {}; }
  Result<void> save_links(std::string_view, std::span<const KnownLink>) override { return {}; }
  Result<void> save_conditions(std::string_view, std::span<const FlapState>, std::span<const ErrorState>) override {
    return {};
  }
  Result<void> save_fec_baselines(std::string_view, std::span<const FecBaseline>) override { return {}; }
  Result<void> save_nodes(std::string_view, const Topology&, TimePoint) override { return {}; }
  Result<void> keep_apart(std::string_view, const store::FabricMemory&) override { return {}; }
  Result<std::vector<store::KnownNode>> nodes(std::string_view) override { return std::vector<store::KnownNode>{}; }
  Result<void> save_collectors(std::span<const store::CollectorMark>, std::span<const std::string>) override {
    return {};
  }
  Result<void> save_told(std::string_view, std::string_view) override { return {}; }
  Result<RemedyMemory> restore_remedies(TimePoint) override { return RemedyMemory{}; }
  Result<void> save_plans(std::span<const Plan>, const RemedyHolds*, std::span<const AuditRecord>) override {
    return {};
  }
  Result<std::vector<EnrollToken>> enroll_tokens(TimePoint) override { return std::vector<EnrollToken>{}; }
  Result<std::optional<EnrollToken>> find_enroll_token(std::string_view) override { return std::nullopt; }
  Result<void> save_enroll_tokens(std::span<const EnrollToken>, std::span<const std::string>,
                                  std::span<const AuditRecord>) override {
    return {};
  }
  Result<ClockMemory> restore_clock() override { return ClockMemory{}; }
  Result<void> save_clock(const ClockMemory&) override { return {}; }
  Result<std::vector<AuditRecord>> audit(std::uint64_t, std::size_t) override { return std::vector<AuditRecord>{}; }
  Result<store::AuditProof> verify_audit() override { return store::AuditProof{}; }
  Result<void> append_history(std::shared_ptr<const Sweep>, HostListPtr, Duration) override { return {}; }
  Result<bool> maintain(TimePoint, const ClockMemory&) override { return false; }
  void lead(std::int64_t) override {}
  Result<store::Restored> look(TimePoint since) override { return restore(since); }
  store::StoreStatus status() const override { return {}; }
};

}  // namespace weft::daemon
