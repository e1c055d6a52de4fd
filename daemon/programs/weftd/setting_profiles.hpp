// SPDX-License-Identifier: Apache-2.0
#pragma once
// The file of drift.profiles_file: how a site wants its ports and adapters to be set up.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>

#include "analyzer/drift/setting_profiles.hpp"
#include "fabric/result.hpp"

namespace weft::daemon {

/// Profiles of one file at most, and texts of one list.
inline constexpr std::size_t kMostProfiles = 64;
inline constexpr std::size_t kMostProfileTexts = 64;

/// Of a TOML text:
///
///     [[profile]]
///     name = "gpu-roce"              # 1 to 64 letters, digits, '.', '-' and '_'; each once
///     hosts = ["gpu-*"]              # patterns; left out: all
///     ports = "ethernet"             # or "infiniband"; left out: both
///     boards = ["MT_0000000838"]     # left out: all
///     based_on = "roce"              # settings of its own that `expect` does not have; left out: none
///     [profile.expect]
///     mtu = 9000                     # a fact (fabric/config_facts.hpp) with what it should be
///     firmware = ["28.41.*", "28.43.1014"]  # or a list: any of these; '*' is any text and '?' one letter
///
/// kInvalidArgument with the line when the text is none.
Result<analyzer::SettingProfiles> parse_profiles(std::string_view text);

/// Reads that file; null where `path` is empty. Fails with a sentence that names the file.
Result<std::shared_ptr<const analyzer::SettingProfiles>> read_profiles(const std::filesystem::path& path);

}  // namespace weft::daemon
