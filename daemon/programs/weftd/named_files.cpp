// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/named_files.hpp"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <utility>

#include "analyzer/remedy/budget.hpp"
#include "collectors/cabling/cabling_file.hpp"
#include "collectors/infiniband/topology_file.hpp"
#include "daemon/adapters/store/postgres_address.hpp"
#include "daemon/platform/runtime/command.hpp"
#include "daemon/platform/runtime/regular_file.hpp"
#include "daemon/programs/sweeper/node_names.hpp"
#include "daemon/programs/weftd/event_dispatcher.hpp"
#include "daemon/programs/weftd/input_files.hpp"
#include "daemon/programs/weftd/management_key.hpp"
#include "daemon/programs/weftd/pushed_switches.hpp"
#include "daemon/programs/weftd/remedy_setup.hpp"
#include "daemon/programs/weftd/security.hpp"
#include "daemon/programs/weftd/setting_profiles.hpp"
#include "daemon/programs/weftd/site_membership.hpp"
#include "daemon/programs/weftd/switch_watcher.hpp"

namespace weft::daemon {
namespace {

/// The text of a file with a plan of cables; fails with its path.
Result<std::string> read_plan(const std::filesystem::path& path, std::size_t most) {
  auto raw = runtime::read_regular(path, most);
  if (!raw) return raw;
  auto text = cabling::plan_text(std::move(*raw));
  if (!text) return fail(text.error().code, path.string() + ": " + text.error().message);
  return text;
}

}  // namespace

Result<ExpectedCabling> read_expected_topology(const std::filesystem::path& path) {
  constexpr std::size_t kMostBytes = 256UL << 20;
  ExpectedCabling expected;
  if (path.empty()) return expected;
  const auto text = read_plan(path, kMostBytes);
  if (!text) return tl::unexpected(text.error());
  const auto at_file = [&](const Error& error) { return fail(error.code, path.string() + ": " + error.message); };
  if (cabling::is_cabling(*text)) {
    auto plan = cabling::parse_subnet_cabling(*text);
    if (!plan) return at_file(plan.error());
    expected.by_name = std::make_shared<const CablePlan>(std::move(*plan));
    return expected;
  }
  if (!infiniband::is_topology_file(*text))
    return at_file(
        {ErrorCode::kInvalidArgument,
         "neither ibnetdiscover's output, a DOT graph, nor a table of cables, whose first line names node and "
         "port of both ends"});
  auto topology = infiniband::parse_topology_file(*text);
  if (!topology) return at_file(topology.error());
  expected.by_guid = std::make_shared<const Topology>(std::move(*topology));
  return expected;
}

namespace {

Result<CablePlan> read_ethernet_plan(const config::Ethernet& config) {
  const auto text = read_plan(config.cabling, cabling::CablingLimits::kMostBytes);
  if (!text) return tl::unexpected(text.error());
  auto plan = cabling::parse_cabling(*text, config.switch_port_pattern);
  if (!plan) return fail(plan.error().code, config.cabling.string() + ": " + plan.error().message);
  return plan;
}

}  // namespace

Result<ExpectedCabling> read_expected_ethernet(const config::Ethernet& config) {
  ExpectedCabling expected;
  if (!config.discovery || config.cabling.empty()) return expected;
  auto plan = read_ethernet_plan(config);
  if (!plan) return tl::unexpected(plan.error());
  expected.by_name = std::make_shared<const CablePlan>(std::move(*plan));
  return expected;
}

Result<analyzer::EthernetFabric> read_ethernet_fabric(const config::Ethernet& config) {
  if (config.discovery)
    return analyzer::EthernetFabric::find({config.switch_port_pattern, config.ignored_interfaces}, config.fabric,
                                          config.interval);
  const auto plan = read_ethernet_plan(config);
  if (!plan) return fail(ErrorCode::kInvalidArgument, plan.error().message);
  auto fabric = analyzer::EthernetFabric::make(*plan, config.fabric, config.interval);
  if (!fabric) return fail(fabric.error().code, config.cabling.string() + ": " + fabric.error().message);
  return fabric;
}

store::StoreOptions store_options(const config::WeftdConfig& config) {
  return {.history_interval = config.store.history_interval,
          .history_retention = config.store.history_retention,
          .max_history_bytes = config.store.max_history_bytes.value,
          .incident_retention = config.store.incident_retention,
          .plan_retention = analyzer::longest_memory(config.remedy.limits),
          .url = config.store.url,
          .stands_by = true,
          .shares_history = config.store.history_shared,
          .shard = config.site.shard};
}

store::HistoryPlace history_place(const config::WeftdConfig& config) {
  const bool is_shared = config.store.history_shared && !config.store.url.empty();
  return {config.state_dir, is_shared ? store::shard_url(config.store.url, config.site.shard) : ""};
}

std::string store_name(const config::WeftdConfig& config) {
  if (config.store.url.empty()) return config.state_dir.string();
  const auto address = store::parse_postgres_address(store::shard_url(config.store.url, config.site.shard));
  return address ? address->name : "PostgreSQL";
}

namespace {

/// What is wrong with [security]'s files, by parts that are of use alone, so that one that is wrong hides no other.
std::vector<Error> check_security_files(const config::Security& security, const config::Doubts& doubts, TimePoint now) {
  config::Security tokens;
  tokens.tokens_file = security.tokens_file;
  std::vector<config::Security> parts{tokens};
  if (!doubts.within("security.")) {
    config::Security tls = security;
    tls.tokens_file.clear();
    tls.proxy = {};
    config::Security proxy;
    proxy.proxy = security.proxy;
    parts.insert(parts.end(), {tls, proxy});
  }
  std::vector<Error> errors;
  for (const config::Security& part : parts)
    if (const auto read = read_security(part, now); !read) errors.push_back(read.error());
  return errors;
}

/// Both, but without those of `errors` that tell once more of a file that cannot be read.
std::vector<Error> with_unreadable(std::vector<UnreadableFile> files, const std::vector<Error>& errors) {
  const auto repeats = [&files](const Error& error) {
    return std::ranges::any_of(
        files, [&](const UnreadableFile& each) { return config::names(error.message, each.path.string()); });
  };
  std::vector<Error> others;
  std::ranges::remove_copy_if(errors, std::back_inserter(others), repeats);
  std::vector<Error> all;
  for (UnreadableFile& file : files) all.push_back(std::move(file.error));
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace

std::vector<Error> check_named_files(const config::WeftdConfig& config, const config::Doubts& doubts,
                                     const Clock& clock) {
  if (doubts.all) return {};
  std::vector<Error> errors;
  const auto check = [&errors](const auto& read) {
    if (!read) errors.push_back(read.error());
  };
  const auto check_all = [&errors](std::vector<Error> found) {
    for (Error& error : found) errors.push_back(std::move(error));
  };
  check(read_expected_topology(config.infiniband.expected_topology));
  check(sweeper::read_node_names(config.infiniband.node_name_map));
  check(read_management_key(config.infiniband.management_key_file));
  if (!doubts.within("ethernet.")) {
    if (config.ethernet.is_watched()) check(read_ethernet_fabric(config.ethernet));
    check(read_expected_ethernet(config.ethernet));
  }
  if (!doubts.within("gnmi.")) check_all(check_gnmi_files(config.gnmi));
  if (config.otlp.is_taken() && !doubts.within("otlp.")) check(read_metric_names(config.otlp));
  check(read_profiles(config.drift_profiles_file));
  check_all(check_security_files(config.security, doubts, clock.now()));
  if (!doubts.within("remedy.")) {
    std::vector<Error> failures;
    static_cast<void>(make_remedy_options(config, clock, &failures));
    check_all(std::move(failures));
  }
  if (const std::string program = config.remedy.infiniband_port.program.string();
      config.infiniband.enabled && !program.empty())
    if (const auto found = runtime::find_program(std::filesystem::absolute(program).string(), ""); !found)
      errors.push_back({ErrorCode::kNotFound,
                        "remedy.infiniband_port.program: " + found.error().message + ", or it is not executable"});
  if (!doubts.within("site.")) check(check_site_files(config.site));
  if (const api::Publication nothing; !doubts.within("events.")) check(EventDispatcher::make(config, nothing, clock));
  if (!doubts.within("store.") && !doubts.within("site.") && !doubts.within("state_dir")) {
    const auto store = store::check_store(config.state_dir, store_options(config));
    check(store);
    if (store && !store->empty()) std::cout << *store << ".\n";
  }
  return with_unreadable(unreadable(input_files(config)), std::move(errors));
}

void warn_of_account(const config::WeftdConfig& config, std::ostream& out) {
  for (const std::string& sentence : unreadable_to("weft", input_files(config))) out << "warning: " << sentence << '\n';
}

}  // namespace weft::daemon
