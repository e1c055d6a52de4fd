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
#include "collectors/infiniband/node_name_map.hpp"
#include "collectors/infiniband/sweeper.hpp"
#include "daemon/platform/runtime/bounded_exit.hpp"
#include "daemon/programs/sweeper/frame.hpp"
#include "daemon/programs/sweeper/stream.hpp"

#ifndef WEFT_VERSION
#define WEFT_VERSION "unknown"
#endif

namespace {

using namespace weft;
using namespace std::chrono_literals;

constexpr int kParentSocket = 3;  // where weftd leaves our end (daemon/platform/runtime, kChildSocket)
constexpr int kExitTrouble = 3;

std::atomic<bool> stop_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free, "written by a signal handler");
extern "C" void ask_to_stop(int) {
  stop_asked = true;
}

struct Options {
  std::string adapter;
  int port = 0;
  std::string fabric = "fabric";
  std::int64_t interval_ms = 1000, detail_interval_ms = 60000, timeout_ms = 200;
  std::uint32_t window = 256, per_node = 8, retries = 2;
  int service_level = -1, pkey_index = -1;
  bool clear_saturated = false;
  std::string node_name_map;
  std::uint64_t first_epoch = 1;
  bool list = false;
  unsigned benchmark_sweeps = 0;
};

int parse(int argc, char** argv, Options& options) {
  CLI::App app{
      "Reads one InfiniBand subnet through one port, for weftd. By hand it is of use with --list and "
      "--benchmark-sweeps."};
  app.set_version_flag("--version", WEFT_VERSION);
  app.add_flag("--list", options.list, "Print the InfiniBand ports of this machine and exit");
  app.add_option("--benchmark-sweeps", options.benchmark_sweeps,
                 "Discover, run this many sweeps as fast as possible, print a line of JSON for each, and exit");
  app.add_option("--adapter", options.adapter, "Channel adapter, such as mlx5_0 (default: the first)");
  app.add_option("--port", options.port, "Port of the adapter (default: the first one that is up)");
  app.add_option("--fabric", options.fabric, "Name of the subnet in the output");
  app.add_option("--interval-ms", options.interval_ms, "Time from the start of one sweep to the next")
      ->check(CLI::Range(10, 3600000));
  app.add_option("--detail-interval-ms", options.detail_interval_ms,
                 "Interval for the optional attributes of each port")
      ->check(CLI::Range(10, 86400000));
  app.add_option("--timeout-ms", options.timeout_ms, "Timeout of one attempt of a request")
      ->check(CLI::Range(1, 60000));
  app.add_option("--retries", options.retries, "Retries of a request")->check(CLI::Range(0, 10));
  app.add_option("--window", options.window, "Maximum of outstanding requests")->check(CLI::Range(1, 4096));
  app.add_option("--per-node", options.per_node, "Maximum of outstanding requests per node")->check(CLI::Range(1, 255));
  app.add_option("--service-level", options.service_level, "0..15; default: from the subnet administrator")
      ->check(CLI::Range(0, 15));
  app.add_option("--pkey-index", options.pkey_index, "Default: index of the default partition")
      ->check(CLI::Range(0, 65535));
  app.add_option("--node-name-map", options.node_name_map,
                 "File with names by GUID, in the format of infiniband-diags");
  app.add_option("--first-epoch", options.first_epoch, "Number given to the first discovery");
  app.add_flag("--clear-saturated-counters", options.clear_saturated, "Clear counters that are saturated (all ones)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return -1;
}

Result<infiniband::LocalPort> choose_port(const Options& options) {
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

Result<infiniband::SweeperOptions> sweeper_options(const Options& options) {
  infiniband::SweeperOptions result;
  result.fabric = options.fabric;
  result.engine = {options.window, options.per_node, std::chrono::milliseconds(options.timeout_ms), options.retries};
  result.interval = std::chrono::milliseconds(options.interval_ms);
  result.detail_interval = std::chrono::milliseconds(options.detail_interval_ms);
  if (options.service_level >= 0) result.service_level = static_cast<std::uint8_t>(options.service_level);
  if (options.pkey_index >= 0) result.pkey_index = static_cast<std::uint16_t>(options.pkey_index);
  result.clear_saturated_counters = options.clear_saturated;
  result.first_epoch = options.first_epoch;
  if (!options.node_name_map.empty()) {
    std::ifstream file(options.node_name_map);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf()))
      return fail(ErrorCode::kInvalidArgument, "cannot read the node name map " + options.node_name_map);
    auto names = infiniband::parse_node_name_map(text.str());
    if (!names) return fail(names.error().code, options.node_name_map + ": " + names.error().message);
    result.names = std::move(*names);
  }
  return result;
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
    pollfd parent{kParentSocket, POLLRDHUP, 0};
    ::poll(&parent, 1, static_cast<int>(std::min(left, std::chrono::milliseconds(1000)).count()));
    if (parent.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) return false;
  }
  return false;
}

int sweep_for_parent(infiniband::Sweeper& sweeper, const Options& options, sweeper::FrameWriter& writer) {
  auto due = std::chrono::steady_clock::now();
  while (!stop_asked) {
    const auto sweep = sweeper.sweep();
    if (!sweep) {
      writer.write(sweeper::Trouble{sweep.error().message});
      return kExitTrouble;
    }
    if (!writer.write(*sweep)) return 0;  // weftd is gone: nobody to sweep for
    due = std::max(due + std::chrono::milliseconds(options.interval_ms), std::chrono::steady_clock::now());
    if (!wait_until(due)) return 0;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (const int code = parse(argc, argv, options); code >= 0) return code;
  if (options.list) return runtime::leave(list_ports());

  const bool by_hand = options.benchmark_sweeps > 0;
  sweeper::FrameWriter writer(
      [](std::span<const std::byte> bytes) { return sweeper::write_all(kParentSocket, bytes); });
  const auto give_up = [&](const Error& error) {
    if (by_hand || !writer.write(sweeper::Trouble{error.message}))
      std::cerr << "weft-sweeper: " << error.message << '\n';
    return runtime::leave(kExitTrouble);
  };
  auto prepared = sweeper_options(options);
  if (!prepared) return give_up(prepared.error());
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
  infiniband::Sweeper sweeper(**port, std::move(*prepared));
  return runtime::leave(by_hand ? benchmark(sweeper, options.benchmark_sweeps)
                                : sweep_for_parent(sweeper, options, writer));
}
