// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keeps weft-uplink running: starts it, starts it again, hears what it says.

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "daemon/platform/runtime/child_process.hpp"
#include "daemon/platform/runtime/schedule.hpp"
#include "daemon/programs/uplink/options.hpp"
#include "daemon/programs/uplink/report.hpp"

namespace weft::collector {

/// Supervises one weft-uplink process. All members are called on the thread that runs `context`.
class UplinkKeeper {
 public:
  /// Takes a report of the uplink.
  using Heard = std::function<void(const uplink::UplinkReport&)>;

  /// `heard` is called for every report of the uplink that runs. `program` is the path of weft-uplink; each one that is
  /// started gets `options`.
  UplinkKeeper(boost::asio::io_context& context, std::filesystem::path program, uplink::Options options, Heard heard);
  UplinkKeeper(const UplinkKeeper&) = delete;
  UplinkKeeper& operator=(const UplinkKeeper&) = delete;

  /// Starts it, and again whenever it ended, at first after half a second and later after up to half a minute.
  void start();
  /// Says that the spool has something new. Never waits.
  void wake();
  /// Ends it, and waits a moment for that.
  void stop();

  /// What all uplinks so far told together; `connected`, `analyzer`,
  /// `acknowledged` `certificate_end` and `certificate_trouble` are the last one's.
  uplink::UplinkReport totals() const;
  /// How often an uplink was started.
  std::uint64_t starts() const { return starts_; }

 private:
  void try_again();
  void read();
  void take(const uplink::UplinkReport& report);
  void watch_end();
  void ended();

  boost::asio::io_context& context_;
  std::filesystem::path program_;
  uplink::Options options_;
  Heard heard_;
  boost::asio::steady_timer timer_;
  runtime::Backoff backoff_;
  std::optional<runtime::ChildProcess> child_;
  boost::asio::posix::stream_descriptor socket_;
  boost::asio::posix::stream_descriptor end_;
  std::array<char, sizeof(uplink::UplinkReport)> incoming_{};
  uplink::UplinkReport finished_;  ///< of those that ended
  uplink::UplinkReport current_;
  std::uint64_t starts_ = 0;
  bool stopping_ = false;
};

}  // namespace weft::collector
