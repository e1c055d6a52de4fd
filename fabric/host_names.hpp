// SPDX-License-Identifier: Apache-2.0
#pragma once
// When two names are names of one host. Every list, window and plan that compares hosts asks here.

#include <span>
#include <string>
#include <string_view>

namespace weft {

/// Equal but for case (of ASCII letters).
bool same_name(std::string_view a, std::string_view b);
/// One text for all names that are same_name(): in lower case.
std::string folded_name(std::string_view name);
/// "dgx-07" of "DGX-07.example.org": lower case, up to the first dot.
std::string short_host_name(std::string_view host);
/// Whether both may be names of one host: equal but for case, or one is the other without its domain. Empty names are
/// nobody's.
bool same_host(std::string_view a, std::string_view b);
/// The first of `others` whose node a scheduler's node of these names may be too; empty: it is the node of `host`. The
/// full name of `host` among the names says so for sure.
std::string_view first_other_host(std::span<const std::string> node_names, std::string_view host,
                                  std::span<const std::string> others);
/// Whether an adapter's description is one that no host wrote: its maker's ("MT4123 ConnectX6   Mellanox
/// Technologies"), or that of a host which did not know its own name yet ("localhost mlx5_0", "(none) mlx5_0";
/// rdma-ndd(8) writes "hostname device").
bool is_nobodys_description(std::string_view description);

}  // namespace weft
