// SPDX-License-Identifier: Apache-2.0
#pragma once
// When NCCL is asked for the ranks that do not answer, and what of it goes into a reading.

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/config/values.hpp"
#include "fabric/host.hpp"
#include "fabric/stuck_ranks.hpp"

namespace weft::collector {

/// What of the configuration it needs.
struct RasOptions {
  bool enabled = false;
  config::Address address{"127.0.0.1", 28028};
  Duration interval = std::chrono::minutes(1);
};

/// A question makes all processes of the job talk to each other, so that none is asked while the job goes on: only of a
/// host that a job holds, which was seen to move data for it, and is silent for `interval`; and again after that.
class RasWatch {
 public:
  /// Asks nothing yet. `context` must outlive it, and so must it the context's run().
  RasWatch(boost::asio::io_context& context, RasOptions options) : context_(context), options_(std::move(options)) {}
  RasWatch(const RasWatch&) = delete;
  RasWatch& operator=(const RasWatch&) = delete;

  /// A new reading of the host, with its jobs. Adds the addresses of the host and what NCCL said since the host is
  /// silent to its facts, and what is wrong to its sources. Nothing where it is not enabled.
  void look(HostReading& reading, TimePoint now);

 private:
  bool moves(const HostReading& reading);
  void add_facts(HostReading& reading, TimePoint now);

  boost::asio::io_context& context_;
  RasOptions options_;
  std::vector<std::string> jobs_;
  std::uint64_t bytes_ = 0;  ///< of the reading before
  TimePoint read_at_ = kNever;
  TimePoint moved_ = kNever;  ///< for the present jobs
  TimePoint asked_ = kNever;
  std::uint64_t silence_ = 0;  ///< another number whenever the host moved: an answer may come late
  bool is_asking_ = false;
  std::optional<StuckRanks> answer_;
  TimePoint answered_ = kNever;
  std::string trouble_;
  std::string addresses_;
  TimePoint looked_ = kNever;
  std::shared_ptr<const FactTable> base_, told_;  ///< what was read, and with what is added here
  std::string said_;                              ///< what was added to `told_`
};

}  // namespace weft::collector
