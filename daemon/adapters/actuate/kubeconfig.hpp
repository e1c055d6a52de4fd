// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a Kubernetes API server is reached and who we are there: from a kubeconfig, or from the service account of the
// pod that we run in.

#include <filesystem>
#include <string>

#include "daemon/platform/net/http_client.hpp"
#include "fabric/result.hpp"

namespace weft::actuate {

/// Where the API server is, and how we authenticate to it.
struct KubernetesAccess {
  std::string server;                ///< "https://10.0.0.1:6443", no slash at its end
  net::TlsIdentity tls;              ///< its certificate authority, and our client certificate where we have one
  std::string token;                 ///< bearer token; empty: none, or token_file
  std::filesystem::path token_file;  ///< bearer token that is read anew for each request; empty: none
  bool token_is_mounted = false;     ///< token_file is a cluster's volume (SecretMode::kMounted)
};

/// Reads a kubeconfig (kubernetes.io, "Organizing Cluster Access Using kubeconfig Files"). `context` empty: its current
/// one. The file and each private key that it names must be private (see read_secret()); paths in it are relative to
/// its folder. kInvalidArgument for what is missing or wrong, and for what we do not do: servers without HTTPS or whose
/// certificate is not to be verified, exec and auth-provider plug-ins, passwords, proxies, tls-server-name.
Result<KubernetesAccess> load_kubeconfig(const std::filesystem::path& file, const std::string& context);

/// The service account mounted at `folder` (normally /var/run/secrets/kubernetes.io/serviceaccount), and the server
/// that KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT name. kNotFound when we run in no pod.
Result<KubernetesAccess> load_service_account(const std::filesystem::path& folder);

}  // namespace weft::actuate
