// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/runtime/command.hpp"
#include "fabric/result.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string_view>
#include <system_error>

extern "C" {  // glibc 2.36 leaves it out of the header
#include <sys/pidfd.h>
}

#include "daemon/platform/runtime/exec_arguments.hpp"
#include "daemon/platform/runtime/exec_steps.hpp"
#include "daemon/platform/runtime/unkillable.hpp"

namespace weft::runtime {
namespace {

constexpr std::size_t kMostErrors = 64 << 10;

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0)
    return fail(ErrorCode::kResourceExhausted, "cannot make a pipe: " + errno_message(errno));
  // Above the standard streams, so that none of the child's dup2 overwrites the next one's source.
  Pipe pipe{UniqueFd(ends[0]), UniqueFd(::fcntl(ends[1], F_DUPFD_CLOEXEC, 10))};
  ::close(ends[1]);
  if (!pipe.write) return fail(ErrorCode::kResourceExhausted, "no descriptors left: " + errno_message(errno));
  ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

/// Runs in the child. The descriptors stand above the standard streams. Writes errno to `report` when it cannot become
/// the program.
[[noreturn]] void become_command(char* const* argv, char* const* environment, int output, int errors, int report) {
  ::setpgid(0, 0);  // a group of its own: killed with whatever it started
  default_signals();
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0 || ::dup2(output, STDOUT_FILENO) < 0 ||
      ::dup2(errors, STDERR_FILENO) < 0 || !close_others(STDERR_FILENO + 1, report))
    give_up_becoming(report);
  ::execve(argv[0], argv, environment);
  give_up_becoming(report);
}

enum class Reading : std::uint8_t { kMore, kEnded, kTooMuch };

/// Takes what is there. What goes past `most` is dropped or, where that matters, reported.
Reading drain(UniqueFd& fd, std::string& text, std::size_t most) {
  std::array<char, 16384> buffer{};
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return Reading::kMore;
    if (got <= 0) {
      fd.reset();
      return Reading::kEnded;
    }
    const std::size_t size = std::min(static_cast<std::size_t>(got), most - std::min(most, text.size()));
    text.append(buffer.data(), size);
    if (size < static_cast<std::size_t>(got)) return Reading::kTooMuch;
  }
}

bool is_executable(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

Result<CommandOutcome> run_command(const CommandSpec& spec) {
  const auto deadline = std::chrono::steady_clock::now() + spec.timeout;
  const std::string who = spec.program.string();
  if (const auto may = may_start(who); !may) return tl::unexpected<Error>(may.error());
  Result<Pipe> output = make_pipe();
  if (!output) return tl::unexpected<Error>(output.error());
  Result<Pipe> errors = make_pipe();
  if (!errors) return tl::unexpected<Error>(errors.error());

  std::vector<std::string> argument_texts{who};
  argument_texts.insert(argument_texts.end(), spec.arguments.begin(), spec.arguments.end());
  std::vector<std::string> environment_texts;
  for (const auto& [key, value] : spec.environment) environment_texts.emplace_back(key).append("=").append(value);
  const std::vector<char*> argv = pointers(argument_texts);
  const std::vector<char*> environment = pointers(environment_texts);
  Result<Pipe> report = make_pipe();
  if (!report) return tl::unexpected<Error>(report.error());
  const pid_t pid = ::fork();
  if (pid < 0) return fail(ErrorCode::kResourceExhausted, "cannot execute " + who + ": " + errno_message(errno));
  if (pid == 0)
    become_command(argv.data(), environment.data(), output->write.get(), errors->write.get(), report->write.get());
  ::setpgid(pid, pid);  // here as well: it may be killed before it comes to that
  report->write.reset();
  output->write.reset();
  errors->write.reset();
  UniqueFd pidfd(::pidfd_open(pid, 0));
  if (!pidfd) {
    const std::string why = errno_message(errno);
    ::kill(-pid, SIGKILL);
    leave_behind(pid, who);
    return fail(ErrorCode::kResourceExhausted, "cannot watch " + who + ": " + why);
  }
  const auto give_up = [&](ErrorCode code, const std::string& why) {
    const auto exit = kill_child(pid, std::move(pidfd), who, true);
    return fail(code, who + why + (exit ? "" : "; it was killed and does not end"));
  };
  const std::string too_late = " did not end within " + std::to_string(seconds(spec.timeout)) + " s";
  const std::optional<int> error = exec_outcome(report->read.get(), deadline - std::chrono::steady_clock::now());
  if (!error)
    return give_up(ErrorCode::kTimeout, " did not begin within " + std::to_string(seconds(spec.timeout)) + " s");
  if (*error != 0) {
    kill_child(pid, std::move(pidfd), who, true);
    const ErrorCode code = *error == ENOENT                       ? ErrorCode::kNotFound
                           : *error == EAGAIN || *error == ENOMEM ? ErrorCode::kResourceExhausted
                                                                  : ErrorCode::kUnavailable;
    return fail(code, "cannot execute " + who + ": " + errno_message(*error));
  }

  CommandOutcome outcome;
  while (output->read || errors->read) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    std::array<pollfd, 2> entries{pollfd{output->read.get(), POLLIN, 0}, pollfd{errors->read.get(), POLLIN, 0}};
    const int ready =
        left <= 0 ? 0 : ::poll(entries.data(), entries.size(), static_cast<int>(std::min<long long>(left, INT_MAX)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return give_up(ErrorCode::kTimeout, too_late);
    if (entries[0].revents != 0 && drain(output->read, outcome.output, spec.most_output) == Reading::kTooMuch)
      return give_up(ErrorCode::kResourceExhausted,
                     " printed more than " + std::to_string(spec.most_output) + " bytes");
    if (entries[1].revents != 0) {
      // What is dropped of the errors is still read, or the program would wait for us.
      while (drain(errors->read, outcome.errors, kMostErrors) == Reading::kTooMuch) {
        if (std::chrono::steady_clock::now() > deadline) break;
      }
    }
  }
  // Both streams are closed; what has not ended now is only taking leave, or hiding.
  const auto exit = wait_for_child(pid, pidfd.get(), deadline - std::chrono::steady_clock::now());
  if (!exit) return give_up(ErrorCode::kTimeout, too_late);
  outcome.exit = *exit;
  return outcome;
}

Result<std::filesystem::path> find_program(const std::string& name, const std::string& path) {
  if (name.find('/') != std::string::npos) {
    if (is_executable(name)) return std::filesystem::path(name);
    return fail(ErrorCode::kNotFound, "no program " + name);
  }
  const std::string folders = path + ":/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string folder = folders.substr(begin, end - begin);
    if (!folder.empty() && folder.front() == '/') {
      const std::filesystem::path candidate = std::filesystem::path(folder) / name;
      if (is_executable(candidate)) return candidate;
    }
    begin = end + 1;
  }
  return fail(ErrorCode::kNotFound, "the program " + name + " is not installed");
}

}  // namespace weft::runtime
