// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/publication/evidence_source.hpp"
#include "api/publication/history_desk.hpp"
#include "api/publication/publication.hpp"
#include "api/site/site_queries.hpp"
#include "fabric/clock.hpp"
#include "weft/v1/evidence.grpc.pb.h"

namespace weft::api {

/// weft.v1.EvidenceService: packs of the published snapshot and of the history.
class EvidenceService final : public v1::EvidenceService::CallbackService {
 public:
  /// Without a desk packs have no charts, and say so. `source`: null: nobody is named as the maker. `site`: null where
  /// weftd is no part of one.
  EvidenceService(const Publication& publication, const EvidenceSource* source, HistoryDesk* desk, const Clock& clock,
                  const SiteQueries* site = nullptr)
      : publication_(publication), source_(source), desk_(desk), clock_(clock), site_(site) {}

  grpc::ServerUnaryReactor* GetEvidence(grpc::CallbackServerContext* context, const v1::GetEvidenceRequest* request,
                                        v1::EvidencePack* response) override;

 private:
  const Publication& publication_;
  const EvidenceSource* const source_;
  HistoryDesk* const desk_;
  const Clock& clock_;
  const SiteQueries* const site_;
};

}  // namespace weft::api
