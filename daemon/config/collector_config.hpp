// SPDX-License-Identifier: Apache-2.0
#pragma once
// Everything an operator can set for weft-collector, typed. Defaults stand here and nowhere else; the schema reads
// them.

#include <filesystem>
#include <string>
#include <vector>

#include "daemon/config/values.hpp"
#include "fabric/clock.hpp"

namespace weft::config {

/// Section [listen].
struct CollectorListen {
  Address http{"127.0.0.1", 9642};
};

/// Section [analyzer]: the weftd to send to.
struct Analyzer {
  std::vector<Peer> address;  ///< in the order in which they are tried; none: nothing is sent
  Duration reconnect_limit = std::chrono::seconds(30);
  std::filesystem::path authorities;        ///< empty: plain text
  std::filesystem::path certificate;        ///< empty: none is shown
  std::filesystem::path key;                ///< of `certificate`
  std::filesystem::path token_file;         ///< empty: no token is shown
  std::filesystem::path enroll_token_file;  ///< empty: the four before; else they are empty
  std::filesystem::path uplink;             ///< empty: weft-uplink beside our own executable
};

/// Section [reading].
struct Reading {
  Duration interval = std::chrono::seconds(1);
  std::filesystem::path sysfs_root = "/sys";
  bool raw_names = false;
  std::string interfaces;  ///< regular expression; empty: none
  Duration module_interval = std::chrono::seconds(10);
  Duration rescan_interval = std::chrono::seconds(10);
  Duration facts_interval = std::chrono::hours(1);
  Duration lldp_interval = std::chrono::seconds(5);
  std::filesystem::path lldp_socket;  ///< empty: the usual one
  std::filesystem::path kernel_log = "/dev/kmsg";
};

/// Section [sources]: each can be switched off.
struct Sources {
  bool sysfs = true;
  bool rdma_netlink = true;
  bool rtnetlink = true;
  bool ethtool = true;
  bool dcb = true;
  bool module = true;
  bool lldp = true;
  bool kernel_log = true;
};

/// Section [jobs].
struct Jobs {
  bool slurm = false;
  bool kubernetes = false;
  std::filesystem::path file;  ///< empty: none
  std::filesystem::path cgroup_root = "/sys/fs/cgroup";
  Duration interval = std::chrono::seconds(5);
  bool nccl_ras = false;
  Address nccl_ras_address{"127.0.0.1", 28028};
  Duration nccl_ras_interval = std::chrono::minutes(1);
};

/// Section [spool].
struct SpoolConfig {
  Bytes max_bytes{64ULL << 20};
};

/// The whole configuration of weft-collector. The reference says what each key means.
struct CollectorConfig {
  static constexpr ProgramNames kNames{"weft-collector", "weft-collector.toml", "The collector"};

  std::string node_name;  ///< empty: the host's
  std::filesystem::path state_dir = "/var/lib/weft-collector";
  std::string log_level = "info";
  CollectorListen listen;
  Analyzer analyzer;
  Reading reading;
  Sources sources;
  Jobs jobs;
  SpoolConfig spool;
  Metrics metrics;
};

}  // namespace weft::config
