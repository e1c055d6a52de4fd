// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/switch_watcher.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "daemon/platform/logging/logging.hpp"
#include "daemon/platform/runtime/child_options.hpp"
#include "daemon/platform/runtime/command.hpp"
#include "daemon/platform/runtime/lane.hpp"
#include "daemon/platform/runtime/stream.hpp"
#include "daemon/programs/switches/credentials.hpp"
#include "daemon/programs/switches/target_list.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

/// It tells how its targets are every few seconds.
constexpr auto kLongestChildSilence = std::chrono::seconds(60);
constexpr Duration kChildGrace = 2s;
/// Readings looked at before others on the main thread get their turn.
constexpr unsigned kReadingsAtOnce = 16;
constexpr std::size_t kReadingsWaiting = 64;

std::filesystem::path absolute_or_none(const std::filesystem::path& path) {
  return path.empty() ? path : std::filesystem::absolute(path);
}

}  // namespace

std::filesystem::path switches_program(const config::Gnmi& config) {
  if (!config.program.empty()) return std::filesystem::absolute(config.program);
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "weft-switches";
}

switches::Options switch_options(const config::Gnmi& config) {
  switches::Options options;
  for (const std::string& line : config.targets) options.targets += line + '\n';
  options.targets_file = absolute_or_none(config.targets_file);
  options.credentials_directory = absolute_or_none(config.credentials_directory);
  options.sample_interval = config.sample_interval;
  options.reconnect_limit = config.reconnect_limit;
  options.max_message_bytes = config.max_message.value;
  options.max_values_per_second = config.max_values_per_second;
  options.max_ports = config.max_ports;
  options.max_targets = config.max_targets;
  return options;
}

std::vector<Error> check_gnmi_files(const config::Gnmi& config) {
  std::vector<Error> errors;
  if (!config.is_read()) return errors;
  const switches::Options options = switch_options(config);
  const auto targets = switches::read_targets(options.targets, options.targets_file, options.max_targets);
  if (!targets) return {targets.error()};
  std::set<std::string> told;
  for (const switches::TargetLine& target : *targets)
    if (const auto read = switches::read_credentials(options.credentials_directory, target); !read)
      if (told.insert(target.credentials).second) errors.push_back(read.error());
  if (!config.program.empty())
    if (const auto found = runtime::find_program(switches_program(config).string(), ""); !found)
      errors.push_back({ErrorCode::kNotFound, "gnmi.program: " + found.error().message + ", or it is not executable"});
  return errors;
}

SwitchWatcher::SwitchWatcher(boost::asio::io_context& main, const config::Gnmi& config, std::filesystem::path directory,
                             HostSessions& hosts, std::function<void()> taken, TargetsHandler on_targets)
    : main_(main),
      config_(config),
      directory_(std::move(directory)),
      hosts_(hosts),
      taken_(std::move(taken)),
      on_targets_(std::move(on_targets)),
      retry_(main),
      silence_(main),
      backoff_(250ms, 4s),
      targets_(std::make_shared<const std::vector<SwitchTarget>>()) {}

SwitchWatcher::~SwitchWatcher() {
  stop();
}

void SwitchWatcher::start() {
  if (config_.is_read()) spawn();
}

void SwitchWatcher::spawn() {
  if (stopped_) return;
  if (child_) child_->stop(Duration::zero());  // it holds no device: it ends when it is killed
  child_.reset();
  std::error_code ignored;
  std::filesystem::create_directories(directory_, ignored);
  auto child = runtime::ChildProcess::spawn({.program = switches_program(config_), .directory = directory_});
  if (!child) return ended(child.error().message);
  child_.emplace(std::move(*child));
  socket_ = child_->take_socket();
  if (const auto sent = runtime::send_options(socket_.get(), switch_options(config_)); !sent)
    return ended("weft-switches: " + sent.error().message);
  trouble_.clear();
  const std::uint64_t generation = ++generation_;
  inbox_ = std::make_shared<Inbox>("switches", kReadingsWaiting, runtime::WhenFull::kBlock,
                                   [this, generation] { drain_later(generation); });
  reader_ = std::thread([inbox = inbox_, fd = socket_.get()] {
    runtime::name_this_thread("switches");
    switches::FrameReader frames([fd](std::span<std::byte> bytes) { return runtime::read_all(fd, bytes); });
    while (true) {
      auto message = frames.read();
      if (!message) {
        inbox->push(Ended{message.error().message});
        return;
      }
      if (!std::visit([&](auto& one) { return inbox->push(std::move(one)); }, *message)) return;
    }
  });
  watch_silence();
}

void SwitchWatcher::watch_silence() {
  silence_.expires_after(kLongestChildSilence);
  silence_.async_wait([this, alive = std::weak_ptr<const int>(alive_)](boost::system::error_code error) {
    if (!error && !alive.expired() && !stopped_ && child_) ended("no data from weft-switches for too long");
  });
}

void SwitchWatcher::drain() {
  const std::uint64_t generation = generation_;
  bool has_readings = false;
  for (unsigned count = 0; count < kReadingsAtOnce; ++count) {
    auto message = inbox_->try_pop();
    if (!message) {
      if (has_readings) taken_();
      return;
    }
    if (auto* told = std::get_if<switches::SwitchReading>(&*message)) {
      take(std::move(*told));
      has_readings = true;
    } else if (auto* states = std::get_if<switches::TargetStates>(&*message)) {
      backoff_.reset();
      watch_silence();
      take(std::move(states->targets));
    } else if (auto* trouble = std::get_if<switches::Trouble>(&*message)) {
      trouble_ = trouble->message;
    } else {
      if (has_readings) taken_();
      return ended(trouble_.empty() ? std::get<Ended>(*message).why : trouble_);
    }
  }
  taken_();
  drain_later(generation);
}

void SwitchWatcher::drain_later(std::uint64_t generation) {
  boost::asio::post(main_, [this, generation, alive = std::weak_ptr<const int>(alive_)] {
    if (!alive.expired() && !stopped_ && generation == generation_) drain();
  });
}

void SwitchWatcher::take(switches::SwitchReading told) {
  std::shared_ptr<LocalStream>& stream = streams_[told.target];
  if (!stream || stream->ended()) {
    const auto before = stream ? stream->ended()->message : std::string();
    stream = std::make_shared<LocalStream>();
    const auto target = std::ranges::find(*targets_, told.target, &SwitchTarget::name);
    hosts_.hello(stream, {.host = told.target,
                          .spool = LocalStream::new_spool(),
                          .version = "gNMI",
                          .interval = config_.sample_interval,
                          .address = target == targets_->end() ? "" : target->address});
    if (stream->ended()) {
      if (stream->ended()->message != before)
        logger("switches")->warn("{} is read, and not taken: {}", told.target, stream->ended()->message);
      return;
    }
  }
  HostBatch batch;
  batch.sequence = stream->next_sequence();
  batch.reading = std::move(told.reading);
  hosts_.batch(stream, std::move(batch), Duration::zero());
}

void SwitchWatcher::let_go(const std::string& target) {
  const auto stream = streams_.find(target);
  if (stream == streams_.end()) return;
  hosts_.gone(stream->second);
  streams_.erase(stream);
}

void SwitchWatcher::take(std::vector<SwitchTarget> targets) {
  for (SwitchTarget& target : targets) {
    const auto before = std::ranges::find(*targets_, target.name, &SwitchTarget::name);
    const bool is_new = before == targets_->end();
    if (target.state != SwitchTargetState::kReading) let_go(target.name);
    if (const auto stream = streams_.find(target.name); stream != streams_.end() && stream->second->ended())
      target.reason = "it is read, and not taken: " + stream->second->ended()->message;
    if (!is_new && before->state == target.state && before->reason == target.reason) continue;
    if (target.state == SwitchTargetState::kReading && target.reason.empty())
      logger("switches")
          ->info("{} at {} is read by gNMI{}", target.name, target.address,
                 target.refused.empty() ? "" : "; not told: " + target.refused);
    else if (!target.reason.empty())
      logger("switches")->warn("{} at {} is not read: {}", target.name, target.address, target.reason);
  }
  for (const SwitchTarget& before : *targets_)
    if (std::ranges::find(targets, before.name, &SwitchTarget::name) == targets.end()) let_go(before.name);
  targets_ = std::make_shared<const std::vector<SwitchTarget>>(std::move(targets));
  on_targets_(targets_);
}

void SwitchWatcher::ended(const std::string& why) {
  hang_up();
  if (child_) child_->terminate();
  if (stopped_) return;
  const auto delay = backoff_.next();
  logger("switches")->warn("{}; retrying in {:.2f} s", why, seconds(delay));
  ++restarts_;
  const TimePoint now = SystemClock{}.now();
  std::vector<SwitchTarget> targets = *targets_;
  for (SwitchTarget& target : targets) {
    if (target.state != SwitchTargetState::kConnecting) target.since = now;
    target.state = SwitchTargetState::kConnecting;
    target.reason = why;
    let_go(target.name);
  }
  targets_ = std::make_shared<const std::vector<SwitchTarget>>(std::move(targets));
  on_targets_(targets_);
  retry_.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(delay));
  retry_.async_wait([this, alive = std::weak_ptr<const int>(alive_)](boost::system::error_code error) {
    if (!error && !alive.expired()) spawn();
  });
}

void SwitchWatcher::hang_up() {
  ++generation_;
  silence_.cancel();
  if (inbox_) inbox_->close();
  // Shut, not closed: the reader still uses the number.
  if (socket_) ::shutdown(socket_.get(), SHUT_RDWR);
  if (reader_.joinable()) reader_.join();
  socket_.reset();
}

void SwitchWatcher::stop() {
  if (std::exchange(stopped_, true)) return;
  retry_.cancel();
  hang_up();
  if (child_) {
    const auto exit = child_->stop(kChildGrace);
    logger("switches")->debug("weft-switches {}", runtime::describe(exit));
  }
  child_.reset();
}

}  // namespace weft::daemon
