// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "daemon/config/load.hpp"
#include "daemon/config/schema.hpp"
#include "daemon/config/value_text.hpp"

// What a key's type means: reading, bounding and writing its value.

namespace weft::config {
namespace {

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <typename... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

/// Which alternative the key has; what it points to is gone when this returns.
template <typename Config>
Field type_of(const KeyOf<Config>& key) {
  Config config;
  return key.field(config);
}

std::string join(const std::vector<std::string>& texts, std::string_view separator) {
  std::string result;
  for (const std::string& text : texts) result += (result.empty() ? "" : std::string(separator)) + text;
  return result;
}

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string bounds_text(const Field& field, const Bounds& bounds) {
  const auto text = [&field](double value) {
    if (std::holds_alternative<Duration*>(field))
      return format_duration(std::chrono::round<Duration>(std::chrono::duration<double>(value)));
    if (std::holds_alternative<Bytes*>(field)) return format_bytes(Bytes{static_cast<std::uint64_t>(value)});
    if (std::holds_alternative<double*>(field)) return format_real(value);
    return std::to_string(static_cast<std::uint64_t>(value));
  };
  return text(bounds.low) + " to " + text(bounds.high);
}

/// Puts `parsed` into `place` when it lies between the bounds, given that `size` is its place between them.
template <typename Config, typename T, typename U>
std::optional<std::string> put_bounded(const KeyOf<Config>& key, const Field& field, T* place, const Parsed<U>& parsed,
                                       std::string_view text, double (*size)(U)) {
  if (!parsed) return parsed.error() + (key.word.empty() ? "" : ", or \"" + std::string(key.word) + '"');
  const double value = size(*parsed);
  if (value < key.bounds.low || value > key.bounds.high)
    return std::string(text) + (value < key.bounds.low ? " is too small" : " is too large") +
           "; allowed: " + bounds_text(field, key.bounds);
  if constexpr (std::is_convertible_v<U, T> && !std::is_same_v<U, T>)
    *place = static_cast<unsigned>(*parsed);
  else
    *place = *parsed;
  return std::nullopt;
}

template <typename T>
std::optional<std::string> put(T* place, Parsed<T> parsed) {
  if (!parsed) return parsed.error();
  *place = std::move(*parsed);
  return std::nullopt;
}

/// Each text once, none empty, each among the key's choices where it has some. A single empty text (a flag's) is an
/// empty list.
template <typename Config>
std::optional<std::string> put_list(const KeyOf<Config>& key, std::vector<std::string>* place,
                                    const std::vector<std::string>& texts) {
  std::vector<std::string> list;
  if (texts.size() != 1 || !texts.front().empty()) list = texts;
  for (auto item = list.begin(); item != list.end(); ++item) {
    if (item->empty()) return "contains an empty text";
    if (std::find(list.begin(), item, *item) != item) return in_quotes(*item) + " is listed twice";
    if (!key.choices.empty() && std::ranges::find(key.choices, *item) == key.choices.end())
      return in_quotes(*item) + " is not known; allowed: " + join({key.choices.begin(), key.choices.end()}, ", ");
  }
  *place = std::move(list);
  return std::nullopt;
}

/// Of what begins with $CREDENTIALS_DIRECTORY/, a file that systemd gave our unit: systemd.exec(5), LoadCredential=.
Parsed<std::filesystem::path> parse_path(const std::string& text) {
  if (!text.starts_with(kCredential)) return text;
  const char* const folder = std::getenv("CREDENTIALS_DIRECTORY");
  if (folder == nullptr)
    return tl::unexpected<std::string>(
        "is a credential of the unit, which systemd alone gives it; by hand set the environment variable "
        "CREDENTIALS_DIRECTORY to a folder with such files");
  return std::filesystem::path(folder) / text.substr(kCredential.size());
}

double size_of_integer(std::uint64_t value) {
  return static_cast<double>(value);
}
double size_of_real(double value) {
  return value;
}
double size_of_duration(Duration value) {
  return seconds(value);
}
double size_of_bytes(Bytes value) {
  return static_cast<double>(value.value);
}

}  // namespace

bool takes_list(const Field& field) {
  return std::holds_alternative<InfinibandPorts*>(field) || std::holds_alternative<std::vector<std::string>*>(field) ||
         std::holds_alternative<std::vector<Peer>*>(field);
}

template <typename Config>
std::string type_name(const KeyOf<Config>& key) {
  return std::visit(
      Overloaded{[](bool*) { return "true or false"; }, [](unsigned*) { return "whole number"; },
                 [](double*) { return "number"; }, [](Duration*) { return "duration"; }, [](Bytes*) { return "size"; },
                 [](std::string*) { return "text"; }, [](std::filesystem::path*) { return "path"; },
                 [](Address*) { return "address"; }, [](std::vector<Peer>*) { return "list of addresses"; },
                 [](InfinibandPorts*) { return "list of texts"; },
                 [](std::optional<unsigned>*) { return "whole number or word"; }, [](RemedyMode*) { return "word"; },
                 [](std::vector<std::string>*) { return "list of texts"; }},
      type_of(key));
}

template <typename Config>
std::string allowed(const KeyOf<Config>& key) {
  const Field field = type_of(key);
  if (!key.choices.empty()) return join({key.choices.begin(), key.choices.end()}, ", ");
  if (std::holds_alternative<Address*>(field)) return "ADDR:PORT, IPv6 in brackets";
  if (std::holds_alternative<std::vector<Peer>*>(field))
    return "HOST:PORT, IPv6 in brackets; several also in one text, separated by commas";
  if (std::holds_alternative<InfinibandPorts*>(field)) return "\"auto\", \"DEVICE:PORT\", \"FABRIC=DEVICE:PORT\"";
  if (key.bounds.low == key.bounds.high) return {};
  std::string text = bounds_text(field, key.bounds);
  if (!key.unit.empty()) text += ' ' + std::string(key.unit);
  return key.word.empty() ? text : in_quotes(key.word) + ", " + text;
}

template <typename Config>
std::optional<std::string> set(const KeyOf<Config>& key, Config& config, const std::vector<std::string>& texts) {
  const Field field = key.field(config);
  if (auto* const* ports = std::get_if<InfinibandPorts*>(&field)) return put(*ports, parse_ports(texts));
  if (auto* const* peers = std::get_if<std::vector<Peer>*>(&field)) return put(*peers, parse_peers(texts));
  if (auto* const* list = std::get_if<std::vector<std::string>*>(&field)) return put_list(key, *list, texts);
  if (texts.size() != 1) return "takes one value";
  const std::string& text = texts.front();
  if (!key.word.empty() && text == key.word) {
    *std::get<std::optional<unsigned>*>(field) = std::nullopt;
    return std::nullopt;
  }
  if (!key.choices.empty() && std::ranges::find(key.choices, text) == key.choices.end())
    return in_quotes(text) + " is not known; allowed: " + allowed(key);
  return std::visit(
      Overloaded{
          [&](bool* place) { return put(place, parse_bool(text)); },
          [&](unsigned* place) { return put_bounded(key, field, place, parse_integer(text), text, size_of_integer); },
          [&](std::optional<unsigned>* place) {
            return put_bounded(key, field, place, parse_integer(text), text, size_of_integer);
          },
          [&](double* place) { return put_bounded(key, field, place, parse_real(text), text, size_of_real); },
          [&](Duration* place) { return put_bounded(key, field, place, parse_duration(text), text, size_of_duration); },
          [&](Bytes* place) { return put_bounded(key, field, place, parse_bytes(text), text, size_of_bytes); },
          [&](Address* place) { return put(place, parse_address(text)); },
          [&](std::vector<Peer>* place) { return put(place, parse_peers(texts)); },
          [&](InfinibandPorts* place) { return put(place, parse_ports(texts)); },
          [&](std::vector<std::string>* place) { return put_list(key, place, texts); },
          [&](RemedyMode* place) {
            *place = parse_remedy_mode(text).value_or(*place);  // the key's choices are its names
            return std::optional<std::string>{};
          },
          [&](std::string* place) {
            *place = text;
            return std::optional<std::string>{};
          },
          [&](std::filesystem::path* place) -> std::optional<std::string> {
            Config defaults;
            if (text.empty() && !std::get<std::filesystem::path*>(key.field(defaults))->empty())
              return "must not be empty";
            return put(place, parse_path(text));
          }},
      field);
}

template <typename Config>
std::vector<std::string> get(const KeyOf<Config>& key, const Config& config) {
  Config copy = config;
  return std::visit(Overloaded{[](bool* value) { return std::vector<std::string>{*value ? "true" : "false"}; },
                               [](unsigned* value) { return std::vector{std::to_string(*value)}; },
                               [](double* value) { return std::vector{format_real(*value)}; },
                               [](Duration* value) { return std::vector{format_duration(*value)}; },
                               [](Bytes* value) { return std::vector{format_bytes(*value)}; },
                               [](std::string* value) { return std::vector{*value}; },
                               [](std::filesystem::path* value) { return std::vector{value->string()}; },
                               [](Address* value) { return std::vector{format_address(*value)}; },
                               [](std::vector<Peer>* value) { return format_peers(*value); },
                               [](InfinibandPorts* value) { return format_ports(*value); },
                               [](RemedyMode* value) { return std::vector<std::string>{to_string(*value)}; },
                               [](std::vector<std::string>* value) { return *value; },
                               [&](std::optional<unsigned>* value) {
                                 return std::vector{*value ? std::to_string(**value) : std::string(key.word)};
                               }},
                    key.field(copy));
}

template <typename Config>
std::string get_toml(const KeyOf<Config>& key, const Config& config) {
  const Field field = type_of(key);
  std::vector<std::string> texts = get(key, config);
  if (takes_list(field)) {
    for (std::string& text : texts) text = in_quotes(text);
    return '[' + join(texts, ", ") + ']';
  }
  const bool bare = std::holds_alternative<bool*>(field) || std::holds_alternative<unsigned*>(field) ||
                    std::holds_alternative<double*>(field) ||
                    (std::holds_alternative<std::optional<unsigned>*>(field) && texts.front() != key.word);
  return bare ? texts.front() : in_quotes(texts.front());
}

#define WEFT_CONFIG(Config)                                                                                \
  template std::string type_name(const KeyOf<Config>&);                                                    \
  template std::string allowed(const KeyOf<Config>&);                                                      \
  template std::optional<std::string> set(const KeyOf<Config>&, Config&, const std::vector<std::string>&); \
  template std::vector<std::string> get(const KeyOf<Config>&, const Config&);                              \
  template std::string get_toml(const KeyOf<Config>&, const Config&);
WEFT_CONFIG(WeftdConfig)
WEFT_CONFIG(CollectorConfig)
#undef WEFT_CONFIG

}  // namespace weft::config
