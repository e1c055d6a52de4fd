// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a file and flags to a configuration, or to all that is wrong with them at once.

#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/collector_config.hpp"
#include "daemon/config/config.hpp"

namespace weft::config {

/// One fault of a configuration.
struct ConfigError {
  std::string file;   ///< path, or "command line"
  unsigned line = 0;  ///< 0 where no line applies
  std::string key;    ///< dotted name; may be empty
  std::string message;
};
/// "weftd.toml:12: infiniband.retries: 99 is too large; allowed: 0 to 10".
std::string to_string(const ConfigError& error);
/// One line for each error.
std::string print(std::span<const ConfigError> errors);

/// Whether `text` has `name`, a key or a path, as a whole: "/etc/weft/ca" is not in "/etc/weft/ca.crt".
bool names(std::string_view text, std::string_view name);

/// Keys whose values are wrong or were not understood. What depends on one of them is not known.
struct Doubts {
  bool all = false;                           ///< the file could not be read to its end
  std::set<std::string, std::less<>> keys{};  ///< names

  /// Whether there is one among the keys that begin with `prefix`, as in "security.".
  bool within(std::string_view prefix) const;
};

/// A configuration, or what is wrong with it.
template <typename Config>
struct LoadOutcomeOf {
  Config config;                    ///< defaults where nothing valid was said; to be run with only without errors
  std::vector<ConfigError> errors;  ///< by line within the file, then the flags', then those between keys
  Doubts doubts;                    ///< of what is in `errors`
};
/// The outcome of loading weftd's configuration.
using LoadOutcome = LoadOutcomeOf<WeftdConfig>;

/// One flag as given: the key's name and the text; a list's items are separated by commas.
struct FlagSetting {
  std::string key;
  std::string text;
};

/// Reads `file` (none: defaults only), then the flags over it, then checks the whole. An error between keys is left out
/// when one of them is in doubt.
template <typename Config = WeftdConfig>
LoadOutcomeOf<Config> load(const std::optional<std::filesystem::path>& file, std::span<const FlagSetting> flags = {});
/// The same for a text already in memory; `name` stands for the file in the errors.
template <typename Config = WeftdConfig>
LoadOutcomeOf<Config> load_text(std::string_view text, const std::string& name,
                                std::span<const FlagSetting> flags = {});

/// Sets one key from the text of a flag. The sentence that says what is wrong, or nullopt.
template <typename Config>
std::optional<std::string> set_from_text(Config& config, std::string_view key, std::string_view text);

/// How a path of a file that systemd gives our unit begins in a configuration.
inline constexpr std::string_view kCredential = "$CREDENTIALS_DIRECTORY/";
/// For a check by hand: where the environment has no folder of credentials, paths of such stay as they are written,
/// instead of being an error. Before load().
void leave_credentials();
/// Names of the keys whose paths stayed so.
template <typename Config>
std::vector<std::string> left_credentials(const Config& config);

/// One key for whoever makes flags of them.
struct KeyDescription {
  std::string name;
  std::vector<std::string> flags;  ///< "--sweep-interval", "--infiniband-sweep-interval"
  std::string type;
  std::string default_text;
  std::string allowed;
  std::string help;
};
/// All keys, in the order of the reference.
template <typename Config = WeftdConfig>
std::vector<KeyDescription> describe_keys();

}  // namespace weft::config
