// SPDX-License-Identifier: Apache-2.0
#pragma once
// A named thread that works off a bounded queue of jobs: where blocking work (SQLite, reading a child's frames) lives.

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "daemon/platform/runtime/channel.hpp"
#include "fabric/clock.hpp"

namespace weft::runtime {

/// Name, queue and error handler of a lane.
struct LaneOptions {
  std::string name;  ///< shown by ps -L and in metrics; the kernel keeps the first 15 characters
  std::size_t capacity = 64;
  WhenFull when_full = WhenFull::kBlock;
  /// Called on the lane when a job throws, with what() of it. The lane goes on with the next job.
  std::function<void(const std::string&)> on_failure = {};
};

/// Figures of a lane for metrics and the watchdog. The counts grow from the start of the process.
struct LaneFigures {
  ChannelFigures queue;
  std::uint64_t done = 0;    ///< jobs finished, failed ones included
  std::uint64_t failed = 0;  ///< jobs that threw
  Duration busy{};           ///< time spent in finished jobs
  Duration running{};        ///< how long the present job has run; zero when idle: for a watchdog
};

/// The thread starts with all signals blocked, so that they go to the main thread.
class Lane {
 public:
  /// A piece of work. It may throw: see LaneOptions::on_failure.
  using Job = std::function<void()>;

  /// Starts the thread.
  explicit Lane(LaneOptions options);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() { stop(); }

  /// False when the lane is stopped, or full with kRefuse. With kBlock a job must not post to its own lane: when the
  /// queue is full nobody would ever make room.
  bool post(Job job, Turn turn = Turn::kLast) { return jobs_.push(std::move(job), turn); }
  /// Takes no more jobs, runs those already queued, joins. May be called again; never from a job of this lane.
  void stop();

  /// The figures as of now. Any thread.
  LaneFigures figures() const;
  /// The name that was given in the options.
  const std::string& name() const { return jobs_.name(); }

 private:
  void work();
  void run(const Job& job);

  Channel<Job> jobs_;
  const std::function<void(const std::string&)> on_failure_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> failed_{0};
  std::atomic<std::int64_t> busy_ns_{0};
  std::atomic<std::int64_t> started_ns_{0};  ///< steady clock, of the present job; 0 when idle
  std::thread thread_;
};

/// Names the calling thread, for lanes and other threads alike. Longer names are cut to the kernel's 15 characters.
void name_this_thread(const std::string& name);

}  // namespace weft::runtime
