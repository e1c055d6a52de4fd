// SPDX-License-Identifier: Apache-2.0
#include "analyzer/hangs/rank_reports.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(',');
    if (end != 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

}  // namespace

void RankReports::set_addresses(const std::string& host, Told& told, std::vector<std::string> addresses) {
  for (const std::string& address : told.addresses) {
    const auto found = hosts_of_address_.find(address);
    if (found == hosts_of_address_.end()) continue;
    found->second.erase(host);
    if (found->second.empty()) hosts_of_address_.erase(found);
  }
  for (const std::string& address : addresses) hosts_of_address_[address].insert(host);
  told.addresses = std::move(addresses);
}

void RankReports::take(const std::string& host, const HostReading& reading) {
  const auto known = told_.find(host);
  if (known != told_.end() ? known->second.facts == reading.facts : !reading.facts) return;
  const PortFacts* const facts = reading.facts ? find_facts(*reading.facts, {}, 0) : nullptr;
  const FactValue* const addresses = facts ? find_fact(*facts, ConfigFact::kHostAddresses) : nullptr;
  const FactValue* const ranks = facts ? find_fact(*facts, ConfigFact::kNcclRanks) : nullptr;
  if (known == told_.end() && !addresses && !ranks) return;
  Told& told = told_[host];
  told.facts = reading.facts;
  set_addresses(host, told, addresses ? split(addresses->value) : std::vector<std::string>());
  told.ranks = ranks ? parse_stuck_ranks(ranks->value) : std::nullopt;
  told.text = ranks ? ranks->value : std::string();
  told.at = reading.facts_at;
}

void RankReports::forget(const std::string& host) {
  const auto known = told_.find(host);
  if (known == told_.end()) return;
  set_addresses(host, known->second, {});
  told_.erase(known);
}

std::optional<RankSuspect> RankReports::find(std::string_view job, const std::vector<const HostWatch*>& members,
                                             const Hosts& hosts) const {
  struct Vote {
    StuckRank rank;
    std::size_t hosts = 0;
    const HostWatch* by = nullptr;
    const Told* told = nullptr;
  };
  std::map<std::string_view, Vote> votes;  // by address
  std::size_t of[3] = {};                  // hosts by trouble, by the report that lists most
  for (const HostWatch* const member : members) {
    const auto told = told_.find(member->name);
    if (told == told_.end() || !told->second.ranks) continue;
    std::size_t listed[3] = {};
    for (const StuckRank& rank : told->second.ranks->stuck) {
      ++listed[static_cast<std::size_t>(rank.trouble)];
      Vote& vote = votes[rank.host];
      if (vote.hosts == 0 || rank.trouble > vote.rank.trouble) vote = {rank, vote.hosts, member, &told->second};
      ++vote.hosts;
    }
    if (!told->second.ranks->stuck.empty())
      listed[static_cast<std::size_t>(told->second.ranks->stuck.back().trouble)] += told->second.ranks->more;
    for (std::size_t i = 0; i < 3; ++i) of[i] = std::max(of[i], listed[i]);
  }
  if (votes.empty()) return std::nullopt;
  const auto& [address, best] = *std::ranges::max_element(
      votes, {}, [](const auto& entry) { return std::pair(entry.second.rank.trouble, entry.second.hosts); });
  RankSuspect suspect{.rank = best.rank,
                      .hosts = std::max<std::size_t>(1, of[static_cast<std::size_t>(best.rank.trouble)])};
  const auto named = hosts_of_address_.find(address);
  if (named != hosts_of_address_.end() && named->second.size() == 1) {
    const auto host = hosts.find(*named->second.begin());
    if (host != hosts.end() && std::ranges::find(host->second.jobs, job) != host->second.jobs.end())
      suspect.host = &host->second;
  }
  suspect.evidence = fact("nccl_ranks", "NCCL on " + best.by->name + " said: " + best.told->text, best.told->at,
                          collector_of(best.by->name));
  return suspect;
}

}  // namespace weft::analyzer
