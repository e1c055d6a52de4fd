// SPDX-License-Identifier: Apache-2.0
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

#include "daemon/adapters/actuate/deadline.hpp"
#include "daemon/adapters/actuate/slurm_controller.hpp"
#include "daemon/platform/net/safe_text.hpp"
#include "daemon/platform/runtime/command.hpp"

namespace weft::actuate {
namespace {

constexpr std::size_t kMostOutput = 64 << 20;  // a node takes about 1 KiB, so 60,000 of them
constexpr std::size_t kMostShown = 300;

/// What Slurm says when it refused (slurm_errno.c of 22.05). All else may have been taken.
struct Refusal {
  std::string_view words;
  ErrorCode code;
};
constexpr std::array<Refusal, 9> kRefusals{{
    {"not found", ErrorCode::kNotFound},
    {"Invalid node name specified", ErrorCode::kNotFound},
    {"Invalid node state specified", ErrorCode::kFailedPrecondition},
    {"Access/permission denied", ErrorCode::kFailedPrecondition},
    {"Access denied", ErrorCode::kFailedPrecondition},
    {"Invalid user id", ErrorCode::kFailedPrecondition},
    {"Unable to contact slurm controller", ErrorCode::kUnavailable},
    {"timed out", ErrorCode::kTimeout},
    {"Request denied", ErrorCode::kInvalidArgument},
}};

ErrorCode code_of(std::string_view words) {
  for (const Refusal& refusal : kRefusals)
    if (words.find(refusal.words) != std::string_view::npos) return refusal.code;
  return ErrorCode::kUnavailable;
}

std::string user_name() {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return {};
  return found->pw_name;
}

std::vector<std::string> update_arguments(const std::string& name, SlurmChange change, const std::string& reason) {
  std::vector<std::string> arguments{"update", "nodename=" + name};
  if (change == SlurmChange::kDrain) {
    arguments.emplace_back("state=drain");
    arguments.push_back("reason=" + reason);
  } else {
    // Not "resume": that would also bring back a node that somebody set down or failing.
    arguments.emplace_back("state=undrain");
  }
  return arguments;
}

class Scontrol final : public SlurmController {
 public:
  Scontrol(std::filesystem::path program, std::filesystem::path conf)
      : program_(std::move(program)), conf_(std::move(conf)), user_(user_name()) {}

  std::string user() const override { return user_; }

  Result<std::vector<SlurmNode>> nodes(Duration timeout) override {
    return run({"show", "node"}, timeout).and_then([](const std::string& text) { return parse_scontrol_nodes(text); });
  }

  Result<SlurmNode> node(const std::string& name, Duration timeout) override {
    const auto nodes = run({"show", "node", name}, timeout).and_then([](const std::string& text) {
      return parse_scontrol_nodes(text);
    });
    if (!nodes) return tl::unexpected<Error>(nodes.error());
    if (nodes->size() != 1 || nodes->front().name != name)
      return fail(ErrorCode::kProtocol, "scontrol's answer is not about node " + name);
    return nodes->front();
  }

  Result<void> change(const std::string& name, SlurmChange change, const std::string& reason, Duration timeout,
                      std::optional<Duration> before) override {
    if (const Result<void> in_time = check_time(before); !in_time) return in_time;
    return run(update_arguments(name, change, reason), timeout).map([](const std::string&) {});
  }

  std::string describe(const std::string& name, SlurmChange change, const std::string& reason) const override {
    std::string text = program_.filename().string();
    for (const std::string& argument : update_arguments(name, change, reason))
      text += argument.find(' ') == std::string::npos ? ' ' + argument : " \"" + argument + '"';
    return text;
  }

 private:
  Result<std::string> run(std::vector<std::string> arguments, Duration timeout) {
    const std::string verb = "scontrol " + arguments.front();
    runtime::CommandSpec spec{.program = program_, .arguments = std::move(arguments)};
    spec.environment = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}, {"SLURM_TIME_FORMAT", "standard"}};
    if (!conf_.empty()) spec.environment.emplace_back("SLURM_CONF", conf_.string());
    spec.timeout = timeout;
    spec.most_output = kMostOutput;
    Result<runtime::CommandOutcome> done = runtime::run_command(spec);
    if (!done && done.error().code == ErrorCode::kResourceExhausted)
      return fail(ErrorCode::kUnavailable, verb + ": " + done.error().message);
    if (!done) return tl::unexpected<Error>(done.error());
    if (done->exit.success()) return std::move(done->output);
    // "Node x not found" goes to standard output.
    const std::string said = net::one_line(done->errors.empty() ? done->output : done->errors, kMostShown);
    if (done->exit.signal != 0) return fail(ErrorCode::kUnavailable, verb + " was " + describe_exit(*done));
    return fail(code_of(said), verb + ": " + said);
  }
  static std::string describe_exit(const runtime::CommandOutcome& outcome) { return runtime::describe(outcome.exit); }

  std::filesystem::path program_;
  std::filesystem::path conf_;
  std::string user_;
};

}  // namespace

Result<std::unique_ptr<SlurmController>> make_scontrol(const SlurmOptions& options) {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nobody here changes it
  Result<std::filesystem::path> program = runtime::find_program(options.scontrol, path == nullptr ? "" : path);
  if (!program) return tl::unexpected<Error>(program.error());
  return std::make_unique<Scontrol>(std::move(*program), options.slurm_conf);
}

}  // namespace weft::actuate
