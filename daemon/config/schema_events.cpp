// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/schema.hpp"

#include "fabric/incident.hpp"

// events.*: who is told of incidents by webhook.

namespace weft::config {
namespace {

constexpr double kLongestRequest = 30;  // seconds

std::vector<std::string_view> kind_names() {
  std::vector<std::string_view> names;
  for (std::size_t kind = 0; kind < static_cast<std::size_t>(IncidentKind::kCount); ++kind)
    names.emplace_back(to_string(static_cast<IncidentKind>(kind)));
  return names;
}

}  // namespace

std::vector<Key> events_schema() {
  return {
      {"events.urls",
       [](WeftdConfig& c) -> Field { return &c.events.urls; },
       {},
       "",
       "URLs to which each incident is posted as signed JSON when it opens, changes its severity, is acknowledged or "
       "silenced, reopens and is resolved. Deliveries are retried until accepted, independently for each receiver. The "
       "URL must not contain a password: the signature identifies the sender. Empty: none."},
      {"events.key_file",
       [](WeftdConfig& c) -> Field { return &c.events.key_file; },
       {},
       "",
       "File with the signing key, mode 0600 or 0640, at least 16 bytes: `openssl rand -hex 32`. Read for each "
       "request."},
      {"events.severities",
       [](WeftdConfig& c) -> Field { return &c.events.severities; },
       {},
       "",
       "Severities of incidents to deliver. INFO, which includes planned work, is left out by default because it needs "
       "no action. The resolution of a delivered incident is always delivered.",
       "",
       {"INFO", "WARNING", "CRITICAL"}},
      {"events.kinds",
       [](WeftdConfig& c) -> Field { return &c.events.kinds; },
       {},
       "",
       "Kinds of incidents to deliver. Empty: all.",
       "",
       kind_names()},
      {"events.certificate_authorities",
       [](WeftdConfig& c) -> Field { return &c.events.certificate_authorities; },
       {},
       "",
       "PEM file with the CAs for the receivers' certificates. Empty: the system's CAs."},
      {"events.timeout",
       [](WeftdConfig& c) -> Field { return &c.events.timeout; },
       {1, kLongestRequest},
       "",
       "Timeout for a receiver's answer, after which the event is sent again. At its stop weftd waits as long for a "
       "pending request, so the default is less than the usual 10s."},
      {"events.page_url",
       [](WeftdConfig& c) -> Field { return &c.events.page_url; },
       {},
       "",
       "Public URL of weftd's page, \"https://weft.example.com\": events have a link to their incident and to its "
       "runbook there, and weftctl shows the runbook's. Empty: only the runbook's path."},
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
