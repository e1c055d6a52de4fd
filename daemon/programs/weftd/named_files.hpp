// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files that the configuration of weftd names.

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/ports/ethernet_fabric.hpp"
#include "daemon/adapters/store/history_reader.hpp"
#include "daemon/adapters/store/store.hpp"
#include "daemon/config/load.hpp"
#include "fabric/clock.hpp"
#include "fabric/expected_cabling.hpp"
#include "fabric/result.hpp"

namespace weft::daemon {

/// The expected cabling of InfiniBand subnets; empty for an empty path. Fails as infiniband::parse_topology_file(), or
/// as cabling::parse_subnet_cabling() where cabling::is_cabling() finds one, with kInvalidArgument for a file of
/// another kind, as cabling::plan_text(), and as runtime::read_regular() for more than 256 MiB; the path is in the
/// message.
Result<ExpectedCabling> read_expected_topology(const std::filesystem::path& path);

/// The plan of the Ethernet fabric's cables, where they are found and a plan says what to expect; empty where there is
/// none. Fails as cabling::plan_text(), cabling::parse_cabling() and runtime::read_regular(); the path is in the
/// message.
Result<ExpectedCabling> read_expected_ethernet(const config::Ethernet& config);

/// The Ethernet fabric whose cabling is planned in the file of `config`, or is to be found. Fails as
/// cabling::plan_text(), cabling::parse_cabling() and EthernetFabric::make(), and where there is no regular file within
/// CablingLimits that can be read; the path is in the message.
Result<analyzer::EthernetFabric> read_ethernet_fabric(const config::Ethernet& config);

/// Where and how long things are kept.
store::StoreOptions store_options(const config::WeftdConfig& config);
/// Where port history is read.
store::HistoryPlace history_place(const config::WeftdConfig& config);
/// Where they are kept, for people: the state directory, or an address without a password.
std::string store_name(const config::WeftdConfig& config);

/// Opens every file that the configuration names, as at the start of weftd, and connects to its database; that it is
/// reachable is said on standard output. What is wrong with them, one error for each; nothing is changed. What depends
/// on a value in doubt is left out.
std::vector<Error> check_named_files(const config::WeftdConfig& config, const config::Doubts& doubts,
                                     const Clock& clock);
/// Where root asks: a line for each file that the user of the unit may not read, with what lets it.
void warn_of_account(const config::WeftdConfig& config, std::ostream& out);

}  // namespace weft::daemon
