// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/webhooks/event_sender.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

#include "daemon/adapters/actuate/webhook_message.hpp"
#include "daemon/adapters/webhooks/event_message.hpp"
#include "daemon/platform/net/secret.hpp"
#include "daemon/platform/runtime/durable_file.hpp"

namespace weft::events {
namespace {

constexpr std::size_t kMostAnswer = 64 << 10;

std::string host_and_port(const std::string& url) {
  const std::size_t begin = url.find("://") + 3;
  const std::size_t end = url.find_first_of("/?#", begin);
  return url.substr(begin, end == std::string::npos ? end : end - begin);
}

}  // namespace

Result<std::unique_ptr<EventSender>> EventSender::make(EventSenderOptions options, const Clock& clock) {
  if (!actuate::is_web_address(options.url))
    return fail(ErrorCode::kInvalidArgument, "a webhook's address must begin with http:// or https://");
  if (const auto key = actuate::check_webhook_key(options.key_file); !key) return tl::unexpected<Error>(key.error());
  std::string authorities;
  if (!options.certificate_authorities.empty()) {
    auto text = net::read_secret(options.certificate_authorities, net::SecretMode::kMounted, 1 << 20);
    if (!text) return tl::unexpected<Error>(text.error());
    authorities = std::move(*text);
  }
  DeliveryLog book(options.filter);
  std::error_code error;
  const bool is_new = !std::filesystem::exists(options.memory_file, error);
  if (error)
    return fail(ErrorCode::kUnavailable, "cannot read " + options.memory_file.string() + ": " + error.message());
  if (!is_new) {
    std::ifstream stream(options.memory_file, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    if (!stream.is_open() || stream.bad())
      return fail(ErrorCode::kUnavailable, "cannot read " + options.memory_file.string());
    if (!book.read(text))
      return fail(ErrorCode::kCorrupt, options.memory_file.string() +
                                           " was not written by Weft: the delivered events are unknown; "
                                           "without the file all open incidents are sent again");
  }
  return std::unique_ptr<EventSender>(
      new EventSender(std::move(options), std::move(book), std::move(authorities), is_new, clock));
}

EventSender::EventSender(EventSenderOptions options, DeliveryLog book, std::string authorities, bool is_new,
                         const Clock& clock)
    : options_(std::move(options)),
      receiver_(host_and_port(options_.url)),
      authorities_(std::move(authorities)),
      clock_(clock),
      book_(std::move(book)),
      is_new_(is_new) {}

Result<void> EventSender::restore(const std::string& text) {
  if (!book_.read(text))
    return fail(ErrorCode::kCorrupt, "what " + receiver_ + " was told is stored in a way that this weftd cannot read");
  is_new_ = false;
  return {};
}

void EventSender::look(const IncidentList& incidents, const std::string& apart) {
  if (std::exchange(is_new_, false)) {
    book_.begin(incidents);
    remember();
  }
  if (book_.forget_others(incidents) || unsaved_) remember();
  const IncidentList due = book_.due(incidents);
  figures_.waiting = due.size();
  if (std::chrono::steady_clock::now() < next_) return;
  for (const auto& incident : due) {
    if (stopping_) return;
    std::string why;
    const Outcome outcome = post(*incident, apart, why);
    if (outcome == Outcome::kAgain) return pause(why);
    if (outcome == Outcome::kNever) {
      ++figures_.given_up;
      if (options_.complain)
        options_.complain(receiver_ + " rejected " + idempotency_key(*incident, options_.installation) +
                          ", it is not sent again: " + why);
    } else {
      ++figures_.delivered;
    }
    book_.tell(*incident);
    --figures_.waiting;
    if (!unsaved_) remember();  // else with the next look: nobody waits for a database that is away
    pause_ = {};
    if (std::exchange(in_trouble_, false) && options_.complain) options_.complain(receiver_ + " accepts events again");
  }
}

EventSender::Outcome EventSender::post(const Incident& incident, const std::string& apart, std::string& why) {
  const std::string installation = options_.installation + apart;
  net::HttpRequest request;
  request.method = "POST";
  request.url = options_.url;
  request.body = event_body(incident, event_of(incident, book_.find(incident.id)), options_.page, installation);
  request.headers = {"Content-Type: application/json", "Idempotency-Key: " + idempotency_key(incident, installation)};
  request.tls.certificate_authorities = authorities_;
  request.timeout = options_.timeout;
  request.most_answer = kMostAnswer;
  const std::string body = request.body;
  const auto answer = actuate::send_signed(std::move(request), body, options_.key_file, clock_.now());
  if (answer && answer->status >= 200 && answer->status < 300) return Outcome::kTaken;
  ++figures_.failed;
  why = answer ? net::http_failure("it", *answer).message : answer.error().message;
  const bool never = answer && (answer->status == 400 || answer->status == 413 || answer->status == 422);
  return never ? Outcome::kNever : Outcome::kAgain;
}

void EventSender::pause(const std::string& why) {
  pause_ = pause_ == Duration{} ? options_.first_pause : std::min(2 * pause_, options_.longest_pause);
  next_ = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(pause_);
  if (!std::exchange(in_trouble_, true) && options_.complain)
    options_.complain(receiver_ + " does not accept events, retrying: " + why);
}

// Not on disk: then the receiver is told again after a restart, under the same key.
void EventSender::remember() {
  const auto saved = save();
  if (!saved && !unsaved_ && options_.complain) options_.complain(saved.error().message);
  unsaved_ = !saved;
}

Result<void> EventSender::save() const {
  if (options_.save) return options_.save(book_.text());
  if (options_.memory_file.empty()) return {};
  return runtime::replace_durably(options_.memory_file, book_.text());
}

}  // namespace weft::events
