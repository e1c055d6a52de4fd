// SPDX-License-Identifier: Apache-2.0
#pragma once
// What weftd does to belong to a site: the list of shards at its start, and what it tells and asks as one of them.

#include <string>
#include <vector>

#include "api/client/security.hpp"
#include "api/site/site_queries.hpp"
#include "daemon/adapters/store/site_table.hpp"
#include "daemon/config/config.hpp"
#include "daemon/programs/weftd/host_sessions.hpp"
#include "fabric/result.hpp"
#include "fabric/site.hpp"
#include "fabric/snapshot.hpp"

namespace weft::daemon {

/// The place of the own shard in the list of shards. A shard that was not listed is taken out again, and a number that
/// was never used is free again, unless the start succeeds: a mistyped name does not stay.
class Enrolment {
 public:
  /// Enters the shard; without one nothing is done. `starts`: this process has not run with it yet. Else it must be
  /// listed: kFailedPrecondition where it was taken out meanwhile, because nobody starts weftd to bring it back.
  static Result<Enrolment> begin(const config::WeftdConfig& config, bool starts);
  Enrolment(Enrolment&& other) noexcept;
  Enrolment& operator=(Enrolment&&) = delete;
  ~Enrolment();

  /// The start has succeeded: the shard stays listed.
  void keep();
  /// Of the shard; 0 without one.
  std::uint64_t number() const { return place_.number; }

 private:
  Enrolment(std::string url, std::string shard, std::string seat, store::SitePlace place)
      : url_(std::move(url)), shard_(std::move(shard)), seat_(std::move(seat)), place_(place) {}

  std::string url_, shard_, seat_;
  store::SitePlace place_;
};

/// Where a collector, a person or another shard would ask this weftd.
std::string own_address(const config::WeftdConfig& config);
/// What this weftd tells its site. `number`: of the shard.
store::SiteMember site_member(const config::WeftdConfig& config, std::uint64_t number);
/// How it shows the other shards who it is.
api::ClientSecurity site_security(const config::SiteConfig& site);
/// Whether the files for that can be read and used, as api::open_channel() says; nothing is connected to.
Result<void> check_site_files(const config::SiteConfig& site);
/// Names, one a line.
std::string fabric_lines(const std::vector<FabricView>& fabrics);
/// As SiteMember::switches: some switches of each InfiniBand subnet that was swept.
std::string switch_lines(const std::vector<FabricView>& fabrics);
/// Logs it when the site lists the own shard no more, or again. `was_left`: what was logged last.
void tell_membership(const Site& site, bool& was_left);
/// Logs it when weftd of the own shard own other things, and when they do not any more; see SiteShard::disagreement.
/// `told`: what was logged last.
void tell_disagreement(const Site& site, std::string& told);
/// Asks the other shards for collectors that `hosts` have lost, and tells it, by `post`, which are heard there: they
/// moved. Call it about every two seconds where this weftd leads.
void look_for_moved(HostSessions& hosts, const api::SiteQueries& site, const HostSessions::Post& post);
/// Logs once when it is not kept in mind any more which shards know every host. `was_told`: it was logged.
void tell_forgotten(bool forgets, bool& was_told);

}  // namespace weft::daemon
