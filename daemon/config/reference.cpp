// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/reference.hpp"

#include <string_view>

namespace weft::config {
namespace {

/// "infiniband" of "infiniband.window"; "" of "state_dir".
std::string_view section_of(std::string_view key) {
  const std::size_t dot = key.find('.');
  return dot == std::string_view::npos ? std::string_view{} : key.substr(0, dot);
}

/// Breaks `text` into lines of at most 100 columns, each behind "# ".
std::string comment(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    std::size_t length = text.size();
    if (length > 98) {
      length = text.rfind(' ', 98);
      if (length == std::string_view::npos) length = text.size();
    }
    result += "# " + std::string(text.substr(0, length)) + '\n';
    text.remove_prefix(length < text.size() ? length + 1 : length);
  }
  return result;
}

}  // namespace

template <typename Config>
std::string reference_document() {
  const std::string program(Config::kNames.program);
  std::string text =
      "# Configuration of " + program + "\n\nGenerated from the schema by `" + program +
      " --config-reference`. One TOML file, normally /etc/weft/" + std::string(Config::kNames.file) +
      "; every key is also a\nflag, and flags win. All errors are reported at once, with their lines: `" + program +
      " --config FILE --check-config`.\n\n"
      "A duration is a number and a unit (ns, us, ms, s, m, h, d), or a sum such as 1h30m;\n"
      "a size is bytes, or has KiB, MiB, GiB or TiB.\n";
  std::string_view section = "-";
  const std::vector<KeyDescription> keys = describe_keys<Config>();
  for (const KeyDescription& key : keys) {
    if (section_of(key.name) != section) {
      section = section_of(key.name);
      text += section.empty() ? "\n## " + std::string(Config::kNames.own_section) + "\n"
                              : "\n## " + std::string(section) + "\n";
    }
    text += "\n### `" + key.name + "`\n\n" + key.help + "\n\n- Type: " + key.type + "; default: `" + key.default_text +
            "`\n";
    if (!key.allowed.empty()) text += "- Allowed: " + key.allowed + "\n";
    text += "- Flag:";
    for (const std::string& flag : key.flags) text += (&flag == &key.flags.front() ? " `" : ", `") + flag + "`";
    text += "\n";
  }
  return text;
}

template <typename Config>
std::string example_config() {
  const std::string program(Config::kNames.program);
  std::string text = "# Configuration of " + program +
                     ", with every key at its default. Uncomment what you change.\n# Check it with: " + program +
                     " --config FILE --check-config\n";
  std::string_view section = "";
  const std::vector<KeyDescription> keys = describe_keys<Config>();
  for (const KeyDescription& key : keys) {
    if (section_of(key.name) != section) {
      section = section_of(key.name);
      text += "\n[" + std::string(section) + "]\n";
    }
    const std::string_view leaf = std::string_view(key.name).substr(section.empty() ? 0 : section.size() + 1);
    text += '\n' + comment(key.help);
    if (!key.allowed.empty()) text += comment("Allowed: " + key.allowed);
    text += '#' + std::string(leaf) + " = " + key.default_text + '\n';
  }
  return text;
}

template std::string reference_document<WeftdConfig>();
template std::string reference_document<CollectorConfig>();
template std::string example_config<WeftdConfig>();
template std::string example_config<CollectorConfig>();

}  // namespace weft::config
