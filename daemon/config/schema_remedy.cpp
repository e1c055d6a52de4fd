#include "daemon/config/schema.hpp"

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
          "Whether a bad link that has a way round it is taken out of service: \"off\" never; \"propose\" makes a plan "
          "that waits for a person; \"auto\" carries it out within all guards and limits. Proposed by default, like "
          "every action: what acts by itself is turned on by somebody who has watched its proposals."),
      mode(
          "remedy.restore_link", [](WeftdConfig& c) -> Field { return &c.remedy.restore_link; },
          "Whether a link that we took out is brought back, on probation, once its trouble is gone. With \"auto\" for "
          "isolate_link and \"propose\" here, capacity that was taken by a machine waits for a person."),
      mode(
          "remedy.raise_link_cost", [](WeftdConfig& c) -> Field { return &c.remedy.raise_link_cost; },
          "Whether routes are led away from a poor link that stays up. Only where the subnet manager's routing engine "
          "honours such costs."),
      mode(
          "remedy.drain_node", [](WeftdConfig& c) -> Field { return &c.remedy.drain_node; },
          "Whether a host with a bad access link or adapter is drained by its scheduler: jobs that run there may "
          "finish, new ones are not started."),
      mode(
          "remedy.undrain_node", [](WeftdConfig& c) -> Field { return &c.remedy.undrain_node; },
          "Whether our own drain is taken back once the host's trouble is gone. Never anybody else's."),
  };
}

std::vector<Key> list_schema() {
  return {
      {"remedy.allow",
       [](WeftdConfig& c) -> Field { return &c.remedy.allow; },
       {},
       "",
       "What may be acted on: names of hosts and switches, GUIDs, and ports as \"name:port\". Empty: everything that "
       "deny does not name. A list of a few is a good beginning for auto."},
      {"remedy.deny",
       [](WeftdConfig& c) -> Field { return &c.remedy.deny; },
       {},
       "",
       "What is never acted on, whatever allow says: storage, login nodes, the management hosts."},
      {"remedy.hands_off_file",
       [](WeftdConfig& c) -> Field { return &c.remedy.hands_off_file; },
       {},
       "",
       "While this file exists nothing acts, whatever is approved or set to auto: whoever may write there stops it "
       "with "
       "`touch`, also when weftd does not answer. Empty: hands-off in state_dir."},
  };
}

std::vector<Key> fabric_schema() {
  return {
      {"remedy.infiniband_port.program",
       [](WeftdConfig& c) -> Field { return &c.remedy.infiniband_port.program; },
       {},
       "",
       "The program that sets the state of one port, and alone opens the adapter for it. Empty: weft-port beside "
       "weftd."},
      {"remedy.infiniband_port.management_key_file",
       [](WeftdConfig& c) -> Field { return &c.remedy.infiniband_port.management_key_file; },
       {},
       "",
       "File with the M_Key of the subnets, mode 0600 or 0640, where the subnet manager protects ports with one: "
       "without it nothing is answered. Empty: they use none."},
      {"remedy.opensm_weights.file",
       [](WeftdConfig& c) -> Field { return &c.remedy.opensm_weights.file; },
       {},
       "",
       "hop_weights_file of the OpenSM on this machine, for raise_link_cost. Engines that count hops honour it "
       "(minhop, "
       "dor); updn and ftree do not. Empty: links are not made costly."},
      {"remedy.opensm_weights.weight",
       [](WeftdConfig& c) -> Field { return &c.remedy.opensm_weights.weight; },
       {2, 255},
       "hops",
       "What a costly link counts for. No way round is 64 hops long, so that it stays the last resort; 255 would be no "
       "way at all."},
      {"remedy.opensm_weights.console_port",
       [](WeftdConfig& c) -> Field { return &c.remedy.opensm_weights.console_port; },
       {0, 65535},
       "",
       "Port of OpenSM's console on the loopback address, asked to route anew at once. 0: there is none, and pid_file "
       "is used."},
      {"remedy.opensm_weights.pid_file",
       [](WeftdConfig& c) -> Field { return &c.remedy.opensm_weights.pid_file; },
       {},
       "",
       "File with OpenSM's process number: a SIGHUP makes it route anew within ten seconds."},
      {"remedy.ufm.url",
       [](WeftdConfig& c) -> Field { return &c.remedy.ufm.url; },
       {},
       "",
       "UFM Enterprise instead of port states: links are put on its list of unhealthy ports and stay up. Empty: no."},
      {"remedy.ufm.credentials_file",
       [](WeftdConfig& c) -> Field { return &c.remedy.ufm.credentials_file; },
       {},
       "",
       "File with \"user:password\" for UFM, mode 0600 or 0640, read anew for each request."},
      {"remedy.ufm.authorities_file",
       [](WeftdConfig& c) -> Field { return &c.remedy.ufm.authorities_file; },
       {},
       "",
       "PEM file that UFM's certificate must come from. Empty: the system's."},
      {"remedy.ufm.timeout",
       [](WeftdConfig& c) -> Field { return &c.remedy.ufm.timeout; },
       {1, kLongestCall / 2},
       "",
       "How long UFM may take for one request, of which a step makes two at most."},
  };
}

std::vector<Key> slurm_schema() {
  return {
      {"remedy.slurm.enabled",
       [](WeftdConfig& c) -> Field { return &c.remedy.slurm.enabled; },
       {},
       "",
       "Whether hosts are drained in Slurm. Off until somebody says that weftd runs as a user whom Slurm lets do that "
       "(SlurmUser, root, or an operator)."},
      {"remedy.slurm.scontrol",
       [](WeftdConfig& c) -> Field { return &c.remedy.slurm.scontrol; },
       {},
       "",
       "The program scontrol: a name that is looked for in PATH, or a path. It is run without a shell."},
      {"remedy.slurm.slurm_conf",
       [](WeftdConfig& c) -> Field { return &c.remedy.slurm.slurm_conf; },
       {},
       "",
       "Slurm's own configuration, where it does not stand in its usual place (SLURM_CONF of scontrol)."},
      {"remedy.slurm.rest_url",
       [](WeftdConfig& c) -> Field { return &c.remedy.slurm.rest_url; },
       {},
       "",
       "slurmrestd instead of scontrol, for management hosts without Slurm's programs: http://, https:// or "
       "unix:/path. Slurm 22.05's and older cannot change nodes."},
      {"remedy.slurm.rest_version",
       [](WeftdConfig& c) -> Field { return &c.remedy.slurm.rest_version; },
       {},
       "",
       "Version of slurmrestd's API. v0.0.39, of Slurm 23.02, is the first that can drain."},
      {"remedy.slurm.rest_user",
       [](WeftdConfig& c) -> Field { return &c.remedy.slurm.rest_user; },
       {},
       "",
       "The user whom the token is for; Slurm shows it beside the reasons that we set, and by it we know our own."},
      {"remedy.slurm.rest_token_file",
       [](WeftdConfig& c) -> Field { return &c.remedy.slurm.rest_token_file; },
       {},
       "",
       "File with a token of `scontrol token`, mode 0600 or 0640, read anew for each request so that it can be "
       "renewed. "
       "Empty: none is sent, for sockets that need none."},
      {"remedy.slurm.rest_certificate_authorities",
       [](WeftdConfig& c) -> Field { return &c.remedy.slurm.rest_certificate_authorities; },
       {},
       "",
       "PEM file that the certificate of an https:// slurmrestd must come from. Empty: the system's."},
      {"remedy.slurm.timeout",
       [](WeftdConfig& c) -> Field { return &c.remedy.slurm.timeout; },
       {1, kLongestCall},
       "",
       "How long one question or order to Slurm may take in all. scontrol itself needs 9 s to find a controller gone "
       "and 10 s to find it hanging, so 20s tells those from a slow one."},
  };
}

std::vector<Key> kubernetes_schema() {
  return {
      {"remedy.kubernetes.enabled",
       [](WeftdConfig& c) -> Field { return &c.remedy.kubernetes.enabled; },
       {},
       "",
       "Whether hosts are cordoned and tainted in Kubernetes. The rights that it takes: "
       "deploy/kubernetes/weftd-role.yaml."},
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
       "Context of the kubeconfig. Empty: its current one. Name it where people switch contexts in the same file."},
      {"remedy.kubernetes.timeout",
       [](WeftdConfig& c) -> Field { return &c.remedy.kubernetes.timeout; },
       {1, kLongestCall},
       "",
       "How long one question or order to the API server may take in all, tries after conflicts included. It answers "
       "within some milliseconds; 15s covers the change of its leader."},
  };
}

std::vector<Key> webhook_schema() {
  return {
      {"remedy.webhook.url",
       [](WeftdConfig& c) -> Field { return &c.remedy.webhook.url; },
       {},
       "",
       "Where actions are posted as signed JSON, for schedulers and controllers that are not spoken to directly. "
       "Empty: nowhere. No passwords in it: the signature says who we are."},
      {"remedy.webhook.status_url",
       [](WeftdConfig& c) -> Field { return &c.remedy.webhook.status_url; },
       {},
       "",
       "Where the receiver tells how a target stands. Empty: its last acknowledged answer is believed, and what it "
       "never answered stays in doubt until a person looks."},
      {"remedy.webhook.actions",
       [](WeftdConfig& c) -> Field { return &c.remedy.webhook.actions; },
       {},
       "",
       "The actions that the receiver carries out. Nodes by default: links of InfiniBand are taken care of in-band.",
       "",
       {"isolate_link", "restore_link", "raise_link_cost", "drain_node", "undrain_node"}},
      {"remedy.webhook.key_file",
       [](WeftdConfig& c) -> Field { return &c.remedy.webhook.key_file; },
       {},
       "",
       "File with the key of the signature, mode 0600 or 0640, at least 16 bytes: `openssl rand -hex 32`. Read anew "
       "for each request."},
      {"remedy.webhook.certificate_authorities",
       [](WeftdConfig& c) -> Field { return &c.remedy.webhook.certificate_authorities; },
       {},
       "",
       "PEM file that the receiver's certificate must come from. Empty: the system's."},
      {"remedy.webhook.timeout",
       [](WeftdConfig& c) -> Field { return &c.remedy.webhook.timeout; },
       {1, kLongestCall},
       "",
       "How long one order may wait for its answer; later it counts as not answered. 10s is what receivers of webhooks "
       "are commonly granted."},
  };
}

bool has_password(const std::string& url) {
  const std::size_t begin = url.find("://");
  if (begin == std::string::npos) return false;
  const std::size_t end = url.find_first_of("/?#", begin + 3);
  return url.substr(begin + 3, end == std::string::npos ? end : end - begin - 3).find('@') != std::string::npos;
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
