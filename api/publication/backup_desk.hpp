// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a backup is asked for. The daemon implements it; the server only passes on.

#include <cstdint>
#include <functional>
#include <istream>
#include <memory>
#include <string>

#include "fabric/result.hpp"

namespace weft::api {

/// A copy of the store, ready to be read. Its room on the disk is free once it is gone.
struct OpenBackup {
  std::unique_ptr<std::istream> file;
  std::uint64_t size = 0;           ///< bytes
  std::uint64_t audit_records = 0;  ///< of the audit trail in it, found whole
  std::string audit_hash;           ///< of the last one
};

/// Returns at once and may be called from any thread. The callback is called exactly once, from any thread.
class BackupDesk {
 public:
  /// Takes the copy, or why there is none: kFailedPrecondition where the store is no file; kResourceExhausted while
  /// others wait, and where there is no room; kUnavailable or kCorrupt for the disk.
  using Callback = std::function<void(Result<OpenBackup>)>;

  virtual ~BackupDesk() = default;
  /// Makes a copy of the store as it is at one moment.
  virtual void make(Callback callback) = 0;
};

}  // namespace weft::api
