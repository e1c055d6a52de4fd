// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/runtime/child_process.hpp"
#include "fabric/result.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <string_view>

extern "C" {  // glibc 2.36 leaves it out of the header
#include <sys/pidfd.h>
}

#include "daemon/platform/runtime/exec_arguments.hpp"
#include "daemon/platform/runtime/exec_steps.hpp"
#include "daemon/platform/runtime/unkillable.hpp"

namespace weft::runtime {
namespace {

/// All that the child needs between fork and exec, laid out beforehand: after fork of a process with threads only
/// async-signal-safe calls are allowed, and allocation is not among them.
struct Prepared {
  std::string program;
  std::string directory;
  std::vector<std::string> argument_texts;
  std::vector<std::string> environment_texts;
  std::vector<char*> argv;
  std::vector<char*> environment;
};

void prepare(const ChildSpec& spec, Prepared& prepared) {
  prepared.program = spec.program.string();
  prepared.directory = spec.directory.string();
  prepared.argument_texts.push_back(prepared.program);
  prepared.argument_texts.insert(prepared.argument_texts.end(), spec.arguments.begin(), spec.arguments.end());
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = false;
    for (const auto& [key, value] : spec.environment) replaced = replaced || key == name;
    if (!replaced) prepared.environment_texts.emplace_back(text);
  }
  for (const auto& [key, value] : spec.environment) prepared.environment_texts.push_back(key + '=' + value);
  prepared.argv = pointers(prepared.argument_texts);
  prepared.environment = pointers(prepared.environment_texts);
}

/// Runs in the child. Writes errno to `report` when it cannot become the program.
[[noreturn]] void become(const Prepared& prepared, int socket, int report, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);       // not SIGKILL: who holds a device may say good-bye to it
  if (::getppid() != parent) ::_exit(127);  // it died before the line above
  default_signals();
  // Both descriptors stand above 3 (see spawn), so that this overwrites neither.
  if (::dup2(socket, kChildSocket) < 0) give_up_becoming(report);
  if (!close_others(kChildSocket + 1, report)) give_up_becoming(report);
  if (!prepared.directory.empty() && ::chdir(prepared.directory.c_str()) < 0) give_up_becoming(report);
  ::execve(prepared.program.c_str(), prepared.argv.data(), prepared.environment.data());
  give_up_becoming(report);
}

/// The same file under a number that leaves 0 to 9 free.
UniqueFd move_up(UniqueFd fd) {
  return UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 10));
}

// From fork to the new program: it is read from a disk, which may be a far one.
constexpr std::chrono::seconds kExecPatience{5};

}  // namespace

std::string describe(const std::optional<ChildExit>& exit) {
  if (!exit) return "was killed and does not end";
  if (exit->signal == 0) return "exited with " + std::to_string(exit->code);
  const char* name = sigdescr_np(exit->signal);
  return "killed by signal " + std::to_string(exit->signal) + " (" + (name == nullptr ? "unknown" : name) + ")";
}

Result<ChildProcess> ChildProcess::spawn(const ChildSpec& spec) {
  const std::string who = spec.program.string();
  if (const auto may = may_start(who); !may) return tl::unexpected(may.error());
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
    return fail(ErrorCode::kResourceExhausted, "cannot make a socket for " + who + ": " + errno_message(errno));
  UniqueFd ours(sockets[0]);
  UniqueFd theirs = move_up(UniqueFd(sockets[1]));
  int pipes[2];
  if (::pipe2(pipes, O_CLOEXEC) < 0)
    return fail(ErrorCode::kResourceExhausted, "cannot make a pipe for " + who + ": " + errno_message(errno));
  UniqueFd outcome(pipes[0]);
  UniqueFd report = move_up(UniqueFd(pipes[1]));
  if (!theirs || !report)
    return fail(ErrorCode::kResourceExhausted, "no descriptors left to start " + who + ": " + errno_message(errno));

  Prepared prepared;
  prepare(spec, prepared);
  const pid_t self = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return fail(ErrorCode::kResourceExhausted, "cannot fork for " + who + ": " + errno_message(errno));
  if (pid == 0) become(prepared, theirs.get(), report.get(), self);

  theirs.reset();
  report.reset();
  UniqueFd pidfd(::pidfd_open(pid, 0));
  if (!pidfd) {
    const std::string why = errno_message(errno);
    ::kill(pid, SIGKILL);
    leave_behind(pid, who);
    return fail(ErrorCode::kResourceExhausted, "cannot watch " + who + ": " + why);
  }
  const std::optional<int> error = exec_outcome(outcome.get(), kExecPatience);
  if (!error) {
    kill_child(pid, std::move(pidfd), who, false);
    return fail(ErrorCode::kTimeout, "cannot execute " + who + ": it did not begin in time");
  }
  if (*error != 0) {
    kill_child(pid, std::move(pidfd), who, false);
    const ErrorCode code = *error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
    return fail(code, "cannot execute " + who + ": " + errno_message(*error));
  }
  return ChildProcess(who, pid, std::move(pidfd), std::move(ours));
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this == &other) return *this;
  if (pidfd_) stop(Duration::zero());
  program_ = std::move(other.program_);
  pid_ = other.pid_;
  pidfd_ = std::move(other.pidfd_);
  socket_ = std::move(other.socket_);
  exit_ = other.exit_;
  return *this;
}

ChildProcess::~ChildProcess() {
  if (pidfd_) stop(Duration::zero());
}

void ChildProcess::send(int signal) {
  if (!exit_ && pidfd_) ::pidfd_send_signal(pidfd_.get(), signal, nullptr, 0);
}

void ChildProcess::terminate() {
  send(SIGTERM);
}

void ChildProcess::kill() {
  send(SIGKILL);
}

std::optional<ChildExit> ChildProcess::poll_exit() {
  return wait_exit(Duration::zero());
}

std::optional<ChildExit> ChildProcess::wait_exit(Duration timeout) {
  if (!exit_ && pidfd_) exit_ = wait_for_child(pid_, pidfd_.get(), timeout);
  return exit_;
}

std::optional<ChildExit> ChildProcess::stop(Duration grace) {
  if (grace > Duration::zero()) {
    terminate();
    wait_exit(grace);
  }
  if (!exit_ && pidfd_) exit_ = kill_child(pid_, std::move(pidfd_), program_, false);
  return exit_;
}

void ChildProcess::leave() {
  if (!exit_ && pidfd_) leave_behind(pid_, program_);
  pidfd_.reset();
}

}  // namespace weft::runtime
