// SPDX-License-Identifier: Apache-2.0
#pragma once
// The audit trail as rows, each bound to the one before by a hash. Failures stay in the Database (see sql.hpp).
//
// What a record's hash is: SHA-256 (FIPS 180-4) of, in this order and without anything between,
//   "weft audit 1\n"                                     13 bytes
//   the previous record's hash                           32 bytes; 32 zeros in front of the first record
//   sequence, at, plan, incident                         8 bytes each, the most significant first; `at` is
//                                                        nanoseconds since 1970 UTC, as two's complement
//   who, what, detail                                    each: its length as 8 bytes like these, then its bytes
// Lengths stand in front of texts, so no two different records give the same bytes. Beside the records stand their
// number and the last hash (audit_end).
//
// What that shows: a record that was changed, taken out, put in or exchanged for another, and a trail whose end was cut
// off, by whoever did it with less care than is needed to do all of it anew. What it cannot show: somebody who may
// write this file and who knows these lines can work out a whole new trail with its end; there is no secret in it.
// Against that stands only a hash that was noted where he cannot write: verify_audit() gives the last one for that
// purpose.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/adapters/store/sql.hpp"
#include "daemon/adapters/store/store.hpp"

namespace weft::store {

/// The hash of `record` behind a record of hash `previous` (64 hexadecimal digits); `record.hash` is not read. Empty
/// when `previous` is no hash.
std::string audit_hash(std::string_view previous, const AuditRecord& record);

/// Adds them at the end, in the transaction of the caller. Their `sequence` and `hash` are made here. kCorrupt in
/// `database` when there is no end to add to.
void append_audit(Database& database, std::span<const AuditRecord> records);

/// See Store::audit().
std::vector<AuditRecord> read_audit(Database& database, std::uint64_t before, std::size_t limit);
/// See Store::verify_audit().
AuditProof verify_audit(Database& database);

}  // namespace weft::store
