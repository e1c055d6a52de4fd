// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/telemetry_stream.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "api/grpc/answer.hpp"
#include "api/grpc/callers.hpp"
#include "api/publication/utf8.hpp"
#include "api/telemetry/fact_codec.hpp"
#include "api/telemetry/neighbour_codec.hpp"

namespace weft::api {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kProtocol = 1;
constexpr std::size_t kLongestHost = 255;
constexpr std::size_t kLongestVersion = 64;
constexpr std::uint32_t kLongestInterval = 3'600'000;
/// Far beyond what a spool counts to; sums of two do not overflow, and SQLite's integers hold it.
constexpr std::uint64_t kLastSequence = std::uint64_t{1} << 62;
/// A reader who does not take the last word is cut off after this.
constexpr auto kPatienceAtTheEnd = 2s;

Error invalid(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

bool is_plain(std::string_view text) {
  return valid_utf8(text) == text && std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

/// "192.0.2.7:4242" of gRPC's "ipv4:192.0.2.7:4242", "[2001:db8::7]:4242" of "ipv6:%5B2001:db8::7%5D:4242".
std::string peer_address(std::string peer) {
  if (peer.starts_with("ipv4:") || peer.starts_with("ipv6:")) peer.erase(0, 5);
  for (const auto& [escaped, plain] : {std::pair{"%5B", "["}, {"%5D", "]"}})
    if (const std::size_t at = peer.find(escaped); at != std::string::npos) peer.replace(at, 3, plain);
  return peer;
}

}  // namespace

TelemetryStream* TelemetryStream::start(StreamRegistry& hall, grpc::CallbackServerContext* context) {
  std::shared_ptr<TelemetryStream> stream(new TelemetryStream(hall, context));
  stream->self_ = stream;
  if (hall.admit(stream)) {
    hall.wake_at(stream->hello_due_, stream);
    stream->pump();
  } else {
    hall.count_refused();
    stream->finish({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many collectors: retry later"});
  }
  return stream.get();
}

TelemetryStream::TelemetryStream(StreamRegistry& hall, grpc::CallbackServerContext* context)
    : hall_(hall),
      context_(context),
      principal_(Callers(hall.gate).principal(*context)),
      decoder_(hall.limits.batch, hall.series),
      bucket_(hall.limits.batches_per_second, hall.limits.batch_burst),
      hello_due_(Steady::now() + hall.limits.hello_timeout) {}

void TelemetryStream::welcome(std::uint64_t sequence) {
  {
    const std::lock_guard lock(mutex_);
    if (welcomed_) return;
    welcomed_ = true;
    welcome_ = sequence;
    want_read_ = true;
    probe_due_ = Steady::time_point{};
  }
  hall_.wake(shared_from_this());
}

void TelemetryStream::acknowledge(std::uint64_t sequence) {
  {
    const std::lock_guard lock(mutex_);
    if (sequence <= acknowledged_) return;
    acknowledged_ = sequence;
    acknowledgement_ = sequence;
  }
  hall_.wake(shared_from_this());
}

void TelemetryStream::proceed() {
  {
    const std::lock_guard lock(mutex_);
    want_read_ = true;
  }
  hall_.wake(shared_from_this());
}

void TelemetryStream::end(Error why) {
  {
    const std::lock_guard lock(mutex_);
    if (finished_ || ending_) return;
    ending_ = true;
    status_ = to_status(why);
    cancel_due_ = Steady::now() + kPatienceAtTheEnd;
  }
  hall_.wake(shared_from_this());
}

void TelemetryStream::finish(grpc::Status status) {
  {
    const std::lock_guard lock(mutex_);
    if (finished_ || ending_) return;
    ending_ = true;
    status_ = std::move(status);
    cancel_due_ = Steady::now() + kPatienceAtTheEnd;
    if (writing_) hall_.wake_at(cancel_due_, shared_from_this());
  }
  pump();
}

void TelemetryStream::turn() {
  look_at_the_time();
  pump();
}

void TelemetryStream::look_at_the_time() {
  bool late_hello = false;
  std::optional<Steady::time_point> next;
  {
    const std::lock_guard lock(mutex_);
    const auto now = Steady::now();
    if (finished_) return;
    late_hello = !hello_seen_ && !ending_ && now >= hello_due_;
    if (ending_) next = cancel_due_;
  }
  if (late_hello) {
    hall_.count_refused();
    finish(to_status(invalid("no Hello in time")));
  }
  if (next && *next > Steady::now()) hall_.wake_at(*next, shared_from_this());
}

/// The only place that starts operations: one thread at a time, so that none is started after Finish().
void TelemetryStream::pump() {
  const auto self = shared_from_this();
  std::unique_lock lock(mutex_);
  if (pumping_) {
    again_ = true;
    return;
  }
  pumping_ = true;
  do {
    again_ = false;
    if (finished_) break;
    const auto now = Steady::now();
    const bool write = !writing_ && !ending_ && next_answer();
    const bool read = want_read_ && !reading_ && !ending_ && read_due_ <= now;
    const bool last = ending_ && !writing_;
    const bool cut = ending_ && writing_ && !cancelled_ && now >= cancel_due_;
    writing_ = writing_ || write;
    if (read) reading_ = true, want_read_ = false;
    finished_ = last;
    cancelled_ = cancelled_ || cut;
    if (!write && !read && !last && !cut) break;
    again_ = true;
    lock.unlock();
    if (write) StartWrite(&outgoing_);
    if (read) StartRead(&incoming_);
    if (cut) context_->TryCancel();
    if (last) Finish(status_);
    lock.lock();
  } while (again_);
  pumping_ = false;
}

/// Puts the next answer into outgoing_, if there is one.
bool TelemetryStream::next_answer() {
  outgoing_.Clear();
  if (welcome_) {
    outgoing_.mutable_welcome()->set_sequence(*std::exchange(welcome_, std::nullopt));
    return true;
  }
  if (!welcomed_) return false;
  const auto now = Steady::now();
  if (probe_sent_ == kNever && now >= probe_due_) {
    outgoing_.mutable_clock_probe()->set_id(++probe_);
    probe_sent_ = hall_.clock.now();
    probe_due_ = now + hall_.limits.probe_interval;
    return true;
  }
  if (acknowledgement_) {
    outgoing_.mutable_acknowledgement()->set_sequence(*std::exchange(acknowledgement_, std::nullopt));
    return true;
  }
  return false;
}

void TelemetryStream::OnReadDone(bool ok) {
  if (!ok) {
    // The collector said its last word, or is gone.
    finish(grpc::Status::OK);
    return;
  }
  const auto wrong = take_message();
  incoming_.Clear();
  {
    const std::lock_guard lock(mutex_);
    reading_ = false;
  }
  if (wrong) {
    hall_.count_refused();
    finish(to_status(*wrong));
  } else {
    pump();
  }
}

void TelemetryStream::OnWriteDone(bool ok) {
  {
    const std::lock_guard lock(mutex_);
    writing_ = false;
  }
  if (ok) {
    pump();
  } else {
    finish({grpc::StatusCode::CANCELLED, "the collector disconnected"});
    pump();  // it may have been ending already
  }
}

void TelemetryStream::OnCancel() {
  finish({grpc::StatusCode::CANCELLED, "cancelled"});
}

void TelemetryStream::OnDone() {
  hall_.leave(this);
  hall_.change_values(values_, 0);
  if (hello_seen_) hall_.sink.gone(shared_from_this());
  self_.reset();  // nothing may follow
}

std::optional<Error> TelemetryStream::take_message() {
  switch (incoming_.message_case()) {
    case v1::CollectorMessage::kHello:
      return take_hello(incoming_.hello());
    case v1::CollectorMessage::kBatch:
      return take_batch(incoming_.batch());
    case v1::CollectorMessage::kClockReply:
      return take_clock_reply(incoming_.clock_reply(), hall_.clock.now());
    case v1::CollectorMessage::MESSAGE_NOT_SET:
      break;
  }
  if (incoming_.GetReflection()->GetUnknownFields(incoming_).empty()) return invalid("an empty message");
  return take_unknown();
}

std::optional<Error> TelemetryStream::take_hello(const v1::Hello& hello) {
  if (hello_seen_) return invalid("a second Hello");
  if (hello.protocol() != kProtocol)
    return invalid("protocol " + std::to_string(hello.protocol()) + " is not supported; use protocol 1");
  if (hello.host().empty() || hello.host().size() > kLongestHost || !is_plain(hello.host()))
    return invalid("a host's name must have 1 to 255 bytes of UTF-8 without control characters");
  if (hello.spool() == 0) return invalid("a spool's number must not be 0");
  if (hello.version().size() > kLongestVersion || !is_plain(hello.version()))
    return invalid("a version must have at most 64 bytes");
  if (hello.interval_milliseconds() == 0 || hello.interval_milliseconds() > kLongestInterval)
    return invalid("an interval must be 1 to 3600000 ms");
  if (hello.oldest_sequence() > kLastSequence) return invalid("invalid sequence number");
  if (const auto own = access::authorize_node(principal_, hello.host()); !own) {
    hall_.gate.refuse({"/weft.v1.TelemetryService/Stream", context_->peer(), principal_.name, own.error()});
    return own.error();
  }
  {
    const std::lock_guard lock(mutex_);
    hello_seen_ = true;
  }
  hall_.sink.hello(shared_from_this(), {hello.host(), hello.spool(), hello.version(),
                                        std::chrono::milliseconds(hello.interval_milliseconds()),
                                        hello.oldest_sequence(), peer_address(context_->peer())});
  return std::nullopt;
}

/// Of a collector that is newer than this weftd. It counts as a batch, so that it is no way around the rate.
std::optional<Error> TelemetryStream::take_unknown() {
  if (!hello_seen_) return invalid("an unknown message before Hello");
  const std::lock_guard lock(mutex_);
  throttle();
  want_read_ = true;
  return std::nullopt;
}

/// Reads nothing more for a while when the rate is used up. Under the lock.
void TelemetryStream::throttle() {
  const auto pause = bucket_.take(Steady::now());
  if (pause <= Steady::duration::zero()) return;
  read_due_ = Steady::now() + pause;
  hall_.count_throttled();
  hall_.wake_at(read_due_, shared_from_this());
}

std::optional<Error> TelemetryStream::take_batch(const v1::Batch& message) {
  if (!hello_seen_) return invalid("a batch before Hello");
  if (message.sequence() <= sequence_ || message.sequence() > kLastSequence)
    return invalid("batch " + std::to_string(message.sequence()) + " came after " + std::to_string(sequence_));
  sequence_ = message.sequence();
  auto batch = decoder_.decode(std::as_bytes(std::span(message.body().data(), message.body().size())));
  if (!batch) return invalid(batch.error().message);
  batch->sequence = message.sequence();
  batch->is_late = message.late();
  if (batch->reading) {
    if (auto wrong = take_neighbours(message)) return wrong;
    if (auto wrong = take_facts(message)) return wrong;
    batch->reading->neighbours = neighbours_;
    batch->reading->facts = facts_;
    // Eight bytes of neighbours and facts weigh as much as a value.
    const std::size_t values = batch->reading->values.size() + (neighbour_bytes_ + fact_bytes_) / sizeof(std::uint64_t);
    if (!hall_.change_values(values_, values))
      return Error{ErrorCode::kResourceExhausted, "too many values over all collectors: retry later"};
    values_ = values;
  }
  Duration offset{};
  {
    const std::lock_guard lock(mutex_);
    const TimePoint now = hall_.clock.now();
    if (batch->reading) batch->reading->taken = clock_.correct(batch->reading->taken, now);
    if (batch->reading && neighbours_) batch->reading->neighbours_at = clock_.correct(neighbours_at_, now);
    if (batch->reading && facts_) batch->reading->facts_at = clock_.correct(facts_at_, now);
    for (LinkEvent& event : batch->events) event.at = clock_.correct(event.at, now);
    offset = clock_.offset();
    throttle();
  }
  hall_.sink.batch(shared_from_this(), std::move(*batch), offset);
  return std::nullopt;
}

std::optional<Error> TelemetryStream::take_neighbours(const v1::Batch& message) {
  if (message.has_neighbours()) {
    auto table = decode_neighbours(std::as_bytes(std::span(message.neighbours().data(), message.neighbours().size())));
    if (!table) return invalid(table.error().message);
    neighbours_ = std::make_shared<const NeighbourTable>(std::move(*table));
    neighbour_bytes_ = message.neighbours().size();
  }
  if (message.neighbours_read() == 0) return std::nullopt;
  neighbours_at_ = TimePoint(Duration(message.neighbours_read()));
  if (!is_sane(neighbours_at_)) return invalid("neighbours without a time");
  return std::nullopt;
}

std::optional<Error> TelemetryStream::take_facts(const v1::Batch& message) {
  if (message.has_facts()) {
    auto table = decode_facts(std::as_bytes(std::span(message.facts().data(), message.facts().size())));
    if (!table) return invalid(table.error().message);
    // Hourly readings and new streams tell the same again: what is kept stays one object.
    if (!facts_ || *facts_ != *table) facts_ = std::make_shared<const FactTable>(std::move(*table));
    fact_bytes_ = message.facts().size();
  }
  if (message.facts_read() == 0) return std::nullopt;
  facts_at_ = TimePoint(Duration(message.facts_read()));
  if (!is_sane(facts_at_)) return invalid("facts without a time");
  return std::nullopt;
}

std::optional<Error> TelemetryStream::take_clock_reply(const v1::ClockReply& reply, TimePoint received) {
  const TimePoint host_time{Duration(reply.host_time())};
  if (!is_sane(host_time)) return invalid("a clock reply without a time");
  auto next = Steady::time_point::max();
  {
    const std::lock_guard lock(mutex_);
    if (probe_sent_ == kNever || reply.id() != probe_) return invalid("a clock reply without a probe");
    clock_.add(std::exchange(probe_sent_, kNever), received, host_time);
    want_read_ = true;
    next = probe_due_;
  }
  hall_.wake_at(next, shared_from_this());
  return std::nullopt;
}

}  // namespace weft::api
