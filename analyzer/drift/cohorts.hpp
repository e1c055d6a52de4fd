// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who is of one make: the ports and adapters of all hosts, sorted into cohorts.
//
// Settings are compared among ports of the same board (without a board id: of the same PCI ids, without these: of the
// same driver) in hosts of the same model, settings of ports also of the same link layer. Functions made for others are
// left out, and so is what was never up: nobody sets up a port that is not used.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/drift/cohort_vote.hpp"
#include "analyzer/drift/setting_profiles.hpp"
#include "fabric/config_facts.hpp"
#include "fabric/host.hpp"

namespace weft::analyzer {

/// Makes that are told apart at most; ports of further ones are not judged.
inline constexpr std::size_t kMostCohorts = 1'024;
/// No position of Cohorts::all().
inline constexpr std::uint32_t kNoCohort = UINT32_MAX;

/// A port as its host calls it.
struct FactHolder {
  std::string host;
  std::string device;  ///< as HostPort
  std::uint8_t number = 0;

  auto operator<=>(const FactHolder&) const = default;
};

/// A fact of a port of which a profile speaks.
struct Expectation {
  std::uint32_t told = 0;     ///< position in PortFacts::facts
  std::uint32_t profile = 0;  ///< position in Cohorts::profiles()
  std::uint32_t setting = 0;  ///< position in SettingProfile::settings
};

/// One port with its facts.
struct DriftMember {
  std::string device;  ///< as HostPort
  std::uint8_t number = 0;
  std::string place;                      ///< in the host: "0000:17:00 port 1"; empty: not known
  std::uint32_t of_adapters = kNoCohort;  ///< cohort of what its adapter has; kNoCohort: another port stands for it
  std::uint32_t of_ports = kNoCohort;     ///< cohort of what the port has
  bool stands_for_adapter = false;        ///< what its adapter has counts here, and not at its other ports
  bool was_up = false;                    ///< since weftd was started
  const PortFacts* facts = nullptr;       ///< in DriftHost::table
  std::vector<TimePoint> since;           ///< of each of these facts: its value is the same for so long at least
  std::vector<Expectation> expected;      ///< those that a profile speaks of, in the order of facts
  std::uint32_t untold = 0;               ///< facts of which a profile speaks, and which it does not tell

  /// Whether a profile speaks of the fact at that position of PortFacts::facts.
  bool is_expected(std::size_t told) const {
    return std::ranges::any_of(expected, [told](const Expectation& one) { return one.told == told; });
  }
};

/// One host with a collector that tells of its configuration.
struct DriftHost {
  std::string stem;
  std::uint32_t number = 0;  ///< its own
  std::shared_ptr<const FactTable> table;
  std::shared_ptr<const HostInventory> inventory;
  std::vector<DriftMember> members;
};

/// One make.
struct Cohort {
  std::string key;            ///< text that is equal exactly for the same make
  std::string label;          ///< "board MT_0000000838 in DGXH100"
  std::uint64_t changed = 0;  ///< bit of each fact whose votes are out of date
};
static_assert(kConfigFacts <= 64);

/// Sorts hosts into cohorts.
class Cohorts {
 public:
  /// What the site wants; null: nothing. Before the first host.
  void set_profiles(std::shared_ptr<const SettingProfiles> profiles) { profiles_ = std::move(profiles); }
  /// The host's configuration, as it is now. Nothing happens when neither it nor the inventory changed.
  void take(const std::string& host, const HostReading& reading);
  /// Removes the host.
  void forget(const std::string& host);

  /// All hosts that told of their configuration.
  const std::map<std::string, DriftHost, std::less<>>& hosts() const { return hosts_; }
  /// All makes there ever were; positions are those of DriftMember.
  std::vector<Cohort>& all() { return cohorts_; }
  /// The same, to be read.
  const std::vector<Cohort>& all() const { return cohorts_; }
  /// What the site wants.
  const SettingProfiles& profiles() const;
  /// Whether a vote is out of date.
  bool has_changed() const { return has_changed_; }
  /// All votes were held.
  void held() { has_changed_ = false; }
  /// Facts of a port, or null.
  const PortFacts* find(std::string_view host, std::string_view device, std::uint8_t number) const;

 private:
  std::uint32_t cohort_of(const std::string& key, std::string label);
  void mark(const DriftMember& member, ConfigFact fact);
  void mark_all(const DriftHost& host);
  void mark_changes(const DriftMember& before, const DriftMember& now);
  std::vector<DriftMember> sort(const std::string& name, const DriftHost& host, const HostReading& reading);
  void follow_states(DriftHost& host);

  std::shared_ptr<const SettingProfiles> profiles_;
  std::map<std::string, DriftHost, std::less<>> hosts_;
  std::map<std::string, std::uint32_t, std::less<>> by_key_;
  std::vector<Cohort> cohorts_;
  std::uint32_t numbers_ = 0;
  bool has_changed_ = false;
};

}  // namespace weft::analyzer
