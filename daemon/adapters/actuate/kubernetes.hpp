// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kubernetes as an actuator: a host's Node is cordoned, tainted and annotated in one step, and an Event says so;
// nothing but that is ever taken back.

#include <filesystem>
#include <memory>
#include <string>

#include "daemon/adapters/actuate/actuator.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::actuate {

/// Options of the actuator "kubernetes".
struct KubernetesOptions {
  std::filesystem::path kubeconfig;  ///< empty: the service account of the pod that we run in
  std::string context;               ///< of the kubeconfig; empty: its current one
  std::filesystem::path service_account = "/var/run/secrets/kubernetes.io/serviceaccount";
  Duration timeout = std::chrono::seconds(15);  ///< of one call of the actuator; at most kLongestCall counts
};

/// An Actuator of the name "kubernetes" for kDrainNode and kUndrainNode of RemedyOrder::target.host. Fails as
/// load_kubeconfig() and load_service_account() do. The server is not asked yet. `clock` must outlive it.
///
/// The Node is written whole, as it was read but for our marks, under its resourceVersion: a change by anybody else in
/// between makes the server refuse it (409), and it is done again from a fresh reading, at most five times. Pods that
/// run there go on running. Rights that it takes: get, list and update of nodes, create of events in `event_namespace`;
/// an Event that is refused is no failure.
Result<std::unique_ptr<Actuator>> make_kubernetes_actuator(const KubernetesOptions& options, const Clock& clock);

}  // namespace weft::actuate
