// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether enough is known of a fabric, and of the target in it, to decide by it.

#include <cstddef>
#include <string>

#include "analyzer/remedy/host_identity.hpp"
#include "analyzer/remedy/limits.hpp"
#include "analyzer/remedy/settings.hpp"
#include "analyzer/remedy/shape_guards.hpp"
#include "fabric/plan.hpp"

namespace weft::analyzer {

/// How many nodes the last sweep did not reach.
struct MissingNodes {
  std::size_t lately = 0;
  std::size_t gone = 0;  ///< for longer than RemedyLimits::missing_for
};

/// Guard::kFreshData. What is taken out is judged by the whole fabric: who is missing in the sweep may depend on the
/// link. A return adds a path and takes none, so a person's is judged by the ends of its link alone: the one that is
/// set must have answered, the other may be cut off by the very link. `fabric` is the target's, with a sweep; null: it
/// has none. `missing`: the nodes that sweep did not reach. `known_for`: time that passed since the sweep was
/// first seen, whatever the clock says; zero where that is not known.
Verdict judge_fresh_data(const Plan& plan, const FabricView* fabric, const MissingNodes& missing, Duration known_for,
                         const RemedyView& view, const RemedyLimits& limits);

/// How to have the subnet of `other` watched by the name that plans know, from ": " on; empty where `other` is swept
/// through no port of ours.
std::string keep_name_text(const std::string& name, const FabricView& other);

/// Guard::kSensor. An incident whose cause is a fabric puts in doubt what is seen there: of a link of that fabric; of a
/// host for whose trouble there the plan is, or that has an adapter there which no fabric free of such an incident
/// reaches, too. One without a name is of all hosts. A person's return is not held up. Of a few adapters whose counters
/// cannot be read no link is in doubt: `limits` say how many may be missing. `hosts`: of the view.
Verdict judge_sensor(const Plan& plan, const HostIdentities& hosts, const RemedyView& view, const RemedyLimits& limits);

}  // namespace weft::analyzer
