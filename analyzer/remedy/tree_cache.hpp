// SPDX-License-Identifier: Apache-2.0
#pragma once
// The trees of the fabrics, kept from sweep to sweep: cables change seldom, links go up and down often.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/remedy/cross_sections.hpp"
#include "analyzer/remedy/guards.hpp"
#include "analyzer/remedy/link_choice.hpp"
#include "analyzer/remedy/live_tree.hpp"
#include "analyzer/remedy/settings.hpp"
#include "fabric/graph/route_check.hpp"

namespace weft::analyzer {

/// The leaves that each job's hosts end at, on one fabric: of all adapters that bear their names or are reported by
/// their collectors. A leaf too many only asks for more to be left.
std::vector<JobLeaves> leaves_of_jobs(const FabricTree& tree, const Topology& topology,
                                      std::span<const std::shared_ptr<const HostView>> hosts);

/// Keeps one LiveTree and one route review for each fabric.
class TreeCache {
 public:
  explicit TreeCache(const CapacityLimits& limits) : limits_(limits) {}

  /// The tree of that fabric as last swept and with the jobs of now, or null when the fabric was never seen. Valid
  /// until the next call for the same fabric. Only what changed is worked out anew.
  /// `plans` and open incidents tell of links that the topology may have forgotten.
  LiveTree* tree(const std::string& fabric, const RemedyView& view, std::span<const std::shared_ptr<const Plan>> plans);
  /// The tree that tree() last gave for that fabric with those links up that are avoided, and without jobs: who has no
  /// other way goes over them. Null while there are none. Valid until the next tree() of it.
  LiveTree* with_avoided(const std::string& fabric);
  /// The same with those links up that plans hold, or may hold, and not those that partners tell to be avoided: such a
  /// link may be a way all the same, and the last one. Null while there are none.
  LiveTree* with_held(const std::string& fabric);
  /// The ports of links that partners tell to be avoided. To those that need ways such links are none.
  void set_avoided(std::vector<PortKey> ports);
  /// An end of the link is one of those.
  bool is_avoided(const Entity& link) const;
  /// What is counted in the last sweep of that fabric; nothing when it was never seen. Valid until the next call.
  const SweepCounts& counts(const std::string& fabric, const RemedyView& view);
  /// For so long nobody swept that fabric: it is no time in which anybody was seen to be missing.
  void pass_over(const std::string& fabric, Duration unseen);
  /// What kind of network that fabric is, and its cables, as of the last tree(); null when that gave none. Valid until
  /// the next tree() of it.
  const CabledShape* shape(const std::string& fabric) const;
  /// Another number each time that what a link's loss costs may have changed by what tree() gives; 0: it gave nothing.
  std::uint64_t version(const std::string& fabric) const;
  /// Chooses among bad links of that fabric, by what tree() last gave for it; null when it gave none.
  LinkChooser* chooser(const std::string& fabric);
  /// How the fabric's forwarding tables lead through its tiers, to at most kMostFollowed destinations. Null while no
  /// tables were read, or without a tree. Valid until the next call for another picture.
  const RouteReview* routes(const std::string& fabric, const RemedyView& view);
  static constexpr std::size_t kMostFollowed = 4096;
  /// Jobs that use a link: those with a leaf below it.
  std::vector<std::string> jobs_over(const std::string& fabric, UplinkIndex uplink) const;

 private:
  /// A tree in which more links are ways than in Kept::live.
  struct Wider {
    std::unique_ptr<LiveTree> tree;            ///< of Kept::tree, without jobs; made when it is first asked for
    std::shared_ptr<const Topology> topology;  ///< whose links are up in it
    std::uint64_t avoided = 0;                 ///< of which AvoidedPorts
  };
  struct Kept {
    std::shared_ptr<const Topology> topology;
    std::shared_ptr<const Places> places;
    std::vector<std::pair<PortIndex, PortIndex>> missing;
    std::vector<PortIndex> told;     ///< ends of links that partners tell to be avoided, ascending
    std::vector<PortIndex> avoided;  ///< those, and of links that plans hold, ascending
    std::unique_ptr<FabricTree> tree;
    std::unique_ptr<LiveTree> live;
    std::uint64_t version = 0;
    bool has_avoided = false;  ///< uplinks that are up, and no ways in `live`
    bool has_held = false;     ///< such that no partner tells of
    Wider with_avoided, with_held;
    std::unique_ptr<LinkChooser> chooser;
    std::vector<std::shared_ptr<const Incident>> incidents;  ///< that were looked at last, with the plans
    std::vector<std::shared_ptr<const Plan>> plans;
    std::vector<std::shared_ptr<const HostView>> hosts;  ///< whose jobs `jobs` are
    std::vector<JobLeaves> jobs;
    std::vector<NodeIndex> busy;  ///< switches with adapters of those, ascending
    FabricShape shape;
    std::optional<CabledShape> cabled;        ///< of the shape
    std::shared_ptr<const Topology> counted;  ///< where `counts` is from, with these
    std::shared_ptr<const CablingDifferences> counted_cabling;
    std::vector<std::shared_ptr<const Incident>> counted_incidents;
    std::uint64_t counted_avoided = 0, planted_avoided = 0;  ///< of which AvoidedPorts `counts` and `live` are
    SweepCounts counts;
    std::map<NodeGuid, Duration> missing_nodes;         ///< and since when, as SweepCounts::missing_since
    std::shared_ptr<const Routes> reviewed;             ///< what `review` is about
    std::shared_ptr<const Topology> reviewed_topology;  ///< … in which graph
    RouteReview review;
  };

  /// `tells_apart`: links that partners tell to be avoided are no ways in it.
  LiveTree* wider(Kept& kept, Wider& wider, bool tells_apart) const;

  CapacityLimits limits_;
  std::vector<PortKey> avoided_;  ///< ascending
  std::uint64_t avoided_changes_ = 0;
  std::map<std::string, Kept> kept_;
};

}  // namespace weft::analyzer
