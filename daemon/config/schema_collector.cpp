// SPDX-License-Identifier: Apache-2.0
#include <regex>

#include "api/access/identity.hpp"
#include "daemon/config/schema.hpp"
#include "daemon/config/value_text.hpp"
#include "fabric/site.hpp"

// The table of weft-collector's keys.

namespace weft::config {
namespace {

std::vector<CollectorKey> program_schema() {
  return {
      {"node_name",
       [](CollectorConfig& c) -> Field { return &c.node_name; },
       {},
       "",
       "Name of this host in all reports, the same as in its scheduler. Empty: the host name."},
      {"state_dir",
       [](CollectorConfig& c) -> Field { return &c.state_dir; },
       {},
       "",
       "Directory of the spool. Created if missing."},
      {"log_level",
       [](CollectorConfig& c) -> Field { return &c.log_level; },
       {},
       "",
       "Minimum log level on standard error.",
       "",
       {"trace", "debug", "info", "warn", "error", "critical", "off"}},
      {"listen.http",
       [](CollectorConfig& c) -> Field { return &c.listen.http; },
       {},
       "",
       "Address of /metrics. Loopback by default, because it has no authentication.",
       "",
       {},
       "--http"},
  };
}

std::vector<CollectorKey> analyzer_schema_of_collector() {
  return {
      {"analyzer.address",
       [](CollectorConfig& c) -> Field { return &c.analyzer.address; },
       {},
       "",
       "gRPC address of weftd; of two weftd, one of which leads, both. When the one in use refuses, does not answer, "
       "ends the connection or is on standby, the next one is tried at once. Batches stay in the spool until a weftd "
       "has stored them. Empty: no weftd, readings are only on /metrics.",
       "",
       {},
       "--analyzer"},
      {"analyzer.reconnect_limit",
       [](CollectorConfig& c) -> Field { return &c.analyzer.reconnect_limit; },
       {0.1, kHour},
       "",
       "Longest wait between two connection attempts to weftd. The first attempts follow faster. All are randomised, "
       "so that ten thousand collectors do not reconnect at once."},
      {"analyzer.authorities",
       [](CollectorConfig& c) -> Field { return &c.analyzer.authorities; },
       {},
       "",
       "PEM file with the CA of weftd's certificate. Empty: no TLS, which weftd accepts on loopback only, unless its "
       "security.allow_plain_text is set. This and the next three files are read for each connection."},
      {"analyzer.certificate",
       [](CollectorConfig& c) -> Field { return &c.analyzer.certificate; },
       {},
       "",
       "PEM file with this node's certificate. Its name, or the part up to the first dot, must be node_name; weftd "
       "accepts no reports for another node."},
      {"analyzer.key",
       [](CollectorConfig& c) -> Field { return &c.analyzer.key; },
       {},
       "",
       "PEM file with the certificate's private key."},
      {"analyzer.token_file",
       [](CollectorConfig& c) -> Field { return &c.analyzer.token_file; },
       {},
       "",
       "File with a bearer token for a collector, instead of a certificate. Without authorities it is sent to loopback "
       "addresses alone."},
      {"analyzer.enroll_token_file",
       [](CollectorConfig& c) -> Field { return &c.analyzer.enroll_token_file; },
       {},
       "",
       "File with a one-time token (weftctl enroll), instead of the four files before: with it the collector gets a "
       "certificate from weftd, keeps it in state_dir and renews it by itself. The file may be deleted afterwards. A "
       "new token in it, for when a certificate has expired, is used at once; below $CREDENTIALS_DIRECTORY, where the "
       "unit has a copy of /etc/weft/collector, when the collector starts again."},
      {"analyzer.uplink",
       [](CollectorConfig& c) -> Field { return &c.analyzer.uplink; },
       {},
       "",
       "Path of weft-uplink. Empty: in the directory of weft-collector's executable."},
  };
}

std::vector<CollectorKey> reading_schema() {
  return {
      {"reading.interval",
       [](CollectorConfig& c) -> Field { return &c.reading.interval; },
       {10 * kMillisecond, kHour},
       "",
       "Time from the start of one reading to the start of the next. Link events are always reported at once.",
       "",
       {},
       "--interval"},
      {"reading.sysfs_root",
       [](CollectorConfig& c) -> Field { return &c.reading.sysfs_root; },
       {},
       "",
       "Path of sysfs. With a path other than /sys only files are read, without netlink or ethtool: for recorded "
       "hosts.",
       "",
       {},
       "--sysfs-root"},
      {"reading.raw_names",
       [](CollectorConfig& c) -> Field { return &c.reading.raw_names; },
       {},
       "",
       "Also read counters outside Weft's tables, under the driver's own names. There may be thousands."},
      {"reading.interfaces",
       [](CollectorConfig& c) -> Field { return &c.reading.interfaces; },
       {},
       "",
       "Regular expression, searched in the names of interfaces without a hardware device; matches are also read. The "
       "front ports of a switch are such interfaces under Cumulus Linux (\"^swp\") and SONiC (\"^Ethernet\"). Empty: "
       "none."},
      {"reading.module_interval",
       [](CollectorConfig& c) -> Field { return &c.reading.module_interval; },
       {1, kDay},
       "",
       "Interval for reading temperature and optical power of the modules. They answer slowly."},
      {"reading.rescan_interval",
       [](CollectorConfig& c) -> Field { return &c.reading.rescan_interval; },
       {1, kDay},
       "",
       "Interval for reading firmware versions, GIDs and interface names, which change without a device event."},
      {"reading.facts_interval",
       [](CollectorConfig& c) -> Field { return &c.reading.facts_interval; },
       {1, kDay},
       "",
       "Interval for reading how ports and adapters are set up: firmware, MTU, PCIe link, PFC, FEC. Most changes are "
       "noticed within rescan_interval, those of PFC, ETS and DSCP at once; changes of pause and FEC settings only "
       "here."},
      {"reading.lldp_interval",
       [](CollectorConfig& c) -> Field { return &c.reading.lldp_interval; },
       {1, kMinute / 2},
       "",
       "Interval for asking lldpd for the neighbours of all interfaces."},
      {"reading.lldp_socket",
       [](CollectorConfig& c) -> Field { return &c.reading.lldp_socket; },
       {},
       "",
       "Control socket of lldpd. Empty: the one that its library uses, /run/lldpd.socket."},
      {"reading.kernel_log",
       [](CollectorConfig& c) -> Field { return &c.reading.kernel_log; },
       {},
       "",
       "The kernel's log, as records of /dev/kmsg."},
  };
}

std::vector<CollectorKey> source_schema() {
  return {
      {"sources.sysfs",
       [](CollectorConfig& c) -> Field { return &c.sources.sysfs; },
       {},
       "",
       "Read RDMA devices in /sys/class/infiniband."},
      {"sources.rdma_netlink",
       [](CollectorConfig& c) -> Field { return &c.sources.rdma_netlink; },
       {},
       "",
       "Read counters of the RDMA subsystem, including optional ones that were switched on."},
      {"sources.rtnetlink",
       [](CollectorConfig& c) -> Field { return &c.sources.rtnetlink; },
       {},
       "",
       "Listen for carrier changes of network interfaces."},
      {"sources.ethtool",
       [](CollectorConfig& c) -> Field { return &c.sources.ethtool; },
       {},
       "",
       "Read link state, FEC, pause and driver statistics of network interfaces (ethtool)."},
      {"sources.dcb",
       [](CollectorConfig& c) -> Field { return &c.sources.dcb; },
       {},
       "",
       "Read priority flow control (PFC) counters of network interfaces."},
      {"sources.module",
       [](CollectorConfig& c) -> Field { return &c.sources.module; },
       {},
       "",
       "Read optical modules. Needs CAP_NET_ADMIN; without it one message is logged and the modules are skipped."},
      {"sources.lldp",
       [](CollectorConfig& c) -> Field { return &c.sources.lldp; },
       {},
       "",
       "Read the neighbours of network interfaces from lldpd, if it is installed and its control socket may be used: "
       "the group _lldpd has it."},
      {"sources.kernel_log",
       [](CollectorConfig& c) -> Field { return &c.sources.kernel_log; },
       {},
       "",
       "Read the kernel's log for what drivers say of adapters at fault. Needs CAP_SYSLOG where kernel.dmesg_restrict "
       "is set; without it one message is logged and nothing is known."},
  };
}

std::vector<CollectorKey> job_schema() {
  return {
      {"jobs.slurm",
       [](CollectorConfig& c) -> Field { return &c.jobs.slurm; },
       {},
       "",
       "Report the Slurm jobs on the host, from slurmd's control groups."},
      {"jobs.kubernetes",
       [](CollectorConfig& c) -> Field { return &c.jobs.kubernetes; },
       {},
       "",
       "Report the Kubernetes pods on the host, from the kubelet's control groups. Every pod counts, also system "
       "pods."},
      {"jobs.file",
       [](CollectorConfig& c) -> Field { return &c.jobs.file; },
       {},
       "",
       "File with the jobs on the host, one per line, written by a prolog and emptied by an epilog. Empty: no file."},
      {"jobs.cgroup_root",
       [](CollectorConfig& c) -> Field { return &c.jobs.cgroup_root; },
       {},
       "",
       "Mount point of the control groups."},
      {"jobs.interval",
       [](CollectorConfig& c) -> Field { return &c.jobs.interval; },
       {0.1, kHour},
       "",
       "Interval for reading the jobs."},
      {"jobs.nccl_ras",
       [](CollectorConfig& c) -> Field { return &c.jobs.nccl_ras; },
       {},
       "",
       "Ask NCCL (2.24 or later) which ranks of a job do not answer, while this host is silent: weftd names their "
       "hosts "
       "where the job hangs. NCCL asks all processes of the job for it. Addresses of this host are reported, too."},
      {"jobs.nccl_ras_address",
       [](CollectorConfig& c) -> Field { return &c.jobs.nccl_ras_address; },
       {},
       "",
       "Address of NCCL's RAS port on this host (NCCL_RAS_ADDR)."},
      {"jobs.nccl_ras_interval",
       [](CollectorConfig& c) -> Field { return &c.jobs.nccl_ras_interval; },
       {1, kHour},
       "",
       "NCCL is asked when a host that moved data for a job is silent for so long, and again after it."},
  };
}

std::vector<CollectorKey> spool_schema() {
  return {
      {"spool.max_bytes",
       [](CollectorConfig& c) -> Field { return &c.spool.max_bytes; },
       {256 << 10, 0x1p40},
       "",
       "Maximum disk space for batches not yet acknowledged by weftd; beyond it the oldest are deleted and counted as "
       "lost. 64MiB holds days of a quiet host with eight adapters and most of a day of a busy one."},
  };
}

}  // namespace

template <>
std::vector<CollectorKey> schema<CollectorConfig>() {
  std::vector<CollectorKey> keys;
  for (auto part : {program_schema(), analyzer_schema_of_collector(), reading_schema(), source_schema(), job_schema(),
                    spool_schema(), collector_metrics_schema()})
    keys.insert(keys.end(), part.begin(), part.end());
  return keys;
}

std::vector<std::pair<std::string, std::string>> contradictions(const CollectorConfig& config) {
  std::vector<std::pair<std::string, std::string>> found;
  const bool jobs = config.jobs.slurm || config.jobs.kubernetes;
  if (jobs && !config.jobs.cgroup_root.is_absolute())
    found.emplace_back("jobs.cgroup_root", "must be an absolute path");
  const Analyzer& analyzer = config.analyzer;
  if (analyzer.certificate.empty() != analyzer.key.empty())
    found.emplace_back(analyzer.key.empty() ? "analyzer.key" : "analyzer.certificate",
                       "must be set too: a certificate and its key go together");
  if (!analyzer.certificate.empty() && analyzer.authorities.empty())
    found.emplace_back("analyzer.certificate", "takes TLS: set analyzer.authorities too");
  if (!analyzer.token_file.empty() && analyzer.authorities.empty())
    for (const Peer& peer : analyzer.address)
      if (const std::string address = format_peer(peer); !is_loopback_address(address))
        found.emplace_back("analyzer.token_file", "would go to " + address +
                                                      " in clear text: set analyzer.authorities, the CA of its "
                                                      "certificate");
  if (!analyzer.enroll_token_file.empty()) {
    for (const auto& [file, key] :
         {std::pair(&analyzer.authorities, "analyzer.authorities"),
          std::pair(&analyzer.certificate, "analyzer.certificate"), std::pair(&analyzer.key, "analyzer.key"),
          std::pair(&analyzer.token_file, "analyzer.token_file")})
      if (!file->empty())
        found.emplace_back(key, "must be empty beside analyzer.enroll_token_file: weftd signs a certificate");
    const bool is_certificate_name =
        config.node_name.empty() || api::access::check_node_name(config.node_name).has_value();
    if (!is_certificate_name)
      found.emplace_back("node_name",
                         "must have 1 to 64 letters, digits, '.', '-' and '_' for analyzer.enroll_token_file");
  }
  try {
    const std::regex pattern(config.reading.interfaces);
  } catch (const std::regex_error& error) {
    found.emplace_back("reading.interfaces", std::string("is no regular expression: ") + error.what());
  }
  // As weftd takes it (api/grpc/telemetry_stream.cpp).
  const bool has_controls =
      std::ranges::any_of(config.node_name, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7F; });
  if (config.node_name.size() > 255 || has_controls)
    found.emplace_back("node_name", "must have at most 255 bytes without control characters");
  return found;
}

}  // namespace weft::config
