// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of two weftd on one database leads, decided from what the database says and the own clock alone. Times are
// those of runtime::boot_time(); times of two machines are never compared.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "fabric/clock.hpp"

namespace weft::store {

/// A leader beats so often, and a standby looks so often.
inline constexpr Duration kBeatEvery = std::chrono::seconds(1);
/// A leader may act for so long after it sent the last beat that succeeded.
inline constexpr Duration kLeaseHolds = std::chrono::seconds(3);
/// A standby takes over when the beat stood still for so long, as it saw.
inline constexpr Duration kStillness = std::chrono::seconds(5);
/// When it stood still for so long, the leader may beat on another server, which took over.
inline constexpr Duration kDoubt = std::chrono::seconds(2);
/// A longer gap between two looks proves nothing: the database did not answer, or this weftd did not run.
inline constexpr Duration kLongestGap = std::chrono::seconds(3);
/// More takeovers than a database sees: one each second for 30,000 years.
inline constexpr std::int64_t kGreatestEpoch = 1'000'000'000'000;

/// A mark in the world is not believed that is so far above what the database said and what we led with: nobody can
/// restore a backup so old, for these are takeovers each minute for two years. A mark can be forged; one near
/// kGreatestEpoch would leave no room for epochs above it, and a leader's late orders would not be told from the next
/// one's.
inline constexpr std::int64_t kFarthestMark = 1'000'000;

/// What the database says of its leader.
struct LeaseState {
  std::int64_t epoch = 0;    ///< how often it was taken
  std::int64_t n = 0;        ///< grows with each beat
  std::string holder;        ///< "host, process 123"; empty: the last one gave it back
  std::string address;       ///< of its gRPC server, host:port
  TimePoint since = kNever;  ///< when it took over, by its own clock
  std::string mark;          ///< another after each transaction
};

/// Both sides of the lease, as a value. `now` and `sent` are on the clock above.
class LeaseRules {
 public:
  /// As a standby: this was read, by a question that was answered at `now`. True: the lease is to be taken now, if the
  /// database still says the same.
  bool is_due(const LeaseState& seen, Duration now);
  /// As a standby, after is_due(): the beat stands still, so that it is to be looked for on another server, too.
  bool is_doubtful(Duration now) const { return seen_ && now - seen_->first >= kDoubt; }
  /// As a standby: the beat grew from look to look, twice in a row. While commits wait for a standby in vain a leader's
  /// beats are seen once in some seconds.
  bool is_steady() const { return grown_ >= 2; }
  /// Somebody led with this epoch once, as the database said, or our own state directory. One that no lease can have
  /// had (kGreatestEpoch) is not believed.
  void know(std::int64_t epoch);
  /// The same, as a mark in the world says, which others may have made: believed within kFarthestMark.
  void hear(std::int64_t epoch);
  /// The greatest that is known, besides the own.
  std::int64_t known() const { return known_; }
  /// Of a lease that is taken, or raised, where the database has `epoch`: above all that are known.
  std::int64_t next(std::int64_t epoch) const { return std::max(epoch, known_) + 1; }
  /// A greater epoch than ours is known, so the database went back: ours is to be raised before anything is done.
  bool must_rise() const { return epoch_ && known_ > *epoch_; }

  /// The lease was taken: `epoch` is ours. The transaction was sent at `sent`.
  void take(std::int64_t epoch, Duration sent);
  /// A beat that was sent at `sent` is in the database.
  void beat(Duration sent);
  /// Another weftd took the lease, or the database forgot that we had it.
  void lose() { epoch_.reset(); }

  /// Of the lease that we took and that nobody took from us as far as we know.
  std::optional<std::int64_t> epoch() const { return epoch_; }
  /// No other weftd can lead at `now`.
  bool holds(Duration now) const { return epoch_ && now < until(); }
  /// When it ceases to hold, if no further beat succeeds. Only with an epoch.
  Duration until() const { return sent_ + kLeaseHolds; }

 private:
  struct Seen {
    std::int64_t epoch, n;
    Duration first, last;  ///< when it was seen
  };
  std::optional<Seen> seen_;
  int grown_ = 0;  ///< looks in a row at which the beat had grown
  std::optional<std::int64_t> epoch_;
  std::int64_t known_ = 0;
  std::int64_t sure_ = 0;  ///< of those the greatest that was not only heard of
  Duration sent_{};        ///< of the last beat that succeeded
};

}  // namespace weft::store
