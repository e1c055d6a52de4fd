// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/postgres_address.hpp"

#include <libpq-fe.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "daemon/adapters/store/lease.hpp"
#include "fabric/site.hpp"

namespace weft::store {
namespace {

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts(1);
  for (const char c : list) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// Nobody between us and that server can listen.
bool is_this_machine(const std::string& host) {
  if (host.starts_with('/') || host.starts_with('@')) return true;
  return is_loopback_address(host.find(':') == std::string::npos ? host + ":0" : '[' + host + "]:0");
}

std::string name_of(const std::map<std::string, std::string>& options) {
  const auto value = [&options](const char* key) {
    const auto found = options.find(key);
    return found == options.end() ? std::string() : found->second;
  };
  const std::vector<std::string> hosts = split(value("host").empty() ? value("hostaddr") : value("host"));
  const std::vector<std::string> ports = split(value("port"));
  std::string name = "postgresql://" + value("user") + (value("user").empty() ? "" : "@");
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::string& port = ports.size() == hosts.size() ? ports[i] : ports.front();
    name += (i == 0 ? "" : ",") + hosts[i] + (port.empty() ? "" : ":" + port);
  }
  return name + '/' + value("dbname");
}

/// The first keyword of an address that libpq does not know. Empty where there is none, and where what stands there may
/// be a part of a password.
std::string unknown_keyword(std::string_view url) {
  const std::size_t begin = url.find('?');
  if (begin == std::string_view::npos || url.find('@', begin) != std::string_view::npos) return {};
  std::set<std::string, std::less<>> known{"ssl"};  // PostgreSQL 15 documentation, 34.1.1.2
  const std::unique_ptr<PQconninfoOption, FreeOptions> all(PQconndefaults());
  for (const PQconninfoOption* each = all.get(); each != nullptr && each->keyword != nullptr; ++each)
    known.insert(each->keyword);
  for (std::string_view rest = url.substr(begin); !rest.empty();) {
    const std::string_view part = rest.substr(1, rest.find('&', 1) - 1), key = part.substr(0, part.find('='));
    rest.remove_prefix(part.size() + 1);
    const bool is_word =
        !key.empty() && key.size() < 32 && key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == key.npos;
    if (!is_word || key.size() == part.size()) return {};
    if (!known.contains(key)) return std::string(key);
  }
  return {};
}

/// What of these is no value that libpq takes (PostgreSQL 15 documentation, 34.1.2): libpq itself says so only when it
/// connects. Empty: nothing. What may be a part of a password, as behind "user:" where that has a slash, is not shown.
std::string bad_value(const std::map<std::string, std::string>& options) {
  const auto value = [&options](const char* key) {
    const auto found = options.find(key);
    return found == options.end() ? std::string() : found->second;
  };
  static const std::map<const char*, std::set<std::string>> kWords{
      {"sslmode", {"", "disable", "allow", "prefer", "require", "verify-ca", "verify-full"}},
      {"target_session_attrs", {"", "any", "read-write", "read-only", "primary", "standby", "prefer-standby"}},
      {"channel_binding", {"", "disable", "prefer", "require"}},
      {"gssencmode", {"", "disable", "prefer", "require"}},
  };
  const auto shown = [&value](const char* key) {
    const std::string text = value(key);
    const bool is_word = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") == text.npos;
    return std::string("has ") + key + (is_word ? '=' + text : " with a value");
  };
  for (const auto& [key, words] : kWords)
    if (!words.contains(value(key))) return shown(key) + ", which libpq does not know";
  const auto is_number = [](const std::string& text) {
    return text != "-" && text.size() < 10 &&
           text.find_first_not_of("0123456789", text.starts_with('-') ? 1 : 0) == text.npos;
  };
  for (const char* key : {"connect_timeout", "tcp_user_timeout", "keepalives", "keepalives_idle", "keepalives_interval",
                          "keepalives_count"})
    if (!is_number(value(key))) return shown(key) + ", which is not a whole number";
  const std::vector<std::string> ports = split(value("port"));
  for (const std::string& port : ports)
    if (!port.empty() && (!is_number(port) || port.size() > 5 || port.starts_with('-') || std::stol(port) < 1 ||
                          std::stol(port) > 65535))
      return "has a port that is not a number from 1 to 65535";
  const std::size_t hosts = split(value(options.contains("host") ? "host" : "hostaddr")).size();
  const auto unlike = [&](const char* key, std::size_t count) {
    return "has " + std::to_string(count) + (count == 1 ? " value of " : " values of ") + key + " for " +
           std::to_string(hosts) + (hosts == 1 ? " host" : " hosts");
  };
  if (ports.size() != 1 && ports.size() != hosts) return unlike("port", ports.size());
  if (const std::size_t count = split(value("hostaddr")).size(); options.contains("hostaddr") && count != hosts)
    return unlike("hostaddr", count);
  return {};
}

/// In the keyword `options`: what the server sets when the connection begins (PostgreSQL 15 documentation, 34.1.2).
constexpr std::string_view kSearchPath = "-csearch_path=";
constexpr std::string_view kShardSchema = "weft_shard_";
/// What connections are called that nobody named.
constexpr const char* kProgram = "weftd";
/// The server cuts a longer name off, and with it what the connection is for (NAMEDATALEN - 1).
constexpr std::size_t kLongestName = 63;

}  // namespace

bool is_url(const std::string& place) {
  return place.find("://") != std::string::npos;
}

void name_connection(PostgresAddress& address, const std::string& use) {
  std::string& name = address.options["application_name"];
  if (name != kProgram) return;
  const std::string holder = holder_name(), shard = shard_of_schema(address.schema);
  const std::string rest = '/' + std::to_string(::getpid()) + ' ' + shard + (shard.empty() ? "" : " ") + use;
  const std::size_t room = kLongestName - std::min(kLongestName, name.size() + 1 + rest.size());
  name += ' ' + holder.substr(0, std::min(holder.find(','), room)) + rest;
}

std::vector<std::map<std::string, std::string>> each_server(const std::map<std::string, std::string>& options) {
  std::vector<std::map<std::string, std::string>> servers;
  for (const char* key : {"host", "hostaddr", "port"}) {
    const auto list = options.find(key);
    if (list == options.end()) continue;
    const std::vector<std::string> parts = split(list->second);
    if (servers.empty()) servers.assign(parts.size(), options);
    // One port is that of all hosts.
    for (std::size_t i = 0; i < servers.size(); ++i) servers[i][key] = parts.size() == 1 ? parts.front() : parts.at(i);
  }
  return servers;
}

std::string shard_schema(const std::string& shard) {
  return std::string(kShardSchema) + shard;
}

std::string shard_of_schema(const std::string& schema) {
  return schema.starts_with(kShardSchema) ? schema.substr(std::string_view(kShardSchema).size()) : std::string();
}

std::string shard_url(const std::string& url, const std::string& shard) {
  if (shard.empty()) return url;
  return url + (url.find('?') == std::string::npos ? '?' : '&') + "options=-csearch_path%3D" + shard_schema(shard);
}

Result<PostgresAddress> parse_postgres_address(const std::string& url) {
  const auto refuse = [](const std::string& why) { return fail(ErrorCode::kInvalidArgument, why); };
  if (!url.starts_with("postgresql://") && !url.starts_with("postgres://"))
    return refuse("is not of the form postgresql://user@host/database");
  char* complaint = nullptr;
  const std::unique_ptr<PQconninfoOption, FreeOptions> parsed(PQconninfoParse(url.c_str(), &complaint));
  // The complaint quotes what it did not understand, which may be a part of a password.
  if (complaint != nullptr) PQfreemem(complaint);
  if (const std::string unknown = parsed ? "" : unknown_keyword(url); !unknown.empty())
    return refuse("has the keyword " + unknown + ", which libpq does not know");
  if (!parsed) return refuse("is not a PostgreSQL address: postgresql://user@host,host/database?keyword=value");
  PostgresAddress address;
  for (const PQconninfoOption* each = parsed.get(); each->keyword != nullptr; ++each)
    if (each->val != nullptr && *each->val != '\0') address.options.emplace(each->keyword, each->val);
  auto& options = address.options;
  if (options.contains("password") || options.contains("sslpassword"))
    return refuse("contains a password: put it into a file that only weftd can read, and name it with passfile=FILE");
  if (options.contains("service")) return refuse("names a service: name the hosts");
  const char* where = options.contains("hostaddr") ? "hostaddr" : "host";
  if (!options.contains(where)) return refuse("names no host");
  if (const std::string bad = bad_value(options); !bad.empty()) return refuse(bad);
  for (const std::string& host : split(options[where])) {
    if (is_this_machine(host)) continue;
    const std::string& mode = options.emplace("sslmode", "verify-full").first->second;
    if (mode != "verify-full")
      return refuse("has sslmode=" + mode + " for " + host +
                    ", which is not this machine: only verify-full makes sure who answers");
  }
  options.emplace("target_session_attrs", "read-write");
  options.emplace("connect_timeout", "3");  // of each host
  options.emplace("tcp_user_timeout", "10000");
  options.emplace("keepalives_idle", "5");
  options.emplace("keepalives_interval", "2");
  options.emplace("keepalives_count", "3");
  options.emplace("application_name", kProgram);
  options.emplace("gssencmode", "disable");
  options["client_encoding"] = "UTF8";
  address.name = name_of(options);
  if (const std::string& set = options["options"];
      set.starts_with(std::string(kSearchPath) + std::string(kShardSchema))) {
    address.schema = set.substr(kSearchPath.size());
    address.name += " (schema " + address.schema + ')';
  }
  if (options["options"].empty()) options.erase("options");
  return address;
}

}  // namespace weft::store
