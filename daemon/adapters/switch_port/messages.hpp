// SPDX-License-Identifier: Apache-2.0
#pragma once
// What weft-switches is asked when it is started for one step of a remedy, and what it answers: a message each, through
// the socket between it and weftd (daemon/platform/runtime, child_options.hpp).

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>

#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::switch_port {

/// The flag that weft-switches is started with for one question.
inline constexpr const char* kOnePortFlag = "--one-port";

/// What is to become of the port.
enum class Wanted : std::uint8_t { kRead, kShut, kEnable, kCount };

/// One question.
struct Question {
  std::string targets{};                          ///< lines as of gnmi.targets
  std::filesystem::path targets_file{};           ///< empty: none
  std::filesystem::path credentials_directory{};  ///< empty: none
  std::uint64_t max_message_bytes = 4ULL << 20;
  unsigned max_targets = 1'000;
  std::string target{};  ///< name of the switch in those lines
  std::string port{};    ///< its interface
  Wanted wanted = Wanted::kRead;
  std::optional<Duration> before{};             ///< nothing is set from then on, on runtime::boot_time()
  Duration timeout = std::chrono::seconds(10);  ///< of the whole question

  /// The fields of the message.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    auto wanted = static_cast<std::uint32_t>(self.wanted);
    visit(self.targets, self.targets_file, self.credentials_directory, self.max_message_bytes, self.max_targets,
          self.target, self.port, wanted, self.before, self.timeout);
    if constexpr (!std::is_const_v<Self>) self.wanted = static_cast<Wanted>(wanted);
  }
  /// kInvalidArgument names the first value that is out of its bounds.
  Result<void> check() const;
};

/// What became of it.
enum class Outcome : std::uint8_t {
  kRead,     ///< it was read
  kDone,     ///< it was set, and read back to be so
  kAlready,  ///< it was so before: nothing was sent
  kUnclear,  ///< it was sent, and what became of it is not known
  kUnread,   ///< the switch was not reached, or told nothing of the port: nothing was sent
  kRefused,  ///< the switch, or its line, does not allow it: nothing was changed
  kLate,     ///< the time was over: nothing was sent
  kCount,
};

/// The answer.
struct Answer {
  Outcome outcome = Outcome::kUnread;
  bool is_shut = false;   ///< as last read
  bool is_up = false;     ///< it was told to be up
  bool is_known = false;  ///< a state was read at all
  std::string systems{};  ///< names of its LLDP neighbours, a line each
  std::string detail{};   ///< one sentence for people

  /// The fields of the message.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    auto outcome = static_cast<std::uint32_t>(self.outcome);
    visit(outcome, self.is_shut, self.is_up, self.is_known, self.systems, self.detail);
    if constexpr (!std::is_const_v<Self>) self.outcome = static_cast<Outcome>(outcome);
  }
  /// kInvalidArgument where it is no such answer.
  Result<void> check() const;
};

}  // namespace weft::switch_port
