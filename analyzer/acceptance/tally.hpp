// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts how ports fare in one check, and what that means for their hosts.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/acceptance.hpp"

namespace weft::analyzer {

/// How hosts fare over all checks.
class HostVerdicts {
 public:
  /// The host is one of those that are judged.
  void add(std::string_view host) { hosts_.try_emplace(std::string(host)); }
  /// Something of that host fares so in a check of that kind. Nothing of a host that was not added.
  void note(std::string_view host, AcceptanceKind kind, AcceptanceVerdict verdict);
  /// Sorted by name.
  std::vector<AcceptanceHost> verdicts() const;

 private:
  struct Seen {
    bool failed = false, unfinished = false, lacks = false;
  };
  std::map<std::string, Seen, std::less<>> hosts_;
};

/// One check while its ports are looked at.
class Tally {
 public:
  /// `hosts` must outlive it.
  Tally(AcceptanceKind kind, std::string limit, std::string source, HostVerdicts& hosts);

  /// One more that is as it should be.
  void pass() { ++check_.passed; }
  /// One that is not, or of which it is not known. `told`: one sentence without a full stop.
  void add(AcceptancePort port);
  /// The same of one that failed.
  void fail(std::string port, std::string_view host, std::string told) {
    add({AcceptanceVerdict::kFail, std::move(port), std::string(host), std::move(told)});
  }
  /// The same of one that nothing tells of.
  void not_measured(std::string port, std::string_view host, std::string told) {
    add({AcceptanceVerdict::kNotMeasured, std::move(port), std::string(host), std::move(told)});
  }
  /// The check: FAIL where anything failed, else NOT_YET where anything is unfinished, else NOT_MEASURED where anything
  /// was not measured or nothing was looked at, else PASS. `nothing`: what is said where there was nothing to look at.
  AcceptanceCheck finish(std::string nothing) &&;

 private:
  AcceptanceCheck check_;
  std::vector<AcceptancePort> unfinished_, unmeasured_;
  HostVerdicts& hosts_;
};

}  // namespace weft::analyzer
