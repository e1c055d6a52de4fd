// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/collector/ras_watch.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "daemon/programs/collector/ras_client.hpp"
#include "fabric/quiet_rate.hpp"

namespace weft::collector {
namespace {

constexpr Duration kAddressesInterval = std::chrono::minutes(1);

/// Those by which others may know the host, as many as a fact has room for: "10.0.0.1,2001:db8::7".
std::string own_addresses() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {};
  std::vector<std::string> found;
  for (const ifaddrs* one = all; one; one = one->ifa_next) {
    if (!one->ifa_addr || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* address = nullptr;
    if (one->ifa_addr->sa_family == AF_INET) {
      address = &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr;
    } else if (one->ifa_addr->sa_family == AF_INET6) {
      const in6_addr& six = reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr;
      if (!IN6_IS_ADDR_LINKLOCAL(&six)) address = &six;
    }
    if (address && ::inet_ntop(one->ifa_addr->sa_family, address, text.data(), text.size()))
      found.emplace_back(text.data());
  }
  ::freeifaddrs(all);
  // Those of version 4 first: they are shorter, and more usual.
  std::ranges::sort(found, {},
                    [](const std::string& one) { return std::pair(one.find(':') != std::string::npos, one); });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::string text;
  for (const std::string& one : found)
    if (text.size() + one.size() + 1 <= FactLimits::kValueLength) text += (text.empty() ? "" : ",") + one;
  return text;
}

}  // namespace

/// What all ports sent and received since the reading before, against what they can.
bool RasWatch::moves(const HostReading& reading) {
  std::uint64_t bytes = 0;
  double line = 0;
  for (std::size_t i = 0; i < reading.inventory->series.size(); ++i) {
    const HostSeries& series = reading.inventory->series[i];
    const bool is_bytes = series.name == "transmit_bytes" || series.name == "receive_bytes";
    if (is_bytes && series.priority == kNoPriority && reading.present[i] != 0) bytes += reading.values[i];
  }
  for (const HostPort& port : reading.inventory->ports) line += static_cast<double>(port.rate_bits_per_second) / 8;
  const Duration elapsed = read_at_ == kNever ? Duration::zero() : reading.taken - read_at_;
  const std::uint64_t before = std::exchange(bytes_, bytes);
  read_at_ = reading.taken;
  if (elapsed <= Duration::zero() || bytes <= before) return false;
  return static_cast<double>(bytes - before) / seconds(elapsed) >= quiet_rate(line);
}

void RasWatch::look(HostReading& reading, TimePoint now) {
  if (!options_.enabled || !reading.inventory) return;
  const bool is_moving = moves(reading);
  if (reading.jobs != jobs_) {
    jobs_ = reading.jobs;
    moved_ = kNever;
  }
  if (is_moving) moved_ = now;
  if (is_moving || moved_ == kNever) {
    ++silence_;
    answer_.reset();
    trouble_.clear();
  }
  const bool is_silent = !jobs_.empty() && moved_ != kNever && now - moved_ >= options_.interval;
  // The clock may have been set.
  const bool is_due = asked_ == kNever || now < asked_ || now - asked_ >= options_.interval;
  if (is_silent && is_due && !is_asking_) {
    is_asking_ = true;
    asked_ = now;
    ask_ras(context_, options_.address, [this, silence = silence_, now](Result<StuckRanks> answered) {
      is_asking_ = false;
      if (silence != silence_) return;
      trouble_ = answered ? "" : answered.error().message;
      if (!answered) return;
      answer_ = std::move(*answered);
      answered_ = now;
    });
  }
  add_facts(reading, now);
  reading.sources.push_back({"nccl", true, trouble_});
}

void RasWatch::add_facts(HostReading& reading, TimePoint now) {
  if (looked_ == kNever || now < looked_ || now - looked_ >= kAddressesInterval) {
    looked_ = now;
    addresses_ = own_addresses();
  }
  std::vector<FactValue> facts;
  if (!addresses_.empty()) facts.push_back({ConfigFact::kHostAddresses, FactSource::kNetlink, addresses_});
  if (answer_) facts.push_back({ConfigFact::kNcclRanks, FactSource::kNccl, to_text(*answer_)});
  if (facts.empty()) return;
  std::string said;
  for (const FactValue& fact : facts) said += fact.value + '\n';
  if (!told_ || base_ != reading.facts || said != said_) {
    base_ = reading.facts;
    said_ = std::move(said);
    FactTable table = base_ ? *base_ : FactTable();
    const auto host = std::ranges::find_if(table.ports, [](const PortFacts& port) { return port.device.empty(); });
    if (host == table.ports.end())
      table.ports.push_back({{}, 0, std::move(facts)});
    else
      host->facts.insert(host->facts.end(), facts.begin(), facts.end());
    told_ = std::make_shared<const FactTable>(tidy(std::move(table)));
  }
  reading.facts = told_;
  reading.facts_at = std::max(reading.facts_at, answer_ ? answered_ : reading.facts_at);
  if (reading.facts_at == kNever) reading.facts_at = now;
}

}  // namespace weft::collector
