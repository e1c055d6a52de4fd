// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/remedy_setup.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "daemon/adapters/actuate/gnmi_port.hpp"
#include "daemon/adapters/actuate/infiniband_port.hpp"
#include "daemon/adapters/actuate/kubernetes.hpp"
#include "daemon/adapters/actuate/opensm_weights.hpp"
#include "daemon/adapters/actuate/slurm.hpp"
#include "daemon/adapters/actuate/ufm.hpp"
#include "daemon/adapters/actuate/webhook.hpp"
#include "daemon/platform/runtime/own_host.hpp"
#include "daemon/programs/weftd/switch_watcher.hpp"

namespace weft::daemon {
namespace {

using analyzer::RemedySettings;

std::string& actuator_of(RemedySettings& settings, RemedyAction action) {
  return settings.actuators[static_cast<std::size_t>(action)];
}

actuate::InfinibandPortOptions port_options(const config::WeftdConfig& config) {
  actuate::InfinibandPortOptions options;
  options.program = config.remedy.infiniband_port.program;
  if (options.program.empty()) {
    std::error_code ignored;
    options.program = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "weft-port";
  }
  options.directory = std::filesystem::absolute(config.state_dir) / "run" / "weft-port";
  options.management_key_file = config.remedy.infiniband_port.management_key_file;
  if (options.management_key_file.empty()) options.management_key_file = config.infiniband.management_key_file;
  return options;
}

/// As weft-switches is told when it reads.
actuate::GnmiPortOptions gnmi_port_options(const config::WeftdConfig& config) {
  const switches::Options reading = switch_options(config.gnmi);
  return {.program = switches_program(config.gnmi),
          .directory = std::filesystem::absolute(config.state_dir) / "run" / "weft-switch-port",
          .targets = reading.targets,
          .targets_file = reading.targets_file,
          .credentials_directory = reading.credentials_directory,
          .max_message_bytes = reading.max_message_bytes,
          .max_targets = reading.max_targets,
          .timeout = config.remedy.gnmi_port.timeout};
}

actuate::SlurmOptions slurm_options(const config::Remedy::Slurm& from) {
  return {.scontrol = from.scontrol,
          .slurm_conf = from.slurm_conf,
          .rest_url = from.rest_url,
          .rest_version = from.rest_version,
          .rest_user = from.rest_user,
          .rest_token_file = from.rest_token_file,
          .rest_certificate_authorities = from.rest_certificate_authorities,
          .timeout = from.timeout};
}

}  // namespace

Result<RemedyControllerOptions> make_remedy_options(const config::WeftdConfig& config, const Clock& clock,
                                                    std::vector<Error>* failures) {
  const config::Remedy& remedy = config.remedy;
  RemedyControllerOptions options;
  options.hands_off_file = config.hands_off_file();
  options.own_host = runtime::own_host_name();
  RemedySettings& settings = options.settings;
  settings.limits = remedy.limits;
  settings.allow = remedy.allow;
  settings.deny = remedy.deny;
  settings.stop_for_other_weftd = remedy.stop_for_other_weftd;
  settings.routing_engine =
      analyzer::parse_routing_engine(remedy.routing_engine).value_or(analyzer::RoutingEngine::kUnknown);
  for (const auto& [action, mode] : {std::pair{RemedyAction::kIsolateLink, remedy.isolate_link},
                                     {RemedyAction::kRestoreLink, remedy.restore_link},
                                     {RemedyAction::kRaiseLinkCost, remedy.raise_link_cost},
                                     {RemedyAction::kDrainNode, remedy.drain_node},
                                     {RemedyAction::kUndrainNode, remedy.undrain_node}})
    settings.modes[static_cast<std::size_t>(action)] = mode;

  std::optional<Error> failure;
  const auto take = [&](Result<std::unique_ptr<actuate::Actuator>> made, const std::vector<RemedyAction>& actions) {
    if (!made) {
      if (!failure) failure = made.error();
      if (failures != nullptr) failures->push_back(made.error());
      return;
    }
    for (const RemedyAction action : actions) actuator_of(settings, action) = (*made)->name();
    if (const auto latest = (*made)->latest_landing()) settings.latest_landing[(*made)->name()] = *latest;
    if (!(*made)->needs_sweep()) settings.sweepless.insert((*made)->name());
    options.actuators.push_back(std::move(*made));
  };
  const std::vector links{RemedyAction::kIsolateLink, RemedyAction::kRestoreLink};
  const std::vector nodes{RemedyAction::kDrainNode, RemedyAction::kUndrainNode};
  // Later ones take over from those before: what is named by its address is meant.
  if (config.infiniband.enabled) take(actuate::make_infiniband_port(port_options(config)), links);
  if (remedy.gnmi_port.enabled && config.gnmi.is_read()) {
    take(actuate::make_gnmi_port(gnmi_port_options(config)), {});
    settings.switch_actuator = actuate::kGnmiPort;
  }
  if (!remedy.ufm.url.empty())
    take(actuate::make_ufm({.url = remedy.ufm.url,
                            .credentials_file = remedy.ufm.credentials_file,
                            .authorities_file = remedy.ufm.authorities_file,
                            .timeout = remedy.ufm.timeout}),
         links);
  if (!remedy.opensm_weights.file.empty())
    take(actuate::make_opensm_weights({.file = remedy.opensm_weights.file,
                                       .weight = remedy.opensm_weights.weight,
                                       .console_port = static_cast<std::uint16_t>(remedy.opensm_weights.console_port),
                                       .pid_file = remedy.opensm_weights.pid_file}),
         {RemedyAction::kRaiseLinkCost});
  if (remedy.slurm.enabled) take(actuate::make_slurm_actuator(slurm_options(remedy.slurm)), nodes);
  if (remedy.kubernetes.enabled)
    take(actuate::make_kubernetes_actuator({.kubeconfig = remedy.kubernetes.kubeconfig,
                                            .context = remedy.kubernetes.context,
                                            .timeout = remedy.kubernetes.timeout},
                                           clock),
         nodes);
  if (!remedy.webhook.url.empty()) {
    take(actuate::make_webhook_actuator({.url = remedy.webhook.url,
                                         .status_url = remedy.webhook.status_url,
                                         .key_file = remedy.webhook.key_file,
                                         .memory_file = std::filesystem::absolute(config.state_dir) / "webhook.json",
                                         .certificate_authorities = remedy.webhook.certificate_authorities,
                                         .timeout = remedy.webhook.timeout},
                                        clock),
         {});
    constexpr std::array<std::pair<std::string_view, RemedyAction>, 5> kNames{
        {{"isolate_link", RemedyAction::kIsolateLink},
         {"restore_link", RemedyAction::kRestoreLink},
         {"raise_link_cost", RemedyAction::kRaiseLinkCost},
         {"drain_node", RemedyAction::kDrainNode},
         {"undrain_node", RemedyAction::kUndrainNode}}};
    for (const std::string& name : remedy.webhook.actions)
      for (const auto& [word, action] : kNames)
        if (name == word) {
          if (actuator_of(settings, action).empty()) actuator_of(settings, action) = "webhook";
          // That flows leave a link whose cost was raised could not be seen: nobody tells of Ethernet's routes.
          if (action == RemedyAction::kIsolateLink || action == RemedyAction::kRestoreLink)
            settings.ethernet_actuators[static_cast<std::size_t>(action)] = "webhook";
        }
  }
  if (failure) return tl::unexpected(std::move(*failure));
  return options;
}

}  // namespace weft::daemon
