// SPDX-License-Identifier: Apache-2.0
// The actuators of an InfiniBand subnet, line by line, for test_actuate.py: sweeps the subnet itself, carries out what
// a line says, answers each with one line of JSON.
//
//   sweep [N]                                       N sweeps, one after the other
//   observe|apply|dry_run ACTUATOR ACTION LINK [GUID PORT]
//   out ACTUATOR ACTION
//                                                   LINK: GUID PORT GUID PORT; then the end that its plan chose
//   check LINK                                      what the tables of the last sweep say
//   permit EPOCH SECONDS                            what is applied from now on has it; SECONDS may be 0
//
// Usage: actuate_driver DIRECTORY NAME=VALUE... with port_program, m_key_file, …

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <thread>

#include "collectors/infiniband/mad_port.hpp"
#include "collectors/infiniband/sweeper.hpp"
#include "daemon/adapters/actuate/infiniband_port.hpp"
#include "daemon/adapters/actuate/opensm_weights.hpp"
#include "daemon/adapters/actuate/ufm.hpp"
#include "daemon/platform/runtime/boot_time.hpp"
#include "fabric/graph/route_check.hpp"

namespace {

using namespace weft;
using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

Json of(const Error& error) {
  return {{"error", to_string(error.code)}, {"message", error.message}};
}

std::optional<PortKey> read_port(std::istream& words) {
  std::string guid;
  unsigned port = 0;
  if (!(words >> guid >> port)) return std::nullopt;
  return PortKey{{parse_guid(guid).value_or(0)}, {static_cast<std::uint8_t>(port)}};
}

LinkKey read_link(std::istream& words) {
  const PortKey a = read_port(words).value_or(PortKey{});
  return make_link_key(a, read_port(words).value_or(PortKey{}));
}

class Driver {
 public:
  Driver(infiniband::MadPort& port, std::map<std::string, std::string> settings, const std::filesystem::path& directory)
      : sweeper_(port, sweeper_options()) {
    if (!settings["port_program"].empty())
      add(actuate::make_infiniband_port({.program = settings["port_program"],
                                         .directory = directory / "port",
                                         .management_key_file = settings["m_key_file"],
                                         .timeout = 200ms}));
    if (!settings["weights_file"].empty())
      add(actuate::make_opensm_weights(
              {.file = settings["weights_file"],
               .console_port = static_cast<std::uint16_t>(std::strtoul(settings["console"].c_str(), nullptr, 10)),
               .pid_file = settings["pid_file"]})
              .value());
    if (!settings["ufm"].empty())
      add(actuate::make_ufm({.url = settings["ufm"],
                             .credentials_file = settings["ufm_credentials"],
                             .authorities_file = settings["ufm_authorities"],
                             .timeout = 2s}));
  }

  Json answer(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    if (verb == "sweep") return sweep(words);
    if (verb == "check") return check(words);
    if (verb == "permit") return permit(words);
    return act(verb, words);
  }

 private:
  static infiniband::SweeperOptions sweeper_options() {
    infiniband::SweeperOptions options;
    options.fabric = "test";
    options.engine = {128, 8, 200ms, 2};
    return options;
  }
  void add(std::unique_ptr<actuate::Actuator> actuator) {
    std::string name = actuator->name();
    actuators_.emplace(std::move(name), std::move(actuator));
  }

  Json sweep(std::istream& words) {
    unsigned count = 1;
    words >> count;
    for (unsigned i = 0; i < std::max(count, 1U); ++i) {
      auto sweep = sweeper_.sweep();
      if (!sweep) return of(sweep.error());
      sweep->counters.reset();  // the sweeper's own, valid until its next sweep
      sweep->details.reset();
      sweep_ = std::make_shared<const Sweep>(std::move(*sweep));
    }
    return {
        {"number", sweep_->number}, {"nodes", sweep_->topology->nodes().size()}, {"routes", sweep_->routes != nullptr}};
  }

  Json check(std::istream& words) {
    const LinkKey link = read_link(words);
    if (!sweep_ || !sweep_->routes) return {{"error", "unavailable"}, {"message", "no tables were read yet"}};
    const Topology& topology = *sweep_->topology;
    const Reachability reach = check_reachability(topology, *sweep_->routes);
    Json ends = Json::array();
    for (const PortKey key : {link.low, link.high}) {
      const PortIndex index = topology.find_port(key);
      if (index == kNoIndex) continue;
      ends.push_back({{"state", to_string(topology.port(index).state)},
                      {"lids", destinations_over(topology, *sweep_->routes, LidOwners(topology), index).size()}});
    }
    return {{"ends", ends},
            {"routed", is_routed_over(topology, *sweep_->routes, LidOwners(topology), link)},
            {"pairs", reach.pairs},
            {"lost", reach.lost},
            {"unknown", reach.unknown},
            {"loop", find_credit_loop(topology, *sweep_->routes).size()}};
  }

  Json permit(std::istream& words) {
    std::int64_t epoch = 0, left = 0;
    words >> epoch >> left;
    permit_ = ActPermit{epoch, runtime::boot_time() + std::chrono::seconds(left)};
    return {{"epoch", epoch}};
  }

  Json act(const std::string& verb, std::istream& words) {
    std::string name, action;
    words >> name >> action;
    const auto found = actuators_.find(name);
    const auto parsed = parse_remedy_action(action);
    if (found == actuators_.end() || !parsed)
      return {{"error", "usage"}, {"message", verb + " " + name + " " + action}};
    if (verb == "out") {
      const auto out = found->second->out_of_service();
      if (!out) return of(out.error());
      Json ports = Json::array();
      for (const PortKey port : out->ports)
        ports.push_back(to_string(port.node) + ' ' + std::to_string(port.port.value));
      return {{"ports", ports}};
    }
    const LinkKey link = read_link(words);
    RemedyOrder order;
    order.plan = 7;
    order.owner.plans = {7};
    order.incident = 17;
    order.action = *parsed;
    order.reason = "symbol errors";
    order.sweep = sweep_;
    order.target = {EntityKind::kLink, "test", link.low, link.high, "the link"};
    order.end = read_port(words);
    order.permit = permit_;
    if (permit_) order.owner.installation = "1c9e0b7a5d3f2468";
    if (verb == "observe") {
      const auto seen = found->second->observe(order);
      if (!seen) return of(seen.error());
      Json shown{{"state", to_string(seen->state)}, {"detail", seen->detail}};
      if (seen->epoch > 0) shown["epoch"] = seen->epoch;
      return shown;
    }
    if (verb == "dry_run") {
      const auto text = found->second->dry_run(order);
      return text ? Json{{"text", *text}} : of(text.error());
    }
    const auto done = found->second->apply(order);
    return done ? Json{{"done", true}} : of(done.error());
  }

  infiniband::Sweeper sweeper_;
  std::shared_ptr<const Sweep> sweep_;
  std::optional<ActPermit> permit_;
  std::map<std::string, std::unique_ptr<actuate::Actuator>> actuators_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::map<std::string, std::string> settings;
  for (int i = 2; i < argc; ++i) {
    const std::string text = argv[i];
    const auto equals = text.find('=');
    if (equals == std::string::npos) return 2;
    settings[text.substr(0, equals)] = text.substr(equals + 1);
  }
  const auto ports = infiniband::list_local_ports();
  if (!ports || ports->empty()) return 3;
  const auto port = infiniband::open_umad_port(ports->front().adapter, ports->front().number);
  if (!port) return 3;
  Driver driver(**port, std::move(settings), argv[1]);
  std::string line;
  while (std::getline(std::cin, line)) std::cout << driver.answer(line).dump() << std::endl;
  // A simulator's client library hangs in its exit handler when a datagram arrives at the wrong moment.
  std::thread([] {
    std::this_thread::sleep_for(1s);
    std::_Exit(0);
  }).detach();
  return 0;
}
