#pragma once
// Everything an operator can set for weftd, typed. Defaults stand here and nowhere else; the schema reads them.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/detect/thresholds.hpp"
#include "daemon/config/values.hpp"
#include "fabric/clock.hpp"

namespace weft::config {

/// One port of an adapter of this host, and the name of the subnet behind it.
struct InfinibandPort {
  std::string fabric;  ///< "mlx5_0-1" unless named
  std::string device;  ///< as in /sys/class/infiniband
  std::uint8_t port = 1;
  bool operator==(const InfinibandPort&) const = default;
};

/// Which ports to watch.
struct InfinibandPorts {
  bool automatic = true;              ///< every InfiniBand port that is active
  std::vector<InfinibandPort> named;  ///< empty when automatic; fabrics differ
  bool operator==(const InfinibandPorts&) const = default;
};

struct Listen {
  Address http{"127.0.0.1", 9640};
  Address grpc{"127.0.0.1", 9641};
};

struct Infiniband {
  bool enabled = true;
  InfinibandPorts ports;
  Duration sweep_interval = std::chrono::seconds(1);
  Duration detail_interval = std::chrono::seconds(60);
  unsigned window = 256;
  unsigned per_node_outstanding = 8;
  Duration timeout = std::chrono::milliseconds(200);
  unsigned retries = 2;
  std::optional<unsigned> service_level;    ///< none: as the subnet administrator says for each path
  std::optional<unsigned> pkey_index;       ///< none: where the default partition stands
  std::filesystem::path node_name_map;      ///< empty: none
  std::filesystem::path expected_topology;  ///< empty: none
  bool clear_saturated_counters = false;
  std::filesystem::path sweeper;  ///< empty: weft-sweeper beside our own executable
};

struct StoreConfig {
  Duration history_interval = std::chrono::seconds(60);
  Duration history_retention = std::chrono::hours(30 * 24);
  Bytes max_history_bytes{8ULL << 30};
  Duration incident_retention = std::chrono::hours(365 * 24);
};

struct Maintenance {
  unsigned max_windows = 1000;
  Duration longest = std::chrono::hours(7 * 24);
};

struct HttpLimits {
  unsigned max_connections = 256;
  Duration idle_timeout = std::chrono::seconds(60);
};

struct GrpcLimits {
  unsigned max_watchers = 64;
};

struct Telemetry {
  unsigned max_collectors = 12'000;
  unsigned max_values = 20'000'000;
  unsigned max_batches_per_second = 50;
  Duration forget_after = std::chrono::hours(7 * 24);
};

struct WeftdConfig {
  static constexpr ProgramNames kNames{"weftd", "weftd.toml", "The daemon"};

  std::filesystem::path state_dir = "/var/lib/weft";
  std::string log_level = "info";
  Listen listen;
  Infiniband infiniband;
  analyzer::Thresholds analyzer;
  analyzer::IncidentPolicy incidents;
  Maintenance maintenance;
  StoreConfig store;
  HttpLimits http;
  GrpcLimits grpc;
  Telemetry telemetry;
};

}  // namespace weft::config
