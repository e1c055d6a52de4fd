#include "daemon/config/schema.hpp"

#include <algorithm>
#include <cctype>
#include <regex>

#include "analyzer/places/place_finder.hpp"
#include "daemon/config/value_text.hpp"

// The table itself: what a key does and why its default is what it is.

namespace weft::config {
namespace {

std::vector<Key> daemon_schema() {
  return {
      {"state_dir",
       [](WeftdConfig& c) -> Field { return &c.state_dir; },
       {},
       "",
       "Directory of the databases (incidents, inventory, port history) and of the lock that keeps a second weftd "
       "away. "
       "Made when missing."},
      {"log_level",
       [](WeftdConfig& c) -> Field { return &c.log_level; },
       {},
       "",
       "The least important messages that are written to standard error.",
       "",
       {"trace", "debug", "info", "warn", "error", "critical", "off"}},
      {"listen.http",
       [](WeftdConfig& c) -> Field { return &c.listen.http; },
       {},
       "",
       "Where /metrics, the JSON API and the web page are served. Any other address than loopback takes "
       "security.certificate, or "
       "security.allow_plain_text.",
       "",
       {},
       "--http"},
      {"listen.grpc",
       [](WeftdConfig& c) -> Field { return &c.listen.grpc; },
       {},
       "",
       "Where the gRPC services are served. Any other address than loopback takes security.certificate, or "
       "security.allow_plain_text.",
       "",
       {},
       "--grpc"},
  };
}

std::vector<Key> infiniband_schema() {
  return {
      {"infiniband.enabled",
       [](WeftdConfig& c) -> Field { return &c.infiniband.enabled; },
       {},
       "",
       "Whether InfiniBand subnets are watched from this host's adapters."},
      {"infiniband.ports",
       [](WeftdConfig& c) -> Field { return &c.infiniband.ports; },
       {},
       "",
       "The adapter ports to watch through, one for each subnet: \"mlx5_0:1\", or \"compute=mlx5_0:1\" to name the "
       "fabric "
       "behind it (else it is called mlx5_0-1). \"auto\" takes every active InfiniBand port; when two of them lead "
       "into the "
       "same subnet, name one instead, or it is watched twice."},
      {"infiniband.sweep_interval",
       [](WeftdConfig& c) -> Field { return &c.infiniband.sweep_interval; },
       {100 * kMillisecond, kHour},
       "",
       "From the start of one sweep (states and counters of every port) to the start of the next. One second sees a "
       "failed "
       "link within two; a sweep that takes longer is followed by the next at once.",
       "",
       {},
       "--sweep-interval"},
      {"infiniband.detail_interval",
       [](WeftdConfig& c) -> Field { return &c.infiniband.detail_interval; },
       {kMillisecond * 100, kDay},
       "",
       "How often the optional counters (error and discard details, flow control, per-lane waits, FEC) are read of "
       "every "
       "port; those of a port whose errors move are read at once. A minute keeps their share of the requests small."},
      {"infiniband.window",
       [](WeftdConfig& c) -> Field { return &c.infiniband.window; },
       {1, 4096},
       "requests",
       "Most requests outstanding at once in one subnet. It shrinks by itself when answers stay away. OpenSM's own "
       "counter "
       "reader keeps 500; 256 fills the wire and leaves room for the subnet manager."},
      {"infiniband.per_node_outstanding",
       [](WeftdConfig& c) -> Field { return &c.infiniband.per_node_outstanding; },
       {1, 64},
       "requests",
       "Most requests outstanding at once to one node: a switch's agent is a small processor with a short queue."},
      {"infiniband.timeout",
       [](WeftdConfig& c) -> Field { return &c.infiniband.timeout; },
       {10 * kMillisecond, 10},
       "",
       "How long one request may stay unanswered before it is repeated or given up. Answers take well under a "
       "millisecond, a busy agent some ten; 200ms, as OpenSM waits, leaves room, and with two retries a dead node "
       "costs 0.6 "
       "s and not the 3 s of the usual tools."},
      {"infiniband.retries",
       [](WeftdConfig& c) -> Field { return &c.infiniband.retries; },
       {0, 10},
       "tries",
       "How often an unanswered request is repeated. Management datagrams may be lost, so once is too few; more than a "
       "few "
       "only pile up on an agent that is busy already. A node that stays silent is then left out with growing pauses."},
      {"infiniband.service_level",
       [](WeftdConfig& c) -> Field { return &c.infiniband.service_level; },
       {0, 15},
       "",
       "Service level of the requests: \"path\" takes the one that the subnet administrator gives for the path, which "
       "is "
       "right where routing depends on it (torus, dragonfly).",
       "path"},
      {"infiniband.pkey_index",
       [](WeftdConfig& c) -> Field { return &c.infiniband.pkey_index; },
       {0, 65535},
       "",
       "Index, in the adapter port's table, of the partition key that requests carry; \"auto\" looks for the default "
       "partition and takes 0 where there is none.",
       "auto"},
      {"infiniband.node_name_map",
       [](WeftdConfig& c) -> Field { return &c.infiniband.node_name_map; },
       {},
       "",
       "File of names for GUIDs, one `0xGUID \"name\"` on each line, as OpenSM and infiniband-diags use. Empty: nodes "
       "are "
       "called by their descriptions."},
      {"infiniband.expected_topology",
       [](WeftdConfig& c) -> Field { return &c.infiniband.expected_topology; },
       {},
       "",
       "File in ibnetdiscover's format that says how the cables should run; what differs is MISCABLED. Empty: nothing "
       "is "
       "expected."},
      {"infiniband.pod_pattern",
       [](WeftdConfig& c) -> Field { return &c.infiniband.pod_pattern; },
       {},
       "",
       "Regular expression with one group that is searched for in the names of nodes: what the group matches is the "
       "name of the pod, as in \"-p([0-9]+)-\". Empty: pods are what hangs together below the topmost switches."},
      {"infiniband.rail_pattern",
       [](WeftdConfig& c) -> Field { return &c.infiniband.rail_pattern; },
       {},
       "",
       "The same for rails, in the names of adapters, else of their leaf switches: \"mlx5_([0-9]+)\". Empty: the "
       "order of each host's adapters tells, where each leaf has those of one rail only."},
      {"infiniband.clear_saturated_counters",
       [](WeftdConfig& c) -> Field { return &c.infiniband.clear_saturated_counters; },
       {},
       "",
       "Clear counters of 4, 8 and 16 bits that are about to stick at their top. Off: clearing blinds every other tool "
       "that "
       "reads them, and on some hardware clears the 64-bit ones as well."},
      {"infiniband.sweeper",
       [](WeftdConfig& c) -> Field { return &c.infiniband.sweeper; },
       {},
       "",
       "Path of the program weft-sweeper. Empty: the one beside weftd's own executable."},
  };
}

std::vector<Key> ethernet_schema() {
  return {
      {"ethernet.cabling",
       [](WeftdConfig& c) -> Field { return &c.ethernet.cabling; },
       {},
       "",
       "File that says how the Ethernet fabric is cabled: DOT as the Prescriptive Topology Manager has it, "
       "`\"leaf01\":\"swp1\" -- \"gpu-01\":\"eth2\"` on each line. The names are those that collectors tell of their "
       "hosts "
       "(node_name) and interfaces. It is read at the start. Empty: no Ethernet fabric is watched, and hosts' Ethernet "
       "ports are known one by one.",
       "",
       {},
       "--cabling"},
      {"ethernet.fabric",
       [](WeftdConfig& c) -> Field { return &c.ethernet.fabric; },
       {},
       "",
       "What that fabric is called, as InfiniBand's are called after their ports."},
      {"ethernet.interval",
       [](WeftdConfig& c) -> Field { return &c.ethernet.interval; },
       {100 * kMillisecond, kHour},
       "",
       "How often what collectors have read is put together and judged. As often as they read: more often shows "
       "nothing "
       "new, more seldom leaves readings out."},
      {"ethernet.switch_port_pattern",
       [](WeftdConfig& c) -> Field { return &c.ethernet.switch_port_pattern; },
       {},
       "",
       "Regular expression: a node of the cabling without the attribute `function` is a switch when the name of one of "
       "its ports has a match, else a host. The default knows Cumulus Linux (swp1), SONiC and Arista EOS (Ethernet1), "
       "Cisco NX-OS (Eth1/1) and Junos (et-0/0/1, xe-0/0/1)."},
  };
}

/// What may be a label of a metric, a part of an address of the API and of a file's name.
bool is_fabric_name(const std::string& name) {
  constexpr std::size_t kLongest = 64;
  return !name.empty() && name.size() <= kLongest && std::ranges::all_of(name, [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) || letter == '-' || letter == '_' || letter == '.';
  });
}

std::vector<std::pair<std::string, std::string>> ethernet_contradictions(const WeftdConfig& config) {
  std::vector<std::pair<std::string, std::string>> found;
  const Ethernet& ethernet = config.ethernet;
  if (!is_fabric_name(ethernet.fabric))
    found.emplace_back("ethernet.fabric", "must be 1 to 64 letters, digits, -, _ and .");
  for (const InfinibandPort& port : config.infiniband.ports.named)
    if (ethernet.is_watched() && port.fabric == ethernet.fabric)
      found.emplace_back("ethernet.fabric", "\"" + port.fabric + "\" is a fabric of infiniband.ports already");
  try {
    const std::regex pattern(ethernet.switch_port_pattern);
  } catch (const std::regex_error& error) {
    found.emplace_back("ethernet.switch_port_pattern", std::string("is no regular expression: ") + error.what());
  }
  return found;
}

std::vector<Key> store_schema() {
  return {
      {"store.history_interval",
       [](WeftdConfig& c) -> Field { return &c.store.history_interval; },
       {1, kDay},
       "",
       "How often the counters of every port are added to the history. A minute is fine enough to see when trouble "
       "began "
       "and sixty times smaller than every sweep."},
      {"store.history_retention",
       [](WeftdConfig& c) -> Field { return &c.store.history_retention; },
       {kMinute, 3650 * kDay},
       "",
       "How long port history is kept, unless max_history_bytes ends first."},
      {"store.max_history_bytes",
       [](WeftdConfig& c) -> Field { return &c.store.max_history_bytes; },
       {1 << 20, 0x1p50},
       "",
       "Most room that port history takes; the oldest goes first. 8GiB keeps 30 days of about 30,000 busy ports, a "
       "fortnight of 62,000, and far more of idle ones."},
      {"store.incident_retention",
       [](WeftdConfig& c) -> Field { return &c.store.incident_retention; },
       {kHour, 36500 * kDay},
       "",
       "How long resolved incidents and their events are kept on disk. Open ones are always kept."},
  };
}

std::vector<Key> maintenance_schema() {
  return {
      {"maintenance.max_windows",
       [](WeftdConfig& c) -> Field { return &c.maintenance.max_windows; },
       {1, 100'000},
       "windows",
       "Most windows of planned work that are active or to come; more get RESOURCE_EXHAUSTED. Every finding is held "
       "against the active ones."},
      {"maintenance.longest",
       [](WeftdConfig& c) -> Field { return &c.maintenance.longest; },
       {kMinute, 366 * kDay},
       "",
       "Longest window of planned work. One that is forgotten keeps real trouble quiet: who needs longer adds "
       "another."},
  };
}

std::vector<Key> serving_schema() {
  return {
      {"http.max_connections",
       [](WeftdConfig& c) -> Field { return &c.http.max_connections; },
       {1, 65536},
       "connections",
       "Most HTTP connections open at once; more are refused. Scrapers and people need few."},
      {"http.max_connections_per_address",
       [](WeftdConfig& c) -> Field { return &c.http.max_connections_per_address; },
       {1, 65536},
       "connections",
       "Most of them from one address: half, so that one host cannot keep all others out. Behind a proxy everybody has "
       "the proxy's."},
      {"http.idle_timeout",
       [](WeftdConfig& c) -> Field { return &c.http.idle_timeout; },
       {1, kHour},
       "",
       "A connection on which nothing moved for this long is closed, so that clients which vanished do not use up the "
       "connections."},
      {"grpc.max_watchers",
       [](WeftdConfig& c) -> Field { return &c.grpc.max_watchers; },
       {1, 65536},
       "streams",
       "Most Watch streams open at once; more get RESOURCE_EXHAUSTED. Each may hold a picture of the fabric that "
       "others no "
       "longer need."},
  };
}

std::vector<Key> telemetry_schema() {
  return {
      {"telemetry.max_collectors",
       [](WeftdConfig& c) -> Field { return &c.telemetry.max_collectors; },
       {1, 1e6},
       "collectors",
       "Most collectors connected at once; more get RESOURCE_EXHAUSTED and keep what they have. Twice as many hosts "
       "are "
       "remembered. Each connection takes a file descriptor and some memory."},
      {"telemetry.max_values",
       [](WeftdConfig& c) -> Field { return &c.telemetry.max_values; },
       {1000, 1e9},
       "values",
       "Most values that all hosts together may tell in one reading, which bounds our memory; a collector that passes "
       "it "
       "gets RESOURCE_EXHAUSTED."},
      {"telemetry.max_batches_per_second",
       [](WeftdConfig& c) -> Field { return &c.telemetry.max_batches_per_second; },
       {1, 1e6},
       "batches",
       "How fast one collector is read from, after a burst of four times as many. A faster one waits and nothing of it "
       "is "
       "lost. Readings come once a second; the rest is for catching up after we were away."},
      {"telemetry.forget_after",
       [](WeftdConfig& c) -> Field { return &c.telemetry.forget_after; },
       {kMinute, 3650 * kDay},
       "",
       "A host whose collector was not heard for so long is forgotten, and its incidents are resolved: it was taken "
       "away."},
  };
}

}  // namespace

template <>
std::vector<Key> schema<WeftdConfig>() {
  std::vector<Key> keys;
  for (auto part :
       {daemon_schema(), security_schema(), infiniband_schema(), ethernet_schema(), analyzer_schema(),
        maintenance_schema(), events_schema(), remedy_schema(), store_schema(), serving_schema(), telemetry_schema()})
    keys.insert(keys.end(), part.begin(), part.end());
  return keys;
}

std::vector<std::pair<std::string, std::string>> contradictions(const WeftdConfig& config) {
  std::vector<std::pair<std::string, std::string>> found;
  const auto must = [&found](bool holds, const char* key, std::string message) {
    if (!holds) found.emplace_back(key, std::move(message));
  };
  const auto not_longer = [&must](Duration shorter, const char* short_key, Duration longer, const char* key) {
    must(shorter <= longer, key,
         format_duration(longer) + " is shorter than " + short_key + ", which is " + format_duration(shorter));
  };
  const auto damping = [&must](const analyzer::Damping& layer, const std::string& name) {
    must(layer.reuse < layer.suppress, (name + ".reuse").c_str(),
         "must be below " + name + ".suppress, or it never ends");
    must(layer.suppress <= layer.ceiling, (name + ".ceiling").c_str(),
         "must not be below " + name + ".suppress, or it never begins");
  };
  must(config.listen.http != config.listen.grpc || config.listen.http.port == 0, "listen.grpc",
       format_address(config.listen.grpc) + " is listen.http already");
  not_longer(config.infiniband.sweep_interval, "infiniband.sweep_interval", config.infiniband.detail_interval,
             "infiniband.detail_interval");
  not_longer(config.infiniband.sweep_interval, "infiniband.sweep_interval", config.store.history_interval,
             "store.history_interval");
  not_longer(config.store.history_interval, "store.history_interval", config.store.history_retention,
             "store.history_retention");
  not_longer(config.incidents.retention, "incidents.retention", config.store.incident_retention,
             "store.incident_retention");
  not_longer(config.incidents.reopen_window, "incidents.reopen_window", config.incidents.retention,
             "incidents.retention");
  not_longer(config.analyzer.error_window_minimum, "analyzer.error_window_minimum",
             config.analyzer.error_window_maximum, "analyzer.error_window_maximum");
  damping(config.analyzer.flap_fast, "analyzer.flap_fast");
  damping(config.analyzer.flap_slow, "analyzer.flap_slow");
  for (const auto& [key, text] : {std::pair{"infiniband.pod_pattern", &config.infiniband.pod_pattern},
                                  std::pair{"infiniband.rail_pattern", &config.infiniband.rail_pattern}})
    if (const auto pattern = analyzer::place_pattern(*text); !pattern) found.emplace_back(key, pattern.error().message);
  for (auto& problem : ethernet_contradictions(config)) found.push_back(std::move(problem));
  for (auto& problem : security_contradictions(config)) found.push_back(std::move(problem));
  for (auto& problem : event_contradictions(config.events)) found.push_back(std::move(problem));
  for (auto& problem : remedy_contradictions(config.remedy)) found.push_back(std::move(problem));
  return found;
}

}  // namespace weft::config
