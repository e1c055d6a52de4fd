// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/fabric_watcher.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/post.hpp>

#include "daemon/platform/logging/logging.hpp"
#include "daemon/platform/runtime/child_options.hpp"
#include "daemon/platform/runtime/lane.hpp"
#include "daemon/platform/runtime/stream.hpp"
#include "daemon/platform/runtime/unkillable.hpp"
#include "daemon/programs/weftd/management_key.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

// A sweeper that says nothing for so long hangs; the largest fabrics are discovered in a tenth of it.
constexpr auto kLongestSilence = std::chrono::seconds(60);
constexpr auto kStopGrace = std::chrono::seconds(2);
constexpr auto kLookAgain = 250ms;

}  // namespace

FabricWatcher::FabricWatcher(boost::asio::io_context& main, Options options, SweepHandler on_sweep,
                             TroubleHandler on_trouble)
    : main_(main),
      options_(std::move(options)),
      on_sweep_(std::move(on_sweep)),
      on_trouble_(std::move(on_trouble)),
      retry_(main),
      silence_(main),
      backoff_(250ms, 4s) {}

FabricWatcher::~FabricWatcher() {
  stop();
}

Result<sweeper::Options> FabricWatcher::child_options() const {
  const config::Infiniband& ib = options_.infiniband;
  sweeper::Options result;
  const auto key = read_management_key(ib.management_key_file);
  if (!key) return tl::unexpected(key.error());
  result.adapter = options_.port.device;
  result.port = options_.port.port;
  if (!ib.node_name_map.empty()) result.node_name_map = std::filesystem::absolute(ib.node_name_map);
  result.sweep.engine = {ib.window, ib.per_node_outstanding,
                         std::chrono::duration_cast<std::chrono::milliseconds>(ib.timeout), ib.retries, *key};
  result.sweep.interval = ib.sweep_interval;
  result.sweep.detail_interval = ib.detail_interval;
  result.sweep.service_level = ib.service_level;
  result.sweep.pkey_index = ib.pkey_index;
  result.sweep.clear_saturated_counters = ib.clear_saturated_counters;
  result.sweep.acts_as = options_.acts_as;
  // Indices of one sweeper mean nothing to the next: epochs never repeat, over restarts of weftd included.
  result.sweep.first_epoch = static_cast<std::uint64_t>(SystemClock{}.now().time_since_epoch().count());
  return result;
}

void FabricWatcher::start() {
  spawn();
}

void FabricWatcher::spawn() {
  if (stopped_) return;
  if (!is_gone()) return try_again(kLookAgain);
  const auto child_options = this->child_options();
  if (!child_options) return ended(child_options.error().message);
  std::error_code ignored;
  std::filesystem::remove_all(options_.directory, ignored);
  std::filesystem::create_directories(options_.directory, ignored);
  // The name of the fabric is a flag, so that ps shows which sweeper is whose.
  auto child = runtime::ChildProcess::spawn(
      {.program = options_.sweeper, .arguments = {"--fabric", options_.port.fabric}, .directory = options_.directory});
  if (!child) {
    ended("cannot start " + options_.sweeper.string() + ": " + child.error().message);
    return;
  }
  child_.emplace(std::move(*child));
  socket_ = child_->take_socket();
  if (const auto sent = runtime::send_options(socket_.get(), *child_options); !sent) {
    ended(options_.sweeper.string() + ": " + sent.error().message);
    return;
  }
  trouble_.clear();
  const std::uint64_t generation = ++generation_;
  if (inbox_) skipped_before_ += inbox_->figures().dropped;
  // Two: the sweep being looked at does not count, one waits, and the word of the end must find room beside it.
  inbox_ = std::make_shared<Inbox>("sweeps " + fabric(), 2, runtime::WhenFull::kDropOldest,
                                   [this, generation] { drain_later(generation); });
  reader_ = std::thread([inbox = inbox_, fd = socket_.get(), name = fabric()] {
    runtime::name_this_thread("ib-" + name);
    sweeper::FrameReader frames([fd](std::span<std::byte> bytes) { return runtime::read_all(fd, bytes); });
    while (true) {
      auto message = frames.read();
      if (!message) {
        inbox->push(Ended{message.error().message});
        return;
      }
      if (auto* sweep = std::get_if<Sweep>(&*message))
        inbox->push(Swept{std::move(*sweep), frames.acting()});
      else
        inbox->push(std::get<sweeper::Trouble>(std::move(*message)));
    }
  });
  watch_silence();
}

void FabricWatcher::act_as(const ActsAs& acts_as) {
  options_.acts_as = acts_as;
  if (!socket_) return;  // the next sweeper is told when it starts
  const auto options = child_options();
  const auto sent = options ? runtime::send_options(socket_.get(), *options) : tl::unexpected<Error>(options.error());
  if (!sent) ended(sent.error().message);
}

void FabricWatcher::watch_silence() {
  const auto longest = std::max<Duration>(kLongestSilence, 10 * options_.infiniband.sweep_interval);
  silence_.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(longest));
  silence_.async_wait([this, alive = std::weak_ptr<const int>(alive_)](boost::system::error_code error) {
    if (!error && !alive.expired() && !stopped_ && child_) ended("no data from weft-sweeper for too long");
  });
}

// One message at a time: where judging a sweep takes as long as making one, there would always be another, and nothing
// else would ever get its turn.
void FabricWatcher::drain() {
  auto message = inbox_->try_pop();
  if (!message) return;
  const std::uint64_t generation = generation_;
  if (auto* swept = std::get_if<Swept>(&*message)) {
    backoff_.reset();
    watch_silence();
    acting_ = std::move(swept->acting);
    on_sweep_(std::move(swept->sweep));
  } else if (auto* trouble = std::get_if<sweeper::Trouble>(&*message)) {
    trouble_ = trouble->message;
  } else {
    ended(trouble_.empty() ? std::get<Ended>(*message).why : trouble_);
    return;
  }
  drain_later(generation);
}

void FabricWatcher::drain_later(std::uint64_t generation) {
  boost::asio::post(main_, [this, generation, alive = std::weak_ptr<const int>(alive_)] {
    if (!alive.expired() && !stopped_ && generation == generation_) drain();
  });
}

void FabricWatcher::ended(const std::string& why) {
  hang_up();
  if (child_) child_->terminate();
  leaving_since_ = std::chrono::steady_clock::now();
  if (stopped_) return;
  const auto delay = backoff_.next();
  logger("infiniband")->warn("{}: {}; retrying in {:.2f} s", fabric(), why, seconds(delay));
  ++restarts_;
  on_trouble_(why);
  try_again(delay);
}

void FabricWatcher::try_again(Duration delay) {
  retry_.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(delay));
  retry_.async_wait([this, alive = std::weak_ptr<const int>(alive_)](boost::system::error_code error) {
    if (!error && !alive.expired()) spawn();
  });
}

// Two sweepers of one port never run at a time, so that one that does not end stays the only one. Nobody waits for it.
bool FabricWatcher::is_gone() {
  if (child_ && child_->poll_exit()) {
    logger("infiniband")->debug("{}: weft-sweeper {}", fabric(), runtime::describe(child_->poll_exit()));
    child_.reset();
  }
  if (child_) {
    const auto waited = std::chrono::steady_clock::now() - leaving_since_;
    if (waited < kStopGrace) return false;
    child_->kill();
    if (waited < kStopGrace + runtime::kKillPatience) return false;
    left_behind_ = child_->pid();
    child_->leave();
    child_.reset();
    if (!stopped_)
      on_trouble_("the last weft-sweeper was killed and does not end (process " + std::to_string(left_behind_) + ")");
  }
  const auto unkillable = runtime::unkillable();
  return std::ranges::find(unkillable, left_behind_, &runtime::Unkillable::pid) == unkillable.end();
}

// The sweeper reads the end of its stream and leaves.
void FabricWatcher::hang_up() {
  ++generation_;
  silence_.cancel();
  // Shut, not closed: the reader still uses the number.
  if (socket_) ::shutdown(socket_.get(), SHUT_RDWR);
  if (reader_.joinable()) reader_.join();
  socket_.reset();
}

void FabricWatcher::leave() {
  if (std::exchange(stopped_, true)) return;
  retry_.cancel();
  hang_up();
  if (child_) child_->terminate();
  leaving_since_ = std::chrono::steady_clock::now();
}

void FabricWatcher::stop() {
  leave();
  if (child_) {
    const auto exit = child_->stop(leaving_since_ + kStopGrace - std::chrono::steady_clock::now());
    logger("infiniband")->debug("{}: weft-sweeper {}", fabric(), runtime::describe(exit));
  }
  child_.reset();
}

std::uint64_t FabricWatcher::skipped() const {
  return skipped_before_ + (inbox_ ? inbox_->figures().dropped : 0);
}

}  // namespace weft::daemon
