// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/evidence_setup.hpp"

#include "api/http/files.hpp"
#include "daemon/config/judged_by.hpp"
#include "daemon/platform/runtime/own_host.hpp"
#include "daemon/programs/weftd/page_assets.hpp"

namespace weft::daemon {

api::EvidenceSource evidence_source(const config::WeftdConfig& config, const std::string& version) {
  api::EvidenceSource source{.version = version, .host = runtime::own_host_name()};
  for (std::size_t i = 0; i < static_cast<std::size_t>(IncidentKind::kCount); ++i) {
    const auto kind = static_cast<IncidentKind>(i);
    for (const config::JudgingKey& key : config::keys_that_judge(config, kind))
      source.thresholds[kind].push_back({key.name, key.value, key.default_value, key.help});
  }
  source.page = [](std::string_view path) {
    const api::Asset* const asset = api::find_asset(page_assets(), path);
    return asset == nullptr ? std::string_view() : asset->body;
  };
  return source;
}

}  // namespace weft::daemon
