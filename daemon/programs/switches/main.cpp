// SPDX-License-Identifier: Apache-2.0
// weft-switches: reads switches by gNMI. Started by weftd, with one end of a socket as descriptor 3; ends with it.

#include <grpcpp/grpcpp.h>
#include <poll.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "daemon/platform/runtime/child_options.hpp"
#include "daemon/platform/runtime/child_process.hpp"
#include "daemon/platform/runtime/stream.hpp"
#include "daemon/programs/switches/frame.hpp"
#include "daemon/programs/switches/one_port.hpp"
#include "daemon/programs/switches/options.hpp"
#include "daemon/programs/switches/target.hpp"
#include "daemon/programs/switches/target_list.hpp"

#ifndef WEFT_VERSION
#define WEFT_VERSION "unknown"
#endif

namespace {

using namespace weft;
using namespace std::chrono_literals;

constexpr int kExitTrouble = 3;
constexpr auto kTick = 20ms;
constexpr Duration kShowEvery = 5s;       ///< figures
constexpr Duration kShowChanges = 200ms;  ///< states
constexpr Duration kLookAtFile = 5s;

std::atomic<bool> stop_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free, "written by a signal handler");
extern "C" void ask_to_stop(int) {
  stop_asked = true;
}

/// All targets, on one thread.
class Switches {
 public:
  Switches(const switches::Options& options, switches::FrameWriter& writer)
      : options_(options), writer_(writer), random_(std::random_device{}()), start_(read_clock()) {}

  /// Until weftd is gone, or we are asked to stop. kInvalidArgument at once where the list of targets cannot be used.
  Result<void> run() {
    auto lines = switches::read_targets(options_.targets, options_.targets_file, options_.max_targets);
    if (!lines) return tl::unexpected(lines.error());
    take(std::move(*lines), now());
    while (!stop_asked && is_wanted_ && has_parent()) {
      drain();
      tick(now());
    }
    wind_up();
    return {};
  }

 private:
  static switches::Now read_clock() {
    const SystemClock clock;
    return {clock.now(), clock.steady()};
  }
  /// Wall time as it was at our start, and as much more as has passed: a clock that is set makes no value old.
  switches::Now now() const {
    const switches::Now read = read_clock();
    return {start_.wall + (read.steady - start_.steady), read.steady};
  }
  double random() { return std::uniform_real_distribution<double>(0, 1)(random_); }

  static bool has_parent() {
    pollfd parent{runtime::kChildSocket, POLLRDHUP, 0};
    return ::poll(&parent, 1, 0) == 0 || (parent.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) == 0;
  }

  /// For one tick at most: messages may be large, and targets wait for the clock to be looked at.
  void drain() {
    const Duration end = SystemClock{}.steady() + kTick;
    auto until = std::chrono::system_clock::now() + kTick;
    do {
      void* tag = nullptr;
      bool ok = false;
      if (queue_.AsyncNext(&tag, &ok, until) != grpc::CompletionQueue::GOT_EVENT) return;
      const auto* const step = static_cast<switches::Call::Step*>(tag);
      (step->call->*step->next)(ok);
      until = {};
    } while (SystemClock{}.steady() < end);
  }

  void tick(const switches::Now& now) {
    for (const auto& target : targets_) {
      target->tick(now, random());
      if (const auto reading = target->take_reading(now))
        is_wanted_ = is_wanted_ && writer_.write(target->line().name, to_wall(*reading, now));
    }
    for (const auto& target : leaving_) target->tick(now, 0);
    std::erase_if(leaving_, [](const auto& target) { return target->is_gone(); });
    if (now.steady - looked_at_ >= kLookAtFile) look(now);
    show(now);
  }

  /// Times in it by the clock as it is set now.
  static HostReading to_wall(HostReading reading, const switches::Now& now) {
    const Duration set = read_clock().wall - now.wall;
    reading.taken += set;
    if (reading.neighbours_at != kNever) reading.neighbours_at += set;
    return reading;
  }

  void show(const switches::Now& now) {
    if (now.steady - shown_at_ < kShowChanges) return;
    switches::TargetStates states;
    for (const auto& target : targets_) states.targets.push_back(target->shown());
    const auto is_same = [](const SwitchTarget& a, const SwitchTarget& b) {
      return a.name == b.name && a.state == b.state && a.reason == b.reason && a.refused == b.refused;
    };
    const bool has_news = !std::ranges::equal(states.targets, shown_.targets, is_same);
    if (!has_news && now.steady - shown_at_ < kShowEvery) return;
    shown_at_ = now.steady;
    is_wanted_ = is_wanted_ && writer_.write(states);
    shown_ = std::move(states);
  }

  /// The list of targets may be another one.
  void look(const switches::Now& now) {
    looked_at_ = now.steady;
    auto lines = switches::read_targets(options_.targets, options_.targets_file, options_.max_targets);
    const std::string trouble = lines ? "" : lines.error().message;
    if (trouble != trouble_ && !trouble.empty())
      std::cerr << "weft-switches: the targets stay as they were: " << trouble << std::endl;
    trouble_ = trouble;
    if (lines) take(std::move(*lines), now);
  }

  void take(std::vector<switches::TargetLine> lines, const switches::Now& now) {
    for (auto& target : targets_) {
      if (std::ranges::find(lines, target->line()) != lines.end()) continue;
      target->leave();
      writer_.forget(target->line().name);
      leaving_.push_back(std::move(target));
    }
    std::erase(targets_, nullptr);
    for (switches::TargetLine& line : lines) {
      if (std::ranges::any_of(targets_, [&](const auto& target) { return target->line() == line; })) continue;
      targets_.push_back(std::make_unique<switches::Target>(std::move(line), options_, queue_, now, random()));
    }
  }

  /// What is in the queue belongs to calls: they end first.
  void wind_up() {
    for (auto& target : targets_) {
      target->leave();
      leaving_.push_back(std::move(target));
    }
    targets_.clear();
    for (int rounds = 0; !leaving_.empty() && rounds < 50; ++rounds) {
      drain();
      for (const auto& target : leaving_) target->tick(now(), 0);
      std::erase_if(leaving_, [](const auto& target) { return target->is_gone(); });
    }
    if (!leaving_.empty()) std::_Exit(0);
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  const switches::Options& options_;
  switches::FrameWriter& writer_;
  grpc::CompletionQueue queue_;
  std::mt19937 random_;
  const switches::Now start_;
  std::vector<std::unique_ptr<switches::Target>> targets_, leaving_;
  switches::TargetStates shown_;
  Duration shown_at_{}, looked_at_{};
  std::string trouble_;
  bool is_wanted_ = true;
};

/// For one step of a remedy. The answer that does not arrive is no answer to weftd.
int answer_one_port() {
  const auto question = runtime::receive_options<switch_port::Question>(runtime::kChildSocket);
  if (!question) {
    std::cerr << "weft-switches: " << question.error().message << '\n';
    return kExitTrouble;
  }
  const auto sent = runtime::send_options(runtime::kChildSocket, switches::ask_port(*question));
  std::_Exit(sent ? 0 : kExitTrouble);  // calls that hang are not waited for
}

}  // namespace

int main(int argc, char** argv) {
  ::setenv("GRPC_VERBOSITY", "NONE", 0);  // what goes wrong with a target is told once, by us
  CLI::App app{"Reads switches by gNMI, for weftd, which starts it and sends the options in a message."};
  app.set_version_flag("--version", WEFT_VERSION);
  bool one_port = false;
  app.add_flag(switch_port::kOnePortFlag, one_port,
               "Read or set one port once, as the message asks that weftd sends (default: read all switches)");
  CLI11_PARSE(app, argc, argv);
  if (one_port) return answer_one_port();
  struct sigaction action = {};
  action.sa_handler = ask_to_stop;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  switches::FrameWriter writer(
      [](std::span<const std::byte> bytes) { return runtime::write_all(runtime::kChildSocket, bytes); });
  const auto give_up = [&](const Error& error) {
    if (!writer.write(switches::Trouble{error.message})) std::cerr << "weft-switches: " << error.message << '\n';
    return kExitTrouble;
  };
  const auto options = runtime::receive_options<switches::Options>(runtime::kChildSocket);
  if (!options) return give_up(options.error());
  if (const auto ran = Switches(*options, writer).run(); !ran) return give_up(ran.error());
  return 0;
}
