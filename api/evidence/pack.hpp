// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a snapshot knows about the subject of an evidence pack, as a message. Pure: no I/O, `now` passed in.

#include <memory>
#include <optional>
#include <string>

#include "api/convert/history.hpp"
#include "api/publication/evidence_source.hpp"
#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"
#include "weft/v1/evidence.pb.h"

namespace weft::api {

/// Ports of one pack at most.
inline constexpr std::size_t kMostEvidencePorts = 64;

/// A pack without its charts, and the question for these.
struct BegunEvidence {
  v1::EvidencePack pack;
  /// Not set: there is no port of a fabric to ask for. Its ports are those of `pack`, in their order.
  std::optional<PortHistoryQuestion> history{};
};

/// All but history, document and privacy: names are as they are. Fails as make_evidence().
Result<BegunEvidence> begin_evidence(const EvidenceSource& source, std::shared_ptr<const Snapshot> snapshot,
                                     const v1::GetEvidenceRequest& request, TimePoint now);

/// Adds one sentence about what could not be told.
void note_unknown(v1::EvidencePack& pack, const std::string& sentence);
/// Puts the history of its ports into the pack, with what happened there, or why there is none.
void add_history(const PortHistoryQuestion& asked, const Result<HistoryAnswer>& answer, TimePoint now,
                 v1::EvidencePack& pack);

}  // namespace weft::api
