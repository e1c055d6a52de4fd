// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/runtime/lane.hpp"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <exception>
#include <utility>

namespace weft::runtime {
namespace {

std::int64_t steady_ns() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void name_this_thread(const std::string& name) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
}

Lane::Lane(LaneOptions options)
    : jobs_(std::move(options.name), options.capacity, options.when_full), on_failure_(std::move(options.on_failure)) {
  // A thread inherits the mask of its creator: block here, start, restore.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { work(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Lane::stop() {
  jobs_.close();
  if (thread_.joinable()) thread_.join();
}

void Lane::work() {
  name_this_thread(jobs_.name());
  while (const std::optional<Job> job = jobs_.pop()) run(*job);
}

void Lane::run(const Job& job) {
  const std::int64_t start = steady_ns();
  started_ns_ = start;
  try {
    job();
  } catch (const std::exception& error) {
    ++failed_;
    if (on_failure_) on_failure_(error.what());
  }
  started_ns_ = 0;
  busy_ns_ += steady_ns() - start;
  ++done_;
}

LaneFigures Lane::figures() const {
  LaneFigures figures{jobs_.figures(), done_, failed_, Duration(busy_ns_), Duration::zero()};
  if (const std::int64_t started = started_ns_; started != 0) figures.running = Duration(steady_ns() - started);
  return figures;
}

}  // namespace weft::runtime
