// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one table of each program's keys. Parsing, bounds, flags, the reference document and the example all read it.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/config/collector_config.hpp"
#include "daemon/config/config.hpp"

namespace weft::config {

/// Where a key's value lives; the alternative says its type.
using Field = std::variant<bool*, unsigned*, double*, Duration*, Bytes*, std::string*, std::filesystem::path*, Address*,
                           std::vector<Peer>*, InfinibandPorts*, std::optional<unsigned>*, RemedyMode*,
                           std::vector<std::string>*>;

/// Whether the key takes a list; all others take one value.
bool takes_list(const Field& field);

/// Smallest and largest allowed value, both included: numbers as they are, durations in seconds, sizes in bytes.
struct Bounds {
  double low = 0;
  double high = 0;
};

/// In seconds, as bounds of durations are.
inline constexpr double kMillisecond = 1e-3;
inline constexpr double kMinute = 60;
inline constexpr double kHour = 3600;
inline constexpr double kDay = 86400;
inline constexpr Bounds kShare{0, 1};

/// One key: its name, where its value lives, and what it may be.
template <typename Config>
struct KeyOf {
  // Not an aggregate: g++ 12 breaks on the initialisers of a template's members.
  KeyOf(std::string_view the_name, Field (*the_field)(Config&), Bounds the_bounds, std::string_view the_unit,
        std::string_view the_help, std::string_view the_word = "", std::vector<std::string_view> the_choices = {},
        std::string_view the_short_flag = "")
      : name(the_name),
        field(the_field),
        bounds(the_bounds),
        unit(the_unit),
        help(the_help),
        word(the_word),
        choices(std::move(the_choices)),
        short_flag(the_short_flag) {}

  std::string_view name;  ///< "infiniband.sweep_interval"
  Field (*field)(Config&);
  Bounds bounds;                          ///< of numbers, durations and sizes
  std::string_view unit;                  ///< of numbers, for people: "sweeps", "points", "0..1"; may be empty
  std::string_view help;                  ///< what it does and why the default is what it is; one paragraph
  std::string_view word;                  ///< of optional numbers: what stands for none ("path", "auto")
  std::vector<std::string_view> choices;  ///< of texts, also of those in a list: the allowed ones; empty: any
  std::string_view short_flag;            ///< a second, shorter flag
};

/// A key of weftd.
using Key = KeyOf<WeftdConfig>;
/// A key of weft-collector.
using CollectorKey = KeyOf<CollectorConfig>;

/// All keys, section by section, in the order of the reference.
template <typename Config = WeftdConfig>
std::vector<KeyOf<Config>> schema();
template <>
std::vector<Key> schema<WeftdConfig>();
template <>
std::vector<CollectorKey> schema<CollectorConfig>();

/// The keys of analyzer.* and incidents.*; part of schema().
std::vector<Key> analyzer_schema();
/// Those of STRAGGLER, which are among them.
std::vector<Key> straggler_schema();
/// The keys of drift.*; part of schema().
std::vector<Key> drift_schema();
/// The keys of parts.*; part of schema().
std::vector<Key> parts_schema();
/// The keys of hang.*; part of schema().
std::vector<Key> hang_schema();

/// The keys of security.*; part of schema().
std::vector<Key> security_schema();
/// What is wrong between them, and with listeners; part of contradictions().
std::vector<std::pair<std::string, std::string>> security_contradictions(const WeftdConfig& config);

/// The keys of remedy.*; part of schema().
std::vector<Key> remedy_schema();
/// The keys of events.*.
std::vector<Key> events_schema();
/// What of them contradicts itself, as contradictions().
std::vector<std::pair<std::string, std::string>> event_contradictions(const Events& events);
/// The keys of gnmi.* and otlp.*; part of schema().
std::vector<Key> gnmi_schema();
/// What is wrong between them; part of contradictions().
std::vector<std::pair<std::string, std::string>> gnmi_contradictions(const Gnmi& gnmi);
/// The keys of metrics.*; part of schema().
std::vector<Key> metrics_schema();
/// Those that weft-collector has.
std::vector<CollectorKey> collector_metrics_schema();
/// The keys of site.*; part of schema().
std::vector<Key> site_schema();
/// What is wrong between them; part of contradictions().
std::vector<std::pair<std::string, std::string>> site_contradictions(const WeftdConfig& config);
/// The keys of remedy.limits.*; part of remedy_schema().
std::vector<Key> remedy_limits_schema();
/// What is wrong between them; part of contradictions().
std::vector<std::pair<std::string, std::string>> remedy_contradictions(const Remedy& remedy);

/// What `key` takes, for people: "duration", "whole number", "list of texts".
template <typename Config>
std::string type_name(const KeyOf<Config>& key);
/// The allowed values, for people: "1ms to 1h"; empty when the type says it all.
template <typename Config>
std::string allowed(const KeyOf<Config>& key);

/// Sets the key from its text (a list has several). The sentence that says what is wrong, or nullopt when it is set.
template <typename Config>
std::optional<std::string> set(const KeyOf<Config>& key, Config& config, const std::vector<std::string>& texts);
/// The present value as set() would read it.
template <typename Config>
std::vector<std::string> get(const KeyOf<Config>& key, const Config& config);
/// The present value as TOML: `"1s"`, `2`, `["auto"]`.
template <typename Config>
std::string get_toml(const KeyOf<Config>& key, const Config& config);

/// What is wrong between keys that are each allowed: the key to blame and a sentence.
std::vector<std::pair<std::string, std::string>> contradictions(const WeftdConfig& config);
std::vector<std::pair<std::string, std::string>> contradictions(const CollectorConfig& config);

}  // namespace weft::config
