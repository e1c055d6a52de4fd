// SPDX-License-Identifier: Apache-2.0
#include "fabric/acceptance.hpp"

#include <algorithm>
#include <charconv>

#include "fabric/host_names.hpp"
#include "fabric/list_text.hpp"
#include "fabric/names.hpp"

namespace weft {
namespace {

constexpr std::array<const char*, 5> kAcceptanceVerdicts{"PASS", "FAIL", "NOT_YET", "NOT_MEASURED", "INCOMPLETE"};
constexpr std::array<const char*, kAcceptanceKinds> kAcceptanceKindNames{
    "PRESENCE",  "CABLING",       "LINK_RATE",   "BIT_ERRORS", "FEC",    "ERRORS",
    "INCIDENTS", "CONFIGURATION", "TEMPERATURE", "PCIE",       "BALANCE"};
constexpr std::array<const char*, kAcceptanceKinds> kAcceptanceKindWords{
    "links that are up", "cabling",       "width and speed", "bit error rate", "error correction",  "errors",
    "open troubles",     "configuration", "temperature",     "PCIe",           "balance of uplinks"};
constexpr std::array<const char*, 3> kAcceptanceTargets{"host", "switch", "link"};
constexpr std::size_t kMostNamedTargets = 4;

}  // namespace

const char* to_string(AcceptanceVerdict verdict) {
  return name_of(kAcceptanceVerdicts, verdict);
}
std::optional<AcceptanceVerdict> parse_acceptance_verdict(std::string_view text) {
  return parse_name<AcceptanceVerdict>(kAcceptanceVerdicts, text);
}

const char* to_string(AcceptanceKind kind) {
  return name_of(kAcceptanceKindNames, kind);
}
std::optional<AcceptanceKind> parse_acceptance_kind(std::string_view text) {
  return parse_name<AcceptanceKind>(kAcceptanceKindNames, text);
}
const char* words_of(AcceptanceKind kind) {
  return name_of(kAcceptanceKindWords, kind);
}
bool is_required(AcceptanceKind kind) {
  switch (kind) {
    case AcceptanceKind::kPresence:
    case AcceptanceKind::kLinkRate:
    case AcceptanceKind::kBitErrors:
    case AcceptanceKind::kErrors:
    case AcceptanceKind::kIncidents:
      return true;
    default:
      return false;
  }
}

const char* to_string(AcceptanceTargetKind kind) {
  return name_of(kAcceptanceTargets, kind);
}
std::optional<AcceptanceTargetKind> parse_acceptance_target_kind(std::string_view text) {
  return parse_name<AcceptanceTargetKind>(kAcceptanceTargets, text);
}

AcceptanceVerdict verdict_of(const std::vector<AcceptanceCheck>& checks) {
  const auto any = [&checks](AcceptanceVerdict verdict) {
    return std::ranges::find(checks, verdict, &AcceptanceCheck::verdict) != checks.end();
  };
  if (any(AcceptanceVerdict::kFail)) return AcceptanceVerdict::kFail;
  if (any(AcceptanceVerdict::kNotYet)) return AcceptanceVerdict::kNotYet;
  const bool lacks = std::ranges::any_of(checks, [](const AcceptanceCheck& check) {
    return is_required(check.kind) && check.verdict != AcceptanceVerdict::kPass;
  });
  return lacks || checks.empty() ? AcceptanceVerdict::kIncomplete : AcceptanceVerdict::kPass;
}

std::string acceptance_name(std::uint64_t id) {
  return "ACC-" + std::to_string(id);
}

std::optional<std::uint64_t> parse_acceptance_name(std::string_view text) {
  if (text.size() > 4 && same_name(text.substr(0, 4), "ACC-")) text.remove_prefix(4);
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size() || id == 0) return std::nullopt;
  return id;
}

std::string targets_text(const AcceptanceRun& run) {
  if (run.targets.empty()) return run.fabric.empty() ? "everything" : "everything of fabric " + run.fabric;
  std::string text;
  for (const AcceptanceTargetKind kind :
       {AcceptanceTargetKind::kHost, AcceptanceTargetKind::kSwitch, AcceptanceTargetKind::kLink}) {
    std::vector<std::string> names;
    for (const AcceptanceTarget& target : run.targets)
      if (target.kind == kind) names.push_back(target.name);
    if (names.empty()) continue;
    const std::string plural = kind == AcceptanceTargetKind::kSwitch ? "es " : "s ";
    text += (text.empty() ? "" : ", ") + std::string(to_string(kind)) + (names.size() == 1 ? " " : plural) +
            name_list(names, kMostNamedTargets);
  }
  return text;
}

}  // namespace weft
