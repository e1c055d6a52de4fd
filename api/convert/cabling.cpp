// SPDX-License-Identifier: Apache-2.0
#include "api/convert/cabling.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "api/convert/times.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/utf8.hpp"

namespace weft::api {
namespace {

/// Five lists of that many, of all subnets of a host, stay below gRPC's usual limit of 4 MiB.
constexpr std::size_t kMostDifferences = 1000;
/// Each has a sentence besides.
constexpr std::size_t kMostIgnored = 100;

template <typename Entry, typename Add>
void list_first(const std::vector<Entry>& entries, Add add, std::size_t most = kMostDifferences) {
  for (std::size_t i = 0; i < std::min(most, entries.size()); ++i) add(entries[i]);
}

void fill_found(const FoundCabling& from, v1::CablingDifferences& to) {
  to.set_is_found(true);
  to.set_found_links(static_cast<std::uint32_t>(from.cables));
  to.set_unclear_count(static_cast<std::uint32_t>(from.unclear.size()));
  const auto add_unclear = [&](const UnclearNeighbour& one) {
    v1::CablingDifferences::Unclear& unclear = *to.add_unclear();
    unclear.set_where(valid_utf8(one.where));
    unclear.set_told(valid_utf8(one.told));
    unclear.set_why(valid_utf8(one.why));
  };
  list_first(from.unclear, add_unclear, kMostIgnored);
  to.set_old_count(static_cast<std::uint32_t>(from.old.size()));
  list_first(from.old, [&](const OldCable& cable) {
    v1::CablingDifferences::Old& old = *to.add_old();
    old.set_a(valid_utf8(cable.a));
    old.set_b(valid_utf8(cable.b));
    if (cable.told != kNever) set_timestamp(*old.mutable_told(), cable.told);
  });
}

void fill_differences(const FabricView& view, v1::CablingDifferences& to) {
  to.set_fabric(valid_utf8(view.name));
  if (view.sweep && view.sweep->found) fill_found(*view.sweep->found, to);
  if (!view.cabling) return;
  to.set_is_planned(true);
  const CablingDifferences& from = *view.cabling;
  const auto port = [&view](const NamedPort& named, v1::PortReference& reference) {
    reference.set_node(valid_utf8(named.node));
    // The plan of a node that was never seen may have its name only.
    if (view.sweep && view.sweep->topology && view.sweep->topology->find_node(named.key.node) != kNoIndex)
      reference.set_node_guid(to_string(named.key.node));
    reference.set_port(named.key.port.value);
    reference.set_name(valid_utf8(named.name));
  };
  const auto ends = [&port](const NamedLink& link, v1::CablingDifferences::Ends& both) {
    port(link.a, *both.mutable_a());
    port(link.b, *both.mutable_b());
  };
  to.set_planned_links(static_cast<std::uint32_t>(from.planned_links));
  to.set_compared_links(static_cast<std::uint32_t>(from.compared_links));
  to.set_missing_count(static_cast<std::uint32_t>(from.missing.size()));
  list_first(from.missing, [&](const NamedLink& link) { ends(link, *to.add_missing()); });
  to.set_down_count(static_cast<std::uint32_t>(from.down.size()));
  list_first(from.down, [&](const NamedLink& link) { ends(link, *to.add_down()); });
  to.set_unplanned_count(static_cast<std::uint32_t>(from.unplanned.size()));
  list_first(from.unplanned, [&](const NamedLink& link) { ends(link, *to.add_unplanned()); });
  to.set_misled_count(static_cast<std::uint32_t>(from.misled.size()));
  list_first(from.misled, [&](const MisledLink& link) {
    v1::CablingDifferences::Misled& misled = *to.add_misled();
    port(link.found.a, *misled.mutable_a());
    port(link.found.b, *misled.mutable_b());
    if (link.a_expects) port(*link.a_expects, *misled.mutable_a_expects());
    if (link.b_expects) port(*link.b_expects, *misled.mutable_b_expects());
  });
  to.set_absent_node_count(static_cast<std::uint32_t>(from.absent_nodes.size()));
  list_first(from.absent_nodes, [&](const std::string& name) { to.add_absent_nodes(valid_utf8(name)); });
  to.set_ignored_count(static_cast<std::uint32_t>(from.ignored.size()));
  const auto add_ignored = [&](const IgnoredCable& cable) {
    v1::CablingDifferences::Ignored& ignored = *to.add_ignored();
    ignored.set_line(static_cast<std::uint32_t>(cable.line));
    ignored.set_cable(valid_utf8(cable.cable));
    ignored.set_why(valid_utf8(cable.why));
  };
  list_first(from.ignored, add_ignored, kMostIgnored);
}

}  // namespace

Result<v1::GetCablingDifferencesResponse> cabling_differences(const Snapshot& snapshot, std::string_view fabric) {
  if (!fabric.empty() && std::ranges::find(snapshot.fabrics, fabric, &FabricView::name) == snapshot.fabrics.end())
    return fail(ErrorCode::kNotFound, "no fabric named " + valid_utf8(fabric));
  v1::GetCablingDifferencesResponse response;
  for (const FabricView& view : snapshot.fabrics)
    if ((view.cabling || (view.sweep && view.sweep->found)) && (fabric.empty() || view.name == fabric))
      fill_differences(view, *response.add_fabrics());
  say_if_unswept(snapshot, response);
  return response;
}

}  // namespace weft::api
