// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/acting_registration.hpp"

#include <algorithm>
#include <utility>

namespace weft::infiniband {
namespace {

constexpr std::uint64_t kServiceIds = 0x1002'5746'0000'0000;
constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::size_t kRunDigits = 8;

constexpr const char* kTooMany = "the records at the subnet administrator are too many to be read one by one";
constexpr const char* kUnreadable = "there are records at the subnet administrator that cannot be read one by one";
constexpr const char* kLost = "somebody deletes or overwrites our record at the subnet administrator";

/// The last `count` hexadecimal digits.
std::string last_digits(std::uint64_t value, std::size_t count) {
  std::string text(count, '0');
  for (std::size_t i = 0; i < count; ++i) text[count - 1 - i] = kDigits[(value >> (4 * i)) & 0xF];
  return text;
}

ActingWeftd weftd_of(const ServiceRecord& record) {
  return {record.data64 == 0 ? "" : last_digits(record.data64, 16), record.port};
}

/// They are one in the administrator's table (15.2.5.14: ServiceID, ServiceGID and ServiceP_Key).
bool has_same_key(const ServiceRecord& a, const ServiceRecord& b) {
  return a.service_id == b.service_id && a.subnet_prefix == b.subnet_prefix && a.port == b.port && a.pkey == b.pkey;
}

MadRequest question(const MadAddress& administrator) {
  MadRequest request;
  request.node = kNoIndex;  // nobody's: its silence is no sign of trouble at the node it runs on
  request.attribute = attribute::kServiceRecord;
  request.tries_left = 1;
  request.address = administrator;
  return request;
}

}  // namespace

ServiceRecord acting_record(const ActsAs& as, std::uint64_t subnet_prefix, PortGuid port, std::uint16_t pkey) {
  ServiceRecord record;
  record.service_id = kServiceIds | (parse_guid(as.run).value_or(0) & 0xFFFF'FFFF);
  record.subnet_prefix = subnet_prefix;
  record.port = port;
  record.pkey = pkey;
  record.lease = static_cast<std::uint32_t>(ActingSchedule::kLease.count());
  record.name = kActingServiceName;
  record.data = as.run + last_digits(port.value, ServiceRecord::kLongestData - kRunDigits);
  record.data64 = parse_guid(as.installation).value_or(0);
  return record;
}

ActingQuestions::ActingQuestions(ServiceRecord own, MadAddress administrator, bool is_registered)
    : own_(std::move(own)),
      administrator_(administrator),
      step_(is_registered ? Step::kLookForOurs : Step::kRegister),
      todo_{{}} {}

bool ActingQuestions::next(MadRequest& request) {
  if (waiting_) return false;
  // The further digits told of several: nothing is missing.
  while (!todo_.empty() && todo_.back().again && found_[todo_.back().digits] > 1) todo_.pop_back();
  if (todo_.empty()) return false;
  if (++asked_ > kMostQuestions) {
    answer_.interference = kTooMany;
    todo_.clear();
    return false;
  }
  if (step_ == Step::kRead) {
    current_ = std::move(todo_.back());
    todo_.pop_back();
  }
  request = question(administrator_);
  waiting_ = true;
  return true;
}

void ActingQuestions::encode(const MadRequest&, MadBytes mad) {
  if (step_ == Step::kRegister)
    encode_service_record_set(mad, own_);
  else
    encode_service_record_get(mad, own_.name, step_ == Step::kLookForOurs ? own_.data : current_.digits);
}

void ActingQuestions::answered(const MadRequest&, MadResult result, ConstMadBytes mad, TimePoint) {
  waiting_ = false;
  if (result == MadResult::kUnsupported) {
    answer_.manager = ManagerSign::kHeard;
    return give_up("the subnet administrator knows no service records");
  }
  if (result != MadResult::kOk && result != MadResult::kBadStatus) {
    answer_.manager = ManagerSign::kUnheard;
    return give_up("the subnet administrator does not answer");
  }
  answer_.manager = ManagerSign::kHeard;
  const bool is_ok = result == MadResult::kOk;
  if (answered_own(is_ok, mad)) return;
  const std::string& digits = current_.digits;
  const bool is_first = !current_.again;
  const bool too_many = has_status(mad, AdministratorStatus::kTooManyRecords);
  if (is_first && !digits.empty()) found_[digits.substr(0, digits.size() - 1)] += is_ok ? 1 : too_many ? 2 : 0;
  if (is_ok) {
    if (is_first || found_[digits] == 0) note(decode_service_record(mad));
  } else if (too_many) {
    if (is_first)
      look_closer(digits);
    else
      answer_.interference = kUnreadable;
  } else if (!has_status(mad, AdministratorStatus::kNoRecords)) {
    return give_up("the subnet administrator refused to read records with status " + std::to_string(status_of(mad)));
  }
  answer_.answered = true;
  if (answer_.others.size() >= ActingWeftds::kMostOthers) todo_.clear();
}

/// It was the answer to a question about the own record.
bool ActingQuestions::answered_own(bool is_ok, ConstMadBytes mad) {
  if (step_ == Step::kRead) return false;
  if (step_ == Step::kLookForOurs) {
    step_ = Step::kRegister;
    if (is_ok) {
      const ServiceRecord found = decode_service_record(mad);
      was_lost_ = !has_same_key(found, own_) || found.data64 != own_.data64;
    } else if (has_status(mad, AdministratorStatus::kNoRecords) ||
               has_status(mad, AdministratorStatus::kTooManyRecords)) {
      was_lost_ = true;  // several that look like ours are not ours alone
    }
    return true;
  }
  step_ = Step::kRead;
  answer_.registered = is_ok;
  if (!is_ok)
    answer_.trouble = "the subnet administrator refused our record with status " + std::to_string(status_of(mad));
  return true;
}

/// They are our run's: at whatever port.
bool ActingQuestions::is_own(std::string_view data) const {
  return data.substr(0, kRunDigits) == std::string_view(own_.data).substr(0, kRunDigits);
}

// Others come before what begins as our own does. A record may have come or gone between two answers, so where the
// further digits do not explain "too many", the beginning is asked for once more.
void ActingQuestions::look_closer(const std::string& digits) {
  if (is_own(digits)) return;
  if (digits.size() >= ServiceRecord::kLongestData) {  // nobody is told from another
    ServiceRecord record;
    record.name = own_.name;
    record.data = digits;
    return note(record);
  }
  const char own_digit =
      own_.data.starts_with(digits) && own_.data.size() > digits.size() ? own_.data[digits.size()] : kDigits.front();
  todo_.push_back({digits, true});
  todo_.push_back({digits + own_digit});
  for (const char digit : kDigits)
    if (digit != own_digit) todo_.push_back({digits + digit});
}

void ActingQuestions::note(const ServiceRecord& record) {
  if (record.name != own_.name || is_own(record.data)) return;
  if (record.data64 != own_.data64)
    answer_.others.push_back(weftd_of(record));
  else if (alike_.size() < ActingWeftds::kMostOthers)
    alike_.push_back(record);
}

void ActingQuestions::give_up(std::string why) {
  answer_.trouble = std::move(why);
  answer_.answered = answer_.answered && (!answer_.others.empty() || !answer_.interference.empty());
  todo_.clear();
}

ActingFarewell::ActingFarewell(ServiceRecord own, MadAddress administrator)
    : own_(std::move(own)), administrator_(administrator) {}

bool ActingFarewell::next(MadRequest& request) {
  if (std::exchange(asked_, true)) return false;
  request = question(administrator_);
  return true;
}

void ActingFarewell::encode(const MadRequest&, MadBytes mad) {
  encode_service_record_delete(mad, own_);
}

// Where it was not heard the lease ends by itself.
void ActingFarewell::answered(const MadRequest&, MadResult, ConstMadBytes, TimePoint) {}

void ActingSchedule::note(bool failed, Clock::time_point now) {
  pause_ = !failed ? kPause : !failed_ ? kAgain : std::min(pause_ * 2, kLongestPause);
  failed_ = failed;
  due_ = now + pause_;
}

std::vector<ActingWeftd> LivingCopies::look(const std::vector<ServiceRecord>& records) {
  std::vector<ActingWeftd> living;
  std::map<std::string, Seen> now;
  for (const ServiceRecord& record : records) {
    const auto before = seen_.find(record.data);
    Seen& seen = now[record.data] = before == seen_.end() ? Seen{record.data32} : before->second;
    if (seen.count != record.data32) seen = {record.data32, seen.renewals + 1};
    if (seen.renewals >= kRenewals) living.push_back(weftd_of(record));
  }
  seen_ = std::move(now);
  return living;
}

Result<void> ActingRegistration::renew(MadEngine& engine, ServiceRecord own, const MadAddress& administrator,
                                       ActingSchedule::Clock::time_point now) {
  if (!schedule_.is_due(now)) return {};
  if (own_ && !has_same_key(*own_, own)) say_farewell(engine);  // it would stand beside the new one
  own.data32 = ++renewals_;
  // At the end of its lease it goes by itself.
  const bool is_registered = own_ && answer_.registered && now - registered_ < ActingSchedule::kLease;
  own_ = own;
  administrator_ = administrator;
  registered_ = now;
  ActingQuestions questions(own, administrator, is_registered);
  const auto done = engine.run(questions);
  schedule_.note(!questions.answer().answered, now);
  const ActingWeftds known = std::exchange(answer_, questions.answer());
  if (answer_.manager == ManagerSign::kHeard || !heard_) heard_ = now;
  if (answer_.manager != ManagerSign::kHeard)
    answer_.manager = now - *heard_ >= kSilence              ? ManagerSign::kSilent
                      : known.manager == ManagerSign::kHeard ? ManagerSign::kHeard  // one answer may be lost
                                                             : ManagerSign::kUnheard;
  if (questions.was_lost()) losses_ = *questions.was_lost() ? losses_ + 1 : 0;
  if (losses_ >= kLosses && answer_.interference.empty()) answer_.interference = kLost;
  if (!answer_.answered) {
    answer_.others = known.others;
    answer_.interference = known.interference;
    return done;
  }
  for (ActingWeftd& copy : copies_.look(questions.alike()))
    if (answer_.others.size() < ActingWeftds::kMostOthers) answer_.others.push_back(std::move(copy));
  return done;
}

void ActingRegistration::lose_administrator(std::string why) {
  answer_.registered = answer_.answered = false;
  answer_.trouble = std::move(why);
  answer_.manager = ManagerSign::kUnheard;
  heard_.reset();
}

void ActingRegistration::say_farewell(MadEngine& engine) {
  if (!own_) return;
  ActingFarewell farewell(*std::exchange(own_, {}), administrator_);
  (void)engine.run(farewell);  // where it fails the lease ends by itself
}

}  // namespace weft::infiniband
