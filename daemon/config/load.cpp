// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/load.hpp"

#include <toml++/toml.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <map>
#include <system_error>

#include "daemon/config/schema.hpp"
#include "daemon/config/value_text.hpp"
#include "daemon/platform/cli/spelling.hpp"
#include "fabric/list_text.hpp"
#include "fabric/result.hpp"

namespace weft::config {
namespace {

constexpr std::size_t kLargestFile = 1 << 20;
constexpr std::size_t kMostSyntaxErrors = 20;
constexpr const char* kCommandLine = "command line";

template <typename Config>
const KeyOf<Config>* find(const std::vector<KeyOf<Config>>& keys, std::string_view name) {
  const auto found = std::ranges::find(keys, name, &KeyOf<Config>::name);
  return found == keys.end() ? nullptr : &*found;
}

/// The known key that was probably meant, or "".
template <typename Config>
std::string_view nearest(const std::vector<KeyOf<Config>>& keys, std::string_view name) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 4) + 1;
  for (const KeyOf<Config>& key : keys) {
    // "sweep_interval" outside its table is the commonest slip of all.
    if (key.name.ends_with(name) && key.name.size() > name.size() && key.name[key.name.size() - name.size() - 1] == '.')
      return key.name;
    const std::size_t distance = usage::distance(name, key.name);
    if (distance < best_distance) {
      best_distance = distance;
      best = key.name;
    }
  }
  return best;
}

/// Notes that the value of `name` was not understood: of the known key, of all keys of that section, or of the key that
/// was probably meant.
template <typename Config>
void doubt(const std::vector<KeyOf<Config>>& keys, std::string_view name, Doubts& doubts) {
  const std::string section = std::string(name) + '.';
  bool known = false;
  for (const KeyOf<Config>& key : keys) {
    if (key.name != name && !key.name.starts_with(section)) continue;
    doubts.keys.emplace(key.name);
    known = true;
  }
  if (known) return;
  if (const std::string_view meant = nearest(keys, name); !meant.empty()) doubts.keys.emplace(meant);
}

/// The same for a line that is no TOML: each key that ends with what stands at its begin.
template <typename Config>
void doubt_line(const std::vector<KeyOf<Config>>& keys, std::string_view line, Doubts& doubts) {
  const std::size_t begin = line.find_first_not_of(" \t\"'");
  if (begin == std::string_view::npos) return;
  line = line.substr(begin, line.find_first_of(" \t\"'=", begin) - begin);
  const std::string word = '.' + std::string(line.substr(line.rfind('.') + 1));
  for (const KeyOf<Config>& key : keys)
    if (('.' + std::string(key.name)).ends_with(word)) doubts.keys.emplace(key.name);
  doubt(keys, line, doubts);
}

template <typename Config>
std::string unknown(const std::vector<KeyOf<Config>>& keys, std::string_view name) {
  const std::string_view meant = nearest(keys, name);
  if (meant.empty()) return "unknown key; " + std::string(Config::kNames.program) + " --config-reference lists them";
  return "unknown key; did you mean " + std::string(meant) + "?";
}

std::string type_of(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array()) return "a list";
  if (node.is_string()) return "a text";
  if (node.is_integer()) return "a whole number";
  if (node.is_floating_point()) return "a number";
  if (node.is_boolean()) return "true or false";
  return "a date or time";
}

/// The node as set() takes it: nullopt when its TOML type is not one that the key can have.
template <typename Config>
std::optional<std::vector<std::string>> texts_of(const KeyOf<Config>& key, const toml::node& node) {
  Config config;
  const Field field = key.field(config);
  const bool number = std::holds_alternative<unsigned*>(field) || std::holds_alternative<double*>(field) ||
                      std::holds_alternative<std::optional<unsigned>*>(field);
  if (const auto* list = node.as_array(); list != nullptr && takes_list(field)) {
    std::vector<std::string> texts;
    for (const toml::node& item : *list) {
      if (!item.is_string()) return std::nullopt;
      texts.push_back(item.as_string()->get());
    }
    return texts;
  }
  if (node.is_integer() && number) return {{std::to_string(node.as_integer()->get())}};
  if (node.is_floating_point() && std::holds_alternative<double*>(field))
    return {{format_real(node.as_floating_point()->get())}};
  if (node.is_boolean() && std::holds_alternative<bool*>(field)) return {{node.as_boolean()->get() ? "true" : "false"}};
  // Several addresses may stand in one text, as on the command line.
  const bool text = std::holds_alternative<std::vector<Peer>*>(field) ||
                    (!number && !std::holds_alternative<bool*>(field) && !takes_list(field));
  if (node.is_string() && (text || (!key.word.empty() && node.as_string()->get() == key.word)))
    return {{node.as_string()->get()}};
  return std::nullopt;
}

/// Walks the parsed file.
template <typename Config>
class Reader {
 public:
  Reader(const std::vector<KeyOf<Config>>& keys, const std::string& file, LoadOutcomeOf<Config>& outcome)
      : keys_(keys), file_(file), outcome_(outcome) {}

  void read(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const std::string name = prefix.empty() ? std::string(key.str()) : prefix + '.' + std::string(key.str());
      take(name, key.source().begin.line, node);
    }
  }
  unsigned line_of(std::string_view key) const {
    const auto found = lines_.find(key);
    return found == lines_.end() ? 0 : found->second;
  }

 private:
  void take(const std::string& name, unsigned line, const toml::node& node) {
    const auto wrong = [&](std::string message) {
      outcome_.errors.push_back({file_, line, name, std::move(message)});
      doubt(keys_, name, outcome_.doubts);
    };
    const KeyOf<Config>* key = find(keys_, name);
    if (key == nullptr) {
      const toml::table* table = node.as_table();
      const bool section =
          std::ranges::any_of(keys_, [&](const KeyOf<Config>& k) { return k.name.starts_with(name + '.'); });
      if (table != nullptr && (section || !table->empty())) return read(*table, name);
      return wrong(section ? "is a table of keys, not " + type_of(node) : unknown(keys_, name));
    }
    const auto texts = texts_of(*key, node);
    if (!texts) return wrong("must be " + shape(*key) + ", not " + type_of(node));
    if (auto problem = set(*key, outcome_.config, *texts)) return wrong(std::move(*problem));
    lines_[name] = line;
  }

  /// "a duration such as "1s"": the default shows how the type is written.
  static std::string shape(const KeyOf<Config>& key) {
    return "a " + type_name(key) + " such as " + get_toml(key, Config{});
  }

  const std::vector<KeyOf<Config>>& keys_;
  const std::string& file_;
  LoadOutcomeOf<Config>& outcome_;
  std::map<std::string, unsigned, std::less<>> lines_;
};

/// Empties line `number` (from 1) when it is a plain `key = value`, so that the rest can be looked at too, and returns
/// it. Nullopt when it is anything that gives the following lines their meaning.
std::optional<std::string> blank(std::string& text, unsigned number) {
  std::size_t begin = 0;
  for (unsigned line = 1; line < number; ++line) {
    begin = text.find('\n', begin);
    if (begin == std::string::npos) return std::nullopt;
    ++begin;
  }
  const std::size_t end = std::min(text.find('\n', begin), text.size());
  const std::string content = text.substr(begin, end - begin);
  const std::size_t first = content.find_first_not_of(" \t");
  if (first == std::string::npos || content[first] == '[') return std::nullopt;
  if (content.find("\"\"\"") != std::string::npos || content.find("'''") != std::string::npos) return std::nullopt;
  if (const auto open = content.find('['); open != std::string::npos && content.find(']', open) == std::string::npos)
    return std::nullopt;
  text.replace(begin, end - begin, "");
  return content;
}

/// Parses as far as it goes; every syntax error is noted.
template <typename Config>
toml::table parse(const std::vector<KeyOf<Config>>& keys, std::string text, const std::string& file,
                  LoadOutcomeOf<Config>& outcome) {
  while (outcome.errors.size() < kMostSyntaxErrors) {
    try {
      return toml::parse(text, file);
    } catch (const toml::parse_error& error) {
      const unsigned line = error.source().begin.line;
      outcome.errors.push_back({file, line, {}, "invalid TOML: " + std::string(error.description())});
      const auto blanked = blank(text, line);
      if (!blanked) break;
      doubt_line(keys, *blanked, outcome.doubts);
    }
  }
  outcome.doubts.all = true;
  return {};
}

template <typename Config>
void apply_flags(const std::vector<KeyOf<Config>>& keys, std::span<const FlagSetting> flags,
                 LoadOutcomeOf<Config>& outcome) {
  for (const FlagSetting& flag : flags) {
    const auto problem = set_from_text(outcome.config, flag.key, flag.text);
    if (!problem) continue;
    outcome.errors.push_back({kCommandLine, 0, flag.key, find(keys, flag.key) ? *problem : unknown(keys, flag.key)});
    doubt(keys, flag.key, outcome.doubts);
  }
}

/// Whether what is said of `key` hangs from a value in doubt: a message names each key that it depends on.
bool is_doubtful(const Doubts& doubts, const std::string& key, const std::string& message) {
  return doubts.all || std::ranges::any_of(doubts.keys, [&](const std::string& other) {
           return key == other || names(message, other);
         });
}

/// Flags over the file, then what only shows when all is known.
template <typename Config>
LoadOutcomeOf<Config> finish(LoadOutcomeOf<Config> outcome, const std::vector<KeyOf<Config>>& keys,
                             std::span<const FlagSetting> flags, const std::string& file,
                             const Reader<Config>& reader) {
  std::ranges::stable_sort(outcome.errors, {}, &ConfigError::line);
  apply_flags(keys, flags, outcome);
  const Doubts values = outcome.doubts;
  for (auto& problem : contradictions(outcome.config)) {
    const std::string& key = problem.first;
    if (is_doubtful(values, key, problem.second)) continue;
    outcome.doubts.keys.insert(key);
    const bool from_flag = std::ranges::any_of(flags, [&key](const FlagSetting& flag) { return flag.key == key; });
    const unsigned line = from_flag ? 0 : reader.line_of(key);
    outcome.errors.push_back({from_flag ? kCommandLine : file, line, key, std::move(problem.second)});
  }
  return outcome;
}

}  // namespace

std::string to_string(const ConfigError& error) {
  std::string text = error.file;
  if (error.line != 0) text += ':' + std::to_string(error.line);
  if (!text.empty()) text += ": ";
  if (!error.key.empty()) text += error.key + ": ";
  return text + error.message;
}

std::string print(std::span<const ConfigError> errors) {
  std::string text;
  for (const ConfigError& error : errors) text += to_string(error) + '\n';
  return text;
}

bool names(std::string_view text, std::string_view name) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; };
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::string_view before = text.substr(0, at);
    const std::string_view after = text.substr(at + name.size());
    const bool begins = before.empty() || !(is_word(before.back()) || before.back() == '.' || before.back() == '/');
    const bool goes_on = after.size() > 1 && (after.front() == '.' || after.front() == '/') && is_word(after[1]);
    if (begins && !goes_on && (after.empty() || !is_word(after.front()))) return true;
  }
  return false;
}

bool Doubts::within(std::string_view prefix) const {
  return all || std::ranges::any_of(keys, [prefix](const std::string& key) { return key.starts_with(prefix); });
}

template <typename Config>
LoadOutcomeOf<Config> load_text(std::string_view text, const std::string& name, std::span<const FlagSetting> flags) {
  const std::vector<KeyOf<Config>> keys = schema<Config>();
  LoadOutcomeOf<Config> outcome;
  const toml::table table = parse(keys, std::string(text), name, outcome);
  Reader<Config> reader(keys, name, outcome);
  reader.read(table, {});
  return finish(std::move(outcome), keys, flags, name, reader);
}

template <typename Config>
LoadOutcomeOf<Config> load(const std::optional<std::filesystem::path>& file, std::span<const FlagSetting> flags) {
  if (!file) return load_text<Config>({}, "", flags);
  const auto refuse = [&](std::string why) {
    LoadOutcomeOf<Config> outcome;
    outcome.errors.push_back({file->string(), 0, {}, std::move(why)});
    outcome.doubts.all = true;
    apply_flags(schema<Config>(), flags, outcome);
    return outcome;
  };
  std::error_code error;
  if (std::filesystem::is_directory(*file, error)) return refuse("cannot be read: it is a directory");
  errno = 0;
  std::ifstream stream(*file, std::ios::binary);
  std::string text(kLargestFile + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream.eof() && text.size() == static_cast<std::size_t>(stream.gcount())) return refuse("is larger than 1 MiB");
  if (!stream.is_open() || stream.bad()) return refuse("cannot be read: " + errno_message(errno));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return load_text<Config>(text, file->string(), flags);
}

template <typename Config>
std::optional<std::string> set_from_text(Config& config, std::string_view key, std::string_view text) {
  const std::vector<KeyOf<Config>> keys = schema<Config>();
  const KeyOf<Config>* found = find(keys, key);
  if (found == nullptr) return unknown(keys, key);
  Config probe;
  const bool list = takes_list(found->field(probe));
  return set(*found, config, list ? split_list(text) : std::vector{std::string(text)});
}

template <typename Config>
std::vector<KeyDescription> describe_keys() {
  std::vector<KeyDescription> descriptions;
  for (const KeyOf<Config>& key : schema<Config>()) {
    std::string flag = "--" + std::string(key.name);
    std::ranges::replace_if(
        flag, [](char c) { return c == '.' || c == '_'; }, '-');
    std::vector<std::string> flags{std::move(flag)};
    if (!key.short_flag.empty()) flags.emplace(flags.begin(), key.short_flag);
    descriptions.push_back({std::string(key.name), std::move(flags), type_name(key), get_toml(key, Config{}),
                            allowed(key), std::string(key.help)});
  }
  return descriptions;
}

void leave_credentials() {
  constexpr std::string_view kItself = kCredential.substr(0, kCredential.size() - 1);
  ::setenv("CREDENTIALS_DIRECTORY", std::string(kItself).c_str(), 0);
}

template <typename Config>
std::vector<std::string> left_credentials(const Config& config) {
  std::vector<std::string> names;
  Config read = config;
  for (const KeyOf<Config>& key : schema<Config>()) {
    const Field field = key.field(read);
    const auto* const path = std::get_if<std::filesystem::path*>(&field);
    if (path != nullptr && (*path)->string().starts_with(kCredential)) names.emplace_back(key.name);
  }
  return names;
}

#define WEFT_CONFIG(Config)                                                                                       \
  template LoadOutcomeOf<Config> load(const std::optional<std::filesystem::path>&, std::span<const FlagSetting>); \
  template LoadOutcomeOf<Config> load_text(std::string_view, const std::string&, std::span<const FlagSetting>);   \
  template std::optional<std::string> set_from_text(Config&, std::string_view, std::string_view);                 \
  template std::vector<std::string> left_credentials(const Config&);                                              \
  template std::vector<KeyDescription> describe_keys<Config>();
WEFT_CONFIG(WeftdConfig)
WEFT_CONFIG(CollectorConfig)
#undef WEFT_CONFIG

}  // namespace weft::config
