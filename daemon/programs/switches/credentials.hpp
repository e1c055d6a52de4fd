// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a target is shown, and how it is recognised: files of one name in the folder of credentials.
//
//   NAME.ca            PEM; the CA of its certificate. Without it the system's
//   NAME.crt, NAME.key PEM; our certificate and its key. Without both none is shown
//   NAME.login         username and password, in a line each. Without it there is none

#include <filesystem>
#include <string>

#include "daemon/programs/switches/target_list.hpp"
#include "fabric/result.hpp"

namespace weft::switches {

/// The content of the files; empty where there is no such file.
struct Credentials {
  std::string authorities;
  std::string certificate, key;
  std::string user, password;
};

/// Reads the files that there are. Fails with the file's name: kInvalidArgument for what is no such file, or half of a
/// pair, or a login in clear text; as net::read_secret() for the key and the login, which nobody else may read. A name
/// that a line asks for and of which there is no file: kNotFound.
Result<Credentials> read_credentials(const std::filesystem::path& directory, const TargetLine& target);

/// "Basic …" (RFC 7617).
std::string basic_authorization(const std::string& user, const std::string& password);

}  // namespace weft::switches
