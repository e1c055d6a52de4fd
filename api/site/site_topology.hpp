// SPDX-License-Identifier: Apache-2.0
#pragma once
// A topology of a whole site, part after part.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/convert/queries.hpp"
#include "api/site/shard_stream.hpp"
#include "fabric/result.hpp"
#include "fabric/site.hpp"
#include "fabric/snapshot.hpp"
#include "weft/v1/fabric.grpc.pb.h"

namespace weft::api {

/// The own shard's parts from one snapshot, then those of each other shard as it sends them: the next one is asked for
/// when the last one was taken, so that one part is held at a time. What is asked of another shard may take a minute
/// and 1,000,000 entries; beyond that the shard is missing.
class SiteTopology : public std::enable_shared_from_this<SiteTopology> {
 public:
  /// Takes a part; no part: that was the last one.
  using Done = std::function<void(Result<std::optional<v1::Topology>>)>;

  /// Of the fabrics of that name; of all where it is empty. `peers`: null for the own shard alone; else it must outlive
  /// it.
  SiteTopology(std::shared_ptr<const Snapshot> snapshot, const std::string& fabric, TimePoint now, ShardPeers* peers);

  /// Asks for the next part. `done` is called once, at once or on a thread of gRPC. kNotFound when no shard has a
  /// fabric of that name; kUnavailable when a shard that does not answer may have it.
  void next(Done done);
  /// Ends what is asked of another shard. May be called from any thread.
  void cancel();

 private:
  using Stream = ShardStream<v1::FabricService, v1::GetTopologyRequest, v1::Topology>;

  void next_of_shards();
  bool take(v1::Topology& part);
  void ended(const Result<void>& how);
  void miss(const std::string& shard, bool is_unswept);
  void end();
  void answer(Result<std::optional<v1::Topology>> part);

  const SitePtr site_;  ///< null: there is no other shard
  const std::string fabric_;
  ShardPeers* const peers_;
  TopologyParts own_;
  bool is_own_told_ = false;
  Done done_;
  std::mutex mutex_;  ///< for the rest
  std::shared_ptr<Stream> stream_;
  bool is_waiting_ = false;        ///< next() waits for what the stream brings
  std::vector<SiteShard> others_;  ///< that are still to be asked, the next one last
  std::string current_;            ///< the shard that is asked
  std::uint64_t entries_ = 0;      ///< that it has given
  bool is_known_ = false;          ///< a shard has the fabric
  std::optional<Error> unknown_;   ///< what a shard says that has not
  std::vector<std::string> missing_;
  std::vector<std::string> unswept_;  ///< those of them that have not swept yet
  std::atomic<bool> is_cancelled_ = false;
};

/// Gives `take` each part until it says false, then the end to `done`: kResourceExhausted where it did. Both are called
/// at once or on a thread of gRPC.
void read_all(const std::shared_ptr<SiteTopology>& topology, std::function<bool(v1::Topology&)> take,
              std::function<void(Result<void>)> done);

}  // namespace weft::api
