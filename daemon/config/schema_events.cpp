#include "daemon/config/schema.hpp"

// events.*: who is told of incidents by webhook.

namespace weft::config {
namespace {

constexpr double kLongestRequest = 30;  // seconds

}  // namespace

std::vector<Key> events_schema() {
  return {
      {"events.urls",
       [](WeftdConfig& c) -> Field { return &c.events.urls; },
       {},
       "",
       "Where each incident is posted as signed JSON when it opens, changes its severity, is acknowledged or silenced, "
       "opens again and is resolved. Sent again until it is taken; one receiver never waits for another. No passwords "
       "in it: the signature says who we are. Empty: nowhere."},
      {"events.key_file",
       [](WeftdConfig& c) -> Field { return &c.events.key_file; },
       {},
       "",
       "File with the key of the signature, mode 0600 or 0640, at least 16 bytes: `openssl rand -hex 32`. Read anew "
       "for each request."},
      {"events.severities",
       [](WeftdConfig& c) -> Field { return &c.events.severities; },
       {},
       "",
       "Incidents of which severity are told of. INFO, planned work among it, is left out by default: nobody has to do "
       "anything about it. Of what was told once the end is told as well.",
       "",
       {"INFO", "WARNING", "CRITICAL"}},
      {"events.kinds",
       [](WeftdConfig& c) -> Field { return &c.events.kinds; },
       {},
       "",
       "Incidents of which kind are told of. Empty: all.",
       "",
       {"LINK_DOWN", "LINK_FLAP", "LINK_DEGRADED", "LINK_ERRORS", "SWITCH_DOWN", "NODE_DOWN", "CONGESTION_INCAST",
        "CONGESTION_UNEVEN_LOAD", "CONGESTION_OVERSUBSCRIBED", "SLOW_RECEIVER", "PFC_STORM", "DEADLOCK", "SILENT_LOSS",
        "RDMA_ERRORS", "STRAGGLER", "MISCABLED", "DUPLICATE_GUID", "COUNTER_STUCK", "TELEMETRY_LOST"}},
      {"events.certificate_authorities",
       [](WeftdConfig& c) -> Field { return &c.events.certificate_authorities; },
       {},
       "",
       "PEM file that the receivers' certificates must come from. Empty: the system's."},
      {"events.timeout",
       [](WeftdConfig& c) -> Field { return &c.events.timeout; },
       {1, kLongestRequest},
       "",
       "How long a receiver may take for its answer; later the event is sent again. weftd waits as long for a request "
       "under way when it stops, so that this is less than the 10s that receivers are commonly granted."},
      {"events.page_url",
       [](WeftdConfig& c) -> Field { return &c.events.page_url; },
       {},
       "",
       "Where people reach weftd's page, \"https://weft.example.com\": events lead to their incident there. Empty: "
       "they have no link."},
  };
}

std::vector<std::pair<std::string, std::string>> event_contradictions(const Events& events) {
  std::vector<std::pair<std::string, std::string>> found;
  const auto is_web = [](const std::string& url) { return url.starts_with("http://") || url.starts_with("https://"); };
  for (const std::string& url : events.urls)
    if (!is_web(url)) found.emplace_back("events.urls", "'" + url + "' does not begin with http:// or https://");
  if (!events.urls.empty() && events.key_file.empty())
    found.emplace_back("events.key_file", "is missing: what is posted to events.urls must be signed");
  if (!events.page_url.empty() && !is_web(events.page_url))
    found.emplace_back("events.page_url", "does not begin with http:// or https://");
  return found;
}

}  // namespace weft::config
