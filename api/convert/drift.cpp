// SPDX-License-Identifier: Apache-2.0
#include "api/convert/drift.hpp"

#include "api/convert/incidents.hpp"
#include "api/convert/times.hpp"
#include "api/publication/utf8.hpp"
#include "fabric/drift_report.hpp"

namespace weft::api {

static_assert(v1::DriftDifference::DIFFERS == static_cast<int>(ConfigDriftState::kDiffers) + 1);
static_assert(v1::DriftDifference::NOT_AS_EXPECTED == static_cast<int>(ConfigDriftState::kNotAsExpected) + 1);

namespace {

void fill_drift(const DriftDifference& from, v1::DriftDifference& to) {
  const ConfigFactRow& row = row_of(from.fact);
  to.set_fact(row.name);
  to.set_unit(row.unit);
  to.set_state(static_cast<v1::DriftDifference::State>(static_cast<int>(from.state) + 1));
  to.set_group(valid_utf8(from.group));
  to.set_expected(valid_utf8(from.expected));
  to.set_members(from.members);
  to.set_hosts(from.hosts);
  to.set_values_left_out(from.values_left_out);
  to.set_differing(from.differing);
  to.set_young(from.young);
  for (const DriftValue& value : from.values) {
    v1::DriftValue& one = *to.add_values();
    one.set_value(valid_utf8(value.value));
    one.set_count(value.count);
  }
  for (const DriftHolder& holder : from.holders) {
    v1::DriftHolder& one = *to.add_holders();
    to_proto(holder.where, *one.mutable_where());
    one.set_host(valid_utf8(holder.where.host));
    one.set_value(valid_utf8(holder.value));
    if (holder.since != kNever) set_timestamp(*one.mutable_since(), holder.since);
    one.set_young(holder.is_young);
  }
}

/// "board MT_1, hosts gpu-#" of "firmware of adapters of board MT_1, hosts gpu-#".
std::string group_of(const std::string& label) {
  for (const std::string_view before : {std::string_view(" of adapters of "), std::string_view(" of ports of ")})
    if (const std::size_t at = label.find(before); at != std::string::npos) return label.substr(at + before.size());
  return {};
}

}  // namespace

Result<v1::GetDriftResponse> get_drift(const Snapshot& snapshot, const v1::GetDriftRequest& request) {
  const auto wanted = parse_config_fact(request.fact());
  if (!request.fact().empty() && !wanted)
    return fail(ErrorCode::kInvalidArgument, "no fact named " + valid_utf8(request.fact()));
  v1::GetDriftResponse response;
  // Before the first judgement nothing is known, which is not that nothing differs.
  if (!snapshot.drift) return response;
  const DriftReport& report = *snapshot.drift;
  v1::DriftSummary& summary = *response.add_summaries();
  summary.set_enabled(report.is_enabled);
  summary.set_hosts(report.hosts);
  summary.set_groups(report.groups);
  summary.set_agreed(report.agreed);
  summary.set_small(report.small);
  summary.set_unjudged_ports(report.unjudged);
  summary.set_untold_settings(report.untold);
  summary.set_left_out(report.left_out);
  for (const DriftDifference& difference : report.differences)
    if (!wanted || difference.fact == *wanted) fill_drift(difference, *response.add_differences());
  return response;
}

void add_differences_of(const Snapshot& snapshot, const Entity& cause,
                        google::protobuf::RepeatedPtrField<v1::DriftDifference>& to) {
  if (!snapshot.drift) return;
  // "firmware|…", and "firmware of adapters of board MT_1, hosts gpu-#": of that group each place in the host may
  // differ.
  const std::string fact = cause.device.substr(0, cause.device.find('|'));
  for (const DriftDifference& difference : snapshot.drift->differences) {
    const bool is_ends = difference.state == ConfigDriftState::kEndsDiffer;
    if (is_ends != (cause.kind == EntityKind::kLink)) continue;
    if (is_ends ? difference.group != cause.label : fact != row_of(difference.fact).name) continue;
    if (!is_ends) {
      const std::string wanted = group_of(cause.label);
      if (wanted.empty() || (difference.group != wanted && !difference.group.starts_with(wanted + ", "))) continue;
    }
    fill_drift(difference, *to.Add());
  }
}

}  // namespace weft::api
