// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/audit_table.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "fabric/hex_text.hpp"

namespace weft::store {
namespace {

constexpr std::string_view kDomain = "weft audit 1\n";
constexpr std::size_t kHashBytes = 32;
constexpr std::string_view kNoHash = "0000000000000000000000000000000000000000000000000000000000000000";

std::optional<unsigned> digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  return std::nullopt;
}

/// 64 digits as 32 bytes; empty when it is none.
std::string bytes(std::string_view hash) {
  if (hash.size() != 2 * kHashBytes) return {};
  std::string result;
  for (std::size_t i = 0; i < hash.size(); i += 2) {
    const auto high = digit(hash[i]), low = digit(hash[i + 1]);
    if (!high || !low) return {};
    result += static_cast<char>(*high << 4 | *low);
  }
  return result;
}

void add_number(std::string& text, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 0xFF);
}

void add_text(std::string& text, std::string_view value) {
  add_number(text, value.size());
  text += value;
}

/// How many records there are, and the last one's hash.
AuditProof read_end(Database& database) {
  Statement row(database, "SELECT records, hash FROM audit_end");
  row.query();
  AuditProof end;
  if (!row.next()) {
    database.fail(ErrorCode::kCorrupt, "the stored end of the audit trail is missing");
    return end;
  }
  end = {row.bits(0), row.text(1)};
  row.next();
  if (bytes(end.last_hash).empty())
    database.fail(ErrorCode::kCorrupt, "the stored end of the audit trail is not a hash");
  return end;
}

std::string record_name(std::uint64_t sequence) {
  return "record " + std::to_string(sequence) + " of the audit trail ";
}

/// Follows the trail. Complains of the first record that is not as it was written.
class Follower {
 public:
  /// Stands at the record `sequence` of that hash.
  Follower(Database& database, std::uint64_t sequence, std::string_view hash)
      : database_(database), sequence_(sequence), hash_(hash) {}

  void follow(const AuditRecord& record) {
    if (record.sequence != sequence_ + 1) {
      complain(sequence_ + 1, "is missing");
    } else if (const std::string hash = audit_hash(hash_, record); hash.empty() || hash != record.hash) {
      complain(record.sequence, "was changed, or moved");
    }
    sequence_ = record.sequence;
    hash_ = record.hash;
  }

  /// There must be records up to `sequence`.
  void reach(std::uint64_t sequence) {
    if (sequence_ < sequence) complain(sequence_ + 1, "is missing, with all later records");
  }

  /// This must be the end.
  void end(const AuditProof& end) {
    reach(end.records);
    if (hash_ != end.last_hash) complain(sequence_, "was changed, and its hash with it");
  }

 private:
  /// Only the first complaint is kept.
  void complain(std::uint64_t sequence, const std::string& what) {
    database_.fail(ErrorCode::kCorrupt, record_name(sequence) + what);
  }
  Database& database_;
  std::uint64_t sequence_;
  std::string hash_;
};

/// No record stands in front of the first or behind the end, be it behind a gap.
void check_bounds(Database& database, const AuditProof& end) {
  const auto check = [&database](std::int64_t sequence, bool is_inside) {
    if (!is_inside)
      database.fail(ErrorCode::kCorrupt, "record " + std::to_string(sequence) + " of the audit trail was inserted");
  };
  const std::int64_t first = database.number("SELECT coalesce(min(sequence), 1) FROM audit");
  check(first, first >= 1);
  const std::int64_t last = database.number("SELECT coalesce(max(sequence), 0) FROM audit");
  check(last, last <= static_cast<std::int64_t>(end.records));
}

AuditRecord read_row(const Statement& row) {
  return {row.bits(0), row.time(1), row.text(2), row.text(3), row.bits(4), row.bits(5), row.text(6), row.text(7)};
}

constexpr const char* kRange =
    "SELECT sequence, at, who, what, plan, incident, detail, hash FROM audit WHERE sequence BETWEEN ? AND ? "
    "ORDER BY sequence";

}  // namespace

std::string audit_hash(std::string_view previous, const AuditRecord& record) {
  const std::string before = bytes(previous);
  if (before.empty()) return {};
  std::string text(kDomain);
  text += before;
  add_number(text, record.sequence);
  add_number(text, static_cast<std::uint64_t>(record.at.time_since_epoch().count()));
  add_number(text, record.plan);
  add_number(text, record.incident);
  add_text(text, record.who);
  add_text(text, record.what);
  add_text(text, record.detail);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1 || length != kHashBytes)
    return {};
  return hex_text(std::span(digest).first(kHashBytes));
}

void append_audit(Database& database, std::span<const AuditRecord> records) {
  if (records.empty()) return;
  AuditProof end = read_end(database);
  check_bounds(database, end);
  Statement insert(database, "INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  for (AuditRecord record : records) {
    record.sequence = end.records + 1;
    record.hash = audit_hash(end.last_hash, record);
    if (record.hash.empty()) database.fail(ErrorCode::kInternal, "SHA-256 is not available");
    insert.run(record.sequence, record.at, record.who, record.what, record.plan, record.incident, record.detail,
               record.hash);
    end = {record.sequence, record.hash};
  }
  Statement(database, "UPDATE audit_end SET records = ?, hash = ?").run(end.records, end.last_hash);
}

std::vector<AuditRecord> read_audit(Database& database, std::uint64_t before, std::size_t limit) {
  AuditProof end = read_end(database);
  const auto most = std::min(limit, kMostAuditRecords);
  const std::uint64_t last = before == 0 ? end.records : std::min(before - 1, end.records);
  const std::uint64_t in_front = last > most ? last - most : 0;
  std::string hash(kNoHash);
  if (in_front > 0) {
    Statement row(database, "SELECT hash FROM audit WHERE sequence = ?");
    row.query(in_front);
    if (row.next()) {
      hash = row.text(0);
      row.next();
    } else {
      database.fail(ErrorCode::kCorrupt, record_name(in_front) + "is missing");
    }
  }
  std::vector<AuditRecord> records;
  if (last == end.records) check_bounds(database, end);
  Follower follower(database, in_front, hash);
  Statement rows(database, kRange);
  // One more than asked for: it binds the last one.
  rows.query(in_front + 1, last + 1);
  while (rows.next()) {
    AuditRecord record = read_row(rows);
    follower.follow(record);
    if (record.sequence <= last) records.push_back(std::move(record));
  }
  if (last == end.records) {
    follower.end(end);
  } else {
    follower.reach(last + 1);
  }
  return records;
}

AuditProof verify_audit(Database& database) {
  AuditProof end = read_end(database);
  check_bounds(database, end);
  Follower follower(database, 0, kNoHash);
  Statement rows(database,
                 "SELECT sequence, at, who, what, plan, incident, detail, hash FROM audit WHERE sequence > ? "
                 "ORDER BY sequence LIMIT ?");
  // In pieces: an engine may hold all rows of a statement in memory.
  for (std::int64_t last = std::numeric_limits<std::int64_t>::min(), more = 1; more > 0;) {
    rows.query(last, kMostAuditRecords);
    for (more = 0; rows.next(); ++more) {
      const AuditRecord record = read_row(rows);
      follower.follow(record);
      last = static_cast<std::int64_t>(record.sequence);
    }
  }
  follower.end(end);
  return end;
}

}  // namespace weft::store
