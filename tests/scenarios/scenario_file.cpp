// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/scenario_file.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "tests/scenarios/scenario_words.hpp"

namespace weft::scenarios {
namespace {

constexpr std::size_t kLongestFile = 1 << 20;
constexpr double kLongestScenario = 30 * 86400.0;

class Reader {
 public:
  explicit Reader(std::string_view name) {
    scenario_.group = "file";
    scenario_.name = name;
  }

  void read(const std::vector<std::string>& words) {
    const std::string& verb = words.front();
    const std::vector<std::string> rest(words.begin() + 1, words.end());
    if (verb == "fabric") return fabric(rest);
    if (verb == "noise") return noise(rest);
    if (verb == "job") return job(rest);
    if (verb == "fault") return fault(rest);
    if (verb == "truth") return truth(rest);
    if (verb == "assume") return assume(rest);
    const auto only = [&]() -> const std::string& {
      if (rest.size() != 1) complain(verb + " wants one value");
      return rest.front();
    };
    const auto within = [&](double least, double most) {
      const double value = number(only(), verb);
      if (value < least || value > most) complain(verb + " is out of range");
      return value;
    };
    if (verb == "name")
      scenario_.name = only();
    else if (verb == "seed")
      scenario_.seed = static_cast<std::uint64_t>(within(0, 1e15));
    else if (verb == "collectors")
      scenario_.collectors = is_on(only());
    else if (verb == "switch_collectors")
      scenario_.switch_collectors = is_on(only());
    else if (verb == "interval")
      scenario_.interval = within(0.1, 600);
    else if (verb == "duration")
      scenario_.duration = within(1, kLongestScenario);
    else
      complain(
          "does not know \"" + verb +
          "\"; there are fabric, name, seed, interval, duration, collectors, switch_collectors, noise, job, fault, "
          "truth, assume");
  }

  Case finish() {
    if (plan_.nodes.empty()) complain("there is no fabric");
    if (scenario_.truths.empty()) scenario_.truths = truths_of(scenario_, plan_);
    for (Truth& truth : scenario_.truths) truth.end = std::min(truth.end, scenario_.duration);
    return {std::move(scenario_), std::move(plan_)};
  }

 private:
  void fabric(const std::vector<std::string>& rest);
  void noise(const std::vector<std::string>& rest);
  void job(const std::vector<std::string>& rest);
  void fault(const std::vector<std::string>& rest);
  void truth(const std::vector<std::string>& rest);
  void assume(const std::vector<std::string>& rest);

  void need_fabric() const {
    if (plan_.nodes.empty()) complain("the fabric must come first");
  }
  std::vector<std::uint32_t> endpoints(const std::string& text) const;
  NodeIndex node(std::string name) const;
  PortIndex port(const std::string& text) const;
  static std::pair<double, double> times(Words& words);

  Scenario scenario_;
  Plan plan_;
};

void Reader::fabric(const std::vector<std::string>& rest) {
  if (!plan_.nodes.empty()) complain("there is a fabric already");
  Words words(rest);
  FatTreeSpec& spec = scenario_.fabric;
  spec.levels = words.whole("levels", spec.levels, 3);
  spec.hosts = words.whole("hosts", spec.hosts, 65536);
  spec.rails = words.whole("rails", spec.rails, 16);
  spec.hosts_per_leaf = words.whole("hosts_per_leaf", spec.hosts_per_leaf, 254);
  spec.uplinks = words.whole("uplinks", spec.uplinks, 254);
  spec.leaves_per_pod = words.whole("leaves_per_pod", spec.leaves_per_pod, 254);
  spec.core_uplinks = words.whole("core_uplinks", spec.core_uplinks, 254);
  if (const auto speed = words.take("speed")) {
    spec.speed = 0;
    for (SpeedMask bit = kSpeedSdr; bit <= kSpeedXdr; bit = static_cast<SpeedMask>(bit << 1))
      if (speed_name(bit) == *speed) spec.speed = bit;
    if (spec.speed == 0) complain("there is no speed " + *speed);
  }
  if (const auto layer = words.take("layer")) {
    if (*layer != "ethernet" && *layer != "infiniband") complain("layer is ethernet or infiniband");
    if (*layer == "ethernet") spec.layer = LinkLayer::kEthernet;
  }
  spec.hash = words.whole("hash", 0, 1'000'000'000);
  words.finish();
  auto plan = lay_out(spec);
  if (!plan) complain(plan.error().message);
  plan_ = std::move(*plan);
}

void Reader::noise(const std::vector<std::string>& rest) {
  if (rest.size() == 1 && rest[0] == "off") {
    scenario_.noisy = false;
    return;
  }
  Words words(rest);
  Noise& noise = scenario_.noise;
  for (const auto& [key, value, most] : {std::tuple{"error_rate_low", &noise.error_rate_low, 1e-9},
                                         {"error_rate_high", &noise.error_rate_high, 1e-9},
                                         {"discards", &noise.discards, 1e6},
                                         {"remote_errors", &noise.remote_errors, 1e6},
                                         {"management_drops", &noise.management_drops, 1e6},
                                         {"symbol_bursts", &noise.symbol_bursts, 1e6},
                                         {"resets", &noise.resets, 1e6},
                                         {"lost_node", &noise.lost_node, 1.0},
                                         {"lost_counters", &noise.lost_counters, 1.0},
                                         {"late_sweep", &noise.late_sweep, 1.0},
                                         {"retransmits_low", &noise.retransmits_low, 1.0},
                                         {"retransmits_high", &noise.retransmits_high, 1.0},
                                         {"retransmit_bursts", &noise.retransmit_bursts, 1e6},
                                         {"lost_readings", &noise.lost_readings, 1.0},
                                         {"late_readings", &noise.late_readings, 1.0}})
    *value = words.number_of(key, *value, 0, most);
  if (noise.error_rate_low <= 0 || noise.error_rate_low > noise.error_rate_high)
    complain("error_rate_low must be above 0 and not above error_rate_high");
  if (noise.retransmits_low <= 0 || noise.retransmits_low > noise.retransmits_high)
    complain("retransmits_low must be above 0 and not above retransmits_high");
  words.finish();
}

void Reader::assume(const std::vector<std::string>& rest) {
  Words words(rest);
  Assumptions& assumed = scenario_.assumptions;
  SubnetManagerModel& manager = assumed.manager;
  manager.sweep = words.number_of("manager_sweep", manager.sweep, 0, 600);
  manager.lost_traps = words.number_of("lost_traps", manager.lost_traps, 0, 1);
  manager.periodic = words.number_of("manager_interval", manager.periodic, 1, 3600);
  manager.failing_reads = words.number_of("failing_reads", manager.failing_reads, 0, 1);
  assumed.wire_speeds = words.on_or_off("wire_speeds", assumed.wire_speeds);
  assumed.ways = std::max(1U, words.whole("ways", assumed.ways, 64));
  assumed.full_link_loss = words.number_of("full_link_loss", assumed.full_link_loss, 0, 0.5);
  assumed.marks_only = words.on_or_off("marks_only", assumed.marks_only);
  assumed.late_packets = words.number_of("late_packets", assumed.late_packets, 1, 1e5);
  assumed.flushes = words.on_or_off("flushes", assumed.flushes);
  words.finish();
}

std::vector<std::uint32_t> Reader::endpoints(const std::string& text) const {
  std::vector<std::uint32_t> found;
  for (const std::string& part : split(text, ',')) {
    const std::vector<std::string> ends = split(part, '-');
    if (ends.empty() || ends.size() > 2) complain("\"" + part + "\" is no endpoint and no range of them");
    const double first = number(ends.front(), "an endpoint");
    const double last = number(ends.back(), "an endpoint");
    if (first < 0 || last < first || last >= static_cast<double>(plan_.adapters.size()))
      complain("endpoints are from 0 to " + std::to_string(plan_.adapters.size() - 1) + "; \"" + part + "\" is not");
    for (auto i = static_cast<std::uint32_t>(first); i <= static_cast<std::uint32_t>(last); ++i) found.push_back(i);
  }
  if (found.empty()) complain("a list of endpoints is empty");
  return found;
}

NodeIndex Reader::node(std::string name) const {
  std::ranges::replace(name, '/', ' ');
  const auto found = std::ranges::find(plan_.nodes, name, &Node::name);
  if (found == plan_.nodes.end()) complain("there is no node " + name);
  return static_cast<NodeIndex>(found - plan_.nodes.begin());
}

PortIndex Reader::port(const std::string& text) const {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) complain("\"" + text + "\" is no port; write NODE:NUMBER");
  const NodeIndex of = node(text.substr(0, colon));
  const double which = number(text.substr(colon + 1), "a port");
  if (which < 1 || which > plan_.nodes[of].port_count || which != std::floor(which))
    complain(plan_.nodes[of].name + " has the ports 1 to " + std::to_string(plan_.nodes[of].port_count));
  const PortIndex found = plan_.port(of, static_cast<unsigned>(which));
  if (plan_.ports[found].peer == kNoIndex) complain(text + " has no cable");
  return found;
}

std::pair<double, double> Reader::times(Words& words) {
  const double from = words.number_of("from", 0, 0, kLongestScenario);
  const double to = words.number_of("to", kLongestScenario, 0, kLongestScenario);
  if (to <= from) complain("to must be after from");
  return {from, to == kLongestScenario ? std::numeric_limits<double>::infinity() : to};
}

void Reader::job(const std::vector<std::string>& rest) {
  need_fabric();
  const auto kind = rest.empty() ? std::nullopt : parse_job_kind(rest.front());
  if (!kind) complain("a job is one of ring, tree, all_to_all, pipeline, storage, steady");
  Words words({rest.begin() + 1, rest.end()});
  Job job{.kind = *kind};
  const auto members = words.take("members");
  if (!members) complain("a job wants members=");
  job.members = endpoints(*members);
  if (const auto targets = words.take("targets")) job.targets = endpoints(*targets);
  if (job.targets.empty() && (*kind == JobKind::kStorage || *kind == JobKind::kSteady))
    complain(std::string(to_string(*kind)) + " wants targets=");
  job.period = words.number_of("period", job.period, 0.01, 86400);
  job.communication = words.number_of("communication", 0.5, 0.001, 1);
  job.load = words.number_of("load", job.load, 0.001, 1);
  std::tie(job.start, job.end) = times(words);
  words.finish();
  scenario_.jobs.push_back(std::move(job));
}

void Reader::fault(const std::vector<std::string>& rest) {
  need_fabric();
  using enum FaultKind;
  const auto kind = rest.empty() ? std::nullopt : parse_fault_kind(rest.front());
  if (!kind) {
    std::string all = "a fault is one of";
    for (std::size_t i = 0; i < kFaultKinds; ++i) all += std::string(" ") + to_string(static_cast<FaultKind>(i));
    complain(all);
  }
  Words words({rest.begin() + 1, rest.end()});
  Fault fault{.kind = *kind};
  const auto at = words.take("at");
  const bool of_host = *kind == kHostDown || *kind == kNodeReboot || *kind == kDriverReload;
  const bool of_node =
      of_host || *kind == kSwitchDown || *kind == kLossInSwitch || *kind == kNodeSilent || *kind == kOversubscription;
  const bool nowhere = *kind == kCollectorDeath || *kind == kClockJump || *kind == kManagerRestart;
  if (nowhere == at.has_value()) complain(nowhere ? "this fault has no at=" : "a fault wants at=");
  if (of_node) fault.node = node(*at);
  if (!of_node && !nowhere) fault.port = port(*at);
  const bool adapter = of_node && plan_.tiers[fault.node] == Tier::kAdapter;
  if (of_host && !adapter) complain(rest.front() + " wants an adapter");
  if ((*kind == kSwitchDown || *kind == kLossInSwitch) && adapter) complain("this fault wants a switch");
  if (*kind == kOversubscription && plan_.tiers[fault.node] != Tier::kLeaf) complain("oversubscription wants a leaf");
  const bool host_side = *kind == kIncast || *kind == kSlowReceiver || *kind == kPcieStall || *kind == kPfcStorm ||
                         *kind == kStraggler || *kind == kFailedTransfers || *kind == kJobHang;
  if (host_side && plan_.endpoint_at(fault.port) == kNoIndex) complain("this fault wants a port with a host behind it");
  if (host_side && plan_.tier_of(fault.port) == Tier::kAdapter) fault.port = plan_.ports[fault.port].peer;
  const auto other = words.take("other");
  if ((*kind == kCrossedCables || *kind == kDeadlock) != other.has_value())
    complain(other ? "this fault has no other=" : "this fault wants other=, a second port");
  if (other) fault.other = port(*other);
  const auto list = words.take("endpoints");
  if ((*kind == kIncast || *kind == kCollision) != list.has_value())
    complain(list ? "this fault has no endpoints=" : "this fault wants endpoints=");
  if (list) fault.endpoints = endpoints(*list);
  static const std::map<FaultKind, double> kAmounts{
      {kErrors, 1e-10},    {kErrorsBelowLimit, 1e-14}, {kOversubscription, 0.25}, {kSlowReceiver, 0.2},
      {kLossOnLink, 1e-3}, {kLossInSwitch, 1e-3},      {kStraggler, 2},           {kOpticsDrift, 3},
      {kOpticsFading, 2},  {kClockJump, 3600},         {kFailedTransfers, 1},     {kJobHang, 4}};
  const auto usual = kAmounts.find(*kind);
  fault.amount = words.number_of("amount", usual == kAmounts.end() ? 0 : usual->second, -1e6, 1e6);
  if (fault.amount < 0 && *kind != kClockJump) complain("amount must not be below 0");
  std::tie(fault.start, fault.end) = times(words);
  words.finish();
  scenario_.faults.push_back(std::move(fault));
}

void Reader::truth(const std::vector<std::string>& rest) {
  need_fabric();
  const auto kind = rest.empty() ? std::nullopt : parse_incident_kind(rest.front());
  if (!kind) complain("a truth begins with an incident's kind, as LINK_DOWN");
  Words words({rest.begin() + 1, rest.end()});
  Truth truth;
  truth.kind = *kind;
  const auto places = [&](const std::string& key, const auto& make, std::vector<Place>& into) {
    if (const auto text = words.take(key))
      for (const std::string& part : split(*text, ',')) into.push_back(make(part));
  };
  const auto link = [&](const std::string& text) {
    const LinkKey key = plan_.link_of(port(text));
    return Place{EntityKind::kLink, key.low, key.high};
  };
  const auto whole_node = [&](const std::string& text) {
    return Place{EntityKind::kNode, {plan_.nodes[node(text)].guid, {}}, {}};
  };
  places("link", link, truth.culprits);
  places(
      "port",
      [&](const std::string& text) {
        return Place{EntityKind::kPort, plan_.key_of(port(text)), {}};
      },
      truth.culprits);
  places("node", whole_node, truth.culprits);
  if (words.take("fabric")) truth.culprits.push_back({EntityKind::kFabric, {}, {}});
  if (truth.culprits.empty()) complain("a truth wants a culprit: link=, port=, node= or fabric");
  places("victim_links", link, truth.victims);
  places("victim_nodes", whole_node, truth.victims);
  if (const auto also = words.take("also"))
    for (const std::string& part : split(*also, ',')) {
      const auto other = parse_incident_kind(part);
      if (!other) complain("there is no kind " + part);
      truth.also.push_back(*other);
    }
  truth.hard = words.take("hard").has_value();
  std::tie(truth.start, truth.end) = times(words);
  words.finish();
  scenario_.truths.push_back(std::move(truth));
}

}  // namespace

Result<Case> parse_scenario(std::string_view text, std::string_view name) {
  if (text.size() > kLongestFile) return fail(ErrorCode::kInvalidArgument, "the file is longer than 1 MiB");
  Reader reader(name);
  std::size_t line = 0;
  try {
    for (const std::string& raw : split(text, '\n')) {
      ++line;
      std::istringstream stream(raw.substr(0, raw.find('#')));
      std::vector<std::string> words;
      for (std::string word; stream >> word;) words.push_back(word);
      if (!words.empty()) reader.read(words);
    }
    return reader.finish();
  } catch (const Complaint& complaint) {
    return fail(ErrorCode::kInvalidArgument, "line " + std::to_string(line) + ": " + complaint.why);
  }
}

Result<Case> read_scenario(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail(ErrorCode::kNotFound, path + " can not be read");
  std::ostringstream text;
  text << file.rdbuf();
  auto read = parse_scenario(text.str(), path);
  if (!read) return fail(read.error().code, path + ": " + read.error().message);
  return read;
}

}  // namespace weft::scenarios
