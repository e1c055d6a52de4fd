// SPDX-License-Identifier: Apache-2.0
#pragma once
// The file of infiniband.expected_topology, or of ethernet.cabling where it is what is expected of cables that are
// found: read at start, looked at again and again, and read anew when it changed.

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "fabric/expected_cabling.hpp"
#include "fabric/link_rate.hpp"
#include "fabric/result.hpp"

namespace weft::daemon {

/// What tells that a file is not the one that was read: another file, size or time of a change.
struct FileStamp {
  dev_t device = 0;
  ino_t inode = 0;  ///< 0: there is no such file
  off_t size = 0;
  std::int64_t written_ns = 0;  ///< st_mtim
  std::int64_t changed_ns = 0;  ///< st_ctim: of its owner and mode too
  bool operator==(const FileStamp&) const = default;
};

/// State of the file, for metrics.
struct ExpectedFigures {
  bool refused = false;   ///< the file is no good; the one before is in force
  std::size_t links = 0;  ///< that are planned
};

/// The file and what it holds. look() belongs to one thread, all else to another.
class ExpectedTopology {
 public:
  /// Reads a file; fails with a sentence that names it, and with kInvalidArgument where what it holds is no good. Any
  /// other failure may pass by itself.
  using Read = std::function<Result<ExpectedCabling>(const std::filesystem::path&)>;

  /// The file of that path, which may be empty: then there is none. `layer`: of the fabrics of which it is expected.
  ExpectedTopology(LinkLayer layer, std::filesystem::path path, Read read)
      : layer_(layer), path_(std::move(path)), read_(std::move(read)) {}

  /// What the file holds at start. Fails as `read` does, and with kResourceExhausted where that takes more memory than
  /// there is. Before the first look().
  Result<ExpectedCabling> open();
  /// Of the fabrics of which it is expected.
  LinkLayer layer() const { return layer_; }
  /// There is a file to look at.
  bool is_configured() const { return !path_.empty(); }
  /// What the file holds, or why it cannot be had as of open(), if it changed since it was read last or could not be
  /// read then, and did not change since the last look: who writes it is done. Else nullopt.
  std::optional<Result<ExpectedCabling>> look();
  /// What look() found. What is to be expected from now on; nullopt where the file is no good, which is logged once.
  std::optional<ExpectedCabling> take(Result<ExpectedCabling> found);
  /// As of the last take().
  ExpectedFigures figures() const { return {!complaint_.empty(), links_}; }

 private:
  FileStamp stamp() const;
  Result<ExpectedCabling> read() const;

  const char* log_name() const { return layer_ == LinkLayer::kEthernet ? "ethernet" : "infiniband"; }

  LinkLayer layer_;
  std::filesystem::path path_;
  Read read_;
  FileStamp read_at_;    ///< of the file when it was read; empty when it could not be
  FileStamp looked_at_;  ///< of the file at the last look
  std::string complaint_;
  std::size_t links_ = 0;
};

}  // namespace weft::daemon
