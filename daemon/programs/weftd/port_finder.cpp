// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/port_finder.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "daemon/platform/runtime/child_process.hpp"

namespace weft::daemon {
namespace {

constexpr std::size_t kLongestList = 64 * 1024;
constexpr std::chrono::milliseconds kLookForStop{200};

// A shell puts the list, and the complaint, onto the socket that every child of ours has.
constexpr const char* kListCommand = "exec \"$0\" --list >&3 2>&3";

}  // namespace

std::vector<config::InfinibandPort> parse_port_list(std::string_view text) {
  std::vector<config::InfinibandPort> ports;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t colon = line.find(':');
    const std::size_t tab = line.find('\t');
    if (colon == std::string_view::npos || tab == std::string_view::npos || colon > tab) continue;
    const std::size_t state = line.find('\t', tab + 1);
    if (state == std::string_view::npos || !line.substr(state + 1).starts_with("Active")) continue;
    unsigned number = 0;
    const auto [end, error] = std::from_chars(line.data() + colon + 1, line.data() + tab, number);
    if (error != std::errc{} || end != line.data() + tab || number == 0 || number > 254) continue;
    const std::string device(line.substr(0, colon));
    ports.push_back({device + "-" + std::to_string(number), device, static_cast<std::uint8_t>(number)});
  }
  return ports;
}

Result<std::vector<config::InfinibandPort>> find_ports(const std::filesystem::path& sweeper,
                                                       const std::filesystem::path& directory, Duration patience,
                                                       const std::atomic<bool>& stop) {
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  std::filesystem::create_directories(directory, ignored);
  auto child = runtime::ChildProcess::spawn(
      {.program = "/bin/sh", .arguments = {"-c", kListCommand, sweeper.string()}, .directory = directory});
  if (!child) return tl::unexpected(child.error());
  const auto until = std::chrono::steady_clock::now() + patience;
  std::string text;
  while (text.size() < kLongestList) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd readable{child->socket(), POLLIN, 0};
    const auto slice = std::min(left, kLookForStop);
    const bool is_quiet = left.count() <= 0 || ::poll(&readable, 1, static_cast<int>(slice.count())) == 0;
    if (is_quiet && slice < left && !stop) continue;
    if (is_quiet) {
      child->stop(std::chrono::milliseconds(200));
      return fail(ErrorCode::kTimeout, sweeper.string() + " --list did not end");
    }
    std::array<char, 4096> piece;
    const ssize_t got = ::read(child->socket(), piece.data(), piece.size());
    if (got <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  const auto exit = child->stop(std::chrono::seconds(2));
  auto ports = parse_port_list(text);
  if (ports.empty() && !(exit && exit->success())) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return fail(ErrorCode::kUnavailable, text.empty() ? sweeper.string() + " " + runtime::describe(exit) : text);
  }
  return ports;
}

}  // namespace weft::daemon
