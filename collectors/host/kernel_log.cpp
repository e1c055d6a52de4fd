// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/kernel_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "fabric/minute_text.hpp"

namespace weft::host {
namespace {

/// Records of one reading; the rest waits for the next one.
constexpr int kMostRecords = 2'000;
constexpr std::size_t kMostFaults = 256;
constexpr std::size_t kLongestRecord = 8'192;
/// What a driver does not take back is over then.
constexpr Duration kOver = std::chrono::hours(1);
/// A line that comes again and again is news that often.
constexpr Duration kNewsEvery = std::chrono::minutes(1);

template <typename Number>
bool take_number(std::string_view& text, Number& number, char end) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto used = static_cast<std::size_t>(rest - text.data());
  if (error != std::errc{} || used >= text.size() || text[used] != end) return false;
  text.remove_prefix(used + 1);
  return true;
}

}  // namespace

std::optional<KernelRecord> parse_kernel_record(std::string_view record) {
  std::uint32_t priority = 0;
  std::uint64_t sequence = 0;
  std::uint64_t microseconds = 0;
  if (!take_number(record, priority, ',') || !take_number(record, sequence, ',') ||
      !take_number(record, microseconds, ','))
    return std::nullopt;
  const std::size_t head = record.find(';');
  constexpr std::uint64_t kLongest = std::uint64_t{1} << 60;
  if (head == std::string_view::npos || priority >> 3 != 0 || microseconds > kLongest) return std::nullopt;
  record.remove_prefix(head + 1);
  return KernelRecord{std::chrono::microseconds(microseconds), record.substr(0, record.find('\n'))};
}

KernelLog::~KernelLog() {
  if (fd_ >= 0) ::close(fd_);
}

bool KernelLog::open() {
  if (fd_ >= 0) return true;
  fd_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd_ >= 0) return true;
  trouble_ = errno == EPERM || errno == EACCES
                 ? "the kernel's log is not read: CAP_SYSLOG or the right to read " + path_ + " is missing"
                 : "the kernel's log is not read: " + path_ + ": " + std::string(::strerrordesc_np(errno));
  return false;
}

/// True when there may be more.
bool KernelLog::read_records(TimePoint now, std::chrono::microseconds since_boot) {
  std::array<char, kLongestRecord> buffer;
  const ssize_t got = ::read(fd_, buffer.data(), buffer.size());
  // Records were overwritten before they were read: the next call goes on behind them.
  if (got < 0 && errno == EPIPE) return true;
  if (got < 0 && (errno == EPERM || errno == EACCES)) {
    ::close(std::exchange(fd_, -1));
    trouble_ = "the kernel's log is not read: CAP_SYSLOG is missing";
  }
  if (got <= 0) return false;
  trouble_.clear();
  rest_.append(buffer.data(), static_cast<std::size_t>(got));
  std::size_t begin = 0;
  for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
    // Lines that begin with a blank are key and value of the record before.
    if (rest_[begin] != ' ') take(std::string_view(rest_).substr(begin, end - begin), now, since_boot);
    begin = end + 1;
  }
  rest_.erase(0, begin);
  if (rest_.size() > kLongestRecord) rest_.clear();
  return true;
}

void KernelLog::read(TimePoint now, std::chrono::microseconds since_boot) {
  if (!open()) return;
  for (int i = 0; i < kMostRecords && fd_ >= 0; ++i)
    if (!read_records(now, since_boot)) break;
  const std::size_t before = faults_.size();
  std::erase_if(faults_, [now](const auto& entry) {
    return entry.second.row->effect != FaultEffect::kDead && now - entry.second.at > kOver;
  });
  has_changed_ = has_changed_ || faults_.size() != before;
}

void KernelLog::take(std::string_view line, TimePoint now, std::chrono::microseconds since_boot) {
  const auto record = parse_kernel_record(line);
  if (!record) return;
  const DriverLine told = parse_driver_line(record->text);
  if (!told.fault) return;
  const auto known = faults_.find(told.address);
  if (told.fault->effect == FaultEffect::kRecovered) {
    if (known == faults_.end()) return;
    faults_.erase(known);
    has_changed_ = true;
    return;
  }
  const auto age = since_boot > record->since_boot ? since_boot - record->since_boot : std::chrono::microseconds(0);
  const TimePoint at = now - age;
  if (known == faults_.end() && faults_.size() >= kMostFaults) return;
  if (known != faults_.end()) {
    const Fault& fault = known->second;
    if (told.fault->effect < fault.row->effect) return;
    if (told.fault == fault.row && at - fault.at < kNewsEvery) return;
  }
  faults_[told.address] = {told.fault, at, fault_text(*told.fault, second_text(at), record->text)};
  has_changed_ = true;
}

std::string KernelLog::fault_of(std::string_view pci_address) const {
  if (fd_ < 0) return {};
  const auto fault = faults_.find(std::string(pci_address));
  return fault == faults_.end() ? std::string(kNoFault) : fault->second.text;
}

}  // namespace weft::host
