// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/store_check.hpp"

#include <string>
#include <utility>
#include <vector>

#include "daemon/adapters/store/postgres_address.hpp"
#include "daemon/adapters/store/postgres_schema.hpp"
#include "daemon/adapters/store/schema.hpp"
#include "daemon/adapters/store/server_check.hpp"
#include "daemon/adapters/store/site_table.hpp"
#include "daemon/adapters/store/sql.hpp"
#include "daemon/adapters/store/start_waits.hpp"

namespace weft::store {
namespace {

/// See check_new_shard(); the shard has no schema.
Result<void> check_left_behind(const std::filesystem::path& state_dir, const StoreOptions& options,
                               const SiteFound& site) {
  PostgresFound none;
  none.name = site.name;
  if (auto checked = check_mark_for_postgres(state_dir, none); !checked) return checked;
  if (site.place.number != 1 || !site.place.is_new) return {};
  const auto before = look_at_postgres(options.url, state_schema());
  if (!before && before.error().code == ErrorCode::kTimeout) return tl::unexpected<Error>(before.error());
  // Without a schema to look into there is nothing to miss: why, says whoever makes one.
  if (!before || !before->shard.empty() || (before->next_incident <= 1 && before->audit_records == 0)) return {};
  return fail(ErrorCode::kFailedPrecondition,
              before->name + " holds incidents or an audit trail of a weftd of no site, and shard " + options.shard +
                  " would begin without them: stop every weftd that uses it and run " + rename_to_shard(options.shard) +
                  "; if they are not wanted any more, rename that schema to another name");
}

/// Its name and version: of the database of `options.url`.
Result<PostgresFound> look_at_version(const StoreOptions& options) {
  if (!options.shard.empty()) {
    const auto site = look_at_site(options.url, options.shard);
    if (!site) return tl::unexpected<Error>(site.error());
    // A start makes it.
    if (!site->has_schema) return PostgresFound{.name = site->name};
  }
  return look_at_postgres(shard_url(options.url, options.shard), state_schema());
}

/// What of its servers could not be used, behind `found`.
std::string with_servers(std::string found, const std::string& url) {
  for (const std::string& server : unusable_servers(url)) found += "; " + server;
  return found;
}

/// See check_store().
Result<std::string> look_at_database(const std::filesystem::path& state_dir, const StoreOptions& options) {
  std::string owner;
  if (!options.shard.empty()) {
    const auto site = look_at_site(options.url, options.shard);
    if (!site) return tl::unexpected<Error>(site.error());
    if (!site->has_schema)
      return check_left_behind(state_dir, options, *site).map([&] { return with_servers(site->text, options.url); });
    owner = site->owner;
  }
  const auto found = look_at_postgres(shard_url(options.url, options.shard), state_schema());
  if (!found) return tl::unexpected<Error>(found.error());
  return check_postgres(state_dir, options, *found).map([&] {
    std::string text = found->name + ' ' + found->state;
    if (!owner.empty()) text += "; " + owner;
    if (const auto moved = moved_from(state_dir, *found); moved && !moved->empty()) text += "; " + *moved;
    for (const std::string& caution : found->cautions) text += "; " + caution;
    return with_servers(std::move(text), options.url);
  });
}

}  // namespace

Result<void> check_postgres(const std::filesystem::path& state_dir, const StoreOptions& options,
                            const PostgresFound& found) {
  if (!found.shard.empty() && found.shard != options.shard)
    return fail(ErrorCode::kFailedPrecondition,
                found.name + ": its schema is that of shard " + found.shard +
                    " of a site, and this weftd is not that shard: set site.shard = \"" + found.shard +
                    "\", or give it another schema (search_path, in store.url or of the role)");
  return check_mark_for_postgres(state_dir, found);
}

Result<void> check_new_shard(const std::filesystem::path& state_dir, const StoreOptions& options) {
  const auto site = wait_to_look_at_site(options.url, options.shard, options.on_caution);
  if (!site) return tl::unexpected<Error>(site.error());
  if (site->has_schema) return {};
  return wait_for_others(options.on_caution, [&] { return check_left_behind(state_dir, options, *site); });
}

Result<std::string> check_store(const std::filesystem::path& state_dir, const StoreOptions& options) {
  if (options.url.empty()) return check_mark_for_file(state_dir).map([] { return std::string(); });
  auto found = look_at_database(state_dir, options);
  if (!found && found.error().code == ErrorCode::kTimeout)
    found.error().message += ". This check waits for nobody: repeat it";
  return found;
}

Result<std::vector<DatabaseVersion>> database_versions(const std::filesystem::path& state_dir,
                                                       const StoreOptions& options) {
  std::vector<DatabaseVersion> versions;
  const auto look = [&](const char* file, const Schema& schema) -> Result<void> {
    const auto version = version_of_database(state_dir / file, schema);
    if (!version) return tl::unexpected<Error>(version.error());
    const auto looked = *version == 0 ? true : look_for_damage(state_dir / file, schema);
    if (!looked) return tl::unexpected<Error>(looked.error());
    versions.push_back({.name = (state_dir / file).string(),
                        .found = *version,
                        .known = static_cast<std::uint32_t>(schema.migrations.size()),
                        .has_log = !*looked});
    return {};
  };
  if (options.url.empty()) {
    if (auto looked = look("weft.db", state_schema()); !looked) return tl::unexpected<Error>(looked.error());
  } else {
    const auto known = static_cast<std::uint32_t>(state_schema().migrations.size());
    const auto looked = look_at_version(options);
    if (!looked) return tl::unexpected<Error>(looked.error());
    versions.push_back({.name = looked->name, .found = looked->version, .known = known});
  }
  if (auto looked = look("history.db", history_schema()); !looked) return tl::unexpected<Error>(looked.error());
  return versions;
}

}  // namespace weft::store
