// SPDX-License-Identifier: Apache-2.0
#pragma once
// A small fabric with a scheduler, and everything that can go wrong between them and a book of plans. The state is the
// truth; what the book is told of it is another matter.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/remedy/plan_manager.hpp"
#include "fabric/snapshot.hpp"
#include "tests/remedies/missing_watch.hpp"
#include "tests/remedies/shape.hpp"

namespace weft::remedies {

/// Who took a target out of service.
enum class Holder : std::uint8_t { kNobody, kWeft, kSomebodyElse };

/// How others let a subnet manager avoid a link, which stays up: by what Weft may do as well, or in another way.
enum class Avoided : std::uint8_t { kByCost, kByPort };

/// Who reports a host's adapter.
enum class Reported : std::uint8_t { kByItself, kByNobody, kByTwo };

/// A small generator: sequences are many and short.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {}
  std::uint64_t next() {  // splitmix64 (Steele, Lea and Flood, OOPSLA'14)
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  unsigned below(unsigned limit) { return static_cast<unsigned>(next() % limit); }
  bool one_in(unsigned n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

/// One change of the world that was asked for, as the world saw it.
struct Act {
  RemedyOrder order;
  Holder before = Holder::kNobody;
  bool is_link = false;
  unsigned index = 0;
};

/// The truth.
class World {
 public:
  World(const Shape& shape, TimePoint now);

  const Shape& shape() const { return *shape_; }
  TimePoint now() const { return now_; }
  void pass(Duration time);
  /// Somebody sets the clock, forward or back: nothing passes.
  void set(Duration by) { now_ += by, set_ += by; }
  /// By how much it has been set.
  Duration set() const { return set_; }
  /// Time that passed, by no clock that can be set.
  Duration steady() const { return now_.time_since_epoch() - set_; }

  // Faults and repairs. An incident follows at once; one that is over resolves at once.
  void fault(unsigned link, IncidentKind kind, bool two_signals);
  void repair(unsigned link);
  /// One of its two adapters, so that two incidents may hurt it; either may be over first.
  void break_host(unsigned host, unsigned adapter);
  void mend_host(unsigned host, unsigned adapter);
  void somebody_takes(bool is_link, unsigned index);
  void somebody_gives_back(bool is_link, unsigned index);
  /// A port does not say who disabled it: it reads as if weft had.
  void somebody_disables(unsigned link) { set(true, link, Holder::kSomebodyElse), disabled_by_hand_ |= 1U << link; }
  /// Nobody can tell any more who disabled it: it counts as weft's.
  void take_as_ours(unsigned link) { links_[link] = Holder::kWeft, disabled_by_hand_ &= ~(1U << link); }
  /// The order is to disable the port of a link that is disabled, by whomever: nothing is sent then.
  bool is_disabled(const RemedyOrder& order) const;
  bool is_disabled_by_hand(unsigned link) const { return (disabled_by_hand_ >> link & 1U) != 0; }
  /// A weftd with another store drains the host and leaves its mark there.
  void another_weftd_takes(unsigned host);
  /// Hosts' names are claims: their collectors, which come, go and repeat each other, say who has which adapter.
  void report(unsigned host, Reported how);
  /// One adapter gets another name: that of another host, as on a cloned image, or one that no host has. nullopt: all
  /// are called after their hosts again.
  void rename(std::optional<Misnamed> adapter);
  /// Others let a manager avoid a link between switches, or no longer. False: by cost, and weft holds it.
  bool others_avoid(Avoided by, unsigned link, bool avoid);
  /// The links that others let it avoid now, a bit for each.
  std::uint32_t avoided_by_others(Avoided by) const { return avoided_[static_cast<std::size_t>(by)]; }
  /// Others drain so many hosts of the scheduler's that are not of this fabric.
  void drain_elsewhere(unsigned hosts) { drained_elsewhere_ = hosts; }
  /// The scheduler does not know these hosts, a bit for each: what they were drained for it knows again with them.
  void forget(std::uint32_t hosts) { forgotten_ = hosts; }
  std::uint32_t forgotten() const { return forgotten_; }
  bool is_forgotten(const Entity& target) const {
    const auto [is_link, index] = find(target);
    return !is_link && (forgotten_ >> index & 1U) != 0;
  }
  unsigned drained_elsewhere() const { return drained_elsewhere_; }
  /// The next sweeps do not reach these nodes, a bit for each in the order of their indices.
  void silence(std::uint32_t nodes) { silent_ = nodes; }
  std::uint32_t silent() const { return silent_; }
  /// What the subnet manager's administrator tells from the next look on.
  void set_manager(ManagerSign sign) { manager_ = sign; }
  /// As of the last look.
  ManagerSign manager_sign() const { return managers_.at(kFabric); }
  /// Since when nodes are missing in the sweeps that weftd saw.
  const MissingWatch& missing() const { return missing_; }
  /// weftd was killed and starts.
  void restarted() { missing_.restarted(); }
  /// Adapters, and so leaves, are of two rails.
  void lay_rails();
  bool has_rails() const { return fabrics_[0].places != nullptr; }
  bool is_swept() const { return fabrics_[0].sweep != nullptr; }
  /// What they say of the host, by the names of the last sweep: 0 it is who it says, 1 nobody knows, 2 somebody says
  /// otherwise.
  int doubt_about(unsigned host) const;
  void go_blind(bool blind) { blind_ = blind; }
  void place_job(const std::string& name, const std::vector<unsigned>& hosts);
  /// Leaves with a host that runs a job, as far as the last sweep and the collectors tell which adapters are its own.
  std::set<unsigned> leaves_with_job() const;
  bool is_faulty(unsigned link) const { return incident_of_link_[link] != 0; }
  /// The incidents that hurt the link or the host.
  std::set<std::uint64_t> troubles_of(bool is_link, unsigned index) const;
  /// An incident hurts the host, or the last one was over less than `span` ago.
  bool was_hurt_within(unsigned host, Duration span) const;

  /// What weftd sees. Valid until the next change.
  analyzer::RemedyView look();

  // What actuators do. A `late` action lands some time later, if nobody else has taken the target by then.
  // `by_cost`: what is read, or changed, is the cost of the link.
  TargetReading read(const Entity& target, bool by_cost);
  /// False: refused, nothing changed.
  Act act(const RemedyOrder& order, bool takes, Duration late);

  /// When it was last taken out or given back, as steady().
  Duration changed(bool is_link, unsigned index) const { return (is_link ? links_changed_ : hosts_changed_)[index]; }
  /// Something that was sent has not landed yet.
  bool awaits_landing() const { return !landing_.empty(); }
  Holder holder(bool is_link, unsigned index) const { return is_link ? links_[index] : hosts_[index]; }
  /// Which links carried, or could carry, traffic by what weftd last saw in a sweep, or read of one.
  std::uint32_t links_seen_up() const { return seen_up_ & ~known_costly_; }
  /// The same, with those whose cost is raised.
  std::uint32_t links_seen_up_at_any_cost() const { return seen_up_; }
  std::uint32_t links_up() const;
  std::pair<bool, unsigned> find(const Entity& target) const;
  /// What the link or the host is called.
  const std::string& label(bool is_link, unsigned index) const {
    return is_link ? shape_->link(index).label : shape_->host(index);
  }

 private:
  std::uint64_t open(IncidentKind kind, Entity cause, bool two_signals);
  void close(std::uint64_t id);
  void see_again();
  void show_hosts();
  void show_health(unsigned host);
  void set(bool is_link, unsigned index, Holder holder, bool costly = false);
  /// Somebody else raised the cost of a link that weft does not hold.
  bool is_cost_foreign(unsigned link) const {
    return links_[link] != Holder::kWeft && (avoided_by_others(Avoided::kByCost) >> link & 1U) != 0;
  }
  bool is_costly(unsigned link) const { return (costly_ >> link & 1U) != 0; }
  const std::string& seen_name(unsigned host) const {
    const auto& misnamed = seen_odd_.misnamed;
    return misnamed && misnamed->host == host ? misnamed->name : shape_->host(host);
  }

  const Shape* shape_;
  TimePoint now_;
  Duration set_{};
  std::vector<Holder> links_, hosts_;
  std::vector<Duration> links_changed_, hosts_changed_;
  std::uint32_t cut_ = 0;               ///< links that are physically broken
  std::uint32_t disabled_by_hand_ = 0;  ///< links that somebody disabled where weft sets them
  std::uint32_t costly_ = 0;            ///< links that weft holds up, and out of all routes
  std::uint32_t seen_up_ = 0;
  std::uint32_t known_costly_ = 0;  ///< of costly_, what weftd has seen or read
  bool blind_ = false;
  std::vector<std::uint64_t> incident_of_link_;
  std::vector<std::array<std::uint64_t, 2>> incidents_of_host_;  ///< by adapter
  std::vector<std::optional<Duration>> mended_;                  ///< by host: when its last incident ended, as steady()
  std::uint64_t next_incident_ = 1;
  std::vector<std::shared_ptr<const Incident>> incidents_;
  struct Landing {
    Duration at;  ///< as steady()
    bool is_link;
    unsigned index;
    Holder holder;
    bool costly;
  };
  std::vector<Landing> landing_;
  std::vector<Reported> reported_;
  std::optional<Misnamed> misnamed_;
  std::uint32_t silent_ = 0;
  ManagerSign manager_ = ManagerSign::kHeard;
  std::map<std::string, ManagerSign, std::less<>> managers_{{kFabric, ManagerSign::kHeard}};
  Oddities seen_odd_;                      ///< by the last sweep
  std::uint32_t drawn_up_ = 0;             ///< links of `drawn_`
  std::shared_ptr<const Topology> drawn_;  ///< the last topology with seen_odd_
  MissingWatch missing_;
  std::array<std::uint32_t, 2> avoided_{};  ///< by Avoided
  unsigned drained_elsewhere_ = 0;
  std::uint32_t forgotten_ = 0;
  std::vector<std::vector<std::string>> jobs_;  ///< of each host
  std::vector<bool> by_other_weftd_;            ///< of hosts_: that somebody is another weftd
  std::uint64_t other_mark_ = 0;                ///< its newest plan
  std::vector<std::shared_ptr<const HostView>> host_views_;
  std::vector<FabricView> fabrics_;
  std::vector<NodeHealth> health_;
};

}  // namespace weft::remedies
