// SPDX-License-Identifier: Apache-2.0
// weft-uplink: sends what weft-collector spools. Started by it, with one end of a socket as descriptor 3; ends with it.

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "api/client/server_list.hpp"
#include "api/client/telemetry_client.hpp"
#include "daemon/adapters/spool/reader.hpp"
#include "daemon/platform/logging/logging.hpp"
#include "daemon/platform/runtime/child_options.hpp"
#include "daemon/platform/runtime/child_process.hpp"
#include "daemon/platform/runtime/schedule.hpp"
#include "daemon/platform/runtime/unique_fd.hpp"
#include "daemon/programs/uplink/enrollment.hpp"
#include "daemon/programs/uplink/options.hpp"
#include "daemon/programs/uplink/shipper.hpp"
#include "fabric/list_text.hpp"
#include "fabric/site.hpp"

#ifndef WEFT_VERSION
#define WEFT_VERSION "unknown"
#endif

namespace {

using namespace weft;
using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr auto kFirstRetry = 200ms;
constexpr std::size_t kMostQueued = 16;

/// How long an analyzer may leave us without an answer.
struct Patience {
  api::TelemetryPatience connection;
  std::chrono::seconds welcome{20};                       ///< from the first attempt to connect
  std::optional<std::chrono::seconds> acknowledgement{};  ///< of batches that were sent; none: for ever
};
/// Shorter where there is another analyzer to turn to. weftd takes a ping every 10 s. A weftd that answers pings and
/// stores nothing may be waiting for its database, whose own fail-over takes up to 40 s.
Patience patience_with(std::size_t analyzers) {
  if (analyzers < 2) return {};
  return {.connection = {.connect = api::kConnectTime, .ping_after = 11s, .ping_answer = 4s},
          .welcome = 10s,
          .acknowledgement = 60s};
}

std::shared_ptr<spdlog::logger> log() {
  return daemon::logger("uplink");
}

/// The whole program, on one thread; gRPC's threads only ring.
class Uplink {
 public:
  Uplink(const uplink::Options& options, spool::SpoolReader spool)
      : options_(options),
        bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        spool_(std::move(spool)),
        shipper_(spool_, {options.interval}),
        backoff_(kFirstRetry, options.reconnect_limit),
        random_(std::random_device{}()),
        analyzers_(split_list(options.analyzers)),
        patience_(patience_with(analyzers_.size())),
        enrollment_(enrollment_of(options)),
        client_(ring(), enrollment_ ? enrollment_->security() : own_files(options), patience_.connection) {}

  /// Until the collector is gone.
  void run() {
    while (is_wanted()) {
      std::uint64_t rings = 0;
      [[maybe_unused]] const auto got = ::read(bell_.get(), &rings, sizeof rings);
      while (const auto event = client_.next()) take(*event);
      look_at_the_time();
      ship();
      report();
    }
  }

 private:
  static api::ClientSecurity own_files(const uplink::Options& options) {
    return {options.authorities, options.certificate, options.key, options.token_file, {}};
  }
  std::function<void()> ring() const {
    return [bell = bell_.get()] {
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = ::write(bell, &one, sizeof one);
    };
  }
  std::unique_ptr<uplink::Enrollment> enrollment_of(const uplink::Options& options) {
    if (options.enroll_token_file.empty()) return nullptr;
    return std::make_unique<uplink::Enrollment>(uplink::EnrollmentOptions{.folder = options.certificate_folder,
                                                                          .token_file = options.enroll_token_file,
                                                                          .node = options.node_name,
                                                                          .analyzers = options.analyzers,
                                                                          .reconnect_limit = options.reconnect_limit},
                                                ring(), std::uniform_real_distribution<double>(0, 1)(random_));
  }
  /// Waits for something to do; false when the collector is gone.
  bool is_wanted() {
    std::array<pollfd, 2> entries{pollfd{runtime::kChildSocket, POLLIN, 0}, pollfd{bell_.get(), POLLIN, 0}};
    ::poll(entries.data(), entries.size(), wait_ms());
    std::array<char, 256> wakes{};
    const ssize_t got = ::recv(runtime::kChildSocket, wakes.data(), wakes.size(), MSG_DONTWAIT);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
  }
  int wait_ms() const {
    const auto until = is_open_ ? opened_ + patience_.welcome : retry_at_;
    if ((is_open_ && is_welcome_) || is_without_certificate()) return 1000;
    return static_cast<int>(
        std::clamp<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(until - Steady::now()).count(), 0, 1000));
  }

  /// Without it no weftd takes us.
  bool is_without_certificate() const { return enrollment_ && !enrollment_->has_certificate(); }

  void take(const api::TelemetryEvent& event) {
    switch (event.kind) {
      case api::TelemetryEvent::Kind::kWelcome:
        is_welcome_ = true;
        progress_ = Steady::now();
        troubles_.clear();
        log()->info("connected to {}; {}", analyzers_.current(),
                    event.sequence == 0 ? "no batch of ours is stored there yet"
                                        : "batches up to " + std::to_string(event.sequence) + " are stored there");
        return shipper_.welcome(event.sequence);
      case api::TelemetryEvent::Kind::kAcknowledgement:
        backoff_.reset();
        analyzers_.serves();
        progress_ = Steady::now();
        return shipper_.acknowledge(event.sequence);
      case api::TelemetryEvent::Kind::kEnded:
        return ended(event.error);
    }
  }

  void ended(Error why) {
    if (!left_because_.empty()) why.message = std::exchange(left_because_, {});
    const bool is_our_batch = is_welcome_ && why.code == ErrorCode::kInvalidArgument;
    is_open_ = false;
    is_welcome_ = false;
    ++failures_;
    if (const auto wrong = shipper_.end(why))
      log()->error("batch {} is skipped because weftd refused it: {}", *wrong, why.message);
    explain(why.message);
    retry_at_ = Steady::now();
    if (analyzers_.redirect(weft::addresses_elsewhere(why.message))) return;
    if (!is_our_batch && analyzers_.try_next()) return;
    // Spread: what cut off one collector cut off thousands.
    const Duration delay = backoff_.next();
    retry_at_ +=
        std::chrono::duration_cast<Steady::duration>(delay * std::uniform_real_distribution<double>(0.5, 1.0)(random_));
  }

  /// Once for each analyzer, until something else is wrong with it or one has welcomed us.
  void explain(const std::string& why) {
    std::string& known = troubles_[analyzers_.current()];
    const std::string_view lasting = api::lasting_part(why);
    if (known == lasting) return;
    known = lasting;
    if (!weft::addresses_elsewhere(why).empty())
      log()->info("{} sends us on ({})", analyzers_.current(), why);
    else if (api::is_standby(why))
      log()->info("{} does not lead ({})", analyzers_.current(), why);
    else
      log()->warn("no connection to {}: {}", analyzers_.current(), uplink::with_tls_hint(why, options_));
  }

  /// Ends the stream, once; its end is told.
  void leave(std::string why) {
    if (left_because_.empty()) client_.cancel();
    left_because_ = std::move(why);
  }

  void look_at_the_time() {
    const auto now = Steady::now();
    if (enrollment_) enrollment_->look(SystemClock().now(), now);
    if (is_without_certificate()) return;
    if (is_open_ && !is_welcome_ && now - opened_ > patience_.welcome)
      leave("no answer within " + std::to_string(patience_.welcome.count()) + " s");
    if (is_welcome_ && patience_.acknowledgement && shipper_.is_waiting() &&
        now - progress_ > *patience_.acknowledgement)
      leave("no batch was stored for " + std::to_string(patience_.acknowledgement->count()) + " s");
    if (is_open_ || now < retry_at_) return;
    is_open_ = true;
    opened_ = now;
    shipper_.begin();
    client_.open(analyzers_.current(),
                 {options_.node_name, spool_.id(), WEFT_VERSION,
                  std::chrono::ceil<std::chrono::milliseconds>(options_.interval), spool_.oldest()});
  }

  /// Sends what the window and gRPC take: first all of it is put on disk, then it goes.
  void ship() {
    std::vector<uplink::Outgoing> outgoing;
    const bool waited = shipper_.is_waiting();
    const TimePoint now = SystemClock().now();
    for (std::size_t room = kMostQueued - std::min(client_.queued(), kMostQueued); room > 0; --room) {
      auto batch = shipper_.next(now);
      if (!batch) break;
      outgoing.push_back(std::move(*batch));
    }
    if (outgoing.empty()) return;
    if (!waited) progress_ = Steady::now();
    if (const auto synced = spool_.sync(); !synced) {
      if (sync_failures_++ == 0) log()->error("{}", synced.error().message);
    }
    for (const uplink::Outgoing& batch : outgoing)
      client_.send(batch.sequence, batch.late, batch.body,
                   {batch.neighbours ? &*batch.neighbours : nullptr, batch.neighbours_at,
                    batch.facts ? &*batch.facts : nullptr, batch.facts_at});
  }

  void report() {
    uplink::UplinkReport now = shipper_.report();
    now.connected = is_welcome_ ? 1 : 0;
    now.analyzer = analyzers_.index();
    now.failures = failures_;
    now.probes = client_.probes();
    now.sync_failures = sync_failures_;
    if (enrollment_) {
      now.certificate_end = static_cast<std::uint64_t>(
          std::chrono::floor<std::chrono::seconds>(enrollment_->end().time_since_epoch()).count());
      now.certificate_trouble = enrollment_->is_troubled() ? 1 : 0;
      now.certificate_failures = enrollment_->failures();
    }
    if (now == reported_) return;
    if (::send(runtime::kChildSocket, &now, sizeof now, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof now) reported_ = now;
  }

  const uplink::Options& options_;
  runtime::UniqueFd bell_;
  spool::SpoolReader spool_;
  uplink::Shipper shipper_;
  runtime::Backoff backoff_;
  std::mt19937 random_;
  uplink::UplinkReport reported_;
  std::uint64_t failures_ = 0;
  std::uint64_t sync_failures_ = 0;
  bool is_open_ = false;
  bool is_welcome_ = false;
  Steady::time_point opened_;
  Steady::time_point retry_at_;
  Steady::time_point progress_;                  ///< of batches: the first that waits was sent, or one was acknowledged
  std::string left_because_;                     ///< why we end the stream; empty: we do not
  std::map<std::string, std::string> troubles_;  ///< what was logged, by analyzer
  api::ServerList analyzers_;
  const Patience patience_;
  std::unique_ptr<uplink::Enrollment> enrollment_;  ///< null: certificates and keys are others' business
  api::TelemetryClient client_;                     // these two last: they must be gone before the bell is
};

}  // namespace

int main(int argc, char** argv) {
  ::setenv("GRPC_VERBOSITY", "NONE", 0);  // what goes wrong with a connection is said by us, once
  CLI::App app{
      "Sends the batches in weft-collector's spool to weftd. Started by weft-collector, which sends the options."};
  app.set_version_flag("--version", WEFT_VERSION);
  CLI11_PARSE(app, argc, argv);
  const auto options = runtime::receive_options<uplink::Options>(runtime::kChildSocket);
  if (!options) {
    log()->error("{}; weft-uplink is started by weft-collector, not by hand", options.error().message);
    return 1;
  }
  daemon::set_log_level(options->log_level);
  auto spool = spool::SpoolReader::open(options->spool);
  if (!spool) {
    log()->error("{}", spool.error().message);
    return 1;
  }
  Uplink(*options, std::move(*spool)).run();
  return 0;
}
