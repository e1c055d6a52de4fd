// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/input_files.hpp"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>

#include "daemon/platform/runtime/unique_fd.hpp"

namespace weft::daemon {
namespace {

constexpr int kToRead = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;  // a FIFO of that name must not hold us up

/// 0, or the error of opening it.
int open_error(const char* path) {
  const runtime::UniqueFd fd(::open(path, kToRead));
  return fd ? 0 : errno;
}

/// Whom a child process is to be.
struct Account {
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;
};

std::optional<Account> account_of(const std::string& user) {
  const passwd* const found = ::getpwnam(user.c_str());
  if (found == nullptr) return std::nullopt;
  constexpr int kMostGroups = 256;
  Account account{found->pw_uid, found->pw_gid, std::vector<gid_t>(kMostGroups)};
  int count = kMostGroups;
  if (::getgrouplist(user.c_str(), account.group, account.groups.data(), &count) < 0) return std::nullopt;
  account.groups.resize(static_cast<std::size_t>(count));
  return account;
}

/// In the child, where only calls of the kernel are allowed: becomes `account` and writes 1 for each folder that it may
/// not enter, and for the file, which comes last, when it may not open it; else 0. Nothing where it cannot become it.
[[noreturn]] void try_all(const Account& account, const std::vector<std::string>& way, int out) {
  const bool is_it = ::setgroups(account.groups.size(), account.groups.data()) == 0 && ::setgid(account.group) == 0 &&
                     ::setuid(account.user) == 0;
  for (const std::string& path : way) {
    if (!is_it) break;
    const bool is_file = &path == &way.back();
    const int opened = is_file ? ::open(path.c_str(), kToRead) : ::access(path.c_str(), X_OK);
    const char refused = opened < 0 && errno == EACCES ? 1 : 0;
    if (::write(out, &refused, 1) != 1) break;
  }
  ::_exit(0);
}

/// The first on `way`, folders and at its end a file, that `account` may not enter or read; nullopt where there is
/// none, or where that could not be tried.
std::optional<std::string> first_refused(const Account& account, const std::vector<std::string>& way) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const runtime::UniqueFd in(ends[0]);
  runtime::UniqueFd out(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) try_all(account, way, out.get());
  out.reset();
  if (child < 0) return std::nullopt;
  std::optional<std::string> refused;
  for (std::size_t i = 0; i < way.size();) {
    char answer = 0;
    const ssize_t got = ::read(in.get(), &answer, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got != 1) break;
    if (answer != 0 && !refused) refused = way[i];
    ++i;
  }
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return refused;
}

bool is_credential(const std::filesystem::path& path) {
  const char* const folder = std::getenv("CREDENTIALS_DIRECTORY");
  return folder != nullptr && path.string().starts_with(std::string(folder) + '/');
}

/// What weftd.service hides from weftd (systemd.exec(5): ProtectHome=, PrivateTmp=).
bool is_hidden_by_unit(const std::filesystem::path& path) {
  const std::string whole = std::filesystem::absolute(path).lexically_normal().string();
  return std::ranges::any_of(std::array{"/root/", "/home/", "/run/user/", "/tmp/", "/var/tmp/"},
                             [&whole](const char* folder) { return whole.starts_with(folder); });
}

/// The folders on the way to `path`, from / on, and the file itself.
std::vector<std::string> way_to(const std::filesystem::path& path) {
  std::vector<std::string> way;
  std::filesystem::path reached;
  for (const std::filesystem::path& part : std::filesystem::absolute(path).lexically_normal())
    way.push_back((reached /= part).string());
  return way;
}

}  // namespace

std::vector<InputFile> input_files(const config::WeftdConfig& config) {
  std::vector<InputFile> files;
  const auto add = [&files](std::string_view key, const std::filesystem::path& path, bool is_read = true) {
    if (is_read && !path.empty()) files.push_back({key, path});
  };
  const config::Security& security = config.security;
  add("security.certificate", security.certificate);
  add("security.key", security.key);
  add("security.client_authorities", security.client_authorities);
  add("security.tokens_file", security.tokens_file);
  const bool enrolls = !security.enroll.certificate.empty();
  add("security.enroll.certificate", security.enroll.certificate);
  add("security.enroll.key", security.enroll.key, enrolls);
  add("security.enroll.authorities", security.enroll.authorities, enrolls);
  add("security.proxy.secret_file", security.proxy.secret_file);
  add("infiniband.node_name_map", config.infiniband.node_name_map);
  add("infiniband.expected_topology", config.infiniband.expected_topology);
  add("infiniband.management_key_file", config.infiniband.management_key_file);
  add("ethernet.cabling", config.ethernet.cabling);
  add("gnmi.targets_file", config.gnmi.targets_file);
  add("otlp.names_file", config.otlp.names_file);
  add("drift.profiles_file", config.drift_profiles_file);
  add("site.authorities", config.site.authorities);
  add("site.certificate", config.site.certificate);
  add("site.key", config.site.key);
  add("site.token_file", config.site.token_file);
  const config::Remedy& remedy = config.remedy;
  add("remedy.infiniband_port.management_key_file", remedy.infiniband_port.management_key_file,
      config.infiniband.enabled);
  const bool asks_rest = remedy.slurm.enabled && !remedy.slurm.rest_url.empty();
  add("remedy.slurm.rest_token_file", remedy.slurm.rest_token_file, asks_rest);
  add("remedy.slurm.rest_certificate_authorities", remedy.slurm.rest_certificate_authorities, asks_rest);
  add("remedy.kubernetes.kubeconfig", remedy.kubernetes.kubeconfig, remedy.kubernetes.enabled);
  add("remedy.ufm.credentials_file", remedy.ufm.credentials_file, !remedy.ufm.url.empty());
  add("remedy.ufm.authorities_file", remedy.ufm.authorities_file, !remedy.ufm.url.empty());
  add("remedy.webhook.key_file", remedy.webhook.key_file, !remedy.webhook.url.empty());
  add("remedy.webhook.certificate_authorities", remedy.webhook.certificate_authorities, !remedy.webhook.url.empty());
  add("events.key_file", config.events.key_file, !config.events.urls.empty());
  add("events.certificate_authorities", config.events.certificate_authorities, !config.events.urls.empty());
  return files;
}

std::vector<UnreadableFile> unreadable(const std::vector<InputFile>& files) {
  std::vector<UnreadableFile> found;
  for (const InputFile& file : files)
    if (const int error = open_error(file.path.c_str()); error != 0)
      found.push_back({file.path,
                       {error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
                        std::string(file.key) + ": cannot read " + file.path.string() + ": " + errno_message(error)}});
  return found;
}

std::vector<std::string> unreadable_to(const std::string& user, const std::vector<InputFile>& files) {
  if (::geteuid() != 0) return {};
  const auto account = account_of(user);
  if (!account) return {};
  std::vector<std::string> sentences;
  for (const InputFile& file : files) {
    if (is_credential(file.path) || open_error(file.path.c_str()) != 0) continue;
    if (is_hidden_by_unit(file.path)) {
      sentences.push_back(std::string(file.key) + ": the unit hides " + file.path.string() +
                          " from weftd (ProtectHome, PrivateTmp): move it to /etc/weft");
      continue;
    }
    const std::vector<std::string> way = way_to(file.path);
    const auto refused = first_refused(*account, way);
    if (!refused) continue;
    const bool is_file = *refused == way.back();
    sentences.push_back(std::string(file.key) + ": user " + user + ", as which the unit runs weftd, may not read " +
                        file.path.string() + (is_file ? "" : ", because it may not enter " + *refused) +
                        "; let it: chgrp " + user + ' ' + *refused + " && chmod " + (is_file ? "640 " : "g+rx ") +
                        *refused);
  }
  return sentences;
}

}  // namespace weft::daemon
