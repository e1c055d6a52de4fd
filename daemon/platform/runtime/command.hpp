// SPDX-License-Identifier: Apache-2.0
#pragma once
// A program run to its end: bounded in time and output, without a shell.

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "daemon/platform/runtime/child_process.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::runtime {

/// A program to be run to its end, and within which bounds.
struct CommandSpec {
  std::filesystem::path program = {};                                 ///< a path; PATH is not searched
  std::vector<std::string> arguments = {};                            ///< without argv[0], which is the path
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< all of it: nothing of ours is handed on
  Duration timeout = std::chrono::seconds(10);
  std::size_t most_output = 1 << 20;  ///< bytes of standard output; of standard error 64 KiB are kept
};

/// What the program said and how it ended.
struct CommandOutcome {
  ChildExit exit;
  std::string output;  ///< standard output, whole
  std::string errors;  ///< standard error, its beginning
};

/// Runs it with standard input empty, signals at their defaults and no other descriptor of ours, and waits. kNotFound
/// or kUnavailable: it could not be executed, so it did nothing. kTimeout: it did not end in time and was killed;
/// within kKillPatience more this returns, ended or not (unkillable()). kResourceExhausted: it said more than
/// `most_output` and was killed, the system is out of descriptors or processes, or may_start() refuses. A program that
/// ended by itself is a success of this function, whatever its exit code.
Result<CommandOutcome> run_command(const CommandSpec& spec);

/// The program `name` (or the path, when there is a slash in it) in the folders of `path`, as the shell would look for
/// it; kNotFound. /usr/sbin and /sbin are looked at too.
Result<std::filesystem::path> find_program(const std::string& name, const std::string& path);

}  // namespace weft::runtime
