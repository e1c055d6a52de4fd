// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/schema.hpp"
#include "fabric/site.hpp"

// remedy.*: what may be done about trouble, and by whom.

namespace weft::config {
namespace {

constexpr double kLongestCall = 30;  // seconds, actuate::kLongestCall

/// One of the five modes.
Key mode(std::string_view name, Field (*field)(WeftdConfig&), std::string_view help) {
  return {name, field, {}, "", help, "", {"off", "propose", "auto"}};
}

std::vector<Key> mode_schema() {
  return {
      mode(
          "remedy.isolate_link", [](WeftdConfig& c) -> Field { return &c.remedy.isolate_link; },
          "Isolation of a bad link that has alternative paths: \"off\" never; \"propose\" makes a plan that needs "
          "approval; \"auto\" executes it within all guards and limits. The default of every action is \"propose\": "
          "watch the proposals before you turn on \"auto\"."),
      mode(
          "remedy.restore_link", [](WeftdConfig& c) -> Field { return &c.remedy.restore_link; },
          "Return of a link that Weft isolated, on probation, once its fault is gone. With \"auto\" for isolate_link "
          "and \"propose\" here, returning the capacity needs approval."),
      mode(
          "remedy.raise_link_cost", [](WeftdConfig& c) -> Field { return &c.remedy.raise_link_cost; },
          "Routing around a degraded link that stays up. Only if the subnet manager's routing engine supports link "
          "costs."),
      mode(
          "remedy.drain_node", [](WeftdConfig& c) -> Field { return &c.remedy.drain_node; },
          "Draining of a host with a bad access link or adapter in its scheduler: running jobs may finish, new ones do "
          "not start."),
      mode(
          "remedy.undrain_node", [](WeftdConfig& c) -> Field { return &c.remedy.undrain_node; },
          "Undraining of a host that Weft drained, once its fault is gone. Drains by others are never changed."),
  };
}

std::vector<Key> list_schema() {
  return {
      {"remedy.allow",
       [](WeftdConfig& c) -> Field { return &c.remedy.allow; },
       {},
       "",
       "Allowed targets: names of hosts (short or qualified), adapters (\"n2 mlx5_0\", with its host) and switches in "
       "any case, GUIDs, and ports as \"name:port\". Empty: everything except deny. Start auto with a short list."},
      {"remedy.deny",
       [](WeftdConfig& c) -> Field { return &c.remedy.deny; },
       {},
       "",
       "Targets without any action, with priority over allow: storage, login nodes, the management hosts."},
      {"remedy.hands_off_file",
       [](WeftdConfig& c) -> Field { return &c.remedy.hands_off_file; },
       {},
       "",
       "While this file exists, or cannot be looked at, no action is taken, approved or automatic. `touch` it to stop "
       "automation, also when weftd does not respond. Empty: hands-off in state_dir."},
      {"remedy.routing_engine",
       [](WeftdConfig& c) -> Field { return &c.remedy.routing_engine; },
       {},
       "",
       "Routing engine of the subnet managers, by OpenSM's name (its routing_engine; of a list the one in use). It "
       "cannot be read in-band. In a dragonfly or torus it decides whether a link may be isolated automatically: with "
       "\"unknown\" never. With \"file\" nothing is ever isolated, because its tables ignore changes.",
       "",
       {"unknown", "minhop", "updn", "dnup", "file", "ftree", "lash", "dor", "torus-2QoS", "nue", "dfsssp", "sssp"}},
      {"remedy.stop_for_other_weftd",
       [](WeftdConfig& c) -> Field { return &c.remedy.stop_for_other_weftd; },
       {},
       "",
       "Stop automation while a record at the subnet administrator says that another weftd may act on the fabric. Turn "
       "it off only if you know that there is no other: when somebody keeps writing false records or deleting this "
       "weftd's. This weftd still registers, so that others stop for it, and logs what it reads."},
  };
}

std::vector<Key> fabric_schema() {
  return {
      {"remedy.infiniband_port.program",
       [](WeftdConfig& c) -> Field { return &c.remedy.infiniband_port.program; },
       {},
       "",
       "Path of weft-port, the program that sets the state of one port and the only one that opens the adapter for it. "
       "Empty: in weftd's directory."},
      {"remedy.infiniband_port.management_key_file",
       [](WeftdConfig& c) -> Field { return &c.remedy.infiniband_port.management_key_file; },
       {},
       "",
       "File with the M_Key of the subnets, mode 0600 or 0640. Needed if the subnet manager protects ports with an "
       "M_Key, else ports do not answer. Empty: that of infiniband.management_key_file, if any."},
      {"remedy.gnmi_port.enabled",
       [](WeftdConfig& c) -> Field { return &c.remedy.gnmi_port.enabled; },
       {},
       "",
       "Isolate and restore links of Ethernet fabrics by gNMI Set on a switch of `gnmi.targets` or "
       "`gnmi.targets_file`: its port is shut and enabled. The login of its credentials needs the right to do so. A "
       "switch with `set=off` in its line is never set. Links without such a switch are left to the webhook, if any."},
      {"remedy.gnmi_port.timeout",
       [](WeftdConfig& c) -> Field { return &c.remedy.gnmi_port.timeout; },
       {1, 8},
       "",
       "Timeout of one question to one switch, with its connection; a step asks three at most."},
      {"remedy.opensm_weights.file",
       [](WeftdConfig& c) -> Field { return &c.remedy.opensm_weights.file; },
       {},
       "",
       "hop_weights_file of the OpenSM on this machine, for raise_link_cost. Routing engines that count hops support "
       "it (minhop, dor); updn and ftree do not. Empty: no link costs."},
      {"remedy.opensm_weights.weight",
       [](WeftdConfig& c) -> Field { return &c.remedy.opensm_weights.weight; },
       {2, 255},
       "hops",
       "Hop weight of a link with raised cost. No alternative path has 64 hops, so the link stays the last resort; 255 "
       "would remove it from routing."},
      {"remedy.opensm_weights.console_port",
       [](WeftdConfig& c) -> Field { return &c.remedy.opensm_weights.console_port; },
       {0, 65535},
       "",
       "Port of OpenSM's console on the loopback address, for an immediate reroute. 0: no console, use pid_file."},
      {"remedy.opensm_weights.pid_file",
       [](WeftdConfig& c) -> Field { return &c.remedy.opensm_weights.pid_file; },
       {},
       "",
       "File with OpenSM's process ID: a SIGHUP makes it reroute within ten seconds."},
      {"remedy.ufm.url",
       [](WeftdConfig& c) -> Field { return &c.remedy.ufm.url; },
       {},
       "",
       "URL of UFM Enterprise, used instead of port states: links are added to its list of unhealthy ports and stay "
       "up. Empty: not used."},
      {"remedy.ufm.credentials_file",
       [](WeftdConfig& c) -> Field { return &c.remedy.ufm.credentials_file; },
       {},
       "",
       "File with \"user:password\" for UFM, mode 0600 or 0640. Read for each request."},
      {"remedy.ufm.authorities_file",
       [](WeftdConfig& c) -> Field { return &c.remedy.ufm.authorities_file; },
       {},
       "",
       "PEM file with the CA of UFM's certificate. Empty: the system's CAs."},
      {"remedy.ufm.timeout",
       [](WeftdConfig& c) -> Field { return &c.remedy.ufm.timeout; },
       {1, kLongestCall / 2},
       "",
       "Timeout of one UFM request; a step makes two at most."},
  };
}

std::vector<Key> slurm_schema() {
  return {
      {"remedy.slurm.enabled",
       [](WeftdConfig& c) -> Field { return &c.remedy.slurm.enabled; },
       {},
       "",
       "Drain hosts in Slurm. weftd must run as a user with the permission to do so (SlurmUser, root, or an "
       "operator)."},
      {"remedy.slurm.scontrol",
       [](WeftdConfig& c) -> Field { return &c.remedy.slurm.scontrol; },
       {},
       "",
       "Name (searched in PATH) or path of scontrol. It runs without a shell."},
      {"remedy.slurm.slurm_conf",
       [](WeftdConfig& c) -> Field { return &c.remedy.slurm.slurm_conf; },
       {},
       "",
       "Slurm's configuration file, if not in its usual place (SLURM_CONF of scontrol)."},
      {"remedy.slurm.rest_url",
       [](WeftdConfig& c) -> Field { return &c.remedy.slurm.rest_url; },
       {},
       "",
       "Address of slurmrestd, used instead of scontrol on management hosts without Slurm's programs: https://, "
       "unix:/path, or http:// on a loopback address. Slurm 22.05 and older cannot change nodes."},
      {"remedy.slurm.rest_version",
       [](WeftdConfig& c) -> Field { return &c.remedy.slurm.rest_version; },
       {},
       "",
       "Version of slurmrestd's API. v0.0.39 (Slurm 23.02) is the first that can drain."},
      {"remedy.slurm.rest_user",
       [](WeftdConfig& c) -> Field { return &c.remedy.slurm.rest_user; },
       {},
       "",
       "User of the token. Slurm stores it with each drain reason; Weft recognises its own drains by it."},
      {"remedy.slurm.rest_token_file",
       [](WeftdConfig& c) -> Field { return &c.remedy.slurm.rest_token_file; },
       {},
       "",
       "File with a token from `scontrol token`, mode 0600 or 0640. Read for each request, so that it can be renewed. "
       "Empty: no token, for sockets that need none."},
      {"remedy.slurm.rest_certificate_authorities",
       [](WeftdConfig& c) -> Field { return &c.remedy.slurm.rest_certificate_authorities; },
       {},
       "",
       "PEM file with the CA of the certificate of an https:// slurmrestd. Empty: the system's CAs."},
      {"remedy.slurm.timeout",
       [](WeftdConfig& c) -> Field { return &c.remedy.slurm.timeout; },
       {1, kLongestCall},
       "",
       "Timeout of one read or change in Slurm. scontrol itself needs 9 s to detect a missing controller and 10 s for "
       "a hanging one, so 20s distinguishes those from a slow one."},
  };
}

std::vector<Key> kubernetes_schema() {
  return {
      {"remedy.kubernetes.enabled",
       [](WeftdConfig& c) -> Field { return &c.remedy.kubernetes.enabled; },
       {},
       "",
       "Cordon and taint hosts in Kubernetes. The permissions it needs: "
       "deploy/kubernetes/overlays/drain/weftd-role.yaml."},
      {"remedy.kubernetes.kubeconfig",
       [](WeftdConfig& c) -> Field { return &c.remedy.kubernetes.kubeconfig; },
       {},
       "",
       "Kubeconfig with the server and a token or a client certificate, mode 0600 or 0640. Empty: the service account "
       "of the pod that weftd runs in."},
      {"remedy.kubernetes.context",
       [](WeftdConfig& c) -> Field { return &c.remedy.kubernetes.context; },
       {},
       "",
       "Context of the kubeconfig. Empty: its current context. Set it if people switch contexts in the same file."},
      {"remedy.kubernetes.timeout",
       [](WeftdConfig& c) -> Field { return &c.remedy.kubernetes.timeout; },
       {1, kLongestCall},
       "",
       "Timeout of one read or change at the API server, including retries after conflicts. It answers within some "
       "milliseconds; 15s covers a change of its leader."},
  };
}

std::vector<Key> webhook_schema() {
  return {
      {"remedy.webhook.url",
       [](WeftdConfig& c) -> Field { return &c.remedy.webhook.url; },
       {},
       "",
       "URL to which actions are posted as signed JSON, for schedulers and controllers without direct support. "
       "https://, or http:// to a loopback address. The URL must not contain a password: the signature identifies the "
       "sender. Empty: none."},
      {"remedy.webhook.status_url",
       [](WeftdConfig& c) -> Field { return &c.remedy.webhook.status_url; },
       {},
       "",
       "URL at which the receiver reports a target's state. Empty: the last acknowledged answer counts, and an "
       "unanswered order stays unresolved until checked by hand."},
      {"remedy.webhook.actions",
       [](WeftdConfig& c) -> Field { return &c.remedy.webhook.actions; },
       {},
       "",
       "Actions of the receiver. The default is nodes only: InfiniBand links are set in-band.",
       "",
       {"isolate_link", "restore_link", "raise_link_cost", "drain_node", "undrain_node"}},
      {"remedy.webhook.key_file",
       [](WeftdConfig& c) -> Field { return &c.remedy.webhook.key_file; },
       {},
       "",
       "File with the signing key, mode 0600 or 0640, at least 16 bytes: `openssl rand -hex 32`. Read for each "
       "request."},
      {"remedy.webhook.certificate_authorities",
       [](WeftdConfig& c) -> Field { return &c.remedy.webhook.certificate_authorities; },
       {},
       "",
       "PEM file with the CA of the receiver's certificate. Empty: the system's CAs."},
      {"remedy.webhook.timeout",
       [](WeftdConfig& c) -> Field { return &c.remedy.webhook.timeout; },
       {1, kLongestCall},
       "",
       "Timeout for the answer to one order. 10s is usual for webhooks."},
  };
}

bool has_password(const std::string& url) {
  const std::size_t begin = url.find("://");
  if (begin == std::string::npos) return false;
  const std::size_t end = url.find_first_of("/?#", begin + 3);
  return url.substr(begin + 3, end == std::string::npos ? end : end - begin - 3).find('@') != std::string::npos;
}

/// http:// to a host that is not certainly this one: who stands between could order drains, and read tokens.
bool is_plain_to_others(const std::string& url) {
  constexpr std::string_view kPlain = "http://";
  if (!url.starts_with(kPlain)) return false;
  const std::string_view rest = std::string_view(url).substr(kPlain.size());
  std::string address(rest.substr(0, rest.find_first_of("/?#")));
  if (address.find(':', address.find(']') + 1) == std::string::npos) address += ":80";
  return !is_loopback_address(address);
}

}  // namespace

std::vector<Key> remedy_schema() {
  std::vector<Key> keys;
  for (auto part : {mode_schema(), list_schema(), remedy_limits_schema(), fabric_schema(), slurm_schema(),
                    kubernetes_schema(), webhook_schema()})
    keys.insert(keys.end(), part.begin(), part.end());
  return keys;
}

std::vector<std::pair<std::string, std::string>> remedy_contradictions(const Remedy& remedy) {
  std::vector<std::pair<std::string, std::string>> found;
  const auto must = [&found](bool holds, const char* key, const char* message) {
    if (!holds) found.emplace_back(key, message);
  };
  const auto address = [&must](const std::string& url, const char* key, bool or_socket) {
    const bool web = url.starts_with("http://") || url.starts_with("https://");
    must(url.empty() || web || (or_socket && url.starts_with("unix:/")), key,
         or_socket ? "must begin with http://, https:// or unix:/" : "must begin with http:// or https://");
    must(!is_plain_to_others(url), key,
         "must begin with https://: http:// is for a server on a loopback address alone, because anybody on the way "
         "could give orders in weftd's name");
    must(!has_password(url), key, "must not hold a user or password: secrets stand in files of their own");
  };
  address(remedy.slurm.rest_url, "remedy.slurm.rest_url", true);
  address(remedy.webhook.url, "remedy.webhook.url", false);
  address(remedy.webhook.status_url, "remedy.webhook.status_url", false);
  address(remedy.ufm.url, "remedy.ufm.url", false);
  must(remedy.ufm.url.empty() || !remedy.ufm.credentials_file.empty(), "remedy.ufm.credentials_file",
       "is missing: UFM lets nobody in without");
  must(!(remedy.slurm.enabled && remedy.kubernetes.enabled), "remedy.kubernetes.enabled",
       "and remedy.slurm.enabled are both true: one scheduler has a host");
  must(remedy.slurm.rest_url.empty() || remedy.slurm.rest_version >= "v0.0.39", "remedy.slurm.rest_version",
       "cannot drain nodes; v0.0.39 is the first that can");
  must(remedy.webhook.url.empty() || !remedy.webhook.key_file.empty(), "remedy.webhook.key_file",
       "is missing: what is posted to remedy.webhook.url must be signed");
  must(remedy.webhook.status_url.empty() || !remedy.webhook.url.empty(), "remedy.webhook.status_url",
       "is of no use without remedy.webhook.url");
  must(remedy.webhook.url.empty() || !remedy.webhook.actions.empty(), "remedy.webhook.actions",
       "is empty: then remedy.webhook.url is of no use");
  return found;
}

}  // namespace weft::config
