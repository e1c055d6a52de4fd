// SPDX-License-Identifier: Apache-2.0
#pragma once
// Moves what must not be lost from one engine to the other: weftd store copy FROM TO.

#include <cstdint>
#include <functional>
#include <string>

#include "daemon/adapters/store/store.hpp"
#include "fabric/result.hpp"

namespace weft::store {

/// How far a copy is.
struct CopyProgress {
  std::string table;
  std::uint64_t rows = 0;  ///< of the table, in the target
  std::uint64_t of = 0;    ///< in the source
};

/// What was copied.
struct Copied {
  std::uint64_t rows = 0;                               ///< of all tables, in the target
  std::uint64_t added = 0;                              ///< of these, by this copy; the others were there
  std::uint64_t incidents = 0, plans = 0, windows = 0;  ///< of planned work; among `rows`
  AuditProof audit;                                     ///< found whole in both
};

/// Copies all tables from one place to the other. A place is a state directory (its weft.db) or postgresql://… (see
/// postgres_address.hpp). No weftd may use either: a directory is locked meanwhile, and a PostgreSQL on which a weftd
/// leads is refused; one that starts meanwhile cannot write any more. The source is brought to the newest version, and
/// stays otherwise as it is.
///
/// A directory that is the target is made where the one that it is in exists: a path with a typing error is refused.
///
/// The target must be empty, or a copy of the same source that was broken off: that goes on, or begins anew when the
/// source was used since. Until the copy is whole and verified no weftd opens the target. Afterwards a directory that
/// is the target goes with its own weft.db again.
///
/// What is refused is not taken, and after a failure neither is held, but where a weftd had it before: the next one
/// waits for that one.
///
/// Fails with a sentence for the operator: kInvalidArgument for a mistake in an address, kNotFound without a source or
/// a place for the target, kFailedPrecondition for a target with something in it, kCorrupt where a trail is not whole
/// or the copy is not the source, and as the engines do.
Result<Copied> copy_store(const std::string& from, const std::string& to,
                          const std::function<void(const CopyProgress&)>& on_progress);

}  // namespace weft::store
