// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/site_registry.hpp"

#include <filesystem>
#include <utility>

#include "daemon/adapters/store/postgres_address.hpp"
#include "daemon/adapters/store/postgres_connection.hpp"
#include "daemon/platform/runtime/boot_time.hpp"
#include "daemon/platform/runtime/lane.hpp"

namespace weft::store {
namespace {

/// What a weftd is told of a site that does not list its shard. `before`: what it was told last; null: nothing.
void show_alone(Site& site, const SiteMember& self, const Site* before) {
  const SiteShard* const known = before == nullptr ? nullptr : before->find(self.shard);
  SiteShard own = known == nullptr ? SiteShard{self.shard, self.number, {}} : *known;
  own.leader = self.epoch > 0 ? self.holder : "";
  own.epoch = self.epoch;
  site.shards = {std::move(own)};
  site.is_left = true;
}

}  // namespace

std::string loopback_name() {
  const std::string boot = runtime::boot_id();
  std::error_code error;
  const auto network = std::filesystem::read_symlink("/proc/self/ns/net", error);  // namespaces(7)
  return boot.empty() || error ? std::string() : boot + ' ' + network.string();
}

Result<std::unique_ptr<SiteRegistry>> SiteRegistry::start(const std::string& url, SiteMember self) {
  auto parsed = parse_postgres_address(url);
  if (!parsed) return tl::unexpected<Error>(parsed.error());
  name_connection(*parsed, "site");
  parsed->schema = kSiteSchema;
  auto connection = PostgresConnection::make(*parsed);
  connection->keep_lease();  // short waits, and no mark: the tables are the site's
  std::unique_ptr<SiteRegistry> registry(new SiteRegistry(Database(std::move(connection)), std::move(self)));
  if (auto read = registry->turn(); !read) return tl::unexpected<Error>(read.error());
  if (registry->site_->is_left)
    return fail(ErrorCode::kFailedPrecondition, registry->database_.name() + ": the site does not list the shard " +
                                                    registry->self_.shard + " any more: start weftd again");
  registry->thread_ = std::thread([self = registry.get()] { self->run(); });
  return registry;
}

SiteRegistry::~SiteRegistry() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  if (!thread_.joinable()) return;
  thread_.join();
  // Where the database is away this fails soon, and what was told is old after a while.
  if (told_ && !database_.failed()) leave_member(database_, *told_);
}

void SiteRegistry::run() {
  runtime::name_this_thread("site");
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait_for(lock, kReadSiteEvery, [this] { return stops_ || has_news_; });
    if (stops_) return;
    has_news_ = false;
    lock.unlock();
    static_cast<void>(turn());  // the lease says why the database does not answer
    lock.lock();
  }
}

Result<void> SiteRegistry::turn() {
  SiteMember self;
  {
    const std::lock_guard lock(mutex_);
    self = self_;
  }
  const auto now = std::chrono::steady_clock::now();
  if (told_ != self || now - told_at_ > kTellSiteEvery) {
    Transaction transaction(database_);
    const bool is_listed = write_member(database_, self);
    if (auto done = transaction.commit(); !done) return done;
    told_.reset();
    if (is_listed) told_ = self;
    told_at_ = now;
  }
  auto site = std::make_shared<Site>(read_site(database_, self.machine));
  if (auto outcome = database_.outcome(); !outcome) return outcome;
  site->own = self.shard;
  if (const SiteShard* const own = site->find(self.shard); own == nullptr || own->number != self.number) {
    show_alone(*site, self, site_.get());
    told_.reset();
  }
  const std::lock_guard lock(mutex_);
  if (!site_ || *site_ != *site) site_ = std::move(site);
  return {};
}

void SiteRegistry::tell(std::string holder, std::int64_t epoch, std::string fabrics, std::string switches) {
  {
    const std::lock_guard lock(mutex_);
    const SiteMember before = self_;
    self_.holder = std::move(holder);
    self_.epoch = epoch;
    self_.fabrics = std::move(fabrics);
    self_.switches = std::move(switches);
    if (self_ == before) return;
    has_news_ = true;
  }
  changed_.notify_all();
}

SitePtr SiteRegistry::site() const {
  const std::lock_guard lock(mutex_);
  return site_;
}

}  // namespace weft::store
