// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/evidence_service.hpp"

#include <utility>

#include "api/evidence/evidence.hpp"
#include "api/grpc/site_call.hpp"

namespace weft::api {

grpc::ServerUnaryReactor* EvidenceService::GetEvidence(grpc::CallbackServerContext* context,
                                                       const v1::GetEvidenceRequest* request,
                                                       v1::EvidencePack* response) {
  static const EvidenceSource kNobody{};
  const auto make = [source = source_ != nullptr ? source_ : &kNobody, desk = desk_, snapshot = publication_.load(),
                     now = clock_.now()](const v1::GetEvidenceRequest& asked, const TakeEvidence& take) {
    make_evidence(*source, desk, snapshot, asked, now, take);
  };
  return ask_site(response, [&](auto done) {
    if (is_for_site(site_, *context)) return site_->get_evidence(*request, make, std::move(done));
    make(*request, std::move(done));
  });
}

}  // namespace weft::api
