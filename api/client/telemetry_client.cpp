// SPDX-License-Identifier: Apache-2.0
#include "api/client/telemetry_client.hpp"

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/client_callback.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <utility>

#include "api/client/channel.hpp"
#include "weft/v1/telemetry.grpc.pb.h"

namespace weft::api {
namespace {

constexpr std::size_t kWorthCompressing = 1024;
constexpr std::uint32_t kProtocol = 1;

Result<std::shared_ptr<grpc::Channel>> connect(const std::string& analyzer, const ClientSecurity& security,
                                               const TelemetryPatience& patience) {
  grpc::ChannelArguments arguments;
  limit_connect_time(arguments, patience.connect);
  // weftd stands in the management network; a proxy for the web is not the way there.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Every try is a connection of its own: how often is for us to say, not for gRPC.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A peer that died without a word is noticed.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(patience.ping_after.count()));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, static_cast<int>(patience.ping_answer.count()));
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  return open_channel(analyzer, security, arguments);
}

Error error_of(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
      return {ErrorCode::kUnavailable, "weftd closed the stream"};
    case grpc::StatusCode::INVALID_ARGUMENT:
      return {ErrorCode::kInvalidArgument, status.error_message()};
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return {ErrorCode::kResourceExhausted, status.error_message()};
    case grpc::StatusCode::ALREADY_EXISTS:
      return {ErrorCode::kFailedPrecondition, status.error_message()};
    case grpc::StatusCode::UNIMPLEMENTED:
      return {ErrorCode::kProtocol, "the server does not accept telemetry: " + status.error_message()};
    default:
      return {ErrorCode::kUnavailable, status.error_message()};
  }
}

}  // namespace

/// What streams leave for the owner.
struct TelemetryClient::Inbox {
  explicit Inbox(std::function<void()> the_notify) : notify(std::move(the_notify)) {}

  std::function<void()> notify;
  mutable std::mutex mutex;
  std::condition_variable idle;
  std::deque<TelemetryEvent> events;
  std::uint64_t epoch = 0;  ///< of the stream whose words count
  std::uint64_t probes = 0;
  std::set<std::uint64_t> streams;  ///< epochs of those that gRPC still has to do with
};

class TelemetryClient::Stream final : public grpc::ClientBidiReactor<v1::CollectorMessage, v1::AnalyzerMessage>,
                                      public std::enable_shared_from_this<Stream> {
 public:
  Stream(const std::shared_ptr<grpc::Channel>& channel, std::shared_ptr<Inbox> inbox, std::uint64_t epoch)
      : inbox_(std::move(inbox)), epoch_(epoch), stub_(channel) {
    context_.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  }

  void start(const TelemetryHello& hello) {
    self_ = shared_from_this();
    v1::CollectorMessage message;
    v1::Hello& said = *message.mutable_hello();
    said.set_protocol(kProtocol);
    said.set_host(hello.host);
    said.set_spool(hello.spool);
    said.set_version(hello.version);
    said.set_interval_milliseconds(
        static_cast<std::uint32_t>(std::chrono::ceil<std::chrono::milliseconds>(hello.interval).count()));
    said.set_oldest_sequence(hello.oldest_sequence);
    stub_.async()->Stream(&context_, this);
    AddHold();  // writes begin outside of reactions, until reading ended
    StartRead(&incoming_);
    push(std::move(message));
    StartCall();
  }

  void push(v1::CollectorMessage message) {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    waiting_.push_back(std::move(message));
    write_next();
  }
  std::size_t queued() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }
  void cancel() { context_.TryCancel(); }

 private:
  void write_next() {
    if (is_writing_ || closed_) return;
    if (!asked_.empty()) {
      outgoing_.Clear();
      v1::ClockReply& reply = *outgoing_.mutable_clock_reply();
      reply.set_id(asked_.front());
      asked_.pop_front();
      reply.set_host_time(SystemClock().now().time_since_epoch().count());
    } else if (!waiting_.empty()) {
      outgoing_ = std::move(waiting_.front());
      waiting_.pop_front();
    } else {
      return;
    }
    is_writing_ = true;
    grpc::WriteOptions options;
    if (!outgoing_.has_batch() || outgoing_.batch().body().size() < kWorthCompressing) options.set_no_compression();
    StartWrite(&outgoing_, options);
  }

  void OnWriteDone(bool ok) override {
    {
      const std::lock_guard lock(mutex_);
      is_writing_ = false;
      if (ok) write_next();
    }
    if (ok) inbox_->notify();
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      {
        const std::lock_guard lock(mutex_);
        closed_ = true;
      }
      RemoveHold();
      return;
    }
    if (incoming_.has_welcome()) tell({TelemetryEvent::Kind::kWelcome, incoming_.welcome().sequence(), {}});
    if (incoming_.has_acknowledgement())
      tell({TelemetryEvent::Kind::kAcknowledgement, incoming_.acknowledgement().sequence(), {}});
    if (incoming_.has_clock_probe()) answer(incoming_.clock_probe().id());
    StartRead(&incoming_);
  }

  void answer(std::uint64_t id) {
    {
      const std::lock_guard lock(mutex_);
      constexpr std::size_t kMostAsked = 16;  // an analyzer asks one at a time
      if (asked_.size() < kMostAsked) asked_.push_back(id);
      write_next();
    }
    const std::lock_guard lock(inbox_->mutex);
    ++inbox_->probes;
  }

  void OnDone(const grpc::Status& status) override {
    tell({TelemetryEvent::Kind::kEnded, 0, error_of(status)});
    const std::shared_ptr<Inbox> inbox = inbox_;
    const std::uint64_t epoch = epoch_;
    std::shared_ptr<Stream> last = std::move(self_);
    last.reset();  // the stream may be gone from here on
    const std::lock_guard lock(inbox->mutex);
    inbox->streams.erase(epoch);
    inbox->idle.notify_all();
  }

  void tell(TelemetryEvent event) {
    {
      const std::lock_guard lock(inbox_->mutex);
      if (inbox_->epoch != epoch_) return;
      // Of acknowledgements only the latest matters: an analyzer cannot fill our memory with them.
      auto& events = inbox_->events;
      if (!events.empty() && events.back().kind == event.kind)
        events.back() = std::move(event);
      else
        events.push_back(std::move(event));
    }
    inbox_->notify();
  }

  const std::shared_ptr<Inbox> inbox_;
  const std::uint64_t epoch_;
  v1::TelemetryService::Stub stub_;
  grpc::ClientContext context_;
  v1::AnalyzerMessage incoming_;
  std::shared_ptr<Stream> self_;  ///< until gRPC has done with it

  mutable std::mutex mutex_;
  v1::CollectorMessage outgoing_;
  std::deque<v1::CollectorMessage> waiting_;
  std::deque<std::uint64_t> asked_;
  bool is_writing_ = false;
  bool closed_ = false;
};

TelemetryClient::TelemetryClient(std::function<void()> notify, ClientSecurity security,
                                 const TelemetryPatience& patience)
    : security_(std::move(security)), patience_(patience), inbox_(std::make_shared<Inbox>(std::move(notify))) {}

TelemetryClient::~TelemetryClient() {
  cancel();
  stream_.reset();
  std::unique_lock lock(inbox_->mutex);
  inbox_->idle.wait(lock, [this] { return inbox_->streams.empty(); });
}

void TelemetryClient::open(const std::string& analyzer, const TelemetryHello& hello) {
  cancel();
  const auto channel = connect(analyzer, security_, patience_);
  std::uint64_t epoch = 0;
  {
    const std::lock_guard lock(inbox_->mutex);
    epoch = ++inbox_->epoch;
    inbox_->events.clear();
    std::erase_if(channels_, [this](const auto& each) { return !inbox_->streams.contains(each.first); });
    if (channel) {
      inbox_->streams.insert(epoch);
      channels_.emplace_back(epoch, *channel);
    } else {
      inbox_->events.push_back({TelemetryEvent::Kind::kEnded, 0, channel.error()});
    }
  }
  if (!channel) {
    stream_.reset();
    return inbox_->notify();
  }
  stream_ = std::make_shared<Stream>(*channel, inbox_, epoch);
  stream_->start(hello);
}

void TelemetryClient::send(std::uint64_t sequence, bool late, const std::vector<std::byte>& body,
                           const SentTables& tables) {
  if (!stream_) return;
  v1::CollectorMessage message;
  v1::Batch& batch = *message.mutable_batch();
  batch.set_sequence(sequence);
  batch.set_late(late);
  batch.set_body(body.data(), body.size());
  if (tables.neighbours != nullptr) batch.set_neighbours(tables.neighbours->data(), tables.neighbours->size());
  if (tables.neighbours_at != kNever) batch.set_neighbours_read(tables.neighbours_at.time_since_epoch().count());
  if (tables.facts != nullptr) batch.set_facts(tables.facts->data(), tables.facts->size());
  if (tables.facts_at != kNever) batch.set_facts_read(tables.facts_at.time_since_epoch().count());
  stream_->push(std::move(message));
}

std::size_t TelemetryClient::queued() const {
  return stream_ ? stream_->queued() : 0;
}

void TelemetryClient::cancel() {
  if (stream_) stream_->cancel();
}

std::optional<TelemetryEvent> TelemetryClient::next() {
  const std::lock_guard lock(inbox_->mutex);
  if (inbox_->events.empty()) return std::nullopt;
  TelemetryEvent event = std::move(inbox_->events.front());
  inbox_->events.pop_front();
  return event;
}

std::uint64_t TelemetryClient::probes() const {
  const std::lock_guard lock(inbox_->mutex);
  return inbox_->probes;
}

}  // namespace weft::api
