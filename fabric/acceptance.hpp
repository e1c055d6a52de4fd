// SPDX-License-Identifier: Apache-2.0
#pragma once
// Acceptance of a new or repaired fabric, rack or link: what is looked at, and what came of it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/clock.hpp"
#include "fabric/ids.hpp"

namespace weft {

/// How a port, a check, a host or a whole acceptance fares. Data that is absent is never a pass.
enum class AcceptanceVerdict : std::uint8_t {
  kPass,
  kFail,
  kNotYet,       ///< it is being measured, and can be judged later
  kNotMeasured,  ///< of a port or a check: nothing tells of it
  kIncomplete,   ///< of a host or the whole: something that must be measured cannot be
};
/// "PASS", "FAIL", "NOT_YET", "NOT_MEASURED", "INCOMPLETE".
const char* to_string(AcceptanceVerdict verdict);
/// The reverse of to_string(); nullopt for any other text.
std::optional<AcceptanceVerdict> parse_acceptance_verdict(std::string_view text);

/// What is checked.
enum class AcceptanceKind : std::uint8_t {
  kPresence,       ///< every link is up, every host and switch is there
  kCabling,        ///< cables lead where the plan has them
  kLinkRate,       ///< links run as wide and as fast as their ends can
  kBitErrors,      ///< bit error rate behind error correction
  kFec,            ///< what error correction repairs, and what it cannot
  kErrors,         ///< errors of other kinds, and links that went down
  kIncidents,      ///< nothing is wrong there by the rules of Weft
  kConfiguration,  ///< firmware, drivers and settings agree
  kTemperature,    ///< of modules
  kPcie,           ///< adapters have all lanes and the speed of their slot
  kBalance,        ///< uplinks of a switch carry alike, where there is traffic
  kCount,
};
inline constexpr std::size_t kAcceptanceKinds = static_cast<std::size_t>(AcceptanceKind::kCount);
/// "PRESENCE", "CABLING", "LINK_RATE", "BIT_ERRORS", "FEC", "ERRORS", "INCIDENTS", "CONFIGURATION", "TEMPERATURE",
/// "PCIE", "BALANCE".
const char* to_string(AcceptanceKind kind);
/// The reverse of to_string(); nullopt for any other text.
std::optional<AcceptanceKind> parse_acceptance_kind(std::string_view text);
/// "bit error rate": for sentences.
const char* words_of(AcceptanceKind kind);
/// Without it there is no PASS: a port of which it cannot be measured makes the whole INCOMPLETE.
bool is_required(AcceptanceKind kind);

/// What kind of thing a target is.
enum class AcceptanceTargetKind : std::uint8_t { kHost, kSwitch, kLink };
/// "host", "switch", "link".
const char* to_string(AcceptanceTargetKind kind);
/// The reverse of to_string(); nullopt for any other text.
std::optional<AcceptanceTargetKind> parse_acceptance_target_kind(std::string_view text);

/// A host with all its adapters, a switch with all its ports, or a link; of each cable both ends.
struct AcceptanceTarget {
  AcceptanceTargetKind kind = AcceptanceTargetKind::kHost;
  std::string name;  ///< of the host or switch; of a link the port that was named, "leaf-1 port 12"
  PortKey port{};    ///< of a switch its node, of a link one end; none of a host
  bool operator==(const AcceptanceTarget&) const = default;
};

/// One port, host or group that did not pass a check.
struct AcceptancePort {
  AcceptanceVerdict verdict = AcceptanceVerdict::kFail;
  std::string port;              ///< "leaf-1 port 12", "gpu-01 mlx5_0 port 1", "gpu-07"
  std::string host;              ///< whose it is, or whose cable ends there; empty: no host's
  std::string told;              ///< "3 symbol errors in 2 h, at least 1.2e-13 errors/bit"
  TimePoint judged_at = kNever;  ///< of kNotYet: when it can be judged; kNever: not known
  bool operator==(const AcceptancePort&) const = default;
};
/// Ports of one check that are listed; more are counted.
inline constexpr std::size_t kMostAcceptancePorts = 256;

/// One check over everything that was selected.
struct AcceptanceCheck {
  AcceptanceKind kind = AcceptanceKind::kPresence;
  AcceptanceVerdict verdict = AcceptanceVerdict::kNotMeasured;
  std::string limit;         ///< "at most 1e-14 errors/bit, at 95 % confidence"
  std::string source;        ///< where the limit is from
  std::string told;          ///< one sentence without a full stop
  std::uint32_t passed = 0;  ///< ports, hosts or groups; so are the next three
  std::uint32_t failed = 0;
  std::uint32_t unfinished = 0;
  std::uint32_t unmeasured = 0;
  TimePoint judged_at = kNever;         ///< of kNotYet: when all of it can be judged; kNever: not known
  std::vector<AcceptancePort> ports{};  ///< that did not pass, failed ones first; at most kMostAcceptancePorts
  bool operator==(const AcceptanceCheck&) const = default;
};

/// One host among what was selected, by all that is its own.
struct AcceptanceHost {
  std::string name;
  AcceptanceVerdict verdict = AcceptanceVerdict::kNotYet;  ///< never kNotMeasured
  bool operator==(const AcceptanceHost&) const = default;
};

/// What came of it, at one moment.
struct AcceptanceReport {
  AcceptanceVerdict verdict = AcceptanceVerdict::kNotYet;  ///< never kNotMeasured
  TimePoint made = kNever;
  TimePoint watched_since = kNever;  ///< the longest that any port was watched; kNever: none was
  std::uint32_t ports = 0;           ///< that were looked at
  std::vector<AcceptanceCheck> checks;
  std::vector<AcceptanceHost> hosts{};  ///< sorted by name
  bool operator==(const AcceptanceReport&) const = default;

  /// The check of that kind, or null.
  const AcceptanceCheck* find(AcceptanceKind kind) const {
    for (const AcceptanceCheck& check : checks)
      if (check.kind == kind) return &check;
    return nullptr;
  }
};

/// FAIL where anything failed; else NOT_YET while something can be judged later; else INCOMPLETE where a kind that is
/// required was not measured; else PASS. INCOMPLETE without any check.
AcceptanceVerdict verdict_of(const std::vector<AcceptanceCheck>& checks);

/// What somebody wants accepted, by what, and over which time.
struct AcceptanceRun {
  std::uint64_t id = 0;                     ///< given once, never reused: "ACC-3"; 0: only judged, not kept
  std::string fabric;                       ///< empty: all that are watched
  std::vector<AcceptanceTarget> targets{};  ///< none: everything of `fabric`
  double ber_limit = 0;                     ///< errors per bit that somebody asked for; 0: by the generation of a link
  TimePoint started = kNever;
  TimePoint until = kNever;                          ///< its readings are complete then; later after a restart of weftd
  Duration length{};                                 ///< that its ports are to be watched without a gap
  TimePoint watched_since = kNever;                  ///< its readings began, anew after a restart of weftd
  TimePoint ended = kNever;                          ///< kNever: it runs
  std::string who;                                   ///< started it
  std::string ended_by{};                            ///< empty: its time was over
  std::shared_ptr<const AcceptanceReport> report{};  ///< the last one; null: none yet

  /// It is not over.
  bool runs() const { return ended == kNever; }
  /// Enough for runs of one list.
  bool operator==(const AcceptanceRun& other) const {
    return id == other.id && ended == other.ended && watched_since == other.watched_since && report == other.report;
  }
};
/// One run as it was at some moment, shared by all who read it.
using AcceptancePtr = std::shared_ptr<const AcceptanceRun>;
/// Runs by value of their pointers; see AcceptanceListPtr for the order.
using AcceptanceList = std::vector<AcceptancePtr>;
/// Ascending by id; null is the same as empty.
using AcceptanceListPtr = std::shared_ptr<const AcceptanceList>;

/// "ACC-3".
std::string acceptance_name(std::uint64_t id);
/// Reads "ACC-3", "acc-3" or "3".
std::optional<std::uint64_t> parse_acceptance_name(std::string_view text);
/// "hosts gpu-01, gpu-02 and 30 more", "everything of fabric ib0".
std::string targets_text(const AcceptanceRun& run);

}  // namespace weft
