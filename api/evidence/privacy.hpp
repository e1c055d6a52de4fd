// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a vendor must not see: who runs what, who decided what, and what they wrote about it.

#include "fabric/snapshot.hpp"
#include "weft/v1/evidence.pb.h"

namespace weft::api {

/// Stands for a name that was taken out.
inline constexpr const char* kSomeJob = "(a job)";
inline constexpr const char* kSomePerson = "(a person)";
/// Stands for what a person wrote.
inline constexpr const char* kSomeText = "(text left out)";

/// Takes the names of jobs and of people out of every field of the pack, and what people wrote: reasons of plans and of
/// maintenance, and whatever a person noted. How many there are stays. `snapshot`: what the pack was made of.
void hide_people(const Snapshot& snapshot, v1::EvidencePack& pack);

}  // namespace weft::api
