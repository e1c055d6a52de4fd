// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/site_membership.hpp"

#include <fstream>
#include <iterator>
#include <utility>

#include "api/access/tls.hpp"
#include "api/client/channel.hpp"
#include "daemon/adapters/store/lease.hpp"
#include "daemon/adapters/store/site_registry.hpp"
#include "daemon/config/value_text.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/platform/runtime/own_host.hpp"
#include "fabric/sight.hpp"

namespace weft::daemon {
namespace {

std::string host_name() {
  std::string name = runtime::own_host_name();
  return name.empty() ? "?" : name;
}

/// Two weftd may be behind one site.address, and after a restart it is another process: where it listens stays.
std::string seat_of(const config::WeftdConfig& config) {
  return host_name() + ' ' + config::format_address(config.listen.grpc);
}

void tell_wait(const std::string& why) {
  logger("site")->warn("{}", why);
}

}  // namespace

Result<Enrolment> Enrolment::begin(const config::WeftdConfig& config, bool starts) {
  const std::string& shard = config.site.shard;
  Enrolment enrolment(config.store.url, shard, seat_of(config), {});
  if (shard.empty()) return enrolment;
  auto place = store::join_site(config.store.url, shard, tell_wait);
  if (!place) return tl::unexpected(place.error());
  enrolment.place_ = *place;
  if (place->is_new && !starts)
    return fail(ErrorCode::kFailedPrecondition,
                "the site does not list the shard " + shard + " any more: start weftd again to bring it back");
  return enrolment;
}

Enrolment::Enrolment(Enrolment&& other) noexcept
    : url_(std::move(other.url_)),
      shard_(std::move(other.shard_)),
      seat_(std::move(other.seat_)),
      place_(std::exchange(other.place_, {})) {}

Enrolment::~Enrolment() {
  if (!place_.is_new) return;
  const std::string what = "the entry of shard " + shard_ + ", number " + std::to_string(place_.number);
  const auto left = store::leave_site(url_, shard_, place_, seat_, tell_wait);
  if (!left)
    logger("site")->error("{}, stays though weftd did not start: {}", what, left.error().message);
  else if (*left)
    logger("site")->info("{}, is taken back: weftd did not start", what);
  else
    logger("site")->info("{}, stays though weftd did not start: another weftd has it, or it gave an id", what);
}

void Enrolment::keep() {
  if (!std::exchange(place_.is_new, false)) return;
  if (place_.is_unused)
    logger("site")->info("new shard {} registered as number {}", shard_, place_.number);
  else
    logger("site")->info("shard {} is back in the site, with its number {}", shard_, place_.number);
}

std::string own_address(const config::WeftdConfig& config) {
  if (!config.site.address.empty()) return config::format_peers(config.site.address).front();
  std::string host = config.listen.grpc.host;
  if (host.empty() || host == "0.0.0.0" || host == "::") host = host_name();
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? '[' + host + ']' : host) + ':' + std::to_string(config.listen.grpc.port);
}

store::SiteMember site_member(const config::WeftdConfig& config, std::uint64_t number) {
  store::SiteMember member{config.site.shard, own_address(config), store::holder_name()};
  for (const std::string& pattern : config.site.collectors) member.collectors += pattern + '\n';
  member.number = number;
  member.seat = seat_of(config);
  member.machine = store::loopback_name();
  if (is_loopback_address(member.address))
    logger("site")->info("{} is told to the site: shards on other hosts cannot ask it; set site.address or listen.grpc",
                         member.address);
  return member;
}

api::ClientSecurity site_security(const config::SiteConfig& site) {
  return {site.authorities, site.certificate, site.key, site.token_file, {}};
}

Result<void> check_site_files(const config::SiteConfig& site) {
  const auto opened = api::open_channel("localhost:1", site_security(site), {});
  std::string wrong = opened ? "" : "site: " + opened.error().message;
  const ErrorCode code = opened ? ErrorCode::kInvalidArgument : opened.error().code;
  // gRPC says of such a file, when it connects, that there is no address.
  for (const auto& [key, path] :
       {std::pair{"site.authorities", site.authorities}, std::pair{"site.certificate", site.certificate}}) {
    if (path.empty()) continue;
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    // The channel has named the first that cannot be read.
    if (wrong.find(path.string()) != std::string::npos) continue;
    if (!api::access::has_certificates(text))
      wrong += std::string(wrong.empty() ? "" : "; ") + key + ": " + path.string() +
               (file.is_open() ? " has no valid PEM certificate" : " cannot be read");
  }
  if (wrong.empty()) return {};
  return fail(code, wrong);
}

std::string fabric_lines(const std::vector<FabricView>& fabrics) {
  std::string lines;
  for (const FabricView& fabric : fabrics) lines += fabric.name + '\n';
  return lines;
}

std::string switch_lines(const std::vector<FabricView>& fabrics) {
  constexpr std::size_t kMost = 8;
  std::string lines;
  for (const FabricView& fabric : fabrics) {
    if (!fabric.watching || !fabric.sweep || fabric.sweep->topology->is_ethernet()) continue;
    std::vector<NodeGuid> switches;
    for (const Node& node : fabric.sweep->topology->nodes())
      if (node.type == NodeType::kSwitch) switches.push_back(node.guid);
    if (switches.empty()) continue;
    lines += fabric.name;
    for (const NodeGuid guid : choose_switches(switches, kMost)) lines += ' ' + to_string(guid);
    lines += '\n';
  }
  return lines;
}

void tell_membership(const Site& site, bool& was_left) {
  if (site.is_left == was_left) return;
  was_left = site.is_left;
  if (site.is_left)
    logger("site")->error(
        "the site lists the shard {} no more: others do not ask it, and it answers for itself alone. It goes on "
        "watching. Stop it, or start it again to bring the shard back",
        site.own);
  else
    logger("site")->info("the site lists the shard {} again", site.own);
}

void tell_disagreement(const Site& site, std::string& told) {
  const SiteShard* const own = site.find(site.own);
  std::string now = own == nullptr ? std::string() : own->disagreement;
  if (now == told) return;
  if (now.empty())
    logger("site")->info("all weftd of shard {} own the same again", site.own);
  else
    logger("site")->warn("shard {}: {}", site.own, now);
  told = std::move(now);
}

void look_for_moved(HostSessions& hosts, const api::SiteQueries& site, const HostSessions::Post& post) {
  const std::vector<std::string> lost = hosts.lost(api::kMostLostAtOnce);
  if (lost.empty()) return;
  site.find_collectors(lost, [&hosts, post, lost](std::vector<api::ShardCollectors> found) {
    if (found.empty()) return;
    post([&hosts, lost, found = std::move(found)]() mutable {
      for (api::ShardCollectors& each : found) hosts.answered(each.shard, lost, std::move(each.known));
    });
  });
}

void tell_forgotten(bool forgets, bool& was_told) {
  if (!forgets || std::exchange(was_told, true)) return;
  logger("site")->warn(
      "more hosts of other shards are known than can be kept: while such a shard is silent, every host that no other "
      "shard calls worse is UNKNOWN");
}

}  // namespace weft::daemon
