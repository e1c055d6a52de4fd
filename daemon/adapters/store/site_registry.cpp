// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/site_registry.hpp"

#include <utility>

#include "daemon/adapters/store/postgres_address.hpp"
#include "daemon/adapters/store/postgres_connection.hpp"
#include "daemon/platform/runtime/lane.hpp"

namespace weft::store {

Result<std::unique_ptr<SiteRegistry>> SiteRegistry::start(const std::string& url, SiteMember self) {
  auto parsed = parse_postgres_address(url);
  if (!parsed) return tl::unexpected<Error>(parsed.error());
  auto connection = PostgresConnection::make(*parsed);
  connection->keep_lease();  // short waits, and no mark: the tables are the site's
  std::unique_ptr<SiteRegistry> registry(new SiteRegistry(Database(std::move(connection)), std::move(self)));
  if (auto read = registry->turn(); !read) return tl::unexpected<Error>(read.error());
  registry->thread_ = std::thread([self = registry.get()] { self->run(); });
  return registry;
}

SiteRegistry::~SiteRegistry() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SiteRegistry::run() {
  runtime::name_this_thread("site");
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kReadSiteEvery, [this] { return stops_; })) {
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
    write_member(database_, self);
    if (auto done = transaction.commit(); !done) return done;
    told_ = self;
    told_at_ = now;
  }
  auto site = std::make_shared<Site>(read_site(database_));
  if (auto outcome = database_.outcome(); !outcome) return outcome;
  site->own = self.shard;
  const std::lock_guard lock(mutex_);
  if (!site_ || *site_ != *site) site_ = std::move(site);
  return {};
}

void SiteRegistry::tell(std::string holder, std::int64_t epoch, std::string fabrics) {
  const std::lock_guard lock(mutex_);
  self_.holder = std::move(holder);
  self_.epoch = epoch;
  self_.fabrics = std::move(fabrics);
}

SitePtr SiteRegistry::site() const {
  const std::lock_guard lock(mutex_);
  return site_;
}

}  // namespace weft::store
