// SPDX-License-Identifier: Apache-2.0
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
       "Directory of the databases (incidents, inventory, port history) and of the lock file that prevents a second "
       "weftd. Created if missing."},
      {"log_level",
       [](WeftdConfig& c) -> Field { return &c.log_level; },
       {},
       "",
       "Minimum log level on standard error.",
       "",
       {"trace", "debug", "info", "warn", "error", "critical", "off"}},
      {"listen.http",
       [](WeftdConfig& c) -> Field { return &c.listen.http; },
       {},
       "",
       "Address for /metrics, the JSON API and the web page. An address other than loopback needs security.certificate "
       "or security.allow_plain_text.",
       "",
       {},
       "--http"},
      {"listen.grpc",
       [](WeftdConfig& c) -> Field { return &c.listen.grpc; },
       {},
       "",
       "Address for gRPC. An address other than loopback needs security.certificate or security.allow_plain_text.",
       "",
       {},
       "--grpc"},
      {"listen.socket",
       [](WeftdConfig& c) -> Field { return &c.listen.socket; },
       {},
       "",
       "Unix socket for gRPC from accounts of this host. root, the user that weftd runs as and members of "
       "security.operator_group may act there without a token; all others read, if no token or certificate is needed "
       "for that. Empty: /run/weft/weftd.sock, and none if that cannot be made."},
  };
}

std::vector<Key> infiniband_schema() {
  return {
      {"infiniband.enabled",
       [](WeftdConfig& c) -> Field { return &c.infiniband.enabled; },
       {},
       "",
       "Monitor InfiniBand subnets through this host's adapters."},
      {"infiniband.ports",
       [](WeftdConfig& c) -> Field { return &c.infiniband.ports; },
       {},
       "",
       "Adapter ports to monitor through, one per subnet: \"mlx5_0:1\", or \"compute=mlx5_0:1\" to name its fabric "
       "(default mlx5_0-1). \"auto\" uses every active InfiniBand port; of two ports on the same subnet name only "
       "one."},
      {"infiniband.sweep_interval",
       [](WeftdConfig& c) -> Field { return &c.infiniband.sweep_interval; },
       {100 * kMillisecond, kHour},
       "",
       "Time from the start of one sweep (states and counters of every port) to the start of the next. With one second "
       "a failed link is detected within two seconds. If a sweep takes longer, the next one follows at once.",
       "",
       {},
       "--sweep-interval"},
      {"infiniband.detail_interval",
       [](WeftdConfig& c) -> Field { return &c.infiniband.detail_interval; },
       {kMillisecond * 100, kDay},
       "",
       "How often the optional counters (error and discard details, flow control, per-lane waits, FEC) of every port "
       "are read; those of a port with new errors are read at once. One minute keeps their share of the requests "
       "small."},
      {"infiniband.window",
       [](WeftdConfig& c) -> Field { return &c.infiniband.window; },
       {1, 4096},
       "requests",
       "Maximum of outstanding requests in one subnet. The window shrinks automatically when responses are missing. "
       "OpenSM's performance manager uses 500; 256 saturates the path and leaves room for the subnet manager."},
      {"infiniband.per_node_outstanding",
       [](WeftdConfig& c) -> Field { return &c.infiniband.per_node_outstanding; },
       {1, 64},
       "requests",
       "Maximum of outstanding requests to one node: a switch's management agent is a small processor with a short "
       "queue."},
      {"infiniband.timeout",
       [](WeftdConfig& c) -> Field { return &c.infiniband.timeout; },
       {10 * kMillisecond, 10},
       "",
       "Timeout of one request, before it is retried or fails. Responses take well under a millisecond, from a busy "
       "agent some ten. 200ms, as in OpenSM, leaves a margin; with two retries a dead node costs 0.6 s, not the 3 s of "
       "the usual tools."},
      {"infiniband.retries",
       [](WeftdConfig& c) -> Field { return &c.infiniband.retries; },
       {0, 10},
       "tries",
       "Retries of an unanswered request. Management datagrams may be lost, so one is too few; many retries only "
       "overload a busy agent. An unresponsive node is then skipped with growing intervals."},
      {"infiniband.service_level",
       [](WeftdConfig& c) -> Field { return &c.infiniband.service_level; },
       {0, 15},
       "",
       "Service level of the requests: \"path\" uses the service level of the subnet administrator's path record, as "
       "needed where routing depends on it (torus, dragonfly).",
       "path"},
      {"infiniband.pkey_index",
       [](WeftdConfig& c) -> Field { return &c.infiniband.pkey_index; },
       {0, 65535},
       "",
       "Index of the partition key for requests, in the adapter port's table; \"auto\" looks for the default "
       "partition, else uses 0.",
       "auto"},
      {"infiniband.node_name_map",
       [](WeftdConfig& c) -> Field { return &c.infiniband.node_name_map; },
       {},
       "",
       "Node name map, one `0xGUID \"name\"` per line, as for OpenSM and infiniband-diags. Empty, or a file that "
       "cannot be used, which is logged: nodes are named by their descriptions. "
       "A name in it confirms to remedies who a host is."},
      {"infiniband.expected_topology",
       [](WeftdConfig& c) -> Field { return &c.infiniband.expected_topology; },
       {},
       "",
       "Expected topology; a cable that differs is MISCABLED. The file is ibnetdiscover's output, a CSV table with a "
       "cable in each line, UFM's NDT files among them, or a DOT graph: its first line decides. It may cover a part of "
       "the fabric: of the rest nothing is expected. Weft reads it again when it changes; while it is invalid, the "
       "previous one stays in use and weft_expected_topology_refused is 1. Empty: no check."},
      {"infiniband.management_key_file",
       [](WeftdConfig& c) -> Field { return &c.infiniband.management_key_file; },
       {},
       "",
       "File with the M_Key of the subnets, a number such as 0x1234; mode 0600 or 0640. Needed if the subnet manager "
       "protects reading, too (OpenSM: m_key_protection_level 2): without the right key, nodes do not answer. It is "
       "read "
       "when monitoring of a port starts. Empty: no M_Key."},
      {"infiniband.pod_pattern",
       [](WeftdConfig& c) -> Field { return &c.infiniband.pod_pattern; },
       {},
       "",
       "Regular expression with one group, searched in node names; the group is the name of the pod, as in "
       "\"-p([0-9]+)-\". Empty: a pod is a connected part below the topmost switches."},
      {"infiniband.rail_pattern",
       [](WeftdConfig& c) -> Field { return &c.infiniband.rail_pattern; },
       {},
       "",
       "The same for rails, in the names of adapters or else of their leaf switches: \"mlx5_([0-9]+)\". Empty: rails "
       "follow the order of each host's adapters, if each leaf has adapters of one rail only."},
      {"infiniband.clear_saturated_counters",
       [](WeftdConfig& c) -> Field { return &c.infiniband.clear_saturated_counters; },
       {},
       "",
       "Clear counters of 4, 8 and 16 bits before they saturate. Off by default: clearing affects every other tool "
       "that reads them, and on some hardware also clears the 64-bit counters."},
      {"infiniband.sweeper",
       [](WeftdConfig& c) -> Field { return &c.infiniband.sweeper; },
       {},
       "",
       "Path of weft-sweeper. Empty: in the directory of weftd's executable."},
  };
}

std::vector<Key> ethernet_schema() {
  return {
      {"ethernet.discovery",
       [](WeftdConfig& c) -> Field { return &c.ethernet.discovery; },
       {},
       "",
       "Find the cables of the Ethernet fabric from the LLDP neighbours that collectors, and switches by gNMI, report. "
       "A "
       "file in "
       "`ethernet.cabling` is then what is expected: a cable that leads elsewhere is MISCABLED. Without it that file "
       "is "
       "what the fabric is."},
      {"ethernet.ignored_interfaces",
       [](WeftdConfig& c) -> Field { return &c.ethernet.ignored_interfaces; },
       {},
       "",
       "Regular expression: interfaces that do not belong to the fabric that is found, such as those of the management "
       "network. Of a switch only ports that match `ethernet.switch_port_pattern` count anyway. Empty: none."},
      {"ethernet.cabling",
       [](WeftdConfig& c) -> Field { return &c.ethernet.cabling; },
       {},
       "",
       "Cabling of the Ethernet fabric: a DOT file as for the Prescriptive Topology Manager, `\"leaf01\":\"swp1\" -- "
       "\"gpu-01\":\"eth2\"` on each line, or a CSV table with a cable in each line. The names are those that "
       "collectors report for their hosts (node_name) and "
       "interfaces. It is read at start, and with `ethernet.discovery` again when it changes. Empty, and without "
       "`ethernet.discovery`: no Ethernet fabric; hosts' Ethernet "
       "ports are monitored one by one.",
       "",
       {},
       "--cabling"},
      {"ethernet.fabric", [](WeftdConfig& c) -> Field { return &c.ethernet.fabric; }, {}, "", "Name of that fabric."},
      {"ethernet.interval",
       [](WeftdConfig& c) -> Field { return &c.ethernet.interval; },
       {100 * kMillisecond, kHour},
       "",
       "Interval for the analysis of the collectors' readings. It should equal their reading interval: a shorter one "
       "shows nothing new, a longer one skips readings."},
      {"ethernet.switch_port_pattern",
       [](WeftdConfig& c) -> Field { return &c.ethernet.switch_port_pattern; },
       {},
       "",
       "Regular expression: a node of the cabling without the attribute `function`, or one that is found, is a switch "
       "if "
       "the name of one of its ports matches, else a host. The default matches Cumulus Linux (swp1), SONiC and Arista "
       "EOS (Ethernet1), "
       "Nokia SR Linux (ethernet-1/1), Cisco NX-OS (Eth1/1) and Junos (et-0/0/1, xe-0/0/1)."},
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
  const auto check = [&found](const char* key, const std::string& pattern) {
    try {
      const std::regex good(pattern);
    } catch (const std::regex_error& error) {
      found.emplace_back(key, std::string("is no regular expression: ") + error.what());
    }
  };
  check("ethernet.switch_port_pattern", ethernet.switch_port_pattern);
  check("ethernet.ignored_interfaces", ethernet.ignored_interfaces);
  return found;
}

std::vector<Key> store_schema() {
  return {
      {"store.url",
       [](WeftdConfig& c) -> Field { return &c.store.url; },
       {},
       "",
       "PostgreSQL database for incidents, plans and the audit trail, for example "
       "postgresql://weft@db1,db2/weft?passfile=/etc/weft/pgpass. Without it they are in weft.db in state_dir. Over a "
       "network the connection is encrypted and the server must show its name (sslmode=verify-full, with "
       "sslrootcert=). "
       "A password stands in the file that passfile names, never here. Port history stays in state_dir, unless "
       "history_shared is set."},
      {"store.history_shared",
       [](WeftdConfig& c) -> Field { return &c.store.history_shared; },
       {},
       "",
       "Keep port history in the database of store.url, too: the leader of a pair writes it, the standby reads it and "
       "goes on with it. It is kept for history_retention, whatever room it takes: 30,000 busy ports fill about "
       "9 GB in 30 days."},
      {"store.history_interval",
       [](WeftdConfig& c) -> Field { return &c.store.history_interval; },
       {1, kDay},
       "",
       "Interval for storing the counters of every port in the history. One minute is fine enough to see when a fault "
       "began, and sixty times smaller than every sweep."},
      {"store.history_retention",
       [](WeftdConfig& c) -> Field { return &c.store.history_retention; },
       {kMinute, 3650 * kDay},
       "",
       "Retention of port history, limited also by max_history_bytes unless history_shared is set."},
      {"store.max_history_bytes",
       [](WeftdConfig& c) -> Field { return &c.store.max_history_bytes; },
       {1 << 20, 0x1p50},
       "",
       "Maximum disk space of port history; the oldest is deleted first. 8GiB keeps 30 days of about 30,000 busy "
       "ports, a fortnight of 62,000, and far more of idle ones."},
      {"store.incident_retention",
       [](WeftdConfig& c) -> Field { return &c.store.incident_retention; },
       {kHour, 36500 * kDay},
       "",
       "Retention of resolved incidents and their events on disk, and of finished plans, which stay at least as long "
       "as remedy.limits needs them. Open incidents are always kept."},
  };
}

std::vector<Key> maintenance_schema() {
  return {
      {"maintenance.max_windows",
       [](WeftdConfig& c) -> Field { return &c.maintenance.max_windows; },
       {1, 100'000},
       "windows",
       "Maximum number of active and planned maintenance windows; more get RESOURCE_EXHAUSTED. Every finding is "
       "compared with the active ones."},
      {"maintenance.longest",
       [](WeftdConfig& c) -> Field { return &c.maintenance.longest; },
       {kMinute, 366 * kDay},
       "",
       "Maximum length of a maintenance window, since a forgotten one hides real faults. For longer work add a second "
       "window."},
  };
}

std::vector<Key> serving_schema() {
  return {
      {"http.max_connections",
       [](WeftdConfig& c) -> Field { return &c.http.max_connections; },
       {1, 65536},
       "connections",
       "Maximum of open HTTP connections; more are refused. Scrapers and people need few."},
      {"http.max_connections_per_address",
       [](WeftdConfig& c) -> Field { return &c.http.max_connections_per_address; },
       {1, 65536},
       "connections",
       "Maximum of open HTTP connections from one address: half, so that one host cannot block all others. Behind a "
       "proxy all clients have the proxy's address."},
      {"http.idle_timeout",
       [](WeftdConfig& c) -> Field { return &c.http.idle_timeout; },
       {1, kHour},
       "",
       "Idle time after which a connection is closed, so that vanished clients do not use up the connections."},
      {"grpc.max_watchers",
       [](WeftdConfig& c) -> Field { return &c.grpc.max_watchers; },
       {1, 65536},
       "streams",
       "Maximum of open Watch streams; more get RESOURCE_EXHAUSTED. Each may keep an older snapshot of the fabric in "
       "memory."},
  };
}

std::vector<Key> telemetry_schema() {
  return {
      {"telemetry.max_collectors",
       [](WeftdConfig& c) -> Field { return &c.telemetry.max_collectors; },
       {1, 1e6},
       "collectors",
       "Maximum of connected collectors; more get RESOURCE_EXHAUSTED and keep their data in the spool. weftd remembers "
       "twice as many hosts. Each connection needs a file descriptor and some memory."},
      {"telemetry.max_values",
       [](WeftdConfig& c) -> Field { return &c.telemetry.max_values; },
       {1000, 1e9},
       "values",
       "Maximum of values in one reading over all hosts, which limits weftd's memory; a collector beyond it gets "
       "RESOURCE_EXHAUSTED."},
      {"telemetry.max_batches_per_second",
       [](WeftdConfig& c) -> Field { return &c.telemetry.max_batches_per_second; },
       {1, 1e6},
       "batches",
       "Batches per second from one collector, with a burst of four times as many. A faster one is throttled without "
       "loss. Readings come once a second; the margin is for catching up after an interruption."},
      {"telemetry.forget_after",
       [](WeftdConfig& c) -> Field { return &c.telemetry.forget_after; },
       {kMinute, 3650 * kDay},
       "",
       "Time without data from a collector after which its host is removed and its incidents are resolved. Of a site: "
       "one "
       "with open incidents stays as long as another shard hears its collector."},
  };
}

}  // namespace

template <>
std::vector<Key> schema<WeftdConfig>() {
  std::vector<Key> keys;
  for (auto part :
       {daemon_schema(), security_schema(), infiniband_schema(), ethernet_schema(), gnmi_schema(), analyzer_schema(),
        drift_schema(), parts_schema(), hang_schema(), maintenance_schema(), events_schema(), remedy_schema(),
        store_schema(), site_schema(), serving_schema(), metrics_schema(), telemetry_schema()})
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
  must(!config.store.history_shared || !config.store.url.empty(), "store.history_shared", "needs store.url");
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
  for (auto& problem : gnmi_contradictions(config.gnmi)) found.push_back(std::move(problem));
  for (auto& problem : security_contradictions(config)) found.push_back(std::move(problem));
  for (auto& problem : event_contradictions(config.events)) found.push_back(std::move(problem));
  for (auto& problem : site_contradictions(config)) found.push_back(std::move(problem));
  for (auto& problem : remedy_contradictions(config.remedy)) found.push_back(std::move(problem));
  if (config.remedy.gnmi_port.enabled && !config.gnmi.is_read())
    found.emplace_back("remedy.gnmi_port.enabled", "is of no use without gnmi.targets or gnmi.targets_file");
  return found;
}

}  // namespace weft::config
