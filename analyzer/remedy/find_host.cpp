// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/find_host.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "analyzer/remedy/candidates.hpp"
#include "analyzer/remedy/target_lists.hpp"
#include "fabric/host_names.hpp"

namespace weft::analyzer {
namespace {

bool is_host(const Node& node) {
  return node.type == NodeType::kChannelAdapter && !node.aggregation_node;
}

/// Which of the names others than adapters bear, where some only adapters do; empty: there is nothing to tell apart.
std::string confirmed_ones(std::span<const std::string> names, const HostIdentities& hosts) {
  std::string list;
  bool all = true;
  for (const std::string& name : names) {
    if (hosts.is_confirmed_name(name))
      list += (list.empty() ? "" : ", ") + name;
    else
      all = false;
  }
  if (all || list.empty()) return {};
  return "; of these only " + list + " is confirmed by a collector or the node name map: use that name";
}

Result<Entity> find_named(std::string_view host, const HostIdentities& hosts) {
  const std::span<const std::string> names = hosts.names_like(host);
  const std::vector<std::string> others = hosts.other_hosts(names, host);
  const auto exact = std::ranges::find_if(names, [host](const std::string& name) { return same_name(name, host); });
  // The full name of one host says enough.
  if (exact != names.end() && (others.empty() || host.find('.') != std::string_view::npos)) return host_entity(*exact);
  if (!others.empty()) {
    // A short name that is one host's own as well.
    std::string list = exact != names.end() && others.size() == 1 ? hosts.with_absence(*exact) : "";
    for (const std::string& other : others) list += (list.empty() ? "" : ", ") + hosts.with_absence(other);
    if (host.find('.') == std::string_view::npos)
      return fail(ErrorCode::kInvalidArgument,
                  "'" + std::string(host) + "' matches several hosts: " + list + confirmed_ones(names, hosts));
    return fail(ErrorCode::kNotFound, "no host named '" + std::string(host) + "', but of the same short name: " + list);
  }
  const auto like = std::ranges::find_if(names, [host](const std::string& name) { return same_host(name, host); });
  if (like == names.end()) return fail(ErrorCode::kNotFound, "no host named '" + std::string(host) + "'");
  return host_entity(*like);
}

/// The host in the names of the adapters that are called so; empty: none is, or the name is but the host's. An adapter
/// whose name others confirm is who is meant, whatever more bear it.
Result<std::string> host_of_adapters(std::string_view name, const RemedyView& view, const HostIdentities& hosts) {
  Result<std::string> host;
  for (const FabricView& fabric : view.fabrics) {
    if (!fabric.sweep || !fabric.sweep->topology) continue;
    for (const Node& node : fabric.sweep->topology->nodes()) {
      if (!is_host(node) || !same_name(node.name, name) || same_name(host_name(node), name)) continue;
      const std::string claimed(host_name(node));
      if (fabric.sweep->topology->is_ethernet()) return claimed;
      const std::string real = hosts.host_of(node.guid);
      if (!same_host(real, claimed)) {
        host =
            fail(ErrorCode::kFailedPrecondition,
                 "adapter " + to_string(node.guid) + " calls itself " + node.name +
                     (real.empty() ? ", which is no host's name" : ", but the collector of " + real + " reports it") +
                     ": name the host itself");
        continue;
      }
      if (hosts.confirmed_host_of(node.guid.value)) return claimed;
      if (host) host = claimed;
    }
  }
  return host;
}

Result<std::string> host_with(std::uint64_t guid, const RemedyView& view, const HostIdentities& hosts) {
  for (const FabricView& fabric : view.fabrics) {
    if (!fabric.sweep || !fabric.sweep->topology || !fabric.sweep->topology->is_ethernet()) continue;
    const NodeIndex node = fabric.sweep->topology->find_node(NodeGuid{guid});
    if (node != kNoIndex && is_host(fabric.sweep->topology->node(node)))
      return std::string(host_name(fabric.sweep->topology->node(node)));
  }
  return hosts.confirmed_host_of(guid);
}

/// "a switch", where that is what the person named; empty: it is nothing that is known.
std::string other_kind(std::string_view text, const RemedyView& view) {
  const auto guid = written_guid(text);
  for (const FabricView& fabric : view.fabrics) {
    if (!fabric.sweep || !fabric.sweep->topology) continue;
    for (const Node& node : fabric.sweep->topology->nodes())
      if (!is_host(node) && (guid ? node.guid.value == *guid : same_name(node.name, text)))
        return node.aggregation_node ? "an aggregation node" : std::string("a ") + to_string(node.type);
  }
  return {};
}

}  // namespace

Result<Entity> find_host(std::string_view text, const RemedyView& view, const HostIdentities& hosts) {
  const auto guid = written_guid(text);
  const Result<std::string> host = guid ? host_with(*guid, view, hosts) : host_of_adapters(text, view, hosts);
  auto found = host ? find_named(host->empty() ? text : std::string_view(*host), hosts)
                    : Result<Entity>(tl::unexpected<Error>(host.error()));
  if (found || found.error().code != ErrorCode::kNotFound) return found;
  const std::string kind = other_kind(text, view);
  if (kind.empty()) return found;
  return fail(ErrorCode::kInvalidArgument, "'" + std::string(text) + "' is " + kind + ": only hosts can be drained");
}

}  // namespace weft::analyzer
