// SPDX-License-Identifier: Apache-2.0
#pragma once
// What could be done about an incident, and what each possibility costs.

#include <optional>
#include <vector>

#include "analyzer/remedy/cross_sections.hpp"
#include "analyzer/remedy/host_identity.hpp"
#include "analyzer/remedy/live_tree.hpp"
#include "analyzer/remedy/settings.hpp"

namespace weft::analyzer {

/// What an incident asks for.
struct Remedy {
  RemedyAction action = RemedyAction::kNothing;  ///< kIsolateLink or kDrainNode
  Entity target;
};

/// The remedy for the incident's cause: a link between switches is isolated, the host behind any other link, or with a
/// bad adapter, is drained: the host that `hosts` says the adapter is in. nullopt for what no action of ours mends: a
/// whole switch, congestion by load, our own sight, an adapter that nobody named.
std::optional<Remedy> remedy_for(const Incident& incident, const RemedyView& view, const HostIdentities& hosts);

/// The host as a target.
Entity host_entity(std::string host);
/// The cable at `port`, which must have one (Topology::link_of), as a target.
Entity link_entity(std::string fabric, const Topology& topology, PortIndex port);

/// Share (0..1) of the time of the jobs on it that an incident takes while nothing is done, and the sentence that says
/// how that was reckoned.
struct Harm {
  double ratio = 0;
  std::string explanation;
  /// Of what two harms are compared by: the ratio, and of a link with errors their rate besides, so that it is one more
  /// whole job at a rate that breaks connections. A link that loses one packet in a hundred and one that loses one in a
  /// million each take all there is to take from one flow.
  double weight = ratio;
};
/// The harm that the incident does while nothing is done.
Harm harm_of(const Incident& incident, const RemedyView& view, const RemedyLimits& limits);
/// What a link costs when it is out: losing k of U ways costs a job f · (U / (U − k) − 1) of its time, where f is the
/// share of it that it communicates. `tree` is as it is now.
Harm cost_of_isolation(LiveTree& tree, UplinkIndex uplink, const Topology& topology, const RemedyLimits& limits);
/// The same for a link of a dragonfly or a torus that carries traffic, by its cross-sections, of which there are some.
/// Traffic with a detour takes it where no cable is left, and is counted with what it then shares.
Harm cost_of_isolation(std::span<const CrossSection> sections, const RemedyLimits& limits);

/// All that could be done, "do nothing" among it, the least harm first. `tree` may be null: then the cost of isolating
/// is not known and taken to be 1. `shape`: of the same fabric, or null.
std::vector<Candidate> candidates_for(const Incident& incident, const Remedy& remedy, const RemedyView& view,
                                      LiveTree* tree, const CabledShape* shape, const RemedyLimits& limits);

}  // namespace weft::analyzer
