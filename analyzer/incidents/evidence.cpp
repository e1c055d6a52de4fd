// SPDX-License-Identifier: Apache-2.0
#include "analyzer/incidents/evidence.hpp"

#include <algorithm>
#include <cmath>

namespace weft::analyzer {
namespace {

constexpr std::size_t kMostJobs = 64;

bool moved(double a, double b) {
  return std::abs(a - b) > 0.5 * std::max(std::abs(a), std::abs(b));
}

/// The same state, read once more: when it was first read so tells which end went first.
bool still_holds(const Evidence& known, const Evidence& found) {
  return known.window == Duration::zero() && found.window == Duration::zero() && known.value == found.value &&
         known.description == found.description;
}

}  // namespace

EvidenceNews compare_evidence(const std::vector<Evidence>& known, const std::vector<Evidence>& found) {
  EvidenceNews news;
  for (const Evidence& evidence : found) {
    const auto old = std::ranges::find_if(
        known, [&](const Evidence& e) { return e.signal == evidence.signal && e.where.same_as(evidence.where); });
    if (old == known.end())
      news.fresh = true;
    else if (moved(old->value, evidence.value))
      news.numbers = true;
  }
  return news;
}

void merge_evidence(std::vector<Evidence>& known, const std::vector<Evidence>& found, std::size_t limit,
                    bool keep_times) {
  for (const Evidence& evidence : found) {
    const auto old = std::ranges::find_if(
        known, [&](const Evidence& e) { return e.signal == evidence.signal && e.where.same_as(evidence.where); });
    if (old == known.end())
      known.push_back(evidence);
    else if (!keep_times || !still_holds(*old, evidence))
      *old = evidence;
  }
  if (known.size() > limit) {
    const auto from = known.begin() + static_cast<std::ptrdiff_t>(limit / 2);
    known.erase(from, from + static_cast<std::ptrdiff_t>(known.size() - limit));
  }
}

bool same_tree(const WaitingTree& a, const WaitingTree& b) {
  return std::ranges::equal(a.links, b.links, [](const WaitingLink& x, const WaitingLink& y) {
    return x.waits_for == y.waits_for && x.sender.same_as(y.sender);
  });
}

bool merge_jobs(std::vector<std::string>& known, const std::vector<std::string>& found) {
  const std::size_t before = known.size();
  for (const std::string& job : found)
    if (known.size() < kMostJobs && std::ranges::find(known, job) == known.end()) known.push_back(job);
  return known.size() > before;
}

}  // namespace weft::analyzer
