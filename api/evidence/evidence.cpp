// SPDX-License-Identifier: Apache-2.0
#include "api/evidence/evidence.hpp"

#include <algorithm>
#include <utility>

#include "api/evidence/document.hpp"
#include "api/evidence/pack.hpp"
#include "api/evidence/privacy.hpp"

namespace weft::api {
namespace {

/// Of one pack: below what clients of gRPC take at once (4 MB).
constexpr std::size_t kLargestPack = 3 << 20;
constexpr std::size_t kLongestFileName = 100;

/// "weft-INC-17", "weft-leaf-1-port-12".
std::string file_name(const std::string& title) {
  std::string name = "weft-" + title.substr(0, kLongestFileName);
  std::ranges::replace_if(
      name,
      [](char c) {
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        return !is_letter && !(c >= '0' && c <= '9') && c != '.' && c != '-' && c != '_';
      },
      '-');
  return name.substr(0, kLongestFileName);
}

Result<v1::EvidencePack> finish(const Snapshot& snapshot, v1::EvidencePack pack) {
  if (!pack.with_jobs()) hide_people(snapshot, pack);
  pack.set_file_name(file_name(pack.title()));
  pack.set_html(evidence_document(pack));
  if (pack.ByteSizeLong() > kLargestPack)
    return fail(ErrorCode::kResourceExhausted, "that is more than 3 MB: ask for one port, or a shorter time");
  return pack;
}

}  // namespace

void make_evidence(const EvidenceSource& source, HistoryDesk* desk, std::shared_ptr<const Snapshot> snapshot,
                   const v1::GetEvidenceRequest& request, TimePoint now, TakeEvidence take) {
  auto begun = begin_evidence(source, snapshot, request, now);
  if (!begun) return take(tl::unexpected(std::move(begun.error())));
  if (!begun->history) return take(finish(*snapshot, std::move(begun->pack)));
  const auto kept = std::make_shared<BegunEvidence>(std::move(*begun));
  const auto go_on = [kept, snapshot, now, take = std::move(take)](const Result<HistoryAnswer>& answer) {
    add_history(*kept->history, answer, now, kept->pack);
    take(finish(*snapshot, std::move(kept->pack)));
  };
  if (desk == nullptr) return go_on(fail(ErrorCode::kUnavailable, "this weftd keeps no history"));
  desk->read(kept->history->question, go_on);
}

}  // namespace weft::api
