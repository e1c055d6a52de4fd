// SPDX-License-Identifier: Apache-2.0
// weft-sweeper: the one process that talks to an InfiniBand port. weftd starts one for each port it watches.

#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

#include "collectors/infiniband/mad_port.hpp"
#include "collectors/infiniband/sweeper.hpp"
#include "daemon/platform/runtime/bounded_exit.hpp"
#include "daemon/platform/runtime/child_options.hpp"
#include "daemon/platform/runtime/child_process.hpp"
#include "daemon/platform/runtime/stream.hpp"
#include "daemon/programs/sweeper/frame.hpp"
#include "daemon/programs/sweeper/node_names.hpp"
#include "daemon/programs/sweeper/options.hpp"

#ifndef WEFT_VERSION
#define WEFT_VERSION "unknown"
#endif

namespace {

using namespace weft;
using namespace std::chrono_literals;

constexpr int kExitTrouble = 3;

std::atomic<bool> stop_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free, "written by a signal handler");
extern "C" void ask_to_stop(int) {
  stop_asked = true;
}

/// What a person asks for by hand.
struct ByHand {
  bool list = false;
  unsigned benchmark_sweeps = 0;
};

/// Reads the flags; those that are not given leave `options` alone. An exit code, or -1 to go on.
int parse(int argc, char** argv, sweeper::Options& options, ByHand& by_hand) {
  CLI::App app{
      "Reads one InfiniBand subnet through one port, for weftd, which sends the options in a message. By hand it is of "
      "use with --list and --benchmark-sweeps. A flag overrides the message."};
  app.set_version_flag("--version", WEFT_VERSION);
  app.add_flag("--list", by_hand.list, "Print the InfiniBand ports of this machine and exit");
  app.add_option("--benchmark-sweeps", by_hand.benchmark_sweeps,
                 "Discover, run this many sweeps as fast as possible, print a line of JSON for each, and exit");
  app.add_option("--fabric", options.sweep.fabric, "Name of the subnet in the output");
  app.add_option("--adapter", options.adapter, "Channel adapter, such as mlx5_0 (default: the first)");
  app.add_option("--port", options.port, "Port of the adapter (default: the first one that is up)");
  app.add_option_function<std::int64_t>(
      "--timeout-ms", [&](std::int64_t value) { options.sweep.engine.timeout = std::chrono::milliseconds(value); },
      "Timeout of one attempt of a request");
  app.add_option("--retries", options.sweep.engine.retries, "Retries of a request");
  app.add_option("--window", options.sweep.engine.window, "Maximum of outstanding requests");
  app.add_option("--per-node", options.sweep.engine.per_node_outstanding, "Maximum of outstanding requests per node");
  app.add_option("--service-level", options.sweep.service_level, "0..15; default: from the subnet administrator");
  app.add_option("--pkey-index", options.sweep.pkey_index, "Default: index of the default partition");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return -1;
}

Result<infiniband::LocalPort> choose_port(const sweeper::Options& options) {
  auto ports = infiniband::list_local_ports();
  if (!ports) return tl::unexpected(ports.error());
  const infiniband::LocalPort* chosen = nullptr;
  for (const auto& port : *ports) {
    if (!options.adapter.empty() && port.adapter != options.adapter) continue;
    if (options.port != 0 && port.number.value != options.port) continue;
    if (!chosen || (port.state == PortState::kActive && chosen->state != PortState::kActive)) chosen = &port;
  }
  if (!chosen)
    return fail(
        ErrorCode::kUnavailable,
        "there is no InfiniBand port" +
            (options.adapter.empty() ? std::string() : " " + options.adapter + ":" + std::to_string(options.port)) +
            " on this machine");
  return *chosen;
}

int list_ports() {
  const auto ports = infiniband::list_local_ports();
  if (!ports) {
    std::cerr << "weft-sweeper: " << ports.error().message << '\n';
    return kExitTrouble;
  }
  for (const auto& port : *ports)
    std::printf("%s:%d\t%s\t%s\tlid %u\tsm %u\n", port.adapter.c_str(), port.number.value, to_string(port.guid).c_str(),
                to_string(port.state), port.lid.value, port.subnet_manager_lid.value);
  return 0;
}

int benchmark(infiniband::Sweeper& sweeper, unsigned sweeps) {
  for (unsigned i = 0; i <= sweeps && !stop_asked; ++i) {
    const std::uint64_t before = sweeper.requests_sent();
    const auto sweep = sweeper.sweep();
    if (!sweep) {
      std::cerr << "weft-sweeper: " << sweep.error().message << '\n';
      return kExitTrouble;
    }
    const std::uint64_t sent = sweeper.requests_sent() - before;
    if (i == 0) {
      std::printf("{\"discovery_seconds\": %.4f, \"discovery_mads\": %llu, \"nodes\": %zu, \"ports\": %zu}\n",
                  seconds(sweeper.discovery_time()), static_cast<unsigned long long>(sweeper.discovery_requests()),
                  sweep->topology->nodes().size(), sweep->topology->ports().size());
      continue;  // the first one also learns what agents can do
    }
    const double took = seconds(sweep->statistics.duration);
    std::printf(
        "{\"sweep\": %u, \"mads\": %llu, \"seconds\": %.4f, \"mads_per_second\": %.0f, \"window\": %u, \"timeouts\": "
        "%llu}\n",
        i, static_cast<unsigned long long>(sent), took, static_cast<double>(sent) / took, sweep->statistics.window,
        static_cast<unsigned long long>(sweep->statistics.requests[static_cast<std::size_t>(MadResult::kTimeout)]));
    std::fflush(stdout);
  }
  return 0;
}

// Waits until `until`; false when weftd is gone or we are asked to stop.
bool wait_until(std::chrono::steady_clock::time_point until) {
  while (!stop_asked) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left <= 0ms) return true;
    pollfd parent{runtime::kChildSocket, POLLRDHUP, 0};
    ::poll(&parent, 1, static_cast<int>(std::min(left, std::chrono::milliseconds(1000)).count()));
    if (parent.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) return false;
  }
  return false;
}

/// weftd may send its options once more: what it acts as is followed.
void hear_parent(infiniband::Sweeper& sweeper) {
  pollfd parent{runtime::kChildSocket, POLLIN, 0};
  if (::poll(&parent, 1, 0) != 1 || (parent.revents & POLLIN) == 0) return;
  if (const auto options = runtime::receive_options<sweeper::Options>(runtime::kChildSocket))
    sweeper.act_as(options->sweep.acts_as);
}

// Until weftd is gone or we are asked to stop.
int sweep_for_parent(infiniband::Sweeper& sweeper, Duration interval, sweeper::FrameWriter& writer) {
  auto due = std::chrono::steady_clock::now();
  while (!stop_asked) {
    const auto sweep = sweeper.sweep();
    if (!sweep) {
      writer.write(sweeper::Trouble{sweep.error().message});
      return kExitTrouble;
    }
    if (!writer.write(sweeper.acting()) || !writer.write(*sweep)) return 0;  // weftd is gone: nobody to sweep for
    due = std::max(due + interval, std::chrono::steady_clock::now());
    if (!wait_until(due)) return 0;
    hear_parent(sweeper);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  sweeper::Options options;
  ByHand by_hand;
  if (const int code = parse(argc, argv, options, by_hand); code >= 0) return code;
  if (by_hand.list) return runtime::leave(list_ports());

  const bool benchmarks = by_hand.benchmark_sweeps > 0;
  sweeper::FrameWriter writer(
      [](std::span<const std::byte> bytes) { return runtime::write_all(runtime::kChildSocket, bytes); });
  const auto give_up = [&](const Error& error) {
    if (benchmarks || !writer.write(sweeper::Trouble{error.message}))
      std::cerr << "weft-sweeper: " << error.message << '\n';
    return runtime::leave(kExitTrouble);
  };
  if (!benchmarks) {
    auto received = runtime::receive_options<sweeper::Options>(runtime::kChildSocket);
    if (!received) return give_up(received.error());
    options = std::move(*received);
    parse(argc, argv, options, by_hand);
  }
  if (const auto checked = options.check(); !checked) return give_up(checked.error());
  // Names are a convenience: without them the fabric is watched all the same. weftd says at its start what is wrong.
  if (auto names = sweeper::read_node_names(options.node_name_map))
    options.sweep.names = std::move(*names);
  else
    std::cerr << "weft-sweeper: nodes keep their descriptions: " << names.error().message << '\n';
  const auto chosen = choose_port(options);
  if (!chosen) return give_up(chosen.error());
  const auto port = infiniband::open_umad_port(chosen->adapter, chosen->number);
  if (!port) return give_up(port.error());
  // From here on exit by the front door when asked to stop: a simulator's client library says good-bye there. Not
  // before: while it waits for its simulator it would not notice.
  struct sigaction action = {};
  action.sa_handler = ask_to_stop;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  infiniband::Sweeper sweeper(**port, options.sweep);
  const int code = benchmarks ? benchmark(sweeper, by_hand.benchmark_sweeps)
                              : sweep_for_parent(sweeper, options.sweep.interval, writer);
  sweeper.say_farewell();
  return runtime::leave(code);
}
