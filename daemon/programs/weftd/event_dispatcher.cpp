// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/event_dispatcher.hpp"

#include <functional>
#include <string>
#include <utility>

#include "daemon/platform/logging/logging.hpp"

namespace weft::daemon {
namespace {

events::EventFilter filter_of(const config::Events& from) {
  events::EventFilter filter;
  for (const std::string& name : from.kinds)
    if (const auto kind = parse_incident_kind(name)) filter.kinds.push_back(*kind);
  for (const std::string& name : from.severities)
    if (const auto severity = parse_severity(name)) filter.severities.push_back(*severity);
  return filter;
}

/// One for each address, whatever else is configured, so that the order of addresses does not matter.
std::filesystem::path memory_of(const config::WeftdConfig& config, const std::string& url) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a: the same in every build
  for (const char letter : url) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
  return std::filesystem::absolute(config.state_dir) / ("events-" + std::to_string(hash) + ".json");
}

}  // namespace

Result<std::unique_ptr<EventDispatcher>> EventDispatcher::make(const config::WeftdConfig& config,
                                                               const api::Publication& publication, const Clock& clock,
                                                               const std::string& installation) {
  std::unique_ptr<EventDispatcher> desk(new EventDispatcher(publication));
  for (const std::string& url : config.events.urls) {
    auto sender =
        events::EventSender::make({.url = url,
                                   .key_file = config.events.key_file,
                                   .memory_file = memory_of(config, url),
                                   .certificate_authorities = config.events.certificate_authorities,
                                   .page = config.events.page_url,
                                   .installation = installation,
                                   .filter = filter_of(config.events),
                                   .timeout = config.events.timeout,
                                   .complain = [](const std::string& text) { logger("events")->warn("{}", text); }},
                                  clock);
    if (!sender) return tl::unexpected<Error>(sender.error());
    auto lane = std::make_unique<runtime::Lane>(
        runtime::LaneOptions{.name = "events-" + std::to_string(desk->receivers_.size()),
                             .capacity = 1,
                             .when_full = runtime::WhenFull::kRefuse,
                             .on_failure = [](const std::string& what) { logger("events")->error("{}", what); }});
    desk->receivers_.push_back({std::move(*sender), std::move(lane)});
  }
  return desk;
}

void EventDispatcher::tick() {
  const auto snapshot = publication_.load();
  if (!snapshot->incidents) return;
  for (const Receiver& receiver : receivers_)
    receiver.lane->post(
        [sender = receiver.sender.get(), incidents = snapshot->incidents] { sender->look(*incidents); });
}

void EventDispatcher::stop() {
  for (const Receiver& receiver : receivers_) receiver.sender->stop();
  for (const Receiver& receiver : receivers_) receiver.lane->stop();
}

}  // namespace weft::daemon
