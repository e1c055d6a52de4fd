// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/enroll_table.hpp"

namespace weft::store {
namespace {

EnrollToken token_of(const Statement& row) {
  return {.node = row.text(0),
          .hash = row.text(1),
          .made_by = row.text(2),
          .made = row.time(3),
          .expires = row.time(4),
          .used = row.time(5),
          .key_hash = row.text(6)};
}

}  // namespace

void write_enroll_tokens(Database& database, std::span<const EnrollToken> tokens) {
  Statement put(database,
                "INSERT INTO enroll_token (node, hash, made_by, made, expires, used, key_hash) VALUES (?, ?, ?, ?, ?, "
                "?, ?) ON CONFLICT (node) DO UPDATE SET hash = excluded.hash, made_by = excluded.made_by, made = "
                "excluded.made, expires = excluded.expires, used = excluded.used, key_hash = excluded.key_hash");
  for (const EnrollToken& token : tokens)
    put.run(token.node, token.hash, token.made_by, token.made, token.expires, token.used, token.key_hash);
}

void delete_enroll_tokens(Database& database, std::span<const std::string> nodes) {
  Statement drop(database, "DELETE FROM enroll_token WHERE node = ?");
  for (const std::string& node : nodes) drop.run(node);
}

std::vector<EnrollToken> read_enroll_tokens(Database& database, TimePoint now) {
  std::vector<EnrollToken> tokens;
  Statement rows(database,
                 "SELECT node, hash, made_by, made, expires, used, key_hash FROM enroll_token WHERE expires > ? ORDER "
                 "BY node");
  rows.query(now);
  while (rows.next()) tokens.push_back(token_of(rows));
  return tokens;
}

std::optional<EnrollToken> find_enroll_token(Database& database, std::string_view hash) {
  std::optional<EnrollToken> found;
  Statement rows(database,
                 "SELECT node, hash, made_by, made, expires, used, key_hash FROM enroll_token WHERE hash = ?");
  rows.query(hash);
  while (rows.next()) found = token_of(rows);
  return found;
}

bool delete_old_enroll_tokens(Database& database, TimePoint before, std::int64_t limit) {
  Statement drop(database,
                 "DELETE FROM enroll_token WHERE node IN (SELECT node FROM enroll_token WHERE expires < ?1 LIMIT ?2)");
  drop.run(before, limit);
  return database.changes() >= limit;
}

}  // namespace weft::store
