#include <regex>

#include "daemon/config/schema.hpp"
#include "daemon/config/value_text.hpp"

// The table of weft-collector's keys.

namespace weft::config {
namespace {

std::vector<CollectorKey> program_schema() {
  return {
      {"node_name",
       [](CollectorConfig& c) -> Field { return &c.node_name; },
       {},
       "",
       "What this host is called in everything that is told, as its scheduler knows it. Empty: the host's own name."},
      {"state_dir",
       [](CollectorConfig& c) -> Field { return &c.state_dir; },
       {},
       "",
       "Directory of the spool. Made when missing."},
      {"log_level",
       [](CollectorConfig& c) -> Field { return &c.log_level; },
       {},
       "",
       "The least important messages that are written to standard error.",
       "",
       {"trace", "debug", "info", "warn", "error", "critical", "off"}},
      {"listen.http",
       [](CollectorConfig& c) -> Field { return &c.listen.http; },
       {},
       "",
       "Where /metrics is served. Loopback by default: there is no login on it.",
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
       "gRPC address of the weftd that is told. Empty: none is, and only /metrics shows what is read.",
       "",
       {},
       "--analyzer"},
      {"analyzer.reconnect_limit",
       [](CollectorConfig& c) -> Field { return &c.analyzer.reconnect_limit; },
       {0.1, kHour},
       "",
       "Longest wait between two attempts to reach the analyzer. The first ones follow each other faster; all are "
       "spread at random, so that ten thousand collectors do not come back at once."},
      {"analyzer.authorities",
       [](CollectorConfig& c) -> Field { return &c.analyzer.authorities; },
       {},
       "",
       "File (PEM) of the authority that signed weftd's certificate. Empty: plain text, which a weftd takes on "
       "loopback "
       "only, unless its security.allow_plain_text says otherwise. This and the next three are read for each "
       "connection."},
      {"analyzer.certificate",
       [](CollectorConfig& c) -> Field { return &c.analyzer.certificate; },
       {},
       "",
       "File (PEM) of this node's own certificate, whose name, or its part up to the first dot, is node_name; weftd "
       "lets "
       "nobody speak for another node."},
      {"analyzer.key",
       [](CollectorConfig& c) -> Field { return &c.analyzer.key; },
       {},
       "",
       "File (PEM) of that certificate's private key."},
      {"analyzer.token_file",
       [](CollectorConfig& c) -> Field { return &c.analyzer.token_file; },
       {},
       "",
       "File with a bearer token of a collector, instead of a certificate."},
      {"analyzer.uplink",
       [](CollectorConfig& c) -> Field { return &c.analyzer.uplink; },
       {},
       "",
       "Path of the program weft-uplink. Empty: the one beside weft-collector's own executable."},
  };
}

std::vector<CollectorKey> reading_schema() {
  return {
      {"reading.interval",
       [](CollectorConfig& c) -> Field { return &c.reading.interval; },
       {10 * kMillisecond, kHour},
       "",
       "From the start of one reading to the start of the next. Link events are told at once in any case.",
       "",
       {},
       "--interval"},
      {"reading.sysfs_root",
       [](CollectorConfig& c) -> Field { return &c.reading.sysfs_root; },
       {},
       "",
       "Where sysfs is. With any other than /sys only files are read and the kernel is not asked: for recorded hosts.",
       "",
       {},
       "--sysfs-root"},
      {"reading.raw_names",
       [](CollectorConfig& c) -> Field { return &c.reading.raw_names; },
       {},
       "",
       "Read counters that the tables do not know as well, under the driver's own names. There may be thousands."},
      {"reading.interfaces",
       [](CollectorConfig& c) -> Field { return &c.reading.interfaces; },
       {},
       "",
       "Regular expression that is searched for in the names of interfaces without hardware of their own: what has a "
       "match is read as well. Front ports of a switch are such under Cumulus Linux (\"^swp\") and SONiC "
       "(\"^Ethernet\"). "
       "Empty: none."},
      {"reading.module_interval",
       [](CollectorConfig& c) -> Field { return &c.reading.module_interval; },
       {1, kDay},
       "",
       "How often optical modules are asked for temperature and light. They answer slowly."},
      {"reading.rescan_interval",
       [](CollectorConfig& c) -> Field { return &c.reading.rescan_interval; },
       {1, kDay},
       "",
       "How often to look for what changes without a device coming or going: firmware, GIDs, names of interfaces."},
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
       "Ask the RDMA subsystem for counters, those that are switched on by hand included."},
      {"sources.rtnetlink",
       [](CollectorConfig& c) -> Field { return &c.sources.rtnetlink; },
       {},
       "",
       "Listen for network interfaces that lose or gain their carrier."},
      {"sources.ethtool",
       [](CollectorConfig& c) -> Field { return &c.sources.ethtool; },
       {},
       "",
       "Ask network drivers for link state, FEC, pause and their own statistics."},
      {"sources.dcb",
       [](CollectorConfig& c) -> Field { return &c.sources.dcb; },
       {},
       "",
       "Ask network drivers for priority flow control."},
      {"sources.module",
       [](CollectorConfig& c) -> Field { return &c.sources.module; },
       {},
       "",
       "Ask optical modules; needs CAP_NET_ADMIN, and without it says so once and goes on."},
  };
}

std::vector<CollectorKey> job_schema() {
  return {
      {"jobs.slurm",
       [](CollectorConfig& c) -> Field { return &c.jobs.slurm; },
       {},
       "",
       "Tell which Slurm jobs hold the host, from the control groups that slurmd makes for them."},
      {"jobs.kubernetes",
       [](CollectorConfig& c) -> Field { return &c.jobs.kubernetes; },
       {},
       "",
       "Tell which Kubernetes pods run on the host, from the control groups that the kubelet makes for them. Every "
       "pod counts, those of the system as well."},
      {"jobs.file",
       [](CollectorConfig& c) -> Field { return &c.jobs.file; },
       {},
       "",
       "Tell what stands in this file, one job on each line: for a prolog that writes it and an epilog that empties "
       "it. Empty: no file."},
      {"jobs.cgroup_root",
       [](CollectorConfig& c) -> Field { return &c.jobs.cgroup_root; },
       {},
       "",
       "Where control groups are mounted."},
      {"jobs.interval",
       [](CollectorConfig& c) -> Field { return &c.jobs.interval; },
       {0.1, kHour},
       "",
       "How often to look for jobs."},
  };
}

std::vector<CollectorKey> spool_schema() {
  return {
      {"spool.max_bytes",
       [](CollectorConfig& c) -> Field { return &c.spool.max_bytes; },
       {256 << 10, 0x1p40},
       "",
       "Most room on disk for what the analyzer has not taken yet; past it the oldest goes first and is counted as "
       "lost. 64MiB holds days of a quiet host with eight adapters and most of a day of a busy one."},
  };
}

}  // namespace

template <>
std::vector<CollectorKey> schema<CollectorConfig>() {
  std::vector<CollectorKey> keys;
  for (auto part : {program_schema(), analyzer_schema_of_collector(), reading_schema(), source_schema(), job_schema(),
                    spool_schema()})
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
  try {
    const std::regex pattern(config.reading.interfaces);
  } catch (const std::regex_error& error) {
    found.emplace_back("reading.interfaces", std::string("is no regular expression: ") + error.what());
  }
  if (config.node_name.size() > 255) found.emplace_back("node_name", "must not have more than 255 bytes");
  return found;
}

}  // namespace weft::config
