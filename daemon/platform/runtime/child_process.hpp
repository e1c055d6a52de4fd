// SPDX-License-Identifier: Apache-2.0
#pragma once
// A child of ours: started with one socket to talk through, watched through a pidfd, never left behind.

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/platform/runtime/unique_fd.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::runtime {

/// The descriptor under which the child finds its end of the socket.
inline constexpr int kChildSocket = 3;

/// A program to be started, and with what.
struct ChildSpec {
  std::filesystem::path program = {};                                 ///< a path; PATH is not searched
  std::vector<std::string> arguments = {};                            ///< without argv[0], which is the path
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< added to ours, replacing equal names
  std::filesystem::path directory = {};                               ///< empty: ours
};

/// How a child ended.
struct ChildExit {
  int code = 0;    ///< exit code; meaningless when killed by a signal
  int signal = 0;  ///< the signal that killed it; 0 when it exited by itself

  /// It exited by itself with code 0.
  bool success() const { return signal == 0 && code == 0; }
};
/// "exited with 2", "killed by signal 9 (Killed)"; of nullopt that it was killed and has not ended.
std::string describe(const std::optional<ChildExit>& exit);

/// The child has its signals at their defaults, standard streams of ours, the socket as descriptor 3 and no other of
/// our descriptors. It gets SIGTERM when the *thread* that spawned it ends (PR_SET_PDEATHSIG): spawn from a thread that
/// lives as long as the process. It also reads end of file from its socket when we are gone. The destructor kills and
/// reaps, or leaves behind. One thread at a time.
class ChildProcess {
 public:
  /// Fails with kNotFound or kUnavailable when the program cannot be executed, which is known when this returns; with
  /// kTimeout when that is not known within some seconds, as where its file system hangs; with kResourceExhausted when
  /// may_start() says so, or the system is out of descriptors or processes.
  static Result<ChildProcess> spawn(const ChildSpec& spec);

  ChildProcess(ChildProcess&& other) noexcept = default;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  /// Process id of the child; of no further use once it was reaped.
  pid_t pid() const { return pid_; }
  /// Readable (poll, Asio) from when the child has ended.
  int pidfd() const { return pidfd_.get(); }
  /// Our end of the stream socket, close-on-exec; stays ours.
  int socket() const { return socket_.get(); }
  /// The same, given away.
  UniqueFd take_socket() { return std::move(socket_); }

  /// How it ended, or nullopt while it runs. Reaps; the answer stays.
  std::optional<ChildExit> poll_exit();
  /// Waits at most `timeout` for the end.
  std::optional<ChildExit> wait_exit(Duration timeout);
  /// Asks it to end (SIGTERM); does not wait. No effect when it has ended.
  void terminate();
  /// Kills it (SIGKILL); does not wait. No effect when it has ended.
  void kill();
  /// SIGTERM, at most `grace` of waiting, SIGKILL, at most kKillPatience of waiting; reaps. nullopt: it has not ended;
  /// it is left behind (unkillable()), and this object has no child any more.
  std::optional<ChildExit> stop(Duration grace);
  /// Puts a child that was killed on the list of unkillable(); this object has no child any more.
  void leave();

 private:
  ChildProcess(std::string program, pid_t pid, UniqueFd pidfd, UniqueFd socket)
      : program_(std::move(program)), pid_(pid), pidfd_(std::move(pidfd)), socket_(std::move(socket)) {}
  void send(int signal);

  std::string program_;
  pid_t pid_ = -1;
  UniqueFd pidfd_;  ///< empty when moved from or left behind
  UniqueFd socket_;
  std::optional<ChildExit> exit_;
};

}  // namespace weft::runtime
