// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/actuate/opensm_weights.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

extern "C" {  // glibc 2.36 leaves it out of the header
#include <sys/pidfd.h>
}

#include "daemon/adapters/actuate/deadline.hpp"
#include "daemon/adapters/actuate/hop_weights.hpp"
#include "daemon/platform/runtime/unique_fd.hpp"
#include "fabric/graph/directed_path.hpp"
#include "fabric/graph/path.hpp"
#include "fabric/result.hpp"
#include "fabric/sweep.hpp"

namespace weft::actuate {
namespace {

using namespace std::chrono_literals;
using runtime::UniqueFd;
namespace fs = std::filesystem;

constexpr std::size_t kMostFile = 8 << 20;
constexpr auto kConsolePatience = 5s;
constexpr auto kLockPatience = 5s;
constexpr std::string_view kPrompt = "OpenSM $ ";

// -- the file

struct FileText {
  fs::path path;  ///< where it really is, behind symbolic links
  std::string text;
  std::optional<struct stat> was;  ///< nullopt: there is none yet
};

Result<FileText> read_file(const fs::path& path) {
  FileText file;
  std::error_code error;
  file.path = fs::weakly_canonical(path, error);
  if (error) return fail(ErrorCode::kUnavailable, "cannot resolve " + path.string() + ": " + error.message());
  const UniqueFd fd(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd && errno == ENOENT) return file;
  if (!fd) return fail(ErrorCode::kUnavailable, "cannot read " + file.path.string() + ": " + errno_message(errno));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return fail(ErrorCode::kFailedPrecondition, file.path.string() + " is not a file");
  std::array<char, 65536> buffer;
  ssize_t got = 0;
  while ((got = ::read(fd.get(), buffer.data(), buffer.size())) > 0) {
    file.text.append(buffer.data(), static_cast<std::size_t>(got));
    if (file.text.size() > kMostFile)
      return fail(ErrorCode::kFailedPrecondition, file.path.string() + " is larger than 8 MiB: not a hop weights file");
  }
  if (got < 0) return fail(ErrorCode::kUnavailable, "cannot read " + file.path.string() + ": " + errno_message(errno));
  file.was = info;
  return file;
}

/// Held by whoever is about to replace the file, on whichever host, so that no other weftd replaces it meanwhile; let
/// go with the descriptor. The lock is a file beside it, which stays, for the file itself is another after each time.
Result<UniqueFd> lock_file(const fs::path& path) {
  std::error_code error;
  const std::string place = fs::weakly_canonical(path, error).string() + ".weft.lock";
  if (error) return fail(ErrorCode::kFailedPrecondition, "cannot resolve " + path.string() + ": " + error.message());
  UniqueFd fd(::open(place.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return fail(ErrorCode::kFailedPrecondition, "cannot create " + place + ": " + errno_message(errno));
  const auto until = std::chrono::steady_clock::now() + kLockPatience;
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return fail(ErrorCode::kFailedPrecondition, "cannot lock " + place + ": " + errno_message(errno));
    if (std::chrono::steady_clock::now() >= until)
      return fail(ErrorCode::kFailedPrecondition, "another weftd holds " + place);
    std::this_thread::sleep_for(50ms);
  }
  return fd;
}

bool is_unchanged(const FileText& file) {
  struct stat now {};
  const bool is_there = ::stat(file.path.c_str(), &now) == 0;
  if (!file.was) return !is_there;
  return is_there && now.st_ino == file.was->st_ino && now.st_size == file.was->st_size &&
         now.st_mtim.tv_sec == file.was->st_mtim.tv_sec && now.st_mtim.tv_nsec == file.was->st_mtim.tv_nsec;
}

bool write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Replaces the file at once, as its owner and mode were, if that is before `before` (last_moment()). Every failure
/// means that it is as it was.
Result<void> replace_file(const FileText& file, const std::string& text, std::optional<Duration> before) {
  const std::string draft = file.path.string() + ".weft";
  const auto give_up = [&](const std::string& what) -> Result<void> {
    const std::string why = errno_message(errno);
    ::unlink(draft.c_str());
    return fail(ErrorCode::kFailedPrecondition, what + ' ' + file.path.string() + ": " + why);
  };
  ::unlink(draft.c_str());  // of a run that was killed
  const UniqueFd fd(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd) return give_up("cannot create a temporary file beside");
  if (file.was) {
    if (::fchown(fd.get(), file.was->st_uid, file.was->st_gid) != 0 && file.was->st_uid != ::geteuid())
      return give_up("cannot keep the owner of");
    if (::fchmod(fd.get(), file.was->st_mode & 07777) != 0) return give_up("cannot keep the mode of");
  }
  if (!write_whole(fd.get(), text) || ::fsync(fd.get()) != 0) return give_up("cannot write");
  if (!is_unchanged(file)) {
    ::unlink(draft.c_str());
    return fail(ErrorCode::kFailedPrecondition,
                file.path.string() + " was changed by another program at the same time");
  }
  if (auto in_time = check_time(before); !in_time) {
    ::unlink(draft.c_str());
    return in_time;
  }
  if (::rename(draft.c_str(), file.path.c_str()) != 0) return give_up("cannot replace");
  const UniqueFd folder(::open(file.path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) ::fsync(folder.get());
  return {};
}

// -- OpenSM

/// Who is asked to route anew: found before anything is changed.
class Manager {
 public:
  static Result<Manager> find(const OpensmWeightsOptions& options) {
    if (options.console_port != 0) return at_console(options.console_port);
    return by_pid(options.pid_file);
  }

  /// kUnavailable: it may or may not have heard.
  Result<void> route_anew() {
    if (process_) {
      if (::pidfd_send_signal(process_.get(), SIGHUP, nullptr, 0) == 0) return {};
      return fail(ErrorCode::kUnavailable, "cannot signal OpenSM: " + errno_message(errno));
    }
    constexpr std::string_view kCommand = "reroute\n";
    if (::send(console_.get(), kCommand.data(), kCommand.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(kCommand.size()))
      return fail(ErrorCode::kUnavailable, "cannot send a command to OpenSM's console: " + errno_message(errno));
    // The next prompt: the command was carried out.
    if (!wait_for_prompt(console_.get()))
      return fail(ErrorCode::kUnavailable, "OpenSM's console did not answer the reroute command");
    return {};
  }

 private:
  static Result<Manager> at_console(std::uint16_t port) {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // Of the loopback address a connection is there at once, or refused.
    if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return fail(ErrorCode::kFailedPrecondition, "cannot connect to OpenSM's console at 127.0.0.1:" +
                                                      std::to_string(port) + ": " + errno_message(errno));
    if (!wait_for_prompt(fd.get()))
      return fail(ErrorCode::kFailedPrecondition, "no prompt from OpenSM's console at 127.0.0.1:" +
                                                      std::to_string(port) + "; another client may use it");
    Manager manager;
    manager.console_ = std::move(fd);
    return manager;
  }

  static bool wait_for_prompt(int socket) {
    const auto until = std::chrono::steady_clock::now() + kConsolePatience;
    std::string heard;
    std::array<char, 512> buffer;
    while (heard.size() < 65536) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      pollfd entry{socket, POLLIN, 0};
      if (left <= 0ms || ::poll(&entry, 1, static_cast<int>(left.count())) == 0) return false;
      const ssize_t got = ::read(socket, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      heard.append(buffer.data(), static_cast<std::size_t>(got));
      if (heard.ends_with(kPrompt)) return true;
    }
    return false;
  }

  static Result<Manager> by_pid(const fs::path& pid_file) {
    std::ifstream file(pid_file);
    int pid = 0;
    if (!(file >> pid) || pid <= 1)
      return fail(ErrorCode::kFailedPrecondition, "no process ID of OpenSM in " + pid_file.string());
    Manager manager;
    manager.process_ = UniqueFd(::pidfd_open(pid, 0));
    // After the descriptor: from here on the number cannot come to mean somebody else.
    std::ifstream name_file("/proc/" + std::to_string(pid) + "/comm");
    std::string name;
    if (!manager.process_ || !std::getline(name_file, name) || name != "opensm")
      return fail(ErrorCode::kFailedPrecondition,
                  "process " + std::to_string(pid) + " of " + pid_file.string() + " is not OpenSM");
    return manager;
  }

  UniqueFd console_;
  UniqueFd process_;
};

// -- the actuator

class OpensmWeights final : public Actuator {
 public:
  explicit OpensmWeights(OpensmWeightsOptions options) : options_(std::move(options)) {}

  std::string name() const override { return "opensm_weights"; }

  Result<TargetReading> observe(const RemedyOrder& order) override {
    const auto link = link_of(order);
    if (!link) return tl::unexpected(link.error());
    const auto file = read_file(options_.file);
    if (!file) return tl::unexpected(file.error());
    return look(order, *link, file->text);
  }

  std::optional<EntityKind> tells_out_of_service() const override { return EntityKind::kLink; }

  Result<OutOfService> out_of_service() override {
    const auto file = read_file(options_.file);
    if (!file) return tl::unexpected(file.error());
    std::error_code ignored;
    if (!file->was && !fs::is_directory(file->path.parent_path(), ignored))
      return fail(ErrorCode::kUnavailable, "there is no folder " + file->path.parent_path().string());
    return OutOfService{.hosts = {}, .ports = heavy_ports(file->text, options_.weight)};
  }

  Result<void> apply(const RemedyOrder& order) override {
    if (auto why = refuse(order); !why) return why;
    const auto link = link_of(order);
    if (!link) return tl::unexpected(link.error());
    UniqueFd lock;
    if (order.permit) {
      auto locked = lock_file(options_.file);
      if (!locked) return tl::unexpected(locked.error());
      lock = std::move(*locked);
    }
    const auto file = read_file(options_.file);
    if (!file) return fail(ErrorCode::kFailedPrecondition, file.error().message);
    if (auto why = refuse_former_leader(order, file->text); !why) return why;
    if (const auto line = unreadable_hop_weight_line(file->text))
      return fail(ErrorCode::kFailedPrecondition, options_.file.string() + ':' + std::to_string(*line) +
                                                      ": not a GUID; OpenSM ignores the whole file because of it");
    const TargetReading now = look(order, *link, file->text);
    const bool raise = order.action == RemedyAction::kRaiseLinkCost;
    const std::string text =
        raise ? with_hop_weight(file->text, *link, options_.weight, order.marked_reason(), order.owner)
              : without_hop_weight(file->text, *link, order.owner);
    if (now.state == TargetState::kForeign && (raise || text == file->text))
      return fail(ErrorCode::kFailedPrecondition, now.detail + ": not changed by Weft, left as it is");
    const bool as_wished = raise ? now.state == TargetState::kOurs : text == file->text;
    if (as_wished && !(raise && routed_over(order, *link) > 0)) return {};
    auto manager = Manager::find(options_);
    if (!manager) return tl::unexpected(manager.error());
    if (!as_wished)
      if (auto written = replace_file(*file, signed_by_leader(order, text), last_moment(order)); !written)
        return written;
    return manager->route_anew();
  }

  Result<std::string> dry_run(const RemedyOrder& order) override {
    if (auto why = refuse(order); !why) return tl::unexpected(why.error());
    const auto link = link_of(order);
    if (!link) return tl::unexpected(link.error());
    const std::string how = options_.console_port != 0
                                ? "reroute at OpenSM's console 127.0.0.1:" + std::to_string(options_.console_port)
                                : "SIGHUP to the OpenSM of " + options_.pid_file.string();
    if (order.action == RemedyAction::kRestoreLink)
      return "remove Weft's lines for " + words(link->low) + " and " + words(link->high) + " out of " +
             options_.file.string() + ", then " + how;
    const std::string weight = ' ' + std::to_string(options_.weight);
    return "add '" + words(link->low) + weight + "' and '" + words(link->high) + weight + "' to " +
           options_.file.string() + ", then " + how;
  }

 private:
  static std::string words(PortKey port) { return to_string(port.node) + ' ' + std::to_string(port.port.value); }

  static Result<void> refuse(const RemedyOrder& order) {
    if (order.action == RemedyAction::kRaiseLinkCost || order.action == RemedyAction::kRestoreLink) return {};
    return fail(ErrorCode::kInvalidArgument, std::string("opensm_weights cannot ") + to_string(order.action));
  }

  static Result<void> refuse_former_leader(const RemedyOrder& order, std::string_view text) {
    const std::int64_t newest = hop_weights_epoch(text, order.owner);
    if (!order.permit || newest <= order.permit->epoch) return {};
    return fail(ErrorCode::kFailedPrecondition,
                "the file was written by the weftd that leads since (epoch " + std::to_string(newest) + ")");
  }

  static std::string signed_by_leader(const RemedyOrder& order, const std::string& text) {
    return order.permit ? with_hop_weights_epoch(text, order.permit->epoch, order.owner) : text;
  }

  static Result<LinkKey> link_of(const RemedyOrder& order) {
    if (order.target.kind != EntityKind::kLink)
      return fail(ErrorCode::kInvalidArgument,
                  "opensm_weights works on links, not a " + std::string(to_string(order.target.kind)));
    if (!order.sweep || !order.sweep->topology || order.sweep->fabric != order.target.fabric)
      return fail(ErrorCode::kInvalidArgument, "no sweep of the fabric " + order.target.fabric);
    const LinkKey link = make_link_key(order.target.port, order.target.peer);
    // For what it refuses: access links and our own have no other way, and weights are of switches.
    if (const auto ends = find_link_ends(*order.sweep->topology, order.sweep->local_port, link); !ends)
      return tl::unexpected(ends.error());
    return link;
  }

  /// LIDs that tables send over the link, both directions together; 0 also where no tables were read.
  static std::size_t routed_over(const RemedyOrder& order, LinkKey link) {
    if (!order.sweep->routes) return 0;
    const Topology& topology = *order.sweep->topology;
    const LidOwners owners(topology);
    std::size_t count = 0;
    for (const PortKey end : {link.low, link.high})
      if (const PortIndex index = topology.find_port(end); index != kNoIndex)
        count += destinations_over(topology, *order.sweep->routes, owners, index).size();
    return count;
  }

  static TargetReading look(const RemedyOrder& order, LinkKey link, std::string_view text) {
    TargetReading seen;
    bool both_ours = true;
    for (const PortKey end : {link.low, link.high}) {
      const HopWeight weight = hop_weight_of(text, end, order.owner);
      both_ours = both_ours && weight.ours;
      if (!weight.ours && weight.weight > 1) seen.state = TargetState::kForeign;
      seen.detail += (seen.detail.empty() ? "" : ", ") + words(end) + " weighs " + std::to_string(weight.weight);
      if (!weight.comment.empty()) seen.detail += " (" + weight.comment + ')';
    }
    if (both_ours) seen.state = TargetState::kOurs;
    add_other_marks(text, order.owner, seen);
    seen.epoch = hop_weights_epoch(text, order.owner);
    seen.detail += order.sweep->routes ? "; " + std::to_string(routed_over(order, link)) + " LIDs are routed over it"
                                       : std::string("; no forwarding tables read yet");
    return seen;
  }

  OpensmWeightsOptions options_;
};

}  // namespace

Result<std::unique_ptr<Actuator>> make_opensm_weights(OpensmWeightsOptions options) {
  if (options.console_port == 0 && options.pid_file.empty())
    return fail(ErrorCode::kInvalidArgument,
                "remedy.opensm_weights: nothing tells OpenSM to reroute: set console_port or pid_file");
  return std::make_unique<OpensmWeights>(std::move(options));
}

}  // namespace weft::actuate
