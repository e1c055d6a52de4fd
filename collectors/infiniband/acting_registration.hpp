// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tells other weftd on the subnet that this one may act there, and learns of them. Each keeps a ServiceRecord at the
// subnet administrator (vol. 1, 15.2.5.14), with a lease, and asks for those of others.

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/infiniband/mad_engine.hpp"
#include "fabric/acting_weftds.hpp"

namespace weft::infiniband {

/// ServiceName of the records.
inline constexpr std::string_view kActingServiceName = "weftd remedies";

/// The record of a weftd at one port. The ServiceID is one of an external organisation (Annex A3, AGN 0x10) with the
/// locally administered identifier 02-57-46 (IEEE 802, bit U/L), and the digits of the run, so that two weftd at one
/// port have two records. ServiceData8 has those digits and the last eight of the port GUID, ServiceData64.1 the
/// store's id as a number. ServiceData32.1 is 0: it counts the renewals.
ServiceRecord acting_record(const ActsAs& as, std::uint64_t subnet_prefix, PortGuid port, std::uint16_t pkey);

/// One round of questions: looks whether the own record is still there, renews it, then asks who else has one. Only
/// single records are asked for, so that an answer is one datagram whatever stands in the administrator's table: where
/// several match, it says no more than that (status "too many records"), and each further digit of ServiceData8 is
/// asked for apart. Records that are found in no such way are nobody's that weftd writes: they are told as
/// ActingWeftds::interference.
class ActingQuestions final : public MadAsker {
 public:
  /// Enough for two records that are alike, and for ActingWeftds::kMostOthers others that begin differently.
  static constexpr unsigned kMostQuestions = 512;

  /// `administrator`: where it is asked. `is_registered`: the own record should be there already.
  ActingQuestions(ServiceRecord own, MadAddress administrator, bool is_registered = false);
  bool next(MadRequest& request) override;
  void encode(const MadRequest& request, MadBytes mad) override;
  void answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint now) override;
  /// What was learned, once MadEngine::run() has returned.
  const ActingWeftds& answer() const { return answer_; }
  /// Records of our own store that are not our run's: not among ActingWeftds::others. At most
  /// ActingWeftds::kMostOthers.
  const std::vector<ServiceRecord>& alike() const { return alike_; }
  /// The own record was not there before it was renewed, or was changed. Nullopt: not asked, or not answered.
  std::optional<bool> was_lost() const { return was_lost_; }

 private:
  enum class Step : std::uint8_t { kLookForOurs, kRegister, kRead };
  /// A beginning of ServiceData8.
  struct Beginning {
    std::string digits;
    bool again = false;  // too many had it, and its further digits were asked for since
  };

  bool is_own(std::string_view data) const;
  bool answered_own(bool is_ok, ConstMadBytes mad);
  void look_closer(const std::string& digits);
  void note(const ServiceRecord& record);
  void give_up(std::string why);

  ServiceRecord own_;
  MadAddress administrator_;
  Step step_;
  bool waiting_ = false;  // one question at a time
  unsigned asked_ = 0;
  std::vector<Beginning> todo_;            // the next one last
  Beginning current_;                      // that was asked for
  std::map<std::string, unsigned> found_;  // by the digits before the last: records, of several counted as two
  std::optional<bool> was_lost_;
  std::vector<ServiceRecord> alike_;
  ActingWeftds answer_;
};

/// Takes the own record out again.
class ActingFarewell final : public MadAsker {
 public:
  /// As ActingQuestions.
  ActingFarewell(ServiceRecord own, MadAddress administrator);
  bool next(MadRequest& request) override;
  void encode(const MadRequest& request, MadBytes mad) override;
  void answered(const MadRequest& request, MadResult result, ConstMadBytes mad, TimePoint now) override;

 private:
  ServiceRecord own_;
  MadAddress administrator_;
  bool asked_ = false;
};

/// When to ask. One that does not answer is asked again soon, for one answer may be lost, and then more seldom.
class ActingSchedule {
 public:
  /// That nobody sets.
  using Clock = std::chrono::steady_clock;
  /// From one round to the next; kAgain after the first one that failed, then twice as long each time, up to
  /// kLongestPause.
  static constexpr std::chrono::seconds kPause{10}, kAgain{5}, kLongestPause{20};
  /// Lease of a record. Longer than kLongestPause, so that a round that fails takes no record away.
  static constexpr std::chrono::seconds kLease = ActingWeftds::kLease;

  /// A round may begin.
  bool is_due(Clock::time_point now) const { return now >= due_; }
  /// A round ended at `now`; `failed`: it was not answered.
  void note(bool failed, Clock::time_point now);

 private:
  Clock::time_point due_{};
  std::chrono::seconds pause_ = kPause;
  bool failed_ = false;
};

/// Which records of our own store belong to a process that lives. The record of a run before ours stays until its lease
/// ends, and is never renewed; that of a copy of our state directory is.
class LivingCopies {
 public:
  /// Renewals after which a record is that of a process that lives: a sweeper that outlives its weftd for a sweep may
  /// renew it once.
  static constexpr unsigned kRenewals = 2;
  /// Those of `records`, the present ones, that were seen renewed so often.
  std::vector<ActingWeftd> look(const std::vector<ServiceRecord>& records);

 private:
  struct Seen {
    std::uint32_t count = 0;  // the record's own
    unsigned renewals = 0;
  };
  std::map<std::string, Seen> seen_;  // by ServiceData8
};

/// The own record, from the first to the last question.
class ActingRegistration {
 public:
  /// Rounds in a row that found the own record lost, after which somebody takes it out: a subnet manager that begins
  /// anew, or a sweeper before ours that says farewell, loses it once.
  static constexpr unsigned kLosses = 3;
  /// A subnet manager that was last heard so long ago, or was first asked then, is silent where it does not answer. One
  /// answer may be lost: the schedule asks twice in that time, where sweeps are as often.
  static constexpr std::chrono::seconds kSilence{15};

  /// Renews the record and learns who else has one, when `now` is time for it. Fails as MadEngine::run().
  Result<void> renew(MadEngine& engine, ServiceRecord own, const MadAddress& administrator,
                     ActingSchedule::Clock::time_point now);
  /// There is no administrator that could be asked: `why`.
  void lose_administrator(std::string why);
  /// Takes the record out, if there is one.
  void say_farewell(MadEngine& engine);
  /// As last told. Who was there and is not told of is not known to be gone.
  const ActingWeftds& answer() const { return answer_; }

 private:
  ActingSchedule schedule_;
  ActingWeftds answer_;
  std::optional<ActingSchedule::Clock::time_point> heard_;  // the manager last, or when it was first asked
  LivingCopies copies_;
  std::uint32_t renewals_ = 0;
  unsigned losses_ = 0;                             // in a row
  ActingSchedule::Clock::time_point registered_{};  // when that was last asked for
  std::optional<ServiceRecord> own_;                // that was registered last
  MadAddress administrator_;
};

}  // namespace weft::infiniband
