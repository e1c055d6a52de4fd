// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/switches/credentials.hpp"

#include <algorithm>
#include <string_view>
#include <system_error>

#include "daemon/platform/net/secret.hpp"
#include "daemon/platform/runtime/regular_file.hpp"

namespace weft::switches {
namespace {

constexpr std::size_t kMostBytes = 1 << 20;

bool is_there(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored);
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F; });
}

Result<void> read_login(const std::filesystem::path& file, Credentials& credentials) {
  const auto text = net::read_secret(file);
  if (!text) return tl::unexpected(text.error());
  const std::size_t end = text->find('\n');
  const auto wrong = [&] {
    return fail(ErrorCode::kInvalidArgument,
                file.string() + ": it must be the username and the password, in a line each, in printable ASCII");
  };
  if (end == std::string::npos) return wrong();
  credentials.user = text->substr(0, end);
  credentials.password = text->substr(end + 1);
  if (!credentials.user.empty() && credentials.user.back() == '\r') credentials.user.pop_back();
  if (credentials.user.empty() || credentials.password.empty() || !is_printable(credentials.user) ||
      !is_printable(credentials.password))
    return wrong();
  return {};
}

}  // namespace

Result<Credentials> read_credentials(const std::filesystem::path& directory, const TargetLine& target) {
  Credentials credentials;
  if (directory.empty()) {
    if (target.credentials == TargetLine().credentials) return credentials;
    return fail(ErrorCode::kInvalidArgument, target.name + ": credentials=" + target.credentials +
                                                 " needs the folder of gnmi.credentials_directory");
  }
  const auto file = [&](const char* ending) { return directory / (target.credentials + ending); };
  const bool has_ca = is_there(file(".ca")), has_certificate = is_there(file(".crt")), has_key = is_there(file(".key")),
             has_login = is_there(file(".login"));
  if (!has_ca && !has_certificate && !has_key && !has_login) {
    if (target.credentials == TargetLine().credentials) return credentials;
    return fail(ErrorCode::kNotFound,
                target.name + ": there is no file " + file(".ca").string() + ", nor .crt, .key or .login of that name");
  }
  if (has_certificate != has_key)
    return fail(ErrorCode::kInvalidArgument, "of " + file(".crt").string() + " and " + file(".key").string() +
                                                 " there is only one: a certificate needs its key");
  if (has_ca) {
    auto text = runtime::read_regular(file(".ca"), kMostBytes);
    if (!text) return tl::unexpected(text.error());
    credentials.authorities = std::move(*text);
  }
  if (has_certificate) {
    auto text = runtime::read_regular(file(".crt"), kMostBytes);
    if (!text) return tl::unexpected(text.error());
    credentials.certificate = std::move(*text);
    auto key = net::read_secret(file(".key"));
    if (!key) return tl::unexpected(key.error());
    credentials.key = *key + "\n";
  }
  if (has_login)
    if (const auto read = read_login(file(".login"), credentials); !read) return tl::unexpected(read.error());
  return credentials;
}

std::string basic_authorization(const std::string& user, const std::string& password) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string pair = user + ':' + password;
  std::string text = "Basic ";
  for (std::size_t at = 0; at < pair.size(); at += 3) {
    const auto byte = [&](std::size_t i) {
      return at + i < pair.size() ? static_cast<unsigned>(static_cast<unsigned char>(pair[at + i])) : 0U;
    };
    const unsigned bits = (byte(0) << 16U) | (byte(1) << 8U) | byte(2);
    text += kLetters[(bits >> 18U) & 63U];
    text += kLetters[(bits >> 12U) & 63U];
    text += at + 1 < pair.size() ? kLetters[(bits >> 6U) & 63U] : '=';
    text += at + 2 < pair.size() ? kLetters[bits & 63U] : '=';
  }
  return text;
}

}  // namespace weft::switches
