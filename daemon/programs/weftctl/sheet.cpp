// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/sheet.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace weft::ctl {
namespace {

struct Word {
  std::string_view text;
  Tone tone;
};

constexpr std::array kWords{
    Word{"CRITICAL", Tone::kBad},
    Word{"UNHEALTHY", Tone::kBad},
    Word{"DRAIN", Tone::kBad},
    Word{"DOWN", Tone::kBad},
    Word{"down", Tone::kBad},
    Word{"not up", Tone::kBad},
    Word{"DISCONNECTED", Tone::kBad},
    Word{"FAILED", Tone::kBad},
    Word{"ROLLED_BACK", Tone::kBad},
    Word{"no", Tone::kBad},
    Word{"WARNING", Tone::kWarning},
    Word{"DEGRADED", Tone::kWarning},
    Word{"UNKNOWN", Tone::kWarning},
    Word{"SILENT", Tone::kWarning},
    Word{"not read", Tone::kFaint},
    Word{"AVOID_NEW_JOBS", Tone::kWarning},
    Word{"WATCH", Tone::kWarning},
    Word{"INITIALIZE", Tone::kWarning},
    Word{"ARMED", Tone::kWarning},
    Word{"PROPOSED", Tone::kWarning},
    Word{"EXECUTING", Tone::kWarning},
    Word{"VERIFYING", Tone::kWarning},
    Word{"ROLLING_BACK", Tone::kWarning},
    Word{"HEALTHY", Tone::kGood},
    Word{"ACTIVE", Tone::kGood},
    Word{"up", Tone::kGood},
    Word{"watching", Tone::kGood},
    Word{"CONNECTED", Tone::kGood},
    Word{"COMMITTED", Tone::kGood},
    Word{"yes", Tone::kGood},
    Word{"RESOLVED", Tone::kFaint},
    Word{"EXPIRED", Tone::kFaint},
    Word{"REJECTED", Tone::kFaint},
    Word{"OVER", Tone::kFaint},
    Word{"INFO", Tone::kFaint},
};

}  // namespace

Tone tone_of(std::string_view word) {
  // "ACTIVE (stale)", "PROPOSED (refused)": what stands behind it is a reason to look.
  const std::size_t bracket = word.find(" (");
  const auto found = std::ranges::find(kWords, word.substr(0, std::min(bracket, word.size())), &Word::text);
  if (found == kWords.end()) return Tone::kNone;
  return bracket != std::string_view::npos && found->tone == Tone::kGood ? Tone::kWarning : found->tone;
}

std::string toned(std::string text, Tone tone) {
  static constexpr std::array<std::string_view, 5> kBegin{"", "\x1b[32m", "\x1b[33m", "\x1b[1;31m", "\x1b[2m"};
  if (tone == Tone::kNone || text.empty()) return text;
  return std::string(kBegin[static_cast<std::size_t>(tone)]) + std::move(text) + "\x1b[0m";
}

bool takes_colour(std::string_view wanted, bool terminal) {
  const auto says = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value ? value : "");
  };
  if (wanted != "auto") return wanted == "always";
  return terminal && says("NO_COLOR").empty() && says("TERM") != "dumb";
}

void RowMemory::begin(TimePoint now) {
  before_ = std::move(now_);
  now_.clear();
  moment_ = now;
  ++passes_;
}

bool RowMemory::changed(const std::string& key, const std::string& content) {
  std::string name = key;
  for (int copy = 2; now_.contains(name); ++copy) name = key + '\n' + std::to_string(copy);
  const auto old = before_.find(name);
  const bool same = old != before_.end() && old->second.content == content;
  const TimePoint since = same ? old->second.since : passes_ > 1 ? moment_ : kNever;
  now_[name] = {content, since};
  return since != kNever && moment_ - since < kMarked;
}

std::size_t RowMemory::gone() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(before_, [this](const auto& row) { return !now_.contains(row.first); }));
}

}  // namespace weft::ctl
