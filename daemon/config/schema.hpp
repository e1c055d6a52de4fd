#pragma once
// The one table of weftd's keys. Parsing, bounds, flags, the reference document and the example all read it.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/config/config.hpp"

namespace weft::config {

/// Where a key's value lives; the alternative says its type.
using Field = std::variant<bool*, unsigned*, double*, Duration*, Bytes*, std::string*, std::filesystem::path*, Address*,
                           InfinibandPorts*, std::optional<unsigned>*>;

/// Smallest and largest allowed value, both included: numbers as they are, durations in seconds, sizes in octets.
struct Bounds {
  double low = 0;
  double high = 0;
};

struct Key {
  std::string_view name;  ///< "infiniband.sweep_interval"
  Field (*field)(WeftdConfig&);
  Bounds bounds;                               ///< of numbers, durations and sizes
  std::string_view unit;                       ///< of numbers, for people: "sweeps", "points", "0..1"; may be empty
  std::string_view help;                       ///< what it does and why the default is what it is; one paragraph
  std::string_view word = {};                  ///< of optional numbers: what stands for none ("path", "auto")
  std::vector<std::string_view> choices = {};  ///< of texts: the allowed ones; empty allows any
  std::string_view short_flag = {};            ///< a second, shorter flag
};

/// All keys, section by section, in the order of the reference.
std::vector<Key> schema();

/// The keys of analyzer.* and incidents.*; part of schema().
std::vector<Key> analyzer_schema();

/// What `key` takes, for people: "duration", "whole number", "list of texts".
std::string type_name(const Key& key);
/// The allowed values, for people: "1ms to 1h"; empty when the type says it all.
std::string allowed(const Key& key);

/// Sets the key from its text (a list has several). The sentence that says what is wrong, or nullopt when it is set.
std::optional<std::string> set(const Key& key, WeftdConfig& config, const std::vector<std::string>& texts);
/// The present value as set() would read it.
std::vector<std::string> get(const Key& key, const WeftdConfig& config);
/// The present value as TOML: `"1s"`, `2`, `["auto"]`.
std::string get_toml(const Key& key, const WeftdConfig& config);

/// What is wrong between keys that are each allowed: the key to blame and a sentence.
std::vector<std::pair<std::string, std::string>> contradictions(const WeftdConfig& config);

}  // namespace weft::config
