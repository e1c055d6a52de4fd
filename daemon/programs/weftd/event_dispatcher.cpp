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
std::string name_of(const std::string& url) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a: the same in every build
  for (const char letter : url) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
  return "events-" + std::to_string(hash);
}

}  // namespace

Result<std::unique_ptr<EventDispatcher>> EventDispatcher::make(const config::WeftdConfig& config,
                                                               const api::Publication& publication, const Clock& clock,
                                                               const std::string& installation, const Keep& keep) {
  std::unique_ptr<EventDispatcher> desk(new EventDispatcher(publication));
  for (const std::string& url : config.events.urls) {
    const std::string name = name_of(url);
    std::function<Result<void>(const std::string&)> save;
    if (keep) save = [keep, name](const std::string& text) { return keep(name, text); };
    auto sender =
        events::EventSender::make({.url = url,
                                   .key_file = config.events.key_file,
                                   .memory_file = std::filesystem::absolute(config.state_dir) / (name + ".json"),
                                   .save = std::move(save),
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
    desk->receivers_.push_back({std::move(*sender), std::move(lane), name});
  }
  return desk;
}

Result<void> EventDispatcher::restore(const std::map<std::string, std::string>& told) {
  for (const Receiver& receiver : receivers_)
    if (const auto found = told.find(receiver.name); found != told.end())
      if (auto restored = receiver.sender->restore(found->second); !restored) return restored;
  return {};
}

void EventDispatcher::tick(const std::string& apart) {
  const auto snapshot = publication_.load();
  if (!snapshot->incidents) return;
  for (const Receiver& receiver : receivers_)
    receiver.lane->post(
        [sender = receiver.sender.get(), incidents = snapshot->incidents, apart] { sender->look(*incidents, apart); });
}

void EventDispatcher::stop() {
  for (const Receiver& receiver : receivers_) receiver.sender->stop();
  for (const Receiver& receiver : receivers_) receiver.lane->stop();
}

}  // namespace weft::daemon
