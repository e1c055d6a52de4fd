// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lists of series that many hosts have in common, kept once.

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "fabric/host.hpp"

namespace weft::api {

/// May be used from any thread. A list goes when nobody has it any more.
class SeriesPool {
 public:
  /// The list, or one that somebody has already and that is the same.
  SeriesList share(std::vector<HostSeries> list);

 private:
  using List = const std::vector<HostSeries>;
  void sweep();

  std::mutex mutex_;
  std::unordered_multimap<std::size_t, std::weak_ptr<List>> lists_;
  std::size_t sweep_at_ = 64;  ///< entries with which those that are gone are looked for
};

}  // namespace weft::api
