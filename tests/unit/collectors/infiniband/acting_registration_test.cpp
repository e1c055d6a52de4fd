// SPDX-License-Identifier: Apache-2.0
// Weftd that may act on one subnet, and an administrator that answers them as OpenSM's osm_sa_service_record.c does.
#include "collectors/infiniband/acting_registration.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "tests/unit/collectors/infiniband/small_subnet.hpp"

namespace weft::infiniband {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAreArray;

constexpr const char* kOurs = "1c9e0b7a5d3f2468";
constexpr const char* kTheirs = "ffff0b7a5d3f2468";
const ActsAs kUs{kOurs, "0123abcd"};

class ActingWeftdSubnet : public SmallSubnet {
 protected:
  ActingWeftdSubnet() {
    port.subnet_manager_lid = port.port(host, 1).lid;
    options.acts_as = kUs;
    port.loses = [this](const FakeMadPort::Reply& asked) {
      request = asked;
      return is_record(asked) && hangs;
    };
    port.tamper = [this](const MadAddress&, FakeMadPort::Reply& reply) {
      if (is_record(request)) answer(reply);
      return reply.size();
    };
  }
  static bool is_record(const FakeMadPort::Reply& mad) {
    return mad[1] == 3 && mad[16] == 0 && mad[17] == attribute::kServiceRecord;
  }
  void answer(FakeMadPort::Reply& reply) {
    ++questions;
    reply = request;
    reply[3] = 0x81;
    if (status != 0) return set_status(reply, status);
    const ServiceRecord wanted = decode_service_record(request);
    const auto same_place = [&](const ServiceRecord& has) {
      return has.service_id == wanted.service_id && has.port == wanted.port && has.pkey == wanted.pkey;
    };
    if (request[3] == 0x02) {
      std::erase_if(records, same_place);
      records.push_back(wanted);
    } else if (request[3] == 0x15) {
      reply[3] = 0x95;
      if (std::erase_if(records, same_place) == 0) set_status(reply, 0x0300);
    } else {
      std::vector<ServiceRecord> found;
      for (const ServiceRecord& has : records)
        if (has.name == wanted.name && has.data.starts_with(wanted.data)) found.push_back(has);
      if (found.empty()) return set_status(reply, 0x0300);
      if (found.size() > 1) return set_status(reply, 0x0400);
      encode_service_record_set(reply, found[0]);
      std::copy_n(request.begin() + 4, 20, reply.begin() + 4);
      reply[3] = 0x81;
    }
  }
  static void set_status(FakeMadPort::Reply& reply, std::uint16_t code) {
    reply[4] = static_cast<std::uint8_t>(code >> 8);
    reply[5] = static_cast<std::uint8_t>(code);
  }
  void another(const std::string& installation, std::uint64_t guid, const std::string& run = "4567cdef") {
    records.push_back(acting_record({installation, run}, 0xfe80'0000'0000'0000, PortGuid{guid}, 0xFFFF));
  }
  /// A record of this name that no weftd writes.
  void forge(const std::string& data, std::uint64_t guid) {
    another(kTheirs, guid);
    records.back().data = data;
    records.back().service_id += guid;
  }
  ActingWeftds acting() {
    Sweeper sweeper(port, options);
    sweep(sweeper);
    return sweeper.acting();
  }

  FakeMadPort::Reply request{};
  std::vector<ServiceRecord> records;
  std::uint16_t status = 0;  ///< that every question about records is answered with
  bool hangs = false;
  unsigned questions = 0;
};

TEST_F(ActingWeftdSubnet, OneAloneAsksOnceWhoElseIsThere) {
  EXPECT_EQ(acting(), (ActingWeftds{true, "", true, {}, {}, ManagerSign::kHeard}));
  EXPECT_EQ(questions, 2U) << "the record and one look";
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].service_id, 0x1002'5746'0123'abcdU);
  EXPECT_EQ(records[0].subnet_prefix, 0xfe80'0000'0000'0000U);
  EXPECT_EQ(records[0].port, PortGuid{0x101});
  EXPECT_EQ(records[0].pkey, 0xFFFF);
  EXPECT_EQ(records[0].lease, 300U);
  EXPECT_EQ(records[0].name, "weftd remedies");
  EXPECT_EQ(records[0].data, "0123abcd00000101");
  EXPECT_EQ(records[0].data32, 1U) << "the first time";
  EXPECT_EQ(records[0].data64, 0x1c9e'0b7a'5d3f'2468U);
}

TEST_F(ActingWeftdSubnet, AnotherInstallationIsToldWithItsPort) {
  another(kTheirs, 0x401);
  EXPECT_THAT(acting().others, ElementsAre(ActingWeftd{kTheirs, PortGuid{0x401}}));
}

TEST_F(ActingWeftdSubnet, AnotherAtOurOwnPortHasARecordOfItsOwn) {
  another(kTheirs, 0x101);
  EXPECT_THAT(acting().others, ElementsAre(ActingWeftd{kTheirs, PortGuid{0x101}}));
  EXPECT_EQ(records.size(), 2U);
}

TEST_F(ActingWeftdSubnet, OurOwnRecordAtAnotherPortIsNobodyElse) {
  another(kOurs, 0x401, kUs.run);
  EXPECT_EQ(acting(), (ActingWeftds{true, "", true, {}, {}, ManagerSign::kHeard}));
}

TEST_F(ActingWeftdSubnet, AtTwoPortsItIsToldTwice) {
  another(kTheirs, 0x401);
  another(kTheirs, 0x501);
  EXPECT_THAT(acting().others, UnorderedElementsAreArray(
                                   std::vector<ActingWeftd>{{kTheirs, PortGuid{0x401}}, {kTheirs, PortGuid{0x501}}}));
}

TEST_F(ActingWeftdSubnet, RecordsThatAreAlikeAreSomebodyElse) {
  another(kTheirs, 0x401);
  another(kTheirs, 0x9'0000'0401);
  EXPECT_THAT(acting().others, ElementsAre(ActingWeftd{"", PortGuid{}}));
}

TEST_F(ActingWeftdSubnet, ARecordOfOurStoreThatNobodyRenewsIsOfARunBefore) {
  another(kOurs, 0x101, "89abcdef");
  EXPECT_EQ(acting(), (ActingWeftds{true, "", true, {}, {}, ManagerSign::kHeard}));
  EXPECT_EQ(records.size(), 2U) << "it is not ours to take out";
}

TEST_F(ActingWeftdSubnet, FewQuestionsFindARunBefore) {
  another(kOurs, 0x101, "89abcdef");
  acting();
  EXPECT_LE(questions, 18U);
}

TEST_F(ActingWeftdSubnet, ARecordWithoutAnIdOfThisFormatIsSomebodyElse) {
  status = 0;
  records.push_back(acting_record({"\x1b[2Jwhat is this", "\x1b[2J"}, 0, PortGuid{0x401}, 0xFFFF));
  ActingQuestions alone(acting_record(kUs, 0, PortGuid{0x101}, 0xFFFF), {});
  std::array<std::uint8_t, kMadSize> mad{};
  MadRequest asked;
  ASSERT_TRUE(alone.next(asked));
  alone.answered(asked, MadResult::kOk, mad, kNever);  // registered, though nobody shows it
  ASSERT_TRUE(alone.next(asked));
  encode_service_record_set(mad, records[0]);
  alone.answered(asked, MadResult::kOk, mad, kNever);
  EXPECT_THAT(alone.answer().others, ElementsAre(ActingWeftd{"", PortGuid{0x401}}));
}

TEST_F(ActingWeftdSubnet, RandomInstallationsAreAllFound) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    records.clear();
    std::vector<ActingWeftd> expected;
    for (std::uint64_t i = 0; i < random() % 6; ++i) {
      const std::string id = to_string(NodeGuid{random() | 1}).substr(2);
      std::string run = to_string(NodeGuid{random()}).substr(2);
      if (random() % 2 == 0) run = kUs.run.substr(0, random() % 8) + run;
      run.resize(8);
      if (run == kUs.run || id == kOurs) continue;
      another(id, 0x1000 + i, run);
      expected.push_back({id, PortGuid{0x1000 + i}});
    }
    EXPECT_THAT(acting().others, UnorderedElementsAreArray(expected));
  }
}

// Of two with ids of another format nobody is found by further digits.
TEST_F(ActingWeftdSubnet, RecordsThatCannotBeReadOneByOneAreTold) {
  forge("Y", 1);
  forge("Z", 2);
  const ActingWeftds told = acting();
  EXPECT_TRUE(told.answered);
  EXPECT_THAT(told.interference, HasSubstr("cannot be read one by one"));
}

TEST_F(ActingWeftdSubnet, OneRecordOfAnotherFormatBesideOursIsTold) {
  forge("Y", 1);
  EXPECT_THAT(acting().interference, HasSubstr("cannot be read one by one"));
}

// Each pair takes hundreds of questions, so that none are left for the one that is real.
TEST_F(ActingWeftdSubnet, RecordsThatTakeAllQuestionsHideNobody) {
  another(kTheirs, 0x401, "2fffcdef");
  for (const char digit : {'d', 'e', 'f'})
    for (const char* last : {"Y", "Z"}) forge(std::string(15, digit).append(last), records.size());
  const ActingWeftds told = acting();
  EXPECT_TRUE(told.answered);
  EXPECT_THAT(told.interference, HasSubstr("too many to be read one by one"));
  EXPECT_LE(questions, ActingQuestions::kMostQuestions);
}

TEST_F(ActingWeftdSubnet, ARecordThatGoesBetweenTwoAnswersIsNoInterference) {
  another(kOurs, 0x101, "89abcdef");
  const auto tell = port.tamper;
  port.tamper = [this, tell](const MadAddress& to, FakeMadPort::Reply& reply) {
    const auto size = tell(to, reply);
    if (is_record(request) && request[3] == 0x01)  // its lease ends after the first look
      std::erase_if(records, [](const ServiceRecord& has) { return has.data.starts_with("89abcdef"); });
    return size;
  };
  EXPECT_EQ(acting(), (ActingWeftds{true, "", true, {}, {}, ManagerSign::kHeard}));
}

TEST_F(ActingWeftdSubnet, AnAdministratorThatKnowsNoRecordsChangesNothing) {
  status = 0x000C;  // method and attribute not supported (vol. 1, 13.4.7)
  EXPECT_EQ(
      acting(),
      (ActingWeftds{false, "the subnet administrator knows no service records", false, {}, {}, ManagerSign::kHeard}));
  EXPECT_EQ(questions, 1U);
}

TEST_F(ActingWeftdSubnet, OneThatHangsIsAskedTwiceAndTheSweepGoesOn) {
  hangs = true;
  const std::uint64_t before = port.sets;
  EXPECT_EQ(acting(),
            (ActingWeftds{false, "the subnet administrator does not answer", false, {}, {}, ManagerSign::kUnheard}));
  EXPECT_EQ(port.sets - before, 2U);
}

TEST_F(ActingWeftdSubnet, OneThatRefusesOurRecordStillTellsOfOthers) {
  another(kTheirs, 0x401);
  const auto tell = port.tamper;
  port.tamper = [this, tell](const MadAddress& to, FakeMadPort::Reply& reply) {
    status = is_record(request) && request[3] == 0x02 ? 0x0200 : 0;
    return tell(to, reply);
  };
  const ActingWeftds told = acting();
  EXPECT_FALSE(told.registered);
  EXPECT_THAT(told.trouble, HasSubstr("refused our record with status 512"));
  EXPECT_EQ(told.others.size(), 1U);
}

// An administrator that ignores the beginning that is asked for says "too many" for ever.
TEST_F(ActingWeftdSubnet, QuestionsAreBounded) {
  const auto tell = port.tamper;
  port.tamper = [this, tell](const MadAddress& to, FakeMadPort::Reply& reply) {
    status = is_record(request) && request[3] == 0x01 ? 0x0400 : 0;
    return tell(to, reply);
  };
  acting();
  EXPECT_LE(questions, ActingQuestions::kMostQuestions);
}

TEST_F(ActingWeftdSubnet, TheRecordIsTakenOutAtTheEnd) {
  Sweeper sweeper(port, options);
  sweep(sweeper);
  ASSERT_EQ(records.size(), 1U);
  sweeper.say_farewell();
  EXPECT_TRUE(records.empty());
}

TEST_F(ActingWeftdSubnet, WhatWasToldIsOutOfDateWithoutAnAdministrator) {
  another(kTheirs, 0x401);
  Sweeper sweeper(port, options);
  sweep(sweeper);
  ASSERT_TRUE(sweeper.acting().answered);
  port.subnet_manager_lid = 0;
  for (int i = 0; i < 70 && sweeper.acting().answered; ++i) sweep(sweeper);
  EXPECT_FALSE(sweeper.acting().answered);
  EXPECT_THAT(sweeper.acting().others, SizeIs(1)) << "it is not known to be gone";
}

TEST_F(ActingWeftdSubnet, OneThatOnlyWatchesNeitherRegistersNorAsks) {
  options.acts_as = {};
  another(kTheirs, 0x401);
  EXPECT_EQ(acting(), ActingWeftds{});
  EXPECT_EQ(questions, 0U);
}

// Rounds of one weftd, and what is done to its record between them.
class OwnRecord : public ActingWeftdSubnet {
 protected:
  void round(std::chrono::seconds later = ActingSchedule::kPause) {
    now += later;
    ASSERT_TRUE(registration.renew(engine, own, administrator, now));
  }
  std::string interference() const { return registration.answer().interference; }

  MadEngine engine{port, options.engine};
  const MadAddress administrator{MadClass::kSubnetAdministration, Lid{port.subnet_manager_lid}, 1, 0x8001'0000, 0, 0};
  ServiceRecord own = acting_record(kUs, 0xfe80'0000'0000'0000, PortGuid{0x101}, 0xFFFF);
  ActingRegistration registration;
  ActingSchedule::Clock::time_point now{};
};

TEST_F(OwnRecord, OneThatIsDeletedAgainAndAgainIsTold) {
  round();
  for (unsigned i = 0; i < ActingRegistration::kLosses; ++i) {
    EXPECT_EQ(interference(), "") << "lost " << i << " times";
    records.clear();
    round();
    EXPECT_EQ(records.size(), 1U) << "it is registered again at once";
  }
  EXPECT_THAT(interference(), HasSubstr("deletes or overwrites our record"));
  EXPECT_TRUE(registration.answer().answered);
  round();
  EXPECT_EQ(interference(), "") << "it was left alone";
}

TEST_F(OwnRecord, AManagerIsSilentWhenItDoesNotAnswerForAWhile) {
  EXPECT_EQ(registration.answer().manager, ManagerSign::kNotAsked);
  round();
  EXPECT_EQ(registration.answer().manager, ManagerSign::kHeard);
  hangs = true;
  round();
  EXPECT_EQ(registration.answer().manager, ManagerSign::kHeard) << "one answer may be lost";
  round(ActingSchedule::kAgain);
  EXPECT_EQ(registration.answer().manager, ManagerSign::kSilent);
  round(ActingSchedule::kLongestPause);
  EXPECT_EQ(registration.answer().manager, ManagerSign::kSilent);
  hangs = false;
  round(ActingSchedule::kLongestPause);
  EXPECT_EQ(registration.answer().manager, ManagerSign::kHeard);
  hangs = true;
  round(std::chrono::seconds(25));
  EXPECT_EQ(registration.answer().manager, ManagerSign::kSilent) << "sweeps are seldom";
}

TEST_F(OwnRecord, AManagerThatHasNotAnsweredYetIsUnheard) {
  hangs = true;
  round();
  EXPECT_EQ(registration.answer().manager, ManagerSign::kUnheard);
  round(ActingSchedule::kAgain);
  round(ActingSchedule::kPause);
  EXPECT_EQ(registration.answer().manager, ManagerSign::kSilent);
  registration.lose_administrator("our own port is down");
  EXPECT_EQ(registration.answer().manager, ManagerSign::kUnheard) << "nobody was asked";
  round(ActingSchedule::kLongestPause);
  EXPECT_EQ(registration.answer().manager, ManagerSign::kUnheard) << "the port has come back a moment ago";
}

TEST_F(OwnRecord, OneThatIsOverwrittenIsTold) {
  round();
  for (unsigned i = 0; i < ActingRegistration::kLosses; ++i) {
    records[0].data64 = 0xffff;  // as if the other's own: it would take it for one of a run before
    round();
  }
  EXPECT_THAT(interference(), HasSubstr("deletes or overwrites our record"));
}

TEST_F(OwnRecord, OneThatOthersImitateIsTold) {
  round();
  records.clear();
  forge(own.data, 0x501);
  forge(own.data, 0x502);
  for (unsigned i = 0; i < ActingRegistration::kLosses; ++i) round();
  EXPECT_NE(interference(), "");
}

TEST_F(OwnRecord, ASubnetManagerThatBeginsAnewIsNoInterference) {
  for (int i = 0; i < 20; ++i) {
    if (i % 2 == 0) records.clear();
    round();
    EXPECT_EQ(interference(), "");
  }
}

TEST_F(OwnRecord, TheEndOfItsLeaseIsNoInterference) {
  for (int i = 0; i < 10; ++i) {
    round(ActingSchedule::kLease);
    EXPECT_EQ(interference(), "");
    records.clear();
  }
}

TEST_F(OwnRecord, AnotherPartitionIsNoInterference) {
  for (std::uint16_t i = 0; i < 5; ++i) {
    own.pkey = static_cast<std::uint16_t>(0x8001 + i);
    round();
    EXPECT_EQ(records.size(), 1U);
    EXPECT_EQ(registration.answer(), (ActingWeftds{true, "", true, {}, {}, ManagerSign::kHeard}));
  }
}

struct Copies : testing::Test {
  Copies() { records.push_back(acting_record({kOurs, "89abcdef"}, 0, PortGuid{0x401}, 0xFFFF)); }
  std::size_t living(std::uint32_t count) {
    records[0].data32 = count;
    return copies.look(records).size();
  }
  std::vector<ServiceRecord> records;
  LivingCopies copies;
};

TEST_F(Copies, OneThatIsRenewedTwiceLives) {
  EXPECT_EQ(living(7), 0U);
  EXPECT_EQ(living(8), 0U) << "the last renewal of a sweeper whose weftd was killed";
  EXPECT_EQ(living(8), 0U);
  EXPECT_EQ(living(9), 1U);
  EXPECT_EQ(living(9), 1U) << "asked less often than we look";
  EXPECT_THAT(copies.look(records), ElementsAre(ActingWeftd{kOurs, PortGuid{0x401}}));
}

TEST_F(Copies, OneThatIsNeverRenewedIsOfARunBefore) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(living(7), 0U);
}

TEST_F(Copies, OneThatWasTakenOutIsForgotten) {
  for (std::uint32_t count = 1; count < 4; ++count) living(count);
  EXPECT_TRUE(copies.look({}).empty());
  EXPECT_EQ(living(9), 0U);
}

TEST(ActingSchedule, SilenceIsAskedMoreSeldomAndNeverLaterThanTheLease) {
  using namespace std::chrono_literals;
  ActingSchedule schedule;
  ActingSchedule::Clock::time_point now{1h};
  EXPECT_TRUE(schedule.is_due(now));
  schedule.note(false, now);
  EXPECT_FALSE(schedule.is_due(now + 9s));
  EXPECT_TRUE(schedule.is_due(now + 10s));
  for (const auto pause : {5s, 10s, 20s, 20s}) {
    schedule.note(true, now);
    EXPECT_FALSE(schedule.is_due(now + pause - 1s));
    EXPECT_TRUE(schedule.is_due(now + pause));
  }
  EXPECT_LT(ActingSchedule::kLongestPause, ActingSchedule::kLease);
}

}  // namespace
}  // namespace weft::infiniband
