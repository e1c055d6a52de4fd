// SPDX-License-Identifier: Apache-2.0
#pragma once
// Everything an operator can set for weftd, typed. Defaults stand here and nowhere else; the schema reads them.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/remedy/limits.hpp"
#include "analyzer/thresholds/thresholds.hpp"
#include "daemon/config/values.hpp"
#include "fabric/clock.hpp"
#include "fabric/plan.hpp"

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

/// Section [listen].
struct Listen {
  Address http{"127.0.0.1", 9640};
  Address grpc{"127.0.0.1", 9641};
  std::filesystem::path socket;  ///< empty: usage::kStandardSocket, if it can be made
};

/// Section [infiniband].
struct Infiniband {
  bool enabled = true;
  InfinibandPorts ports;
  Duration sweep_interval = std::chrono::seconds(1);
  Duration detail_interval = std::chrono::seconds(60);
  unsigned window = 256;
  unsigned per_node_outstanding = 8;
  Duration timeout = std::chrono::milliseconds(200);
  unsigned retries = 2;
  std::optional<unsigned> service_level;      ///< none: as the subnet administrator says for each path
  std::optional<unsigned> pkey_index;         ///< none: where the default partition stands
  std::filesystem::path node_name_map;        ///< empty: none
  std::filesystem::path expected_topology;    ///< empty: none
  std::filesystem::path management_key_file;  ///< empty: the subnets use no M_Key
  std::string pod_pattern, rail_pattern;      ///< regular expressions with one group; empty: cables tell
  bool clear_saturated_counters = false;
  std::filesystem::path sweeper;  ///< empty: weft-sweeper beside our own executable
};

/// One Ethernet fabric, known by the plan of its cables, or by what neighbours tell, and by what collectors read.
struct Ethernet {
  std::string fabric = "ethernet";
  bool discovery = false;         ///< its cables are found; a plan is what is expected of them
  std::filesystem::path cabling;  ///< empty: no plan
  Duration interval = std::chrono::seconds(1);
  std::string switch_port_pattern = "^(swp|[Ee]thernet|Eth[0-9]+/|et-|xe-)";
  std::string ignored_interfaces = "^mgmt";  ///< in a discovery; empty: none are
  bool is_watched() const { return discovery || !cabling.empty(); }
};

/// Section [gnmi]: switches that are read by their own telemetry.
struct Gnmi {
  std::vector<std::string> targets;             ///< lines as of the file; empty: none
  std::filesystem::path targets_file;           ///< empty: none
  std::filesystem::path credentials_directory;  ///< empty: no target is shown or asked for anything
  Duration sample_interval = std::chrono::seconds(5);
  Duration reconnect_limit = std::chrono::seconds(60);
  Bytes max_message{4ULL << 20};
  unsigned max_values_per_second = 100'000;
  unsigned max_ports = 1'024;
  unsigned max_targets = 1'000;
  std::filesystem::path program;  ///< empty: weft-switches beside our own executable
  bool is_read() const { return !targets.empty() || !targets_file.empty(); }  ///< there may be targets
};

/// Section [otlp]: metrics of switches and agents that push them.
struct Otlp {
  std::filesystem::path names_file;  ///< empty: nothing is taken
  Duration interval = std::chrono::seconds(60);
  unsigned max_nodes = 1'000;
  bool is_taken() const { return !names_file.empty(); }
};

/// Section [store].
struct StoreConfig {
  std::string url;              ///< empty: weft.db in state_dir
  bool history_shared = false;  ///< port history is there, too
  Duration history_interval = std::chrono::seconds(60);
  Duration history_retention = std::chrono::hours(30 * 24);
  Bytes max_history_bytes{8ULL << 30};
  Duration incident_retention = std::chrono::hours(365 * 24);
};

/// Section [site]. Paths and names are empty where they are not set.
struct SiteConfig {
  std::string shard;                    ///< empty: the database is our own
  std::vector<Peer> address;            ///< one at most
  std::vector<std::string> collectors;  ///< patterns of hosts: see matches_pattern()
  std::filesystem::path authorities;    ///< of the other shards' servers; empty: plain text
  std::filesystem::path certificate;    ///< shown to them
  std::filesystem::path key;            ///< of `certificate`
  std::filesystem::path token_file;     ///< for them
};

/// Section [maintenance].
struct Maintenance {
  unsigned max_windows = 1000;
  Duration longest = std::chrono::hours(7 * 24);
};

/// Section [http].
struct HttpLimits {
  unsigned max_connections = 256;
  unsigned max_connections_per_address = 128;
  Duration idle_timeout = std::chrono::seconds(60);
};

/// Section [grpc].
struct GrpcLimits {
  unsigned max_watchers = 64;
};

/// Section [telemetry].
struct Telemetry {
  unsigned max_collectors = 12'000;
  unsigned max_values = 20'000'000;
  unsigned max_batches_per_second = 50;
  Duration forget_after = std::chrono::hours(7 * 24);
};

/// What may be done about trouble, and by whom. Nothing acts unless its action is set to auto, or a person approves,
/// and an actuator for it is set up. Keys and tokens stand in files of their own, never here.
struct Remedy {
  /// As actuate::SlurmOptions.
  struct Slurm {
    bool enabled = false;
    std::string scontrol = "scontrol";
    std::filesystem::path slurm_conf;  ///< empty: where Slurm looks by itself
    std::string rest_url;              ///< empty: scontrol is used
    std::string rest_version = "v0.0.39";
    std::string rest_user = "slurm";
    std::filesystem::path rest_token_file;               ///< empty: no token is sent
    std::filesystem::path rest_certificate_authorities;  ///< empty: the system's
    Duration timeout = std::chrono::seconds(20);
  };
  /// As actuate::KubernetesOptions.
  struct Kubernetes {
    bool enabled = false;
    std::filesystem::path kubeconfig;  ///< empty: the service account of our pod
    std::string context;               ///< empty: the kubeconfig's own
    Duration timeout = std::chrono::seconds(15);
  };
  /// As actuate::WebhookOptions.
  struct Webhook {
    std::string url;                                                 ///< empty: none
    std::string status_url;                                          ///< empty: the receiver cannot be asked
    std::vector<std::string> actions{"drain_node", "undrain_node"};  ///< names as of the keys of the modes
    std::filesystem::path key_file;
    std::filesystem::path certificate_authorities;  ///< empty: the system's
    Duration timeout = std::chrono::seconds(10);
  };

  /// As actuate::InfinibandPortOptions.
  struct InfinibandPort {
    std::filesystem::path program;              ///< empty: weft-port beside our own executable
    std::filesystem::path management_key_file;  ///< empty: as Infiniband::management_key_file
  };
  /// As actuate::GnmiPortOptions; the switches are those of Gnmi.
  struct GnmiPort {
    bool enabled = false;
    Duration timeout = std::chrono::seconds(8);
  };
  /// As actuate::OpensmWeightsOptions.
  struct OpensmWeights {
    std::filesystem::path file;  ///< empty: none
    unsigned weight = 64;
    unsigned console_port = 0;
    std::filesystem::path pid_file;
  };
  /// As actuate::UfmOptions.
  struct Ufm {
    std::string url;  ///< empty: none
    std::filesystem::path credentials_file;
    std::filesystem::path authorities_file;  ///< empty: the system's
    Duration timeout = std::chrono::seconds(10);
  };

  RemedyMode isolate_link = RemedyMode::kPropose;
  RemedyMode restore_link = RemedyMode::kPropose;
  RemedyMode raise_link_cost = RemedyMode::kPropose;
  RemedyMode drain_node = RemedyMode::kPropose;
  RemedyMode undrain_node = RemedyMode::kPropose;
  std::vector<std::string> allow;          ///< hosts, switches, GUIDs, "name:port"; empty: all
  std::vector<std::string> deny;           ///< the same; wins over `allow`
  std::filesystem::path hands_off_file;    ///< empty: see WeftdConfig::hands_off_file()
  std::string routing_engine = "unknown";  ///< as analyzer::parse_routing_engine() reads it
  bool stop_for_other_weftd = true;        ///< as analyzer::RemedySettings
  analyzer::RemedyLimits limits;
  InfinibandPort infiniband_port;
  GnmiPort gnmi_port;
  OpensmWeights opensm_weights;
  Ufm ufm;
  Slurm slurm;
  Kubernetes kubernetes;
  Webhook webhook;
};

/// Section [security.enroll]: certificates for collectors.
struct Enroll {
  std::filesystem::path certificate;  ///< of the authority that signs; empty: none are signed
  std::filesystem::path key;          ///< of `certificate`
  std::filesystem::path authorities;  ///< that collectors trust; empty: Security::client_authorities
  Duration lifetime = std::chrono::hours(30 * 24);
};

/// Section [security.proxy]: reverse proxies whose word is taken for who a user is.
struct TrustedProxy {
  std::vector<std::string> certificates;  ///< names in their client certificates
  std::filesystem::path secret_file;      ///< of one on this machine; empty: none
  std::string user_header = "X-Forwarded-User";
  std::string groups_header = "X-Forwarded-Groups";
  std::vector<std::string> group_roles;  ///< as api::access::parse_group_rule() reads them
  std::string default_role = "none";     ///< of users without such a group

  /// There is a proxy that is believed.
  bool is_set() const { return !certificates.empty() || !secret_file.empty(); }
};

/// Who may come, and how. Nothing set: plain text, everybody who reaches a listener reads, and accounts act.
struct Security {
  std::filesystem::path certificate;         ///< empty: plain text
  std::filesystem::path key;                 ///< of `certificate`
  std::filesystem::path client_authorities;  ///< empty: clients show no certificates
  bool require_client_certificate = false;
  std::vector<std::string> certificate_roles;  ///< as api::access::parse_certificate_rule() reads them
  std::filesystem::path tokens_file;           ///< empty: no tokens
  std::string operator_group;                  ///< of accounts of this host; empty: none
  bool allow_plain_text = false;
  unsigned max_requests_per_second = 2000;
  Enroll enroll;
  TrustedProxy proxy;

  /// Does anybody have to say who he is?
  bool is_guarded() const { return !certificate.empty() || !tokens_file.empty() || proxy.is_set(); }
};

/// Who is told of incidents by webhook; as events::EventSenderOptions.
struct Events {
  std::vector<std::string> urls;  ///< empty: nobody
  std::filesystem::path key_file;
  std::vector<std::string> severities{"WARNING", "CRITICAL"};
  std::vector<std::string> kinds;                 ///< empty: all
  std::filesystem::path certificate_authorities;  ///< empty: the system's
  Duration timeout = std::chrono::seconds(5);
  std::string page_url;  ///< empty: events have no link
};

/// The whole configuration of weftd. The reference says what each key means.
struct WeftdConfig {
  static constexpr ProgramNames kNames{"weftd", "weftd.toml", "The daemon"};

  std::filesystem::path state_dir = "/var/lib/weft";
  std::string log_level = "info";
  Listen listen;
  Security security;
  Infiniband infiniband;
  Ethernet ethernet;
  Gnmi gnmi;
  Otlp otlp;
  analyzer::Thresholds analyzer;
  std::filesystem::path drift_profiles_file;  ///< empty: the site says nothing of how it wants settings
  analyzer::IncidentPolicy incidents;
  Maintenance maintenance;
  StoreConfig store;
  SiteConfig site;
  HttpLimits http;
  GrpcLimits grpc;
  Telemetry telemetry;
  Remedy remedy;
  Events events;
  Metrics metrics;

  /// While this file exists, nothing acts.
  std::filesystem::path hands_off_file() const {
    return remedy.hands_off_file.empty() ? state_dir / "hands-off" : remedy.hands_off_file;
  }
};

}  // namespace weft::config
