// SPDX-License-Identifier: Apache-2.0
#include "analyzer/parts/limit_watch.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace weft::analyzer {
namespace {

/// What is compared with what.
struct LimitRule {
  PartSign sign;
  IncidentKind kind;
  std::string_view series;  ///< in the catalogue
  ConfigFact limits;
  bool has_low;     ///< too little is a trouble as well: a laser that is on and sends nothing
  bool while_up;    ///< of a port that is down it says nothing
  unsigned digits;  ///< from the catalogue's unit to `unit`
  const char* unit;
  const char* words;
  const char* tool;  ///< prints the same
};
constexpr LimitRule kLimitRules[] = {
    {PartSign::kModuleTemperature, IncidentKind::kModuleDegraded, "module_temperature",
     ConfigFact::kModuleTemperatureLimits, false, false, 3, "degrees Celsius", "module temperature", "ethtool -m "},
    {PartSign::kLaserBias, IncidentKind::kModuleDegraded, "module_bias", ConfigFact::kModuleBiasLimits, false, true, 3,
     "mA", "laser bias", "ethtool -m "},
    {PartSign::kTransmitPower, IncidentKind::kModuleDegraded, "module_transmit_power",
     ConfigFact::kModuleTransmitPowerLimits, true, true, 6, "mW", "transmit power", "ethtool -m "},
    {PartSign::kAdapterTemperature, IncidentKind::kHostDegraded, "adapter_temperature",
     ConfigFact::kAdapterTemperatureLimits, false, false, 3, "degrees Celsius", "adapter temperature", "sensors: "},
};
constexpr std::uint8_t kBiasRule = 1;

/// What a lane is said to be beyond.
struct Beyond {
  std::int64_t limit = 0;
  bool is_low = false;
};

std::optional<Beyond> beyond(std::int64_t value, const std::optional<std::int64_t>& low,
                             const std::optional<std::int64_t>& high) {
  if (high && value >= *high) return Beyond{*high, false};
  if (low && value <= *low) return Beyond{*low, true};
  return std::nullopt;
}

/// "laser bias of lane 2"
std::string place_text(const LimitRule& rule, std::uint8_t lane) {
  return rule.words + (lane == kNoLane ? std::string() : " of lane " + std::to_string(lane));
}

}  // namespace

void LimitWatch::follow(const HostWatch& host, std::vector<std::uint32_t>& followed) {
  for (const PortWatch& port : host.ports) gauges_[port.slot].followed.clear();
  if (!host.inventory) return;
  for (std::uint32_t i = 0; i < host.inventory->series.size(); ++i) {
    const HostSeries& series = host.inventory->series[i];
    if (series.is_raw) continue;
    const auto rule = std::ranges::find(kLimitRules, std::string_view(series.name), &LimitRule::series);
    if (rule == std::end(kLimitRules)) continue;
    const std::uint32_t at = port_of(host, series);
    if (at == kNoIndex || host.ports[at].is_virtual) continue;
    gauges_[host.ports[at].slot].followed.push_back(
        {i, static_cast<std::uint8_t>(rule - std::begin(kLimitRules)), series.lane});
    followed.push_back(i);
  }
}

void LimitWatch::take_limits(const PortWatch& port, const PortFacts& facts) {
  Gauges& gauges = gauges_[port.slot];
  for (std::uint8_t rule = 0; rule < std::size(kLimitRules); ++rule) {
    const FactValue* const told = find_fact(facts, kLimitRules[rule].limits);
    const PartLimits limits = told ? parse_part_limits(told->value, kLimitRules[rule].digits) : PartLimits{};
    const auto known = std::ranges::find(gauges.limited, rule, &Limited::rule);
    if (known == gauges.limited.end()) {
      if (!limits.is_empty()) gauges.limited.push_back({rule, limits, {}, {}, kNever});
    } else if (known->limits != limits) {
      // Another module.
      *known = {rule, limits, {}, {}, kNever};
    }
  }
}

void LimitWatch::compare(const PortWatch& port, const Gauges& gauges, const HostMovement& movement,
                         const WasTold& was_told, Limited& limited) const {
  const LimitRule& rule = kLimitRules[limited.rule];
  const auto value_of = [&](std::uint8_t which, std::uint8_t lane) -> std::optional<std::int64_t> {
    for (const Followed& followed : gauges.followed)
      if (followed.rule == which && followed.lane == lane && movement.series[followed.series].present)
        return static_cast<std::int64_t>(movement.series[followed.series].value);
    return std::nullopt;
  };
  // A lane that is switched off sends nothing.
  const auto bias = std::ranges::find(gauges.limited, kBiasRule, &Limited::rule);
  const auto is_on = [&](std::uint8_t lane) {
    const auto drawn = value_of(kBiasRule, lane);
    return drawn && *drawn > 0 && bias != gauges.limited.end() &&
           (!bias->limits.low_alarm || *drawn > *bias->limits.low_alarm);
  };
  const auto note = [&](Excess& excess, const std::optional<Beyond>& found, std::int64_t value, std::uint8_t lane) {
    if (!found) return;
    // One entry for the first of the lanes.
    if (excess.last == movement.taken && excess.lane <= lane && excess.lane != kNoLane) return;
    if (excess.since == kNever || movement.taken < excess.last || movement.taken - excess.last > hold_)
      excess.since = was_told(port, rule.sign) ? movement.taken - hold_ : movement.taken;
    excess.last = movement.taken;
    excess.value = value;
    excess.limit = found->limit;
    excess.is_low = found->is_low;
    excess.lane = lane;
  };
  for (const Followed& followed : gauges.followed) {
    if (followed.rule != limited.rule || !movement.series[followed.series].present) continue;
    limited.read_at = movement.taken;
    const auto value = static_cast<std::int64_t>(movement.series[followed.series].value);
    const PartLimits& limits = limited.limits;
    const bool with_low = rule.has_low && is_on(followed.lane);
    const auto none = std::optional<std::int64_t>();
    const auto alarm = beyond(value, with_low ? limits.low_alarm : none, limits.high_alarm);
    note(limited.alarm, alarm, value, followed.lane);
    note(limited.warning, alarm ? alarm : beyond(value, with_low ? limits.low_warning : none, limits.high_warning),
         value, followed.lane);
  }
}

void LimitWatch::take(const HostWatch& host, const HostMovement& movement, const WasTold& was_told) {
  for (const PortWatch& port : host.ports) {
    Gauges& gauges = gauges_[port.slot];
    for (Limited& limited : gauges.limited)
      if (port.up || !kLimitRules[limited.rule].while_up) compare(port, gauges, movement, was_told, limited);
  }
}

void LimitWatch::report(IncidentKind kind, const HostWatch& host, const PortWatch& port, TimePoint now,
                        std::vector<PartTrouble>& troubles) const {
  for (const Limited& limited : gauges_[port.slot].limited) {
    const LimitRule& rule = kLimitRules[limited.rule];
    if (rule.kind != kind || limited.read_at == kNever || now - limited.read_at > kForgetUnread) continue;
    const auto is_told = [&](const Excess& excess) {
      return excess.since != kNever && excess.last - excess.since >= hold_ && limited.read_at - excess.last <= hold_;
    };
    const bool is_alarm = is_told(limited.alarm);
    if (!is_alarm && !is_told(limited.warning)) continue;
    const Excess& excess = is_alarm ? limited.alarm : limited.warning;
    const std::string name = is_alarm ? "alarm" : "warning";
    PartTrouble trouble;
    trouble.sign = rule.sign;
    trouble.severity = is_alarm ? Severity::kWarning : Severity::kInfo;
    trouble.since = excess.since;
    trouble.words =
        place_text(rule, excess.lane) + (excess.is_low ? " is below its " : " is above its ") + name + " limit";
    const double scale = rule.digits == 3 ? 1e3 : 1e6;
    const std::string interface = port.netdev.empty() ? port.device : port.netdev;
    trouble.evidence.push_back(
        {.signal = std::string(rule.series),
         .description = place_text(rule, excess.lane) + " was " + decimal_text(excess.value, rule.digits) + ' ' +
                        rule.unit + ", its own " + name + " limit " + decimal_text(excess.limit, rule.digits) + ' ' +
                        rule.unit + " (" + rule.tool + interface + ")",
         .value = static_cast<double>(excess.value) / scale,
         .threshold = static_cast<double>(excess.limit) / scale,
         .unit = rule.unit,
         .observed = excess.last,
         .where = entity_of(host, port)});
    troubles.push_back(std::move(trouble));
  }
}

bool LimitWatch::is_read(PartSign sign, const PortWatch& port) const {
  return std::ranges::any_of(gauges_[port.slot].limited, [&](const Limited& limited) {
    return kLimitRules[limited.rule].sign == sign && limited.read_at != kNever;
  });
}

}  // namespace weft::analyzer
