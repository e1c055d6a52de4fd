// SPDX-License-Identifier: Apache-2.0
// weft-port: reads one external port of one switch, or sets its physical state, by directed route; prints one line of
// JSON and ends. weftd starts it for each step of a remedy, so that no right to write to a fabric lives longer.

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <optional>
#include <thread>

#include "collectors/infiniband/mad_port.hpp"
#include "collectors/infiniband/port_setting.hpp"
#include "daemon/adapters/port_report/report_line.hpp"
#include "daemon/platform/runtime/boot_time.hpp"
#include "daemon/platform/runtime/bounded_exit.hpp"

#ifndef WEFT_VERSION
#define WEFT_VERSION "unknown"
#endif

namespace {

using namespace weft;
using namespace std::chrono_literals;
using infiniband::PortOutcome;

enum Exit : int {
  kAsAsked = 0,     // read, done, or so already
  kUsage = 2,       // the command line is wrong
  kTrouble = 3,     // no local port, or it is gone
  kNothingSet = 4,  // not that port, a key is needed, silence, refused
  kUnclear = 5,     // a Set went out; what became of it is not known
};

struct Options {
  std::string local_node;
  std::string route, node, peer, set;
  unsigned local_port = 0, port = 0, peer_port = 0;
  bool down_as_reviewed = false;
  std::optional<std::int64_t> before_ms;
  std::int64_t timeout_ms = 500, settling_ms = 500;
  std::uint32_t retries = 2;
  int key_fd = -1, output_fd = STDOUT_FILENO;
};

int parse(int argc, char** argv, Options& options) {
  CLI::App app{
      "Reads one external port of a switch by directed route, or disables or enables it. Prints one line of JSON. Ends "
      "with 0: success; 2: wrong usage; 3: no local port; 4: nothing was set; 5: set, but the result is "
      "unclear."};
  app.set_version_flag("--version", WEFT_VERSION);
  app.add_option("--local-node", options.local_node,
                 "Node GUID of the local adapter to send from (default: the first)");
  app.add_option("--local-port", options.local_port, "Port of --local-node (default: the first)")
      ->check(CLI::Range(0, 254));
  app.add_option("--route", options.route, "Directed route: output port of each hop, such as 1,17,3")->required();
  app.add_option("--node", options.node, "Node GUID of the switch at the end of --route")->required();
  app.add_option("--port", options.port, "Port of the switch")->required()->check(CLI::Range(1, 254));
  app.add_option("--peer", options.peer, "Node GUID of the expected peer of the port; needed with --set");
  app.add_option("--peer-port", options.peer_port, "Port of --peer; needed with --set")->check(CLI::Range(1, 254));
  app.add_option("--set", options.set, "New physical state: disabled or polling (default: only read)")
      ->check(CLI::IsMember({"disabled", "polling"}));
  app.add_flag("--down-as-reviewed", options.down_as_reviewed,
               "Disable the port although it is not up and its peer cannot be asked");
  app.add_option("--before-ms", options.before_ms,
                 "Set only before this time of CLOCK_BOOTTIME in milliseconds (default: at any time)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--timeout-ms", options.timeout_ms, "Timeout of one attempt of a request")
      ->check(CLI::Range(1, 60000));
  app.add_option("--retries", options.retries, "Retries of read requests")->check(CLI::Range(0, 10));
  app.add_option("--settling-ms", options.settling_ms, "Longest wait for a port to reach the new state")
      ->check(CLI::Range(0, 10000));
  app.add_option("--m-key-fd", options.key_fd, "File descriptor with the subnet's M_Key, such as 0")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--output-fd", options.output_fd, "Output file descriptor (default: 1)")
      ->check(CLI::NonNegativeNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  return -1;
}

Result<std::uint64_t> guid_of(const std::string& text) {
  const auto guid = parse_guid(text);
  if (!guid) return fail(ErrorCode::kInvalidArgument, "'" + text + "' is not a GUID");
  return *guid;
}

Result<infiniband::DirectedRoute> route_of(const std::string& text) {
  infiniband::DirectedRoute route;
  std::string_view left = text;
  while (!left.empty()) {
    const auto comma = std::min(left.find(','), left.size());
    unsigned number = 0;
    const auto [end, error] = std::from_chars(left.data(), left.data() + comma, number);
    const auto longer = route.then({static_cast<std::uint8_t>(number)});
    if (error != std::errc{} || end != left.data() + comma || number == 0 || number > 254 || !longer)
      return fail(ErrorCode::kInvalidArgument,
                  "'" + text + "' is not a directed route: ports from 1 to 254, at most 62");
    route = *longer;
    left.remove_prefix(std::min(comma + 1, left.size()));
  }
  return route;
}

Result<std::uint64_t> read_key(int fd) {
  std::array<char, 64> text{};
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t got = ::read(fd, text.data() + length, text.size() - length);
    if (got < 0) return fail(ErrorCode::kInvalidArgument, "cannot read the M_Key");
    length += static_cast<std::size_t>(got);
    if (got == 0 || std::string_view(text.data(), length).find('\n') != std::string_view::npos) break;
  }
  return port::parse_management_key({text.data(), length});
}

Result<infiniband::PortQuestion> question_of(const Options& options) {
  infiniband::PortQuestion question;
  const auto route = route_of(options.route);
  if (!route) return tl::unexpected(route.error());
  question.route = *route;
  const auto node = guid_of(options.node);
  if (!node) return tl::unexpected(node.error());
  question.port = {{*node}, {static_cast<std::uint8_t>(options.port)}};
  if (!options.set.empty()) {
    if (options.peer.empty() || options.peer_port == 0)
      return fail(ErrorCode::kInvalidArgument, "--set needs --peer and --peer-port, the expected peer of the port");
    const auto peer = guid_of(options.peer);
    if (!peer) return tl::unexpected(peer.error());
    question.peer = {{*peer}, {static_cast<std::uint8_t>(options.peer_port)}};
    question.down_as_reviewed = options.down_as_reviewed;
    question.wanted = options.set == "disabled" ? PortPhysicalState::kDisabled : PortPhysicalState::kPolling;
  }
  if (options.key_fd >= 0) {
    const auto key = read_key(options.key_fd);
    if (!key) return tl::unexpected(key.error());
    question.management_key = *key;
  }
  question.timeout = std::chrono::milliseconds(options.timeout_ms);
  question.settling = std::chrono::milliseconds(options.settling_ms);
  question.retries = options.retries;
  if (options.before_ms)
    question.is_late = [before = std::chrono::milliseconds(*options.before_ms)] {
      return runtime::boot_time() >= before;
    };
  return question;
}

Result<infiniband::LocalPort> choose_port(const Options& options) {
  std::uint64_t wanted = 0;
  if (!options.local_node.empty()) {
    const auto guid = guid_of(options.local_node);
    if (!guid) return tl::unexpected(guid.error());
    wanted = *guid;
  }
  const auto ports = infiniband::list_local_ports();
  if (!ports) return tl::unexpected(ports.error());
  for (const auto& port : *ports)
    if ((wanted == 0 || port.node.value == wanted) &&
        (options.local_port == 0 || port.number.value == options.local_port))
      return port;
  return fail(ErrorCode::kUnavailable,
              "this machine has no InfiniBand port " + options.local_node + ":" + std::to_string(options.local_port));
}

Result<infiniband::PortReport> run(const Options& options) {
  const auto question = question_of(options);
  if (!question) return tl::unexpected(question.error());
  const auto local = choose_port(options);
  if (!local) return tl::unexpected(local.error());
  const auto port = infiniband::open_umad_port(local->adapter, local->number);
  if (!port) return tl::unexpected(port.error());
  return infiniband::ask_port(**port, *question);
}

int exit_code(const Result<infiniband::PortReport>& report) {
  if (!report) return report.error().code == ErrorCode::kInvalidArgument ? kUsage : kTrouble;
  switch (report->outcome) {
    case PortOutcome::kRead:
    case PortOutcome::kDone:
    case PortOutcome::kAlready:
      return kAsAsked;
    case PortOutcome::kUnclear:
    case PortOutcome::kCount:
      return kUnclear;
    case PortOutcome::kNotThat:
    case PortOutcome::kNeedsKey:
    case PortOutcome::kSilent:
    case PortOutcome::kRefused:
    case PortOutcome::kLate:
    case PortOutcome::kUnseen:
      break;
  }
  return kNothingSet;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (const int code = parse(argc, argv, options); code >= 0) return code;
  const auto report = run(options);
  if (!write_all(options.output_fd, port::to_line(report))) std::cerr << "weft-port: writing the result failed\n";
  return runtime::leave(exit_code(report));
}
